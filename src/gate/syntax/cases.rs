//! What an edit may do to a file that does not parse, case by case.

use std::sync::Arc;
use std::time::Duration;

use crate::gate::{Draft, Outcome, Severity, Verdict, Watch, judge};
use crate::policy::{Catalogue, Gate, Kind, Languages, Level, Rule, language_of};
use crate::text::{Buffer, Hints, LineMap};

pub(super) fn buffer(text: &str) -> Buffer {
    Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
}

/// Judges a text by the syntax gate alone, against the text before it.
pub(super) fn judged(path: &str, before: Option<&str>, after: &str) -> Verdict {
    judged_by(path, before, after, Level::Block, Duration::from_secs(60), &Watch::idle())
}

pub(super) fn judged_by(
    path: &str,
    before: Option<&str>,
    after: &str,
    level: Level,
    timeout: Duration,
    watch: &Watch,
) -> Verdict {
    let gate = Gate { timeout, ..syntax() };
    let rule = Rule { gate: Arc::new(gate), level, enabled: true };
    let (old, new) = (before.map(buffer), buffer(after));
    let map =
        old.as_ref().map_or_else(LineMap::default, |old| old.rewrite(after).unwrap().line_map(old, &new));
    let language = language_of(path, after.lines().next());
    let beside = |_: &str| false;
    let draft = Draft { path, language, before: old.as_ref(), after: &new, map: &map, beside: &beside };
    judge(&draft, &[&rule], watch)
}

fn syntax() -> Gate {
    let known = Catalogue::embedded().find("syntax").unwrap();
    Gate {
        name: known.name.clone(),
        about: String::new(),
        languages: Languages::Every,
        kind: Kind::Syntax,
        role: known.role,
        timeout: known.timeout,
        samples: Vec::new(),
    }
}

/// Language, what happens, the file before and after, and the lines that are refused.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static [usize]);

const SOUND: &[Case] = &[
    ("a.py", "a change that parses", "x = 1\n", "x = 2\n", &[]),
    ("a.py", "a break", "x = 1\n", "x = (\n", &[1]),
    ("a.py", "an indentation that does not fit", "def f():\n    a\n    b\n", "def f():\n    a\n  b\n", &[3]),
    ("a.py", "a body taken away", "def f():\n    a\nb\n", "def f():\nb\n", &[2]),
    ("a.py", "a closing quote taken away", "\"\"\"a\nb\n\"\"\"\nx = 1\n", "\"\"\"a\nb\nx = 1\n", &[1]),
    ("a.py", "a tab among blanks", "if a:\n        b\n        c\n", "if a:\n        b\n\tc\n", &[3]),
    ("a.py", "a bracket taken away at the end", "f(\n  1\n)\n", "f(\n  1\n", &[2]),
    ("a.rs", "a brace taken away at the end", "fn f() {\n    a();\n}\n", "fn f() {\n    a();\n", &[1]),
    ("a.rs", "half a line", "fn f() {\n    let x = 1;\n}\n", "fn f() {\n    let x = ;\n}\n", &[2]),
    ("a.rs", "an item without a body at the end", "fn f() {}\n", "fn f() {}\nfn g()\n", &[2]),
    ("a.js", "a brace taken away", "function f() {\n  a();\n}\n", "function f() {\n  a();\n", &[2]),
    ("a.ts", "a type left out", "let a: number = 1;\n", "let a: = 1;\n", &[1]),
    ("a.tsx", "a tag left open", "let a = <p>x</p>;\n", "let a = <p>x;\n", &[1]),
    ("a.json", "a comma too many", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n}\n", &[3]),
    ("a.json", "a brace taken away", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1\n", &[2]),
    ("tsconfig.json", "comments and commas are good", "{}\n", "{\n  // a\n  \"a\": [1,],\n}\n", &[]),
    ("tsconfig.json", "a comma over two lines", "{}\n", "{\n  \"a\": [1, 2, /* b */\n  ],\n}\n", &[]),
    ("tsconfig.json", "nothing before a comma", "{}\n", "{\n  \"a\": [,]\n}\n", &[2]),
    ("tsconfig.json", "two commas", "{}\n", "{\n  \"a\": [1,,]\n}\n", &[2]),
    ("tsconfig.json", "a comma between", "{}\n", "{\n  \"a\": 1\n  \"b\": 2\n}\n", &[2]),
    ("tsconfig.json", "a brace left out", "{}\n", "{\n  \"a\": 1\n", &[2]),
    ("a.toml", "a value left out", "a = 1\nb = 2\n", "a = 1\nb =\n", &[2]),
    ("a.toml", "a key twice", "a = 1\n", "a = 1\na = 2\n", &[2]),
    ("a.yaml", "an indentation that does not fit", "a:\n  - b\n  - c\n", "a:\n  - b\n - c\n", &[3]),
    ("a.yaml", "a fault in the second document", "a: 1\n---\nb: 1\n", "a: 1\n---\nb: [1\n", &[3]),
    ("a.go", "a brace taken away", "package a\n\nfunc f() {\n}\n", "package a\n\nfunc f() {\n", &[3]),
    ("a.c", "a semicolon left out", "int f(void) {\n  return 1;\n}\n", "int f(void) {\n  return 1\n}\n", &[]),
    ("a.sh", "an end taken away", "if a; then\n  b\nfi\n", "if a; then\n  b\n", &[2]),
    ("a.css", "a brace taken away", "a {\n  b: c;\n}\n", "a {\n  b: c;\n", &[2]),
    ("A.java", "a semicolon left out", "class A {\n  int a;\n}\n", "class A {\n  int a\n}\n", &[2]),
    ("a.h", "a header may be of either language", "int a;\n", "template <class T> class A {};\n", &[]),
];

const BROKEN: &[Case] = &[
    (
        "a.c",
        "a macro that the grammar does not know",
        "int f( { }\n\nint a;\n",
        "int f( { }\n\nint a;\nSTACK_OF(int)\n",
        &[],
    ),
    (
        "a.c",
        "a brace taken away elsewhere",
        "A(B)\nint x y;\n\nint f(void) {\n  a();\n}\n\nint g;\n",
        "A(B)\nint x y;\n\nint f(void) {\n  a();\n\nint g;\n",
        &[4],
    ),
    // Steps of a repair.
    ("a.py", "one of two mended", "x = (]\ny = 1\nz = [)\n", "x = ()\ny = 1\nz = [)\n", &[]),
    ("a.py", "the second of two mended", "x = (]\ny = 1\nz = [)\n", "x = (]\ny = 1\nz = []\n", &[]),
    ("a.py", "still broken in the same place", "x = 1\ndef f(:\n    a\n", "x = 1\ndef f(b:\n    a\n", &[]),
    (
        "a.rs",
        "one mended, the next comes to light",
        "let a;\nfn f() {}\nlet b;\n",
        "\nfn f() {}\nlet b;\n",
        &[],
    ),
    (
        "a.rs",
        "a brace added, a fault comes to light",
        "fn f() {\n    a();\n\nfn g() {\n    let x = ;\n}\n",
        "fn f() {\n    a();\n}\n\nfn g() {\n    let x = ;\n}\n",
        &[],
    ),
    (
        "a.rs",
        "two mended, one left above",
        "fn f() {\n let = 1;\n}\nfn g() {\n",
        "fn f() {\n let = 1;\n}\nfn g() {}\n",
        &[],
    ),
    (
        "a.js",
        "one mended, the next comes to light",
        "let = 1;\na();\nlet = 2;\n",
        "let x = 1;\na();\nlet = 2;\n",
        &[],
    ),
    ("a.json", "one mended, the next comes to light", "[1 2,\n3,\n4 5]\n", "[1, 2,\n3,\n4 5]\n", &[]),
    ("a.json", "the hidden one mended first", "[1 2,\n3,\n4 5]\n", "[1 2,\n3,\n4, 5]\n", &[]),
    ("a.json", "the hidden one touched, still broken", "[1 2,\n3,\n4 5 6]\n", "[1, 2,\n3,\n4, 5 6]\n", &[]),
    ("a.toml", "one mended, the next comes to light", "a =\nb = 1\nc =\n", "a = 1\nb = 1\nc =\n", &[]),
    (
        "a.yaml",
        "one mended, the next comes to light",
        "a: b: c\nd: 1\ne: f: g\n",
        "a: b\nd: 1\ne: f: g\n",
        &[],
    ),
    (
        "a.go",
        "one of two mended",
        "package a\n\nvar a = \n\nvar b int\n\nvar c = )\n",
        "package a\n\nvar a = 1\n\nvar b int\n\nvar c = )\n",
        &[],
    ),
    (
        "a.py",
        "a quote closed, a fault comes to light",
        "a = \"\"\"b\nc = 1\nd = (]\n",
        "a = \"\"\"b\"\"\"\nc = 1\nd = (]\n",
        &[],
    ),
    // Edits beside an old fault.
    ("a.py", "a good line elsewhere", "x = (]\ny = 1\nz = 2\n", "x = (]\ny = 1\nz = 3\n", &[]),
    (
        "a.rs",
        "a good function elsewhere",
        "fn f() {\n let = 1;\n}\n\nfn g() {}\n",
        "fn f() {\n let = 1;\n}\n\nfn g() {}\n\nfn h() {}\n",
        &[],
    ),
    (
        "a.rs",
        "a good function in an open block",
        "fn f() {\n    a();\n\nfn g() {\n}\n",
        "fn f() {\n    a();\n\nfn h() {\n}\n\nfn g() {\n}\n",
        &[],
    ),
    (
        "a.js",
        "a good line in an open block",
        "function f() {\n  a();\n\nb();\nc();\n",
        "function f() {\n  a();\n\nb();\nd();\nc();\n",
        &[],
    ),
    (
        "a.json",
        "a good value elsewhere",
        "{\"a\" 1,\n\"b\": 2,\n\"c\": 3}\n",
        "{\"a\" 1,\n\"b\": 2,\n\"d\": {\"e\": [1]},\n\"c\": 3}\n",
        &[],
    ),
    (
        "a.c",
        "a good function elsewhere",
        "int f( { }\n\nint g(void) { return 1; }\n",
        "int f( { }\n\nint g(void) { return 2; }\n",
        &[],
    ),
    ("a.py", "the old fault moved down", "x = (]\n", "import a\n\nx = (]\n", &[]),
    ("a.py", "the old fault moved away", "x = (]\na\nb\nc\nd\n", "a\nb\nc\nd\nx = (]\n", &[]),
    ("a.sh", "the old fault moved down", "if a; then\nb )\nfi\n", "# c\nif a; then\nb )\nfi\n", &[]),
    // Something new.
    ("a.py", "a second copy", "x = (]\ny = 1\nz = 2\n", "x = (]\ny = 1\nx = (]\nz = 2\n", &[3]),
    ("a.py", "a break elsewhere", "x = (]\na\nb\ny = 1\n", "x = (]\na\nb\ny = = 1\n", &[4]),
    ("a.py", "one mended, another broken", "x = (]\na\nb\ny = 1\n", "x = ()\na\nb\ny = = 1\n", &[4]),
    (
        "a.py",
        "an indentation broken elsewhere",
        "x = (]\n\ndef f():\n    a\n    b\n",
        "x = (]\n\ndef f():\n    a\n  b\n",
        &[5],
    ),
    (
        "a.py",
        "a body taken away elsewhere",
        "x = (]\n\ndef f():\n    a\n\nb\n",
        "x = (]\n\ndef f():\n\nb\n",
        &[5],
    ),
    (
        "a.rs",
        "a break above the old one",
        "fn f() {\n    a();\n}\n\nlet b;\n",
        "fn f() {\n    a(;\n}\n\nlet b;\n",
        &[3],
    ),
    (
        "a.rs",
        "a break below the old one",
        "let b;\n\nfn g() {}\n\nfn f() {\n    a();\n}\n",
        "let b;\n\nfn g() {}\n\nfn f() {\n    let a = ;\n}\n",
        &[6],
    ),
    (
        "a.rs",
        "a brace taken away below the old one",
        "let b;\n\nfn f() {\n    a();\n}\n\nfn g() {}\n",
        "let b;\n\nfn f() {\n    a();\n\nfn g() {}\n",
        &[3],
    ),
    (
        "a.rs",
        "a second brace taken away",
        "fn f() {\n    a();\n\nfn g() {\n    b();\n}\n\nfn h() {}\n",
        "fn f() {\n    a();\n\nfn g() {\n    b();\n\nfn h() {}\n",
        &[4],
    ),
    (
        "a.json",
        "a break below the old one",
        "{\"a\" 1,\n\"b\": 2,\n\"c\": 3,\n\"d\": 4}\n",
        "{\"a\" 1,\n\"b\": 2,\n\"c\": 3,\n\"d\" 4}\n",
        &[3],
    ),
    (
        "a.json",
        "a break above the old one",
        "{\"a\": 1,\n\"b\": 2,\n\"c\": 3,\n\"d\" 4}\n",
        "{\"a\" 1,\n\"b\": 2,\n\"c\": 3,\n\"d\" 4}\n",
        &[1],
    ),
    ("a.toml", "a break below the old one", "a =\nb = 1\nc = 2\n", "a =\nb = 1\nc =\n", &[3]),
    (
        "a.yaml",
        "a break above the old one",
        "a: 1\nb: 2\nc: 3\nd: e: f\n",
        "a: [1\nb: 2\nc: 3\nd: e: f\n",
        &[2],
    ),
    (
        "a.ts",
        "a break below the old one",
        "let = 1;\na();\nb();\nc();\n",
        "let = 1;\na();\nb();\nc(;\n",
        &[4],
    ),
    (
        "a.go",
        "a break elsewhere",
        "package a\n\nvar a = )\n\nvar b = 1\n\nvar c = 1\n",
        "package a\n\nvar a = )\n\nvar b = 1\n\nvar c = ]\n",
        &[7],
    ),
    (
        "a.go",
        "a brace taken away elsewhere",
        "package a\n\nvar a = )\n\nfunc f() {\n\tb()\n}\n\nfunc g() {\n}\n",
        "package a\n\nvar a = )\n\nfunc f() {\n\tb()\n\nfunc g() {\n}\n",
        &[8],
    ),
    (
        "a.css",
        "a break elsewhere",
        "a { b c }\n\nd { e: f; }\n\ng { h: i; }\n",
        "a { b c }\n\nd { e: f; }\n\ng { h i }\n",
        &[5],
    ),
    (
        "a.py",
        "a file written anew with more faults",
        "x = (]\n",
        "def f(:\n    a\n\n\ndef g(:\n    b\n\n\ndef h(:\n    c\n\n\ndef i(:\n    d\n",
        &[2, 5, 6, 9, 10, 13, 14],
    ),
];

fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (path, what, before, after, refused) in cases {
        let verdict = judged(path, Some(before), after);
        let lines: Vec<_> = verdict.blocking().map(|finding| finding.line).collect();
        if lines != *refused {
            wrong.push(format!(
                "{path}: {what}: wanted {refused:?}, got {lines:?} of {:#?}",
                verdict.findings
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_parsed_before_must_parse_after() {
    check(SOUND);
}

#[test]
fn a_file_that_did_not_parse_can_be_repaired_in_steps_and_not_made_worse() {
    check(BROKEN);
}

#[test]
fn what_a_grammar_says_of_good_files_too_only_warns() {
    let verdict = judged("a.c", None, "int f(void) {\n  return 1\n}\n");
    assert_eq!(verdict.runs[0].outcome, Outcome::Found);
    assert!(verdict.findings.iter().all(|finding| finding.fresh && !finding.blocking));
    let verdict = judged("a.c", None, "int f(void) {\n  return 1;\n");
    assert_eq!(verdict.blocking().count(), 1);
}

#[test]
fn a_rule_that_warns_does_not_block() {
    let watch = Watch::idle();
    let verdict = judged_by("a.py", None, "x = (]\n", Level::Warn, Duration::from_secs(9), &watch);
    assert_eq!(verdict.blocking().count(), 0);
    assert!(verdict.findings.iter().all(|finding| finding.fresh && finding.severity == Severity::Warning));
}

#[test]
fn the_outcome_tells_of_old_faults_too() {
    let verdict = judged("a.py", Some("x = (]\n"), "x = (]\ny = 1\n");
    assert_eq!(verdict.runs[0].outcome, Outcome::Found);
    assert!(verdict.findings.iter().all(|finding| !finding.fresh && !finding.blocking));
}

#[test]
fn every_fault_of_a_new_file_is_new() {
    let verdict = judged("a.py", None, "x = (]\n");
    assert_eq!(verdict.blocking().count(), verdict.findings.len());
    assert!(verdict.blocking().count() > 0);
}
