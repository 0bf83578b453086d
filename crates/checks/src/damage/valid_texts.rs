//! Tests with valid texts that look like accidents, and with the accidents next to them.

use std::time::Duration;

use super::tests::findings;
use lockgate_policy::Accident;
use lockgate_sandbox::processor_time;

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
    ("xml text", "a.xml", None, "<r>\n<s name=\"a\">Don’t do it</s>\n<t>x =“y”</t>\n</r>\n"),
    ("xml attribute", "a.xml", None, "<r a=\"it’s\" b='“c”'>\n  d\n</r>\n"),
    ("svg text", "a.svg", None, "<svg><text>It’s</text></svg>\n"),
    ("plist", "a.plist", None, "<plist><dict>\n<key>a</key>\n<string>It’s “b”</string>\n</dict></plist>\n"),
    ("xml cdata", "a.xml", None, "<r><![CDATA[\nit’s a = “b”\n]]></r>\n"),
    ("xml text of lines", "a.xml", None, "<r>\n  It’s a text\n  “of lines”\n</r>\n"),
    ("xml comment", "a.xml", None, "<r>\n<!-- <a b=“c”/> -->\n</r>\n"),
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
        (Accident::TypographicQuotes, "a.xml", None, "<r a=“b”/>\n".to_owned()),
        (Accident::TypographicQuotes, "a.xml", None, "<r a=\"b > c\"\n   d = ‘e’>it’s</r>\n".to_owned()),
        (Accident::TypographicQuotes, "a.xml", None, "<?xml version=“1.0”?>\n<r/>\n".to_owned()),
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
