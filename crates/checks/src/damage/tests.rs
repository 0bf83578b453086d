//! Tests of all rules: time limits, invariants on any text, and messages.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::text_pair::DamageFinding;
use super::{TextPair, judge, rule};
use crate::{Draft, InputLocation, Lost, LostDefinition, Watch};
use lockgate_policy::{Accident, Damage, language_of};
use lockgate_sandbox::processor_time;
use lockgate_text::{Buffer, Hints};

fn buffer(text: &str) -> Buffer {
    Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
}

/// Returns the findings of one rule for an edit.
pub(super) fn findings(
    accident: Accident,
    path: &str,
    before: Option<&str>,
    after: &str,
) -> Vec<DamageFinding> {
    with_draft(path, before, after, |draft| rule(accident)(&TextPair::new(draft, Lost::none())))
}

pub(super) fn with_draft<T>(
    path: &str,
    before: Option<&str>,
    after: &str,
    judge: impl FnOnce(&Draft<'_>) -> T,
) -> T {
    let (old, new) = (buffer(before.unwrap_or_default()), buffer(after));
    let plan = old.rewrite(after).unwrap();
    judge(&Draft {
        path,
        language: language_of(path, after.lines().next()),
        before: before.is_some().then_some(&old),
        after: &new,
        map: &plan.line_map(&old, &new),
        input_location: InputLocation::of_file(before.map(|_| &old)),
        files_exist: &|_| false,
    })
}

/// Lines that accidents leave behind; repeated, they are the worst texts for each rule.
const SEEDS: [&str; 15] = [
    "=/[",
    "12: x\n",
    "+a\n",
    "@@ -1 +1 @@\n",
    "# ... rest of code\n",
    "<<<<<<< a\n",
    "=======\n",
    ">>>>>>> b\n",
    "f(“a”)\n",
    "a\\nb\\n",
    "@a\ndef f():\n",
    "#[a]\nfn f() {}\n",
    "\t a\n",
    "\0",
    "r#\"'`\"\"\"/*",
];

/// The same for the rules that look only at some files.
const SEEDS_OF_FILES: [(&str, &str); 8] = [
    ("a.js", "```js\nf();\n"),
    ("a.js", "```js\nf();\n```\n"),
    ("a.vue", "~~~\n"),
    ("a.vue", "```js\nf();\n```\n"),
    ("a.html", "```js\n- f\n+ f\n```\n"),
    ("a.txt", "--- a\n+++ b\n@@ -1 +1 @@\n"),
    ("a.xml", "<a b=\\\"\\n"),
    ("a.xml", "<truncated>\nx\nx\nx\n"),
];

#[test]
fn a_text_of_nothing_but_accidents_is_read_in_linear_time() {
    let watch = Watch::idle();
    let slow = if cfg!(debug_assertions) { 20 } else { 1 };
    let paths = ["a.py", "a.rs", "a.js", "a.md", "a.sh", "a.yaml", "a"];
    let of_all = SEEDS.iter().flat_map(|seed| paths.map(|path| (path, *seed)));
    for (path, seed) in of_all.chain(SEEDS_OF_FILES) {
        let text = seed.repeat(200_000 / seed.len());
        let other_text = seed.repeat(100_000 / seed.len());
        let began = processor_time();
        for before in [None, Some(other_text.as_str())] {
            with_draft(path, before, &text, |draft| {
                let limit = watch.until(Instant::now() + Duration::from_secs(600));
                assert!(
                    judge(draft, None, &Damage::default(), Lost::none(), limit).is_ok(),
                    "{path}: {seed:?}"
                );
            });
        }
        let took = processor_time() - began;
        assert!(took < slow * Duration::from_millis(500), "{path}: {seed:?} took {took:?}");
    }
}

#[test]
fn a_limit_that_is_reached_ends_it() {
    with_draft("a.py", None, "x\n", |draft| {
        assert!(
            judge(draft, None, &Damage::default(), Lost::none(), Watch::idle().until(Instant::now()))
                .is_err()
        );
    });
}

#[test]
fn what_was_there_before_is_no_accident_of_the_edit() {
    let old = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n# ... rest of code unchanged ...\n1: a\n2: b\n3: c\n4: d\nf(“a”)\nz\\n\n\0\n";
    for (accident, _) in Accident::ALL {
        assert_eq!(findings(accident, "a.py", Some(old), &format!("{old}more = 1\n")), [], "{accident:?}");
    }
}

#[test]
fn places_are_counted_in_characters() {
    let finding = |accident, text: &str| {
        findings(accident, "a.py", Some("x = 1\n"), text)
            .into_iter()
            .map(|finding| (finding.line, finding.column))
            .collect::<Vec<_>>()
    };
    assert_eq!(finding(Accident::TypographicQuotes, "é = '𝄞' + f(“a”)\n"), [(1, 13)]);
    assert_eq!(finding(Accident::NulBytes, "x = 1\né\0\n"), [(2, 2)]);
    assert_eq!(finding(Accident::EscapedNewlines, "é = 1\\nb = 2\n"), [(1, 6)]);
}

#[test]
fn carriage_returns_and_other_encodings_change_nothing() {
    let (before, after) =
        ("a = 1\r\nb = 2\r\n", "a = 1\r\n<<<<<<< HEAD\r\nb = 2\r\n=======\r\nb = 3\r\n>>>>>>> c\r\n");
    assert_eq!(findings(Accident::ConflictMarkers, "a.py", Some(before), after).len(), 1);
}

#[test]
fn keys_of_a_table_are_no_line_numbers() {
    let none = |path: &str, text: &str| {
        assert_eq!(findings(Accident::LinePrefixes, path, Some("x\n"), text), [], "{path}: {text:?}");
    };
    none("a.py", "x = {\n    1: 'a',\n    2: 'b',\n    3: 'c',\n}\n");
    none("a.go", "var x = map[int]string{\n\t1: \"a\",\n\t2: \"b\",\n}\n");
    none("a.yaml", "x:\n  1: a\n  2: b\n  3: c\n");
    none("a.md", "1. a\n2. b\n3. c\n\n- d\n- e\n+ f\n");
    none("a.csv", "1\ta\n2\tb\n3\tc\n");
    none("a.py", "x = '''\n1: a\n2: b\n'''\n");
    none("a.diff", "@@ -1 +1 @@\n-a\n+b\n");
    none("a.yaml", "- a\n- b\n- c\n");
    none("a.lua", "-- a\n-- b\n");
}

#[test]
fn an_etc_replaces_code_only_if_lines_are_lost() {
    let lines: String = (0..8).map(|n| format!("\tx{n} := f({n})\n")).collect();
    let before = format!("func f() {{\n{lines}}}\n");
    let found = |after: &str| findings(Accident::ElidedCode, "a.go", Some(&before), after).len();
    for words in ["// .... etc.", "// ... etc"] {
        assert_eq!(found(&format!("{before}{words}\n")), 0, "{words}: nothing went");
        assert_eq!(found(&format!("func f() {{\n\t{words}\n}}\n")), 1, "{words}: all went");
    }
    // Other words count everywhere.
    assert_eq!(found(&format!("{before}// ... rest of the code\n")), 1);
}

#[test]
fn three_dots_in_place_of_statements_are_an_elision() {
    let found = |path: &str, before: &str, after: &str| {
        findings(Accident::ElidedCode, path, Some(before), after).len()
    };
    for (path, head, end) in [
        ("a.c", "int f(void) {\n", "    return 1;\n}\n"),
        ("a.js", "function f() {\n", "    return 1;\n}\n"),
        ("a.sh", "f() {\n", "    g\n}\n"),
        ("a.sql", "BEGIN;\n", "COMMIT;\n"),
        ("a.css", "a {\n", "}\n"),
    ] {
        let lines: String = (0..4).map(|n| format!("    x{n};\n")).collect();
        let before = [head, &lines, end].concat();
        assert_eq!(found(path, &before, &[head, "    ...\n", end].concat()), 1, "{path}");
        let few = [head, "    x0;\n    x1;\n", end].concat();
        assert_eq!(found(path, &few, &[head, "    ...\n", end].concat()), 0, "{path}: one line less");
    }
    let before: String = (0..9).map(|n| format!("line{n}\n")).collect();
    for (path, valid) in [
        ("a.py", "def read(self,\n         n: int = -1) -> bytes:\n    ...\n"),
        ("a.py", "class P(Protocol):\n    name: str\n    ...\n"),
        ("a.py", "def f():\n    # abstract\n    ...\n"),
        ("a.py", "x = \"\"\"\n...\n\"\"\"\n"),
        ("a.c", "int f(int a, /* level */\n    ...);\n"),
        ("a.c", "#define LOG(level, \\\n  ...) log(level)\n"),
        ("a.js", "f(\n  ...\n  xs,\n);\n"),
        ("a.tsx", "const a = (\n  <p>\n    ...\n  </p>\n);\n"),
        ("a.sh", "cat <<E\n...\nE\n"),
        ("a.yaml", "a: 1\n...\n"),
        ("a.nix", "{\n  a,\n  ...\n}:\na\n"),
        ("a.pl", "sub f {\n    ...\n}\n"),
        ("a.lua", "g {\n  ...\n}\n"),
    ] {
        assert_eq!(found(path, &before, valid), 0, "{path}: {valid}");
    }
}

#[test]
fn a_rule_makes_no_finding_for_each_line_of_a_text() {
    let most = 2 * super::text_pair::MAX_FINDINGS;
    for (accident, path, line) in [
        (Accident::ConflictMarkers, "a.py", "<<<<<<< a\n"),
        (Accident::ElidedCode, "a.py", "# ... existing code ...\n"),
        (Accident::LinePrefixes, "a.py", "7| a = 1\n8| b = 1\n"),
        (Accident::TypographicQuotes, "a.py", "f(\u{201c}a\u{201d})\n"),
        (Accident::EscapedNewlines, "a.py", "a\\nb\n"),
        (Accident::NulBytes, "a.py", "\0\n"),
    ] {
        let found = |lines: usize| findings(accident, path, Some("x\n"), &line.repeat(lines)).len();
        // The control: a few lines have a finding.
        assert!(found(10) > 0, "{accident:?}");
        assert!(found(20 * most) <= most, "{accident:?}: {}", found(20 * most));
    }
}

#[test]
fn a_line_that_spreads_a_value_is_no_elision() {
    let of = |path: &str, before: &str, after: &str| {
        findings(Accident::ElidedCode, path, Some(before), after).len()
    };
    let lines: String = (0..8).map(|n| format!("  x{n}: {n},\n")).collect();
    for spread in [
        "...rest",
        "...rest,",
        "...existing,",
        "...previous }) => {",
        "...other);",
        "...(existing ? a : b),",
        "...(body.claims?.['a/b']) && {",
        "...(Rest extends T ? C<Rest>[] : []),",
        "...code.map((x) => x),",
        "...existing[0],",
        "... rest",
        "...await existing(),",
        "...body as T,",
        "...on Existing",
        "...unchanged.a,",
        "... other.fields",
        "...this.rest,",
        "...same,",
        "...(await rest(a, b)),",
        "...rest, // the rest of the props",
        "...rest // all other props",
        "...rest /* remaining args */",
        "...existing, // ... the existing fields",
        "{...rest /* remaining props */}",
    ] {
        for path in ["a.ts", "a.js", "a.tsx", "a.graphql", "a.php", "a.vue", "A.java"] {
            assert_eq!(of(path, "a\n", &format!("a\n  {spread}\n")), 0, "{path}: {spread}");
            assert_eq!(of(path, &lines, &format!("  {spread}\n")), 0, "{path}: {spread}, with lines lost");
        }
    }
    for (path, line) in [
        ("a.py", "    ...\n"),
        ("a.pyi", "def f(*rest: int) -> int: ...\n"),
        ("a.py", "x[..., rest]\n"),
        ("a.rs", "        ..existing\n"),
        ("a.rs", "    [first, .., last] => rest,\n"),
        ("a.rs", "        // ... same, but for start states.\n"),
        ("a.go", "\trest...,\n"),
        ("a.c", "int f(int rest, ...);\n"),
    ] {
        assert_eq!(of(path, "a\n", &format!("a\n{line}")), 0, "{path}: {line}");
    }
    // The control: prose after the dots, and words between dots.
    for elision in [
        "... rest of the code ...",
        "...rest of the code",
        "...existing code...",
        "...existing...",
        "... rest ...",
        "...(rest of the code)...",
        "// ... existing code ...",
        "// ...existing code",
        "// ... (same as before)",
        "// ... same as above ...",
        "// ... same code",
        "... rest of code unchanged",
        "... rest of code // unchanged",
        "... existing ... // code",
        "/* ... rest unchanged */",
        "f(); // ... rest of the code",
    ] {
        for path in ["a.ts", "a.js", "a.graphql", "A.java"] {
            assert_eq!(of(path, "a\n", &format!("a\n  {elision}\n")), 1, "{path}: {elision}");
        }
    }
    for elision in
        ["# ... existing code ...\n# update it", "# ... rest of the code\nx = 1", "...existing code..."]
    {
        assert_eq!(of("a.py", "a\n", &format!("a\n{elision}\n")), 1, "{elision}");
    }
}

#[test]
fn a_note_in_brackets_replaces_lines() {
    let lines: String = (0..12).map(|n| format!("LABEL x{n}={n}\n")).collect();
    let before = format!("FROM a\n{lines}");
    let found = |path: &str, before: &str, after: &str| {
        findings(Accident::ElidedCode, path, Some(before), after).len()
    };
    let notes = [
        "[... 12 lines omitted ...]",
        "<... 12 lines truncated ...>",
        "<truncated>",
        "[omitted]",
        "[snipped]",
    ];
    for path in ["a.md", "a.txt", "a.sql", "a.xml", "Makefile", "Dockerfile", "a.html", "a.rb"] {
        for note in notes {
            let after = format!("FROM a\n{note}\n");
            assert_eq!(found(path, &before, &after), 1, "{path}: {note}");
            assert_eq!(found(path, "FROM a\n", &after), 0, "{path}: {note}, no line is lost");
            assert_eq!(found(path, &format!("{before}{note}\n"), &after), 0, "{path}: {note}, it was there");
        }
    }
    for (path, after) in [
        ("a.xml", "<r>\n<truncated>\nno\n</truncated>\n</r>\n"),
        ("a.xml", "<truncated>\nno\n</truncated>\n"),
        ("a.ini", "[omitted]\nx = 1\n"),
        ("a.toml", "[omitted]\n"),
        ("a.py", "[omitted]\n"),
        ("a.md", "[omitted]: https://a.b\n"),
        ("a.md", "# A\n\n```\n[... 12 lines omitted ...]\n```\n"),
        ("a.ts", "f({\n  ...other.above,\n});\n"),
        ("a.md", "A [truncated] word\n"),
    ] {
        assert_eq!(found(path, &before, after), 0, "{path}: {after}");
    }
}

#[test]
fn an_example_in_a_comment_may_be_abridged() {
    let lines: String = (0..8).map(|n| format!("x{n} = {n}\n")).collect();
    for (path, text, is_loss) in [
        ("a.rs", "/// let a = 1;\n/// // ... other fields ...\nfn f() {}\n", false),
        ("a.rs", "///     // ... rest of the code\nfn f() {}\n", false),
        ("a.go", "//\tfor {\n//\t\t... code to measure ...\n//\t}\n", true),
        ("a.go", "// ... other lengths ...\n//   goto end\n", true),
        ("a.c", "/* Use like this:\n   #if A\n   ... code of A ...\n   #endif */\n", true),
        ("a.c", "/*\n * ... other types ...\n */\n", true),
        ("A.java", "/**\n *   // ... other methods\n */\n", false),
        ("a.py", "# ...add other processing here, if\n# necessary...\n", true),
        ("a.sh", "# 	75 parent\n# ... remaining stack ...\n", true),
    ] {
        let found = |before: &str| findings(Accident::ElidedCode, path, Some(before), text).len();
        assert_eq!(found("x = 1\n"), 0, "{path}: {text}");
        assert_eq!(found(&lines) > 0, is_loss, "{path}: {text}, with lines lost");
    }
    // The control: the same words in a comment of their own.
    for (path, text) in [
        ("a.rs", "fn f() {\n    // ... other fields ...\n}\n"),
        ("a.go", "func f() {\n\t// ... code to measure ...\n}\n"),
        ("a.c", "int f() {\n  /* ... code of A ... */\n}\n"),
        ("a.py", "# ...add other processing here\nf()\n"),
    ] {
        assert_eq!(findings(Accident::ElidedCode, path, Some("x = 1\n"), text).len(), 1, "{path}: {text}");
    }
}

#[test]
fn a_line_that_loses_its_indentation_leaves_its_block() {
    let found = |path: &str, before: &str, after: &str| {
        let findings = findings(Accident::LostIndentation, path, Some(before), after);
        findings.into_iter().map(|finding| finding.line).collect::<Vec<_>>()
    };
    let none: [usize; 0] = [];
    let python = "def f(a):\n    b = a\n    c = b + 1\n\nd = 1\n";
    assert_eq!(found("a.py", python, "def f(a):\n    b = a\nc = b + 2\n\nd = 1\n"), [3]);
    let nested = "def f(a):\n    if a:\n        b = a\n        c = b + 1\n    return 1\n";
    assert_eq!(found("a.py", nested, &nested.replace("        c = b + 1", "    c = b + 2")), [4]);
    let after_block = "def f(a):\n    if a:\n        b = a\n    return b + 1\n";
    assert_eq!(found("a.py", after_block, &after_block.replace("    return b + 1", "return b + 2")), [4]);
    let alone = "def f(a):\n    return a + 1\n";
    assert_eq!(
        found("a.py", alone, &alone.replace("    return a", "return a * 2")),
        none,
        "the parser sees it"
    );
    let go = "func f() {\n\ta := 1\n\tb := a\n\tc := b\n}\n";
    assert_eq!(found("a.go", go, &go.replace("\tb := a", "b := a + 1")), [3]);
    let rust = "fn f() {\n    let a = 1;\n    let b = a;\n    g(b);\n}\n";
    assert_eq!(found("a.rs", rust, &rust.replace("    let b = a", "let b = a + 1")), [3]);
    // The same lines without a sign that they are intended.
    let c = "int f() {\n  a();\n  b();\n  c();\n}\n";
    assert_eq!(found("a.c", c, &c.replace("  b();", "b(1);")), [3]);
    let js = "x();\n    a();\n    b();\n    c();\n";
    assert_eq!(found("a.js", js, &js.replace("    b()", "  b(1)")), [3]);
    let returns = "def f():\n    if x:\n        a = 1\n        return a\n";
    assert_eq!(found("a.py", returns, &returns.replace("        return a", "    return a + 1")), [4]);
    let leaves = returns.replace("if x", "with x");
    assert_eq!(found("a.py", &leaves, &leaves.replace("        return a", "return a + 1")), [4]);
    // Intended edits.
    for (path, before, after, why) in [
        ("a.py", python, python.replace("    c = b", "c = b"), "nothing but the indentation is another"),
        ("a.py", python, python.replace("    c = b + 1", "    c = b + 2"), "it stays"),
        ("a.py", python, python.replace("    c = b + 1", "def g():\n    c = b"), "a new function"),
        ("a.py", python, python.replace("    c = b + 1", "print(f)"), "another statement"),
        (
            "a.py",
            nested,
            nested.replace("    if a:\n        b = a\n        c = b + 1\n", "    b = a\n    c = b + 2\n"),
            "the head is gone",
        ),
        ("a.py", "x = '''\n    a b\n    a c\n'''\n", "x = '''\n    a b\na d\n'''\n".to_owned(), "a string"),
        ("a.go", go, go.replace("\tc := b", "c := b + 1"), "at the end of a block"),
        (
            "a.c",
            "int f() {\n  a();\n  b(1);\n  c();\n}\n",
            "int f() {\n  a();\nb:\n  c();\n}\n".to_owned(),
            "a label",
        ),
        (
            "a.c",
            "int f() {\n  a();\n  b();\n  c();\n}\n",
            "int f() {\n  a();\nout: b();\n  c();\n}\n".to_owned(),
            "a label with its statement",
        ),
        (
            "a.js",
            "x\n    .a()\n    .b()\n    .c();\n",
            "x\n    .a()\n  .b(1)\n    .c();\n".to_owned(),
            "the calls of a chain",
        ),
        (
            "a.py",
            "def f():\n    with x:\n        a = 1\n        return a\n",
            "def f():\n    with x:\n        a = 1\n    return a + 1\n".to_owned(),
            "a return behind a `with`",
        ),
        ("a.yaml", "a:\n  b: 1\n  c: 1\n  d: 1\n", "a:\n  b: 1\nc: 2\n  d: 1\n".to_owned(), "no code"),
    ] {
        assert_eq!(found(path, before, &after), none, "{why}");
    }
}

#[test]
fn definitions_with_uses_are_reported_with_three_of_them() {
    let uses: Vec<(String, usize)> = (1..=5).map(|line| ("b.py".to_owned(), line)).collect();
    let used = |uses: &[(String, usize)]| LostDefinition {
        name: "A.one".to_owned(),
        line: 2,
        count: uses.len(),
        uses: uses.to_vec(),
    };
    let lost = Lost { used: vec![used(&uses), used(&uses[..1])], dropped: vec![used(&[]); 7] };
    let messages = |accident, lost: &Lost| {
        with_draft("a.py", Some("x = 1\ny = 2\n"), "x = 1\nz = 2\n", |draft| {
            let findings = rule(accident)(&TextPair::new(draft, lost));
            findings.into_iter().map(|finding| (finding.line, finding.message)).collect::<Vec<_>>()
        })
    };
    let [many, one] = messages(Accident::UsedDefinitions, &lost).try_into().unwrap();
    assert_eq!(many.0, 2);
    assert!(many.1.contains("5 uses of it remain: b.py:1, b.py:2, b.py:3 and 2 more;"), "{}", many.1);
    assert!(one.1.contains("1 use of it remains: b.py:1;"), "{}", one.1);
    let [dropped] = messages(Accident::DroppedDefinitions, &lost).try_into().unwrap();
    assert!(dropped.1.contains("drops 7 definitions of the old text: `A.one`, "), "{}", dropped.1);
    assert!(dropped.1.contains(" and 2 more; "), "{}", dropped.1);
    assert_eq!(messages(Accident::UsedDefinitions, Lost::none()), []);
    assert_eq!(messages(Accident::DroppedDefinitions, Lost::none()), []);
}

proptest! {
    #[test]
    fn any_edit_is_judged(
        before in "([-+@#.…“’\\\\nt<=>12:| \t\"'`~a-c\0é]{0,12}\n|```\n){0,12}",
        after in "([-+@#.…“’\\\\nt<=>12:| \t\"'`~a-c\0é]{0,12}\n|```\n){0,12}",
        path in "a\\.(py|rs|js|md|sh|yaml|go|c|txt|json|toml|java|ts|html|css|xml|vue)",
    ) {
        for old in [None, Some(before.as_str())] {
            let count = after.lines().count().max(1);
            with_draft(&path, old, &after, |draft| {
                for (accident, _) in Accident::ALL {
                    for finding in rule(accident)(&TextPair::new(draft, Lost::none())) {
                        prop_assert!(finding.line >= 1 && finding.line <= count && finding.column >= 1, "{accident:?} {finding:?}");
                    }
                }
                Ok(())
            })?;
        }
    }
}

#[test]
fn configurations_of_cspell_may_have_comments() {
    let language = |path: &str| language_of(path, None).map(|language| language.name.as_str());
    for path in ["cspell.json", ".cspell.json", "cspell.config.json", "a/.cspell.config.json"] {
        assert_eq!(language(path), Some("jsonc"), "{path}");
    }
    assert_eq!(language("aspell.config.json"), Some("json"));
}
