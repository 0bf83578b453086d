//! Texts made to hang, to overflow a stack or to use up memory.

use std::time::Duration;

use lockgate_text::Outline;
use rustix::time::{ClockId, clock_gettime};

/// The most processor time that an outline takes, without optimization and with other tests in the same process.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns every language that has a grammar.
fn languages() -> impl Iterator<Item = &'static str> {
    crate::grammars().iter().map(|grammar| grammar.language)
}

/// Parses an outline and calls all of its functions.
fn symbol_count(language: &str, text: &str) -> Option<usize> {
    let before = processor_time();
    let outline = super::outline(language, "a.tsx", text);
    let symbols = outline.as_ref().map(|outline| {
        for at in (0..=text.len()).step_by(text.len() / 50 + 1) {
            outline.enclosing(at);
            outline.in_comment(at..at + 1);
        }
        for name in ["a", "a.a", "::", "#", ".", "é"] {
            for span in outline.spans(name) {
                assert!(text.get(span.clone()).is_some_and(|text| !text.is_empty()), "{language}: {span:?}");
            }
        }
        laminar(outline, text);
        outline.names().count()
    });
    let spent = processor_time().saturating_sub(before);
    assert!(spent < TIMEOUT, "{language}: {text:.20}: {spent:?}");
    symbols
}

/// The processor time of this process: a busy machine does not add to it.
fn processor_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap()
}

/// Checks the order of the symbols, and that any two are separate or nested.
fn laminar(outline: &Outline, text: &str) {
    let mut last = 0;
    for symbol in outline.entries() {
        assert!(symbol.extent.start >= last && symbol.extent.end <= text.len());
        last = symbol.extent.start;
        assert!(text.is_char_boundary(symbol.extent.start) && text.is_char_boundary(symbol.extent.end));
        if let Some(around) = symbol.enclosing {
            let around = &outline.entries()[around].extent;
            assert!(around.start <= symbol.extent.start && symbol.extent.end <= around.end);
        }
    }
    assert!(outline.comments().iter().is_sorted_by(|one, next| one.end <= next.start));
}

#[test]
fn small_oddities_are_read() {
    for language in languages() {
        for text in
            ["", "\u{feff}", "\n", " ", "\0", "\u{feff}\u{0}é\u{1f600}", "#", "//", "/*", "<!--", "\"", "'"]
        {
            assert!(symbol_count(language, text).is_some(), "{language}: {text:?}");
        }
    }
}

#[test]
fn deep_nesting_ends() {
    for (language, piece) in [
        ("python", "("),
        ("python", "class A: "),
        ("javascript", "function a(){"),
        ("javascript", "a = () => {"),
        ("typescript", "namespace a {"),
        ("rust", "mod a {"),
        ("rust", "#[a] /* b */ "),
        ("go", "func("),
        ("java", "class A {"),
        ("c", "int (*"),
        ("cpp", "namespace a {"),
        ("cpp", "template <class T> "),
        ("bash", "a() {"),
        ("css", "a {"),
        ("html", "<a id=a>"),
        ("json", "{\"a\":"),
        ("toml", "a = {"),
        ("yaml", "{a: "),
        ("markdown", "> - "),
        ("markdown", "# a\n"),
    ] {
        symbol_count(language, &piece.repeat(30_000));
    }
}

#[test]
fn floods_of_faults_end() {
    for (language, piece) in
        [("javascript", "let = ;\n"), ("java", "x = = ;\n"), ("python", "x = (]\n"), ("json", "{\"a\" 1 ]\n")]
    {
        symbol_count(language, &piece.repeat(20_000));
    }
}

#[test]
fn many_symbols_are_kept_and_found() {
    for (language, piece, many) in [
        ("python", "def a(): pass\n", 20_000),
        ("javascript", "function a() {} ", 20_000),
        ("rust", "#[a] fn a() {} /* b */ ", 20_000),
        ("toml", "a = 1\n", 20_000),
    ] {
        assert_eq!(symbol_count(language, &piece.repeat(many)), Some(many), "{language}");
    }
    let line = format!("{{{}\"a\": 1}}", "\"a\": 1, ".repeat(50_000));
    assert_eq!(symbol_count("json", &line), Some(50_001));
    assert_eq!(symbol_count("html", &"<br><p id=a>b</p>\n".repeat(3_000)), Some(3_000));
}

#[test]
fn names_that_would_fill_the_memory_are_given_up() {
    let long = "a".repeat(250);
    let deep = format!("{{\"{long}\":").repeat(60);
    let text = |many: usize| format!("{deep}{{{}\"b\": 1}}{}", "\"b\": 1, ".repeat(many), "}".repeat(60));
    assert_eq!(symbol_count("json", &text(1_000)), Some(1_061));
    assert_eq!(symbol_count("json", &text(10_000)), None);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]

    #[test]
    fn any_text_has_an_outline(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "(", ")", "[", "]", "{", "}", "\"", "'", "`", "\n", "\n", "  ", "\t", ":", "- ", "? ", ">", "<a id=b>",
                "</a>", "a", "1", "=", "fn ", "def ", "class ", "impl ", "function ", "func ", "export ", "const ",
                "=> ", "/*", "*/", "//", "#", "# ", "@a ", "#[a]", "\\", "é", "\u{0}", "template <", "namespace ",
                "---\n", ",", ";", "::", "\u{feff}", "\u{c}", "<!--", "-->",
            ]),
            0..120,
        ),
    ) {
        let text: String = words.concat();
        for language in languages() {
            symbol_count(language, &text);
        }
    }
}
