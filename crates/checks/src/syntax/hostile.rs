//! Tests of texts made to hang a parser, to overflow its stack or to end the process.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::cases::{buffer, judged, judged_by};
use super::parse::ParseFailure;
use super::readers::{LanguageReaders, processor_time_limit};
use super::stack::{LEAST_STACK, MAX_STACK, tokens};
use super::table;
use crate::error::GateError;
use crate::{Outcome, Watch};
use lockgate_policy::Level;
use lockgate_sandbox::processor_time;

const ALLOWED: Duration = Duration::from_millis(800);
/// The tolerated delay after the time limit, on a busy machine and without optimization.
const GRACE: Duration = Duration::from_secs(10);

/// Judges a text with a timeout and returns the outcome; asserts that the verdict comes in time and no parser panics.
fn outcome(path: &str, text: &str) -> Outcome {
    let start = Instant::now();
    let verdict = judged_by(path, Some("\n"), text, Level::Block, ALLOWED, &Watch::idle());
    assert!(start.elapsed() < ALLOWED + GRACE, "{path}: {:.20}: {:?}", text, start.elapsed());
    let run = &verdict.runs[0];
    assert!(
        !run.why.as_ref().is_some_and(|why| why.contains("panicked")),
        "{path}: {text:.20}: {:?}",
        run.why
    );
    run.outcome
}

fn times(count: usize, piece: &str) -> String {
    piece.repeat(count)
}

/// Kinds of nesting that need much stack for each byte or each level, each with the text before it.
const DEEP: [(&str, &str, &str); 46] = [
    ("a.py", "", "("),
    ("a.py", "", "["),
    ("a.py", "", "{"),
    ("a.py", "", "-"),
    ("a.py", "", "f("),
    ("a.py", "", "not "),
    ("a.py", "", "lambda:"),
    ("a.py", "", "if a:"),
    ("a.py", "match a:\n case ", "("),
    ("a.rs", "fn f(){", "("),
    ("a.rs", "fn f(){", "!"),
    ("a.rs", "fn f(){", "&"),
    ("a.rs", "fn f(){", "||"),
    ("a.rs", "fn f()", "{"),
    ("a.rs", "fn f(){", "if a {} else "),
    ("a.rs", "", "fn f(){"),
    ("a.rs", "type A=", "&"),
    ("a.rs", "type A=", "("),
    ("a.rs", "type A=", "V<"),
    ("a.rs", "type A=", "fn()->"),
    ("a.rs", "type A=", "Box<dyn Fn("),
    ("a.rs", "fn f(){let ", "("),
    ("a.ts", "", "("),
    ("a.ts", "", "["),
    ("a.ts", "", "{"),
    ("a.ts", "", "!"),
    ("a.ts", "", "a=>"),
    ("a.ts", "", "(a="),
    ("a.ts", "", "a?b:"),
    ("a.ts", "type A=", "["),
    ("a.ts", "type A=", "A<"),
    ("a.js", "", "if(a){}else "),
    ("a.tsx", "", "<a>"),
    ("a.json", "", "["),
    ("a.yaml", "", "["),
    ("a.toml", "a=", "["),
    ("a.go", "package a\n", "("),
    ("a.html", "", "<a>"),
    ("a.css", "", "a:b "),
    ("a.sh", "", "cat <<E\n"),
    ("a.md", "", "- "),
    ("a.md", "", "> "),
    ("a.md", "", "1) - > "),
    ("a.md", "", "|a"),
    ("a.md", "", "["),
    ("a.md", "", "<a>"),
];

/// Returns the most tokens of a text that a parser reads without measuring its tree first.
fn most(path: &str) -> usize {
    let language = lockgate_policy::language_of(path, None).unwrap();
    let frame = table::row(&language.name).unwrap().parser.as_ref().map_or(0, |own| own.frame);
    (MAX_STACK - LEAST_STACK).checked_div(frame).unwrap_or(20_000)
}

#[test]
fn a_text_that_takes_too_much_processor_time_is_not_judged() {
    let watch = Watch::idle();
    let text = "package a\n".to_owned() + &"var a = []int{1, 2}\n".repeat(2000);
    let limit = watch.until(Instant::now() + Duration::from_secs(600));
    let readers = LanguageReaders::new(table::row("go").unwrap(), "a.go", limit);
    // What this thread did before does not count.
    while processor_time() < Duration::from_millis(500) {
        std::hint::black_box(0);
    }
    let failure = readers.survey_within(Duration::ZERO, &text).unwrap_err();
    assert_eq!(failure, ParseFailure::TooSlow(Duration::ZERO));
    let error = GateError::from(failure);
    assert!(matches!(&error, GateError::Unavailable(why) if why.contains("processor time")), "{error:?}");
    // Control: the time that a text of its size gets is enough.
    assert!(readers.survey_within(processor_time_limit(&text), &text).is_ok());
}

#[test]
fn nesting_as_deep_as_a_text_can_hold_does_not_overflow() {
    for (path, before, piece) in DEEP {
        let text = before.to_owned() + &times((most(path) - before.len()) / tokens(piece), piece);
        outcome(path, &text);
    }
}

#[test]
fn a_valid_text_as_deep_as_it_can_be_is_walked_without_overflow() {
    for (before, piece, after) in [
        ("", "-", "1\n"),
        ("", "not ", "a\n"),
        ("", "lambda:", "1\n"),
        ("", "a if b else ", "c\n"),
        ("", "a**", "b\n"),
        ("a", ".b", "\n"),
        ("a", "()", "\n"),
        ("a", "[0]", "\n"),
        ("a", "+b", "\n"),
    ] {
        let text = format!("{before}{}{after}", times((most("a.py") - 4) / tokens(piece), piece));
        let verdict = judged("a.py", None, &text);
        assert_eq!(verdict.runs[0].outcome, Outcome::Passed, "{text:.20}: {:?}", verdict.findings.first());
    }
}

#[test]
fn a_million_levels_neither_overflow_nor_hang() {
    for (path, before, piece) in DEEP.iter().step_by(5) {
        let text = before.to_string() + &times(1_000_000, piece);
        outcome(path, &text);
    }
}

/// Returns a text of such pieces that is so large that its tree is measured first.
fn large(piece: &str) -> String {
    times(400_000 / piece.len(), piece)
}

#[test]
fn a_large_text_goes_to_its_parser_only_when_it_is_flat() {
    let watch = Watch::idle();
    let limit = watch.until(Instant::now() + Duration::from_secs(60));
    for (path, deep, flat) in
        [("a.py", "-", "a = (1)\n"), ("a.rs", "!", "use a;\n"), ("a.ts", "[", "a = [1]\n")]
    {
        let language = lockgate_policy::language_of(path, None).unwrap();
        let readers = LanguageReaders::new(table::row(&language.name).unwrap(), path, limit);
        let own = readers.parsers.parser.as_ref().unwrap();
        assert!(
            own.stack_at_once(&large(deep)).is_none() && own.stack_at_once(&large(flat)).is_none(),
            "{path}"
        );
        // The parser can read both, so if there is no result it was not called.
        let reads = |piece: &str| matches!(readers.read_own(own, &buffer(&large(piece))), Ok(Some(_)));
        assert_eq!((reads(deep), reads(flat)), (false, true), "{path}");
    }
}

#[test]
fn a_large_python_text_is_checked_against_the_limits_of_python_before_parsing() {
    let indented = |levels: usize| {
        let steps: String = (0..levels).map(|n| format!("{}if a:\n", " ".repeat(n))).collect();
        steps + &" ".repeat(levels) + "b\n" + &large("a = 1\n")
    };
    let open = |levels: usize| format!("{}1{}\n{}", times(levels, "("), times(levels, ")"), large("a = 1\n"));
    let levels = table::row("python").and_then(|row| row.parser.as_ref()?.levels).unwrap();
    for (text, expected) in [
        (indented(99), None),
        (indented(100), Some("too many levels of indentation")),
        (open(200), None),
        (open(201), Some("too many nested parentheses")),
        (large("("), Some("too many nested parentheses")),
    ] {
        assert_eq!(levels(&text).err().map(|fault| fault.message).as_deref(), expected);
        let verdict = judged("a.py", None, &text);
        let messages: Vec<&str> = verdict.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, Vec::from_iter(expected), "{:.20}", text);
    }
}

#[test]
fn good_texts_that_nest_too_deeply_for_their_parser_are_not_findings() {
    let nested = |open: &str, close: &str, count| times(count, open) + "1" + &times(count, close);
    let cases = [
        ("a.json", nested("[", "]", 200_000)),
        ("a.toml", format!("a = {}\n", nested("[", "]", 500))),
        ("a.py", format!("a = {}\n", nested("(", ")", 200))),
        ("a.js", format!("a = {}\n", nested("(", ")", 20_000))),
        ("a.rs", format!("fn f() {{ {} }}\n", nested("(", ")", 20_000))),
    ];
    for (path, text) in cases {
        let verdict = judged(path, Some("\n"), &text);
        assert_eq!(verdict.runs[0].outcome, Outcome::Passed, "{path}: {:?}", verdict.findings);
    }
}

#[test]
fn a_large_good_text_has_no_faults_from_where_it_was_cut() {
    let entries: String =
        (0..10_000).map(|number| format!("  \"a{number}\": {{\"b\": [1, 2]}},\n")).collect();
    let text = format!("{{\n{entries}  \"a\": 1\n}}\n");
    let verdict = judged("tsconfig.json", None, &text);
    assert_eq!(verdict.runs[0].outcome, Outcome::Passed, "{:?}", verdict.findings.first());
}

#[test]
fn python_that_nests_deeper_than_python_goes_is_a_finding() {
    for (brackets, column) in [(201, 205), (20_000, 205), (200_000, 1)] {
        let text = format!("a = {}1{}\n", times(brackets, "["), times(brackets, "]"));
        let verdict = judged("a.py", Some("\n"), &text);
        let positions: Vec<_> =
            verdict.findings.iter().map(|finding| (finding.line, finding.column)).collect();
        assert_eq!(positions, [(1, column)], "{brackets}: {:?}", verdict.findings);
    }
}

#[test]
fn a_text_full_of_faults_is_refused_or_given_up_in_time() {
    // These parsers read it in a fraction of a second; the minute is for a machine that is busy.
    for path in ["a.js", "a.ts"] {
        let minute = Duration::from_mins(1);
        let verdict =
            judged_by(path, Some("\n"), &times(20_000, "let = ;\n"), Level::Block, minute, &Watch::idle());
        assert_eq!(verdict.runs[0].outcome, Outcome::Found, "{path}");
    }
    let start = Instant::now();
    assert_ne!(outcome("a.java", &times(20_000, "x = = ;\n")), Outcome::Passed);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn indentation_that_would_fill_a_grammars_buffer_is_not_read() {
    let steps =
        |count, line: &str| -> String { (0..count).map(|n| format!("{}{line}\n", " ".repeat(n))).collect() };
    let python = steps(450, "if a:") + &" ".repeat(450) + "x = (]\n";
    let broken = judged("a.py", Some(&format!("y = (]\n{python}")), &python);
    assert_eq!(broken.runs[0].outcome, Outcome::Found);
    let yaml = steps(600, "a:");
    assert_eq!(outcome("a.yaml", &yaml), Outcome::Unavailable);
    let flow = format!("{yaml}{}b: {}\n", " ".repeat(600), times(300, "["));
    assert_eq!(outcome("a.yaml", &flow), Outcome::Unavailable);
}

#[test]
fn a_caller_that_has_gone_gets_no_answer_and_a_slow_parser_is_timed_out() {
    let token = CancellationToken::new();
    token.cancel();
    let watch = Watch::new(token, None);
    let verdict = judged_by("a.py", None, "a", Level::Block, ALLOWED, &watch);
    assert_eq!(
        (verdict.runs[0].outcome, verdict.runs[0].why.as_deref()),
        (Outcome::Skipped, Some("cancelled"))
    );
    let text = times(200_000, "a = 1\n");
    for path in ["a.py", "a.go"] {
        let verdict = judged_by(path, None, &text, Level::Block, Duration::from_millis(1), &Watch::idle());
        assert_eq!(verdict.runs[0].outcome, Outcome::TimedOut, "{path}");
        assert!(verdict.findings.is_empty());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(50))]

    #[test]
    fn any_text_gets_an_answer(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "(", ")", "[", "]", "{", "}", "\"", "'", "`", "\n", "  ", "\t", ":", "- ", "? ", "|2\n", ">", "<a>",
                "</a>", "a", "1", "=", "fn ", "def ", "if ", "/*", "*/", "//", "#", "\\", "é", "\u{0}", "\r", "$", "<<E",
                "&a ", "*a ", "!t ", "---\n", "f\"", "r#\"", ",", ";", "@", "\u{feff}", "\u{c}",
            ]),
            0..200,
        ),
    ) {
        let text: String = words.concat();
        for path in [
            "a.py", "a.rs", "a.ts", "a.tsx", "a.js", "a.json", "a.jsonc", "a.yaml", "a.toml", "a.go", "a.c", "a.cpp",
            "a.h", "A.java", "a.sh", "a.html", "a.css", "a.md",
        ] {
            let half = text.get(..text.len() / 2).unwrap_or_default();
            for before in [None, Some(half)] {
                let verdict = judged(path, before, &text);
                proptest::prop_assert_ne!(verdict.runs[0].outcome, Outcome::TimedOut);
                let lines = buffer(&text).lines().count().max(1);
                for finding in &verdict.findings {
                    proptest::prop_assert!((1..=lines).contains(&finding.line) && finding.column > 0);
                }
            }
        }
    }
}
