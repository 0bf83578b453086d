//! Texts made to hang, to overflow a stack or to end the process.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::cases::{buffer, judged, judged_by};
use super::{Eye, LEAST_STACK, MOST_STACK, table};
use crate::gate::{Outcome, Watch};
use crate::policy::Level;

const ALLOWED: Duration = Duration::from_millis(800);
/// How much later the answer may come, on a busy machine and without optimization.
const PATIENCE: Duration = Duration::from_secs(10);

/// Judges a text with a time-out, and gives the outcome; the process must live, and the answer come in time.
fn outcome(path: &str, text: &str) -> Outcome {
    let start = Instant::now();
    let verdict = judged_by(path, Some("\n"), text, Level::Block, ALLOWED, &Watch::idle());
    assert!(start.elapsed() < ALLOWED + PATIENCE, "{path}: {:.20}: {:?}", text, start.elapsed());
    verdict.runs[0].outcome
}

fn times(count: usize, piece: &str) -> String {
    piece.repeat(count)
}

/// Kinds of nesting that take much stack for each byte or each level, each with what goes before it.
const DEEP: [(&str, &str, &str); 40] = [
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
];

/// The largest text that a parser is given without a look at its tree.
fn most(path: &str) -> usize {
    let language = crate::policy::language_of(path, None).unwrap();
    let frame = table::row(&language.name).unwrap().parser.as_ref().map_or(0, |own| own.frame);
    (MOST_STACK - LEAST_STACK).checked_div(frame).unwrap_or(20_000)
}

#[test]
fn nesting_as_deep_as_a_text_can_hold_does_not_overflow() {
    for (path, before, piece) in DEEP {
        let text = before.to_owned() + &times((most(path) - before.len()) / piece.len(), piece);
        assert_ne!(outcome(path, &text), Outcome::Broken, "{path} {piece}");
    }
}

#[test]
fn a_million_levels_neither_overflow_nor_hang() {
    for (path, before, piece) in DEEP.iter().step_by(5) {
        let text = before.to_string() + &times(1_000_000, piece);
        assert_ne!(outcome(path, &text), Outcome::Broken, "{path} {piece}");
    }
}

#[test]
fn a_large_text_goes_to_its_parser_only_when_it_is_flat() {
    let watch = Watch::idle();
    let limit = watch.until(Instant::now() + Duration::from_secs(60));
    for (path, deep, flat) in
        [("a.py", "(", "a = (1)\n"), ("a.rs", "!", "use a;\n"), ("a.ts", "[", "a = [1]\n")]
    {
        let language = crate::policy::language_of(path, None).unwrap();
        let eye = Eye { row: table::row(&language.name).unwrap(), path, limit };
        let own = eye.row.parser.as_ref().unwrap();
        let large =
            |piece: &str| eye.read_own(own, &buffer(&times(200_000 / piece.len(), piece))).unwrap().is_some();
        assert_eq!((large(deep), large(flat)), (false, true), "{path}");
    }
}

#[test]
fn good_texts_that_nest_too_deeply_for_their_parser_are_not_findings() {
    let nested = |open: &str, close: &str, count| times(count, open) + "1" + &times(count, close);
    let cases = [
        ("a.json", nested("[", "]", 200_000)),
        ("a.toml", format!("a = {}\n", nested("[", "]", 500))),
        ("a.py", format!("a = {}\n", nested("(", ")", 20_000))),
        ("a.js", format!("a = {}\n", nested("(", ")", 20_000))),
        ("a.rs", format!("fn f() {{ {} }}\n", nested("(", ")", 20_000))),
    ];
    for (path, text) in cases {
        let verdict = judged(path, Some("\n"), &text);
        assert_eq!(verdict.runs[0].outcome, Outcome::Passed, "{path}: {:?}", verdict.findings);
    }
}

#[test]
fn indentation_that_would_fill_a_grammars_buffer_is_not_read() {
    let steps =
        |count, line: &str| -> String { (0..count).map(|n| format!("{}{line}\n", " ".repeat(n))).collect() };
    let python = steps(450, "if a:") + &" ".repeat(450) + "x = (]\n";
    let broken = judged("a.py", Some(&format!("y = (]\n{python}")), &python);
    assert_eq!(broken.runs[0].outcome, Outcome::Found);
    let yaml = steps(600, "a:");
    assert_eq!(outcome("a.yaml", &yaml), Outcome::Skipped);
    let flow = format!("{yaml}{}b: {}\n", " ".repeat(600), times(300, "["));
    assert_eq!(outcome("a.yaml", &flow), Outcome::Skipped);
}

#[test]
fn a_caller_that_has_gone_gets_no_answer_and_a_slow_parser_is_timed_out() {
    let token = CancellationToken::new();
    token.cancel();
    let gone = Watch::new(token, None);
    let verdict = judged_by("a.py", None, "a", Level::Block, ALLOWED, &gone);
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
