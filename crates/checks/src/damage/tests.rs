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

fn with_draft<T>(path: &str, before: Option<&str>, after: &str, judge: impl FnOnce(&Draft<'_>) -> T) -> T {
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

#[test]
fn a_text_of_nothing_but_accidents_is_read_in_linear_time() {
    let watch = Watch::idle();
    let slow = if cfg!(debug_assertions) { 20 } else { 1 };
    for seed in SEEDS {
        for path in ["a.py", "a.rs", "a.js", "a.md", "a.sh", "a.yaml", "a"] {
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
        before in "([-+@#.…“’\\\\nt<=>12:| \t\"'`a-c\0é]{0,12}\n){0,12}",
        after in "([-+@#.…“’\\\\nt<=>12:| \t\"'`a-c\0é]{0,12}\n){0,12}",
        path in "a\\.(py|rs|js|md|sh|yaml|go|c|txt|json|toml|java|ts|html|css)",
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

/// Valid texts that look like accidents: the name of each, its path, and the text before and after.
const VALID: &[(&str, &str, Option<&str>, &str)] = &[
    (
        "bash case bars",
        "a.sh",
        None,
        "case $x in\n  1|one) echo 1 ;;\n  2|two) echo 2 ;;\n  3|three) echo 3 ;;\nesac\n",
    ),
    (
        "rust ordinals",
        "a.rs",
        None,
        "fn s(d: u32) -> &'static str {\n    match d {\n        1 | 21 | 31 => \"st\",\n        2 | 22 => \"nd\",\n        3 | 23 => \"rd\",\n        _ => \"th\",\n    }\n}\n",
    ),
    ("ts union suffix", "a.ts", None, "type Level =\n  1 |\n  2 |\n  3;\n"),
    (
        "py list->dict",
        "a.py",
        Some("N = [\n    \"one fish\",\n    \"two fish\",\n    \"three fish\",\n]\n"),
        "N = {\n    1: \"one fish\",\n    2: \"two fish\",\n    3: \"three fish\",\n}\n",
    ),
    (
        "js array->obj",
        "a.js",
        Some("const n = [\n    \"one fish\",\n    \"two fish\",\n    \"three fish\",\n];\n"),
        "const n = {\n    1: \"one fish\",\n    2: \"two fish\",\n    3: \"three fish\",\n};\n",
    ),
    (
        "c block comment numbered",
        "a.c",
        None,
        "/*\n   Bits of the register:\n     1: enable\n     2: reset\n     3: mode\n     4: irq\n*/\nint a;\n",
    ),
    ("c block comment bar table", "a.c", None, "/*\n  1 | enable\n  2 | reset\n*/\nint a;\n"),
    (
        "rust doc block numbered",
        "a.rs",
        None,
        "/*\nSteps:\n1: parse\n2: check\n3: write\n4: done\n*/\nfn a() {}\n",
    ),
    (
        "md lines->numbered list",
        "a.md",
        Some("# T\n\nInstall the thing first\nRun the thing second\nStop the thing third\n"),
        "# T\n\n1. Install the thing first\n2. Run the thing second\n3. Stop the thing third\n",
    ),
    (
        "md lines->bullets",
        "a.md",
        Some("# T\n\nFast startup time\nSmall memory footprint\nNo dependencies at all\n"),
        "# T\n\n- Fast startup time\n- Small memory footprint\n- No dependencies at all\n",
    ),
    (
        "txt lines->bullets",
        "a.txt",
        Some("Fast startup time\nSmall memory footprint\n"),
        "- Fast startup time\n- Small memory footprint\n",
    ),
    (
        "txt lines->numbered",
        "a.txt",
        Some("Fast startup time\nSmall memory footprint\n"),
        "1. Fast startup time\n2. Small memory footprint\n",
    ),
    (
        "rst lines->bullets",
        "a.rst",
        Some("T\n=\n\nFast startup time\nSmall memory footprint\n"),
        "T\n=\n\n- Fast startup time\n- Small memory footprint\n",
    ),
    (
        "yaml block scalar->list",
        "a.yaml",
        Some("packages: |\n  build-essential\n  libssl-dev-abc\n"),
        "packages:\n- build-essential\n- libssl-dev-abc\n",
    ),
    (
        "yaml list items col0 from nested",
        "a.yaml",
        Some("a:\n  name: foo bar\n  value: baz qux\n"),
        "a:\n- name: foo bar\n- value: baz qux\n",
    ),
    (
        "yaml map->list",
        "a.yaml",
        Some("name: foobar\nimage: nginx-latest\n"),
        "- name: foobar\n- image: nginx-latest\n",
    ),
    (
        "makefile -include",
        "Makefile",
        Some("include config.mk\ninclude rules/local.mk\nall:\n\techo\n"),
        "-include config.mk\n-include rules/local.mk\nall:\n\techo\n",
    ),
    (
        "sql pg_dump copy",
        "a.sql",
        None,
        "CREATE TABLE t (id int, name text);\nCOPY t (id, name) FROM stdin;\n1\tAlice\n2\tBob\n3\tCarol\n\\.\n",
    ),
    ("mysql escape", "a.sql", None, "INSERT INTO t VALUES (1, 'it\\'s one\\nand two', 'x');\n"),
    ("mysql typographic", "a.sql", None, "INSERT INTO t VALUES (1, 'it\\'s “quoted”', 'x');\n"),
    (
        "pg dollar quote typo",
        "a.sql",
        None,
        "CREATE FUNCTION f() RETURNS text AS $$\nSELECT $x$it’s$x$;\n$$ LANGUAGE sql;\n",
    ),
    ("pg E string", "a.sql", None, "SELECT E'it\\'s\\n';\n"),
    (
        "html pre numbered",
        "a.html",
        None,
        "<!DOCTYPE html>\n<title>a</title>\n<pre>\n1: foo\n2: bar\n3: baz\n4: qux\n</pre>\n",
    ),
    (
        "html table text",
        "a.html",
        None,
        "<!DOCTYPE html>\n<title>a</title>\n<pre>\n 1 | foo\n 2 | bar\n</pre>\n",
    ),
    (
        "go map block comment",
        "a.go",
        None,
        "package a\n\nvar m = map[int]string{\n1: \"a\", /* one */\n2: \"b\", /* two */\n3: \"c\", /* three */\n4: \"d\", /* four */\n}\n",
    ),
    (
        "py dict multiline vals",
        "a.py",
        None,
        "D = {\n  1: \"a\" \"b\",\n  2: dict(\n    a=1),\n  3: \"c\",\n}\n",
    ),
    (
        "java switch old",
        "A.java",
        None,
        "class A { int f(int x) { switch (x) {\n case 1: return 1;\n case 2: return 2;\n } return 0; } }\n",
    ),
    ("py312 fstring", "a.py", None, "x = f\"{\"\\n\".join(lines)}\"\n"),
    ("py312 fstring single", "a.py", None, "x = f'{'\\n'.join(lines)}'\n"),
    ("py312 fstring tab", "a.py", None, "x = f\"a {\"\\t\".join(lines)} b\"\n"),
    ("py312 fstring typo", "a.py", None, "x = f\"{d[\"it’s\"]}\"\n"),
    ("cpp raw nl", "a.cpp", None, "const char* s = R\"(\nline \"a\\n\" b\nvalue\\nmore\n)\";\n"),
    ("cpp raw typo", "a.cpp", None, "const char* s = R\"html(\n<p>It’s “here”</p>\n)html\";\n"),
    (
        "cpp raw conflict",
        "a.cpp",
        None,
        "const char* s = R\"(\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n)\";\n",
    ),
    ("cpp raw numbered", "a.cpp", None, "const char* s = R\"(\n1: foo\n2: bar\n3: baz\n4: qux\n)\";\n"),
    ("cpp raw elided", "a.cpp", None, "const char* s = R\"(\n// ... rest of code unchanged\n)\";\n"),
    (
        "cpp raw plus",
        "a.cpp",
        None,
        "const char* s = R\"(\n--- a\n+++ b\n@@ -1,2 +1,2 @@\n-old\n+new\n)\";\n",
    ),
    ("cpp raw bracket", "a.cpp", None, "const char* s = R\"({ ( [)\";\nint a;\n"),
    ("rust nested comment typo", "a.rs", None, "/* outer /* inner */ it’s here */\nfn a() {}\n"),
    ("rust nested comment nl", "a.rs", None, "/* outer /* inner */ a\\nb */\nfn a() {}\n"),
    ("rust cr string", "a.rs", None, "fn a() { let x = cr#\"a\"b\\n\"#; }\n"),
    ("ruby regex", "a.rb", None, "text.gsub!(/\\n\\n\\n+/, \"\\n\\n\")\n"),
    ("perl subst", "a.pl", None, "$s =~ s/\\n\\n\\n+/\\n\\n/g;\n"),
    ("php preg", "a.php", None, "<?php\n$s = preg_replace('/\\n\\n\\n+/', \"\\n\\n\", $s);\n"),
    ("makefile printf", "Makefile", None, "help:\n\t@printf 'Usage:\\n  make build\\n  make test\\n'\n"),
    (
        "dockerfile echo",
        "Dockerfile",
        None,
        "FROM alpine\nRUN printf '#!/bin/sh\\n# start\\nFOO=1\\nexec foo\\n' > /x\n",
    ),
    ("cmake string", "CMakeLists.txt", None, "string(REGEX REPLACE \"\\n\\n\\n\" \"\\n\" a b)\n"),
    ("yaml single quoted", "a.yaml", None, "separators: ['\\n\\n\\n', '\\n\\n', '\\n']\n"),
    ("gitlab yaml printf", "a.yaml", None, "script:\n  - printf '[a]\\n[b]\\n[c]\\n' > f\n"),
    ("groovy", "a.groovy", None, "println 'Usage:\\n  a\\n  b\\n'\n"),
    ("lua", "a.lua", None, "print('Usage:\\n  a\\n  b\\n')\n"),
    ("kotlin regex", "a.kt", None, "val r = Regex(\"\"\"\\n\\n\\n\"\"\")\n"),
    ("csharp verbatim", "a.cs", None, "var r = new Regex(@\"\\n\\n\\n\");\n"),
    ("latex", "a.tex", None, "\\newcommand{\\R}{x}\\newline\\noindent A\\nLeftarrow\\nLeftarrow\n"),
    ("md latex", "a.md", None, "# T\n\n$a \\nRightarrow b \\nRightarrow c \\nRightarrow d$\n"),
    ("bash sed", "a.sh", None, "sed -e s/a/\\\\n/ -e s/b/\\\\n/ f\n"),
    ("bash ansi c", "a.sh", None, "x=$'it\\'s\\na\\nb'\necho $x\n"),
    ("go raw", "a.go", None, "package a\n\nvar x = `a\\n\\t\"\nb\\n`\n"),
    ("bash echo typo", "a.sh", None, "echo It’s done\n"),
    ("scss comment", "a.scss", None, "// it’s a comment\n.a { color: red; }\n"),
    ("less comment", "a.less", None, "// it’s a comment\n.a { color: red; }\n"),
    ("c error directive", "a.c", None, "#ifndef X\n#error You don’t have “X”\n#endif\n"),
    ("c if 0 text", "a.c", None, "#if 0\nThis isn't code, it’s prose (with a bracket\n#endif\nint a;\n"),
    ("jsx text", "a.jsx", None, "const a = <p>It’s “quoted”</p>;\n"),
    (
        "vue",
        "a.vue",
        None,
        "<template>\n  <p>It’s {{ a }}</p>\n</template>\n<script>\nexport default {}\n</script>\n",
    ),
    ("css quotes str", "a.css", None, "q::before { content: '“'; }\n"),
    ("toml typo", "a.toml", None, "a = '''\nit’s\n'''\n"),
    ("yaml typo", "a.yaml", None, "a: It’s “fine”\nb: |\n  Note: “quoted”\n"),
    ("py comment typo", "a.py", None, "# It’s\nx = 'It’s'\n"),
    ("java char", "A.java", None, "class A { char c = '’'; }\n"),
    ("swift", "a.swift", None, "let a = \"It’s\"\n"),
    (
        "c comment rest unchanged",
        "a.c",
        None,
        "#include <string.h>\nvoid f(char *d, char *s, int n) {\n    memcpy(d, s, n);\n    /* The rest of the buffer is unchanged. */\n}\n",
    ),
    (
        "py comment rest follows",
        "a.py",
        None,
        "def f(b):\n    n = b[0]\n    # The rest of the header follows\n    return b[1:]\n",
    ),
    ("py comment rest same", "a.py", None, "def f(b):\n    # the rest is the same\n    return b[1:]\n"),
    ("sql comment", "a.sql", None, "-- other columns are unchanged here\nSELECT 1;\n"),
    (
        "rust comment rest",
        "a.rs",
        None,
        "fn f() {\n    // The rest of the line is omitted\n    let a = 1;\n}\n",
    ),
    (
        "js comment",
        "a.js",
        None,
        "function f(a) {\n  // existing properties stay unchanged\n  return { ...a, b: 1 };\n}\n",
    ),
    (
        "js comment2",
        "a.js",
        None,
        "function f(a) {\n  // The rest of the state stays the same\n  return { ...a, b: 1 };\n}\n",
    ),
    (
        "js comment3",
        "a.js",
        None,
        "function f(a) {\n  return {\n    ...a, // ...existing fields\n    b: 1 };\n}\n",
    ),
    ("py omitted", "a.py", None, "def f(a):\n    # Contents omitted for brevity\n    return a.summary()\n"),
    ("go omitted", "a.go", None, "package a\n\n// File unchanged\nconst Same = 1\n"),
    (
        "c file truncated",
        "a.c",
        None,
        "enum e {\n    OK,\n    /* file truncated */\n    TRUNC,\n    /* body omitted */\n    NOBODY,\n};\n",
    ),
    (
        "ts enum docs",
        "a.ts",
        None,
        "export enum Status {\n  // file unchanged\n  Same,\n  // content truncated\n  Cut,\n}\n",
    ),
    ("css same", "a.css", None, "/* Rest is the same */\n.a { color: red; }\n"),
    ("jsx dots", "a.jsx", None, "const a = <p>{/* ...other props */}</p>;\n"),
    (
        "py ellipsis",
        "a.py",
        Some(
            "class P:\n    def a(self):\n        x = 1\n        y = 2\n        return x\n    def b(self):\n        x = 1\n        return 2\n",
        ),
        "class P:\n    def a(self): ...\n    def b(self): ...\n",
    ),
    (
        "md 4 tick fence",
        "a.md",
        None,
        "# T\n\n````markdown\n```sh\ngit merge\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n````\n",
    ),
    ("md fence conflict", "a.md", None, "# T\n\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n```\n"),
    ("rst conflict", "a.rst", None, "T\n=\n\n.. code-block::\n\n    <<<<<<< HEAD\n    a\n    =======\n"),
    (
        "bash 2 heredocs",
        "a.sh",
        None,
        "diff <(cat <<A\nx\nA\n) <(cat <<B\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\nB\n)\n",
    ),
    (
        "bash heredoc conflict dash",
        "a.sh",
        None,
        "cat <<'END-OF-FILE'\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\nEND-OF-FILE\n",
    ),
    (
        "js nested tmpl conflict",
        "a.js",
        None,
        "const a = `${x ? `y` : ''}\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n`;\n",
    ),
    ("py fstring conflict", "a.py", None, "a = \"\"\"\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n\"\"\"\n"),
    (
        "html pre conflict",
        "a.html",
        None,
        "<!DOCTYPE html>\n<title>a</title>\n<pre>\n&lt;&lt;\n=======\n&gt;\n</pre>\n",
    ),
    (
        "a comment on new code",
        "a.py",
        Some(SHRINKS),
        "def f(xs):\n    # remaining arguments\n    return [abs(x) for x in xs if x > 3 or x < 0]\n",
    ),
    (
        "another comment on new code",
        "a.py",
        Some(SHRINKS),
        "def f(xs):\n    # Other fields are unaffected\n    return [abs(x) for x in xs if x > 3 or x < 0]\n",
    ),
    (
        "a list in a docstring",
        "a.py",
        Some("def f():\n    \"\"\"Do it.\n\n    Parse the input file\n    Check every record\n    \"\"\"\n"),
        "def f():\n    \"\"\"Do it.\n\n    1. Parse the input file\n    2. Check every record\n    \"\"\"\n",
    ),
    ("a table in a comment", "a.js", None, "/*\n 1 | Alice\n 2 | Bob\n*/\nf();\n"),
    ("output in a comment", "a.js", None, "/* Output:\n1: a\n2: b\n3: c\n4: d\n*/\nf();\n"),
    ("a selector", "a.css", None, "a\n+ b\n+ c { color: red; }\n"),
    (
        "a list in a changelog",
        "CHANGELOG.md",
        Some("# Changelog\n\nAdded the thing to it\nFixed the other thing\n"),
        "# Changelog\n\n- Added the thing to it\n- Fixed the other thing\n- More\n",
    ),
];

/// A function that a refactoring makes shorter.
const SHRINKS: &str = "def f(xs):\n    out = []\n    for x in xs:\n        if x > 3:\n            y = x + 1\n            \
    out.append(y)\n        elif x < 0:\n            z = -x\n            out.append(z)\n    return out\n";

#[test]
fn valid_texts_are_no_accidents() {
    let rules = [
        Accident::LinePrefixes,
        Accident::ElidedCode,
        Accident::ConflictMarkers,
        Accident::TypographicQuotes,
        Accident::EscapedNewlines,
    ];
    let mut wrong = Vec::new();
    for (name, path, before, after) in VALID {
        for rule in rules {
            wrong.extend(
                findings(rule, path, *before, after)
                    .into_iter()
                    .map(|found| format!("{name}: {}", found.message)),
            );
        }
    }
    // The control: the same comment in place of the code.
    let elided = "def f(xs):\n    out = []\n    # Other cases are unchanged\n    return out\n";
    assert_eq!(findings(Accident::ElidedCode, "a.py", Some(SHRINKS), elided).len(), 1);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), VALID.len(), wrong.join("\n"));
}

/// The controls of the exceptions for valid code: where the grammar has a template, a text or a macro, accidents are found.
#[test]
fn accidents_next_to_literals_are_found() {
    let conflict = "<<<<<<< HEAD\n  a();\n=======\n  b();\n>>>>>>> x\n";
    let in_template = |body: &str| format!("template <class T>\nvoid f(T a) {{\n{body}}}\n");
    let template = in_template("    a.g(1);\n    a.h(2);\n    a.i(3);\n    a.j(4);\n    a.k(5);\n");
    for (rule, path, before, after) in [
        (Accident::TypographicQuotes, "a.cpp", None, in_template("    a.g(“x”);\n")),
        (Accident::EscapedNewlines, "a.cpp", None, in_template("    int x = 1;\\n    int y;\n")),
        (Accident::ConflictMarkers, "a.cpp", None, in_template(conflict)),
        (Accident::LinePrefixes, "a.cpp", None, in_template("+    int x = 1;\n+    int y = 2;\n")),
        (
            Accident::ElidedCode,
            "a.cpp",
            Some(template.as_str()),
            in_template("    // The rest of the function is unchanged\n"),
        ),
        (Accident::ConflictMarkers, "a.html", None, format!("<script>\n{conflict}</script>\n")),
        (Accident::ConflictMarkers, "a.sh", None, format!("f() {{\n{conflict}}}\n")),
        (
            Accident::LinePrefixes,
            "a.tsx",
            None,
            "const a = (\n  <div>\n+    <p>New</p>\n+    <p>More</p>\n  </div>\n);\n".to_owned(),
        ),
        (Accident::LinePrefixes, "a.yaml", None, "a: 1\n+b: 2\n+c: 3\n".to_owned()),
        (Accident::TypographicQuotes, "a.c", None, "#define A “abc”\n".to_owned()),
        (Accident::EscapedNewlines, "a.c", None, "#define B 1\\n#define C 2\n".to_owned()),
    ] {
        assert_ne!(findings(rule, path, before, &after).len(), 0, "{rule:?} {path}: {after}");
    }
}

/// Quotes at the start of a long line, and none behind them.
#[test]
fn quotes_of_a_long_line_are_paired_in_linear_time() {
    let time = |length: usize| {
        let text = format!("{}\\n{}\n", "\"".repeat(length | 1), "a".repeat(length));
        let before = processor_time();
        findings(Accident::EscapedNewlines, "a.txt", None, &text);
        processor_time().saturating_sub(before)
    };
    let (short, long) = (time(1 << 16), time(1 << 20));
    assert!(long < short * 64 + Duration::from_millis(200), "{short:?} and {long:?}");
}
