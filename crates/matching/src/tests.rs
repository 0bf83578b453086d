//! The results of search texts, level by level.

use super::*;
use lockgate_text::Buffer;
use lockgate_text::Hints;

const PEN: MatchTolerance =
    MatchTolerance::Similar { threshold: MatchTolerance::THRESHOLD, typos: TypoPolicy::Certain };

fn located(file: &str, search: &str, replace: &str, tolerance: MatchTolerance) -> (Located, Buffer) {
    located_in("python", file, search, replace, tolerance)
}

fn located_in(
    language: &str,
    file: &str,
    search: &str,
    replace: &str,
    tolerance: MatchTolerance,
) -> (Located, Buffer) {
    let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
    let path = format!("a.{language}");
    let range = LineRange::new(&buffer, 1, buffer.lines().count()).with_language(
        Some(language),
        &path,
        &lockgate_syntax::Grammars,
    );
    let search_text = SearchText { search, replace, on_duplicate: OnDuplicate::Reject };
    let outline = || lockgate_syntax::outline(language, &path, buffer.view());
    (locate(search_text, range, tolerance, &outline), buffer)
}

/// Returns the level at which an edit matched, and the resulting text.
fn made(file: &str, search: &str, replace: &str) -> (MatchLevel, String) {
    match located(file, search, replace, PEN) {
        (Located::One(found), buffer) => {
            let plan = buffer.plan(found.changes).unwrap();
            let bytes = buffer.apply(&plan).unwrap().bytes().to_vec();
            (found.match_info.level, String::from_utf8(bytes).unwrap())
        }
        (other, _) => panic!("{other:?}\nfor {search:?}\nin {file:?}"),
    }
}

fn refused(file: &str, search: &str, replace: &str) -> Located {
    match located(file, search, replace, PEN).0 {
        Located::One(found) => panic!("{found:?}\nfor {search:?}\nin {file:?}"),
        other => other,
    }
}

fn is_nowhere(located: &Located) -> bool {
    matches!(located, Located::NotFound { .. })
}

#[test]
fn lines_with_words_at_the_edge_of_a_quote_are_removed() {
    for (file, search, replace, after) in [
        (
            "class A:\n    @dec\n    def f(self):\n        return 1\n",
            "@dec\n    def f(self):\n        return 1\n",
            "    def f(self):\n        return 1\n",
            "class A:\n    def f(self):\n        return 1\n",
        ),
        (
            "def f():\n    # old\n    x = 1\n    y = 2\n",
            "# old\n    x = 1\n    y = 2\n",
            "    x = 1\n    y = 2\n",
            "def f():\n    x = 1\n    y = 2\n",
        ),
        (
            "    a(1)\n    b(1)\n  # old\n",
            "    a(1)\n    b(1)\n    # old\n",
            "    a(1)\n    b(1)\n",
            "    a(1)\n    b(1)\n",
        ),
    ] {
        assert_eq!(made(file, search, replace).1, after, "{search:?}");
    }
}

#[test]
fn space() {
    assert_eq!(made("a  \n\nb\n", "a\nb", "a\nc"), (MatchLevel::Space, "a  \n\nc\n".into()));
    assert_eq!(made("a\nb\n", "a\n\nb\n", "a\n\nb\nc\n"), (MatchLevel::Space, "a\nb\nc\n".into()));
    assert_eq!(made("a\n\n\nb\n", "a\n\nb\n", "a\nb\n"), (MatchLevel::Space, "a\nb\n".into()));
}

#[test]
fn indent() {
    let file = "def f():\n    if a:\n        b()\n";
    let after = "def f():\n    if a:\n        b()\n        c()\n";
    assert_eq!(
        made(file, "if a:\n    b()\n", "if a:\n    b()\n    c()\n"),
        (MatchLevel::Indent, after.into())
    );
    assert_eq!(made(file, "if a:\n\tb()\n", "if a:\n\tb()\n\tc()\n"), (MatchLevel::Indent, after.into()));
    assert_eq!(made(file, "if a:\n  b()\n", "if a:\n  b()\n  c()\n"), (MatchLevel::Indent, after.into()));
}

#[test]
fn a_block_quoted_without_its_first_indentation() {
    let file = "    if a:\n        b()\n        d()\n";
    let (level, text) = made(file, "if a:\n        b()\n", "if a:\n        b()\n        c()\n");
    assert_eq!(
        (level, text.as_str()),
        (MatchLevel::Indent, "    if a:\n        b()\n        c()\n        d()\n")
    );
}

#[test]
fn a_replacement_indented_like_the_file_is_not_indented_again() {
    let file = "def f():\n    if a:\n        b()\n        c()\n";
    let after = "def f():\n    if a:\n        b()\n        d()\n        c()\n";
    let replace = "    if a:\n        b()\n        d()\n        c()\n";
    for search in [
        "if a:\n    b()\n    c()\n",
        "if a:\nb()\nc()\n",
        "\tif a:\n\t\tb()\n\t\tc()\n",
        "      if a:\n          b()\n          c()\n",
        "```\n  if a:\n      b()\n      c()\n```\n",
    ] {
        assert_eq!(made(file, search, replace).1, after, "{search:?}");
    }
    assert_eq!(made("  a = 1\nb\n", "a = 1", "  a = 2").1, "  a = 2\nb\n");
    assert_eq!(made("  a = 1\nb\n", "a = 1", "  if b:\n    a = 1").1, "  if b:\n    a = 1\nb\n");
    // These replacements indent the quoted lines.
    let (level, text) = made(file, "b()\nc()\n", "for x in y:\n    b()\n    c()\n");
    let within = "def f():\n    if a:\n        for x in y:\n            b()\n            c()\n";
    assert_eq!((level, text.as_str()), (MatchLevel::Indent, within));
    assert_eq!(made("  a\n  b\n", "a\nb\n", "  a\n  b\n").1, "    a\n    b\n");
}

#[test]
fn blank_lines_between_all_quoted_lines_are_not_written() {
    let (file, search) = ("a\nb\nc\n", "a\n\nb\n\nc\n");
    assert_eq!(made(file, search, "a\n\nx\n\nb\n\nc\n").1, "a\nx\nb\nc\n");
    assert_eq!(made(file, search, "a\n\nx\n\n\nb\n\nc\n").1, "a\nx\n\n\nb\nc\n", "more than quoted");
    assert_eq!(made(file, "a\n\nb\nc\n", "a\n\nx\n\nb\nc\n").1, "a\n\nx\nb\nc\n", "one gap only");
}

#[test]
fn trailing_blanks_of_the_quote_are_not_written() {
    assert_eq!(made("a\nb\n", "a \nb \n", "a \nc \nb \n"), (MatchLevel::Space, "a\nc\nb\n".into()));
    assert_eq!(made("a\nb\n", "a \nb\n", "a \nc  \nb\n").1, "a\nc  \nb\n", "no quoted line has these");
}

#[test]
fn loose_lines_are_changed_but_not_indented_anew() {
    let file = "  a = 1\n      b = 2\n c = 3\n";
    assert_eq!(
        made(file, " a = 1\nb = 2\nc = 3\n", " a = 1\nb = 4\nc = 3\n").1,
        "  a = 1\n      b = 4\n c = 3\n"
    );
    let anew = refused(file, " a = 1\nb = 2\nc = 3\n", " a = 1\n  b = 2\nc = 3\n");
    assert!(matches!(anew, Located::Conflict(_)), "{anew:?}");
}

#[test]
fn marks() {
    let file = "say(\u{201c}it\u{2019}s 1\u{201d})\nnext()\n";
    assert_eq!(
        made(file, "say(\"it's 1\")\nnext()\n", "say(\"it's 2\")\nnext()\n"),
        (MatchLevel::Marks, "say(\u{201c}it\u{2019}s 2\u{201d})\nnext()\n".into())
    );
    assert_eq!(made("a < b && c\n", "a &lt; b", "a &lt;= b").1, "a <= b && c\n");
}

#[test]
fn strings_that_were_quoted_anew() {
    assert_eq!(
        made("x = f(\"a\")\ny = 1\n", "x = f('a')\ny = 1\n", "x = f('a', 'b')\ny = 1\n"),
        (MatchLevel::Marks, "x = f(\"a\", \"b\")\ny = 1\n".into())
    );
    let mixed = refused("x = f(\"a\")\ny = 1\n", "x = f('a')\ny = 1\n", "x = f('a')  # don't\ny = 1\n");
    assert!(matches!(mixed, Located::Conflict(_)), "{mixed:?}");
}

#[test]
fn a_line_may_have_the_quotes_of_the_file_already() {
    for (file, search, replace, after) in [
        ("check('a');\n", "check(\"a\");", "check('a', 'b');", "check('a', 'b');\n"),
        ("x = 'one'\n", "x = \"one\"", "x = None  # the users' list", "x = None  # the users' list\n"),
    ] {
        assert_eq!(made(file, search, replace), (MatchLevel::Marks, after.into()), "{file}");
    }
    assert_eq!(refused("check('a');\n", "check(\"a\");", "check('a');"), Located::Unchanged);
}

#[test]
fn rows_of_a_diff() {
    let file = "function f(x) {\n  g(x);\n  h();\n}\n";
    for (search, replace, after) in [
        ("2-   g(x);", "2+   g(x, 1);", "function f(x) {\n  g(x, 1);\n  h();\n}\n"),
        ("2-   g(x);\n3-   h();", "2+   k();", "function f(x) {\n  k();\n}\n"),
        (
            "2-   g(x);\n3-   h();\n",
            "2-   g(x);\n3-   i();\n4-   h();\n",
            "function f(x) {\n  g(x);\n  i();\n  h();\n}\n",
        ),
        ("2+   g(x);", "2-   g(y);", "function f(x) {\n  g(y);\n  h();\n}\n"),
        ("2+   g(x);\n3+   h();", "  h();", "function f(x) {\n  h();\n}\n"),
        ("2:   g(x);\n3-   h();", "2+   k();\n3+   h();", "function f(x) {\n  k();\n  h();\n}\n"),
    ] {
        assert_eq!(made(file, search, replace), (MatchLevel::Wrapping, after.into()), "{search:?}");
    }
    // The lines are elsewhere, are indented in another way, or the rows may be text.
    for (search, replace) in [
        ("3-   g(x);", "3+   g(x, 1);"),
        ("2- g(x);", "2+ g(x, 1);"),
        ("3+   g(x);\n4+   h();", "  h();"),
        ("2-   g(x);", "2-   g(x);\n2+   g(x, 1);"),
        ("2:   g(x);", "2+   g(x, 1);"),
        ("2-   g(x);\n3-   h();", "  k();"),
    ] {
        assert!(is_nowhere(&refused(file, search, replace)), "{search:?}");
    }
}

#[test]
fn rows_that_are_text_stay() {
    for (file, search, replace, after) in [
        ("Jobs\n\n3+ years\n", "3+ years", "5+ years", "Jobs\n\n5+ years\n"),
        ("Jobs\nnone\n", "none", "2+ years", "Jobs\n2+ years\n"),
        ("Jobs\nnone\n", "2- none", "10+ years", "Jobs\n10+ years\n"),
        ("Jobs\n3+ years\n", "2- 3+ years", "4+ years", "Jobs\n4+ years\n"),
        ("a\n2+ years\n", "2\t2+ years", "2\t1+ years", "a\n1+ years\n"),
        ("years\n1+ years\n", "2: 1+ years", "0+ years", "years\n0+ years\n"),
        ("1- one\n2- two\n", "1- one\n2- two\n", "1+ one\n2+ two\n", "1+ one\n2+ two\n"),
        ("steps:\n  1- one\n  2- two\n", "1- one\n2- two", "1- one\n2+ two", "steps:\n  1- one\n  2+ two\n"),
        ("a: 10- 20\n", "10- 20", "1+ 20", "a: 1+ 20\n"),
        ("id\tname\n2- b\tc\n", "2- b\tc", "2+ b\td", "id\tname\n2+ b\td\n"),
    ] {
        assert_eq!(made(file, search, replace).1, after, "{search:?}");
    }
    // In a file whose own lines begin so, nothing tells the rows of a diff.
    for (search, replace) in [("2- none", "2+ years"), ("2+ none", "some"), ("1- Jobs\n2- none", "1- None")] {
        assert!(is_nowhere(&refused("Jobs\nnone\n  3+ years\n", search, replace)), "{search:?}");
        assert_eq!(made("Jobs\nnone\n3 + years\n", search, replace).0, MatchLevel::Wrapping, "{search:?}");
    }
}

#[test]
fn wrapping() {
    let file = "one\n  two\nthree\n";
    for (search, replace) in [
        ("```\none\n  two\n```\n", "```\none\n  2\n```\n"),
        ("1: one\n2:   two\n", "1: one\n2:   2\n"),
        ("one\n  two\n", "one\n  2\n"),
        (" one\n-  two\n", " one\n+  2\n"),
        ("a.txt:1:one\na.txt:2:  two\n", "one\n  2\n"),
        ("one\\n  two", "one\\n  2"),
    ] {
        assert_eq!(made(file, search, replace).1, "one\n  2\nthree\n", "{search:?}");
    }
}

#[test]
fn a_single_numbered_line_is_at_its_number() {
    assert_eq!(made("x\ny\nx\n", "3: x", "3: z").1, "x\ny\nz\n");
    assert!(is_nowhere(&refused("x\ny\n", "2: x", "2: z")));
}

#[test]
fn elided_middles() {
    let file = "def f():\n    a = 1\n    b = 2\n    c = 3\n    return a\n";
    let after = "def f():\n    a = 1\n    b = 2\n    c = 3\n    return b\n";
    assert_eq!(made(file, "def f():\n    ...\n    return a\n", "def f():\n    ...\n    return b\n").1, after);
    let twice = format!("{file}{file}");
    let many = refused(&twice, "def f():\n    ...\n    return a\n", "def f():\n    ...\n    return b\n");
    assert!(matches!(many, Located::Ambiguous { .. }), "{many:?}");
    let outside = "def f():\n    a = 1\n\ndef g():\n    return a\n";
    assert!(is_nowhere(&refused(
        outside,
        "def f():\n    # ...\n    return a\n",
        "def f():\n    # ...\n    return b\n"
    )));
}

#[test]
fn elided_lines_do_not_open_another_block() {
    let file = "def f():\n    q = 1\n    b = 2\n    return a\n\ndef g():\n    c = 3\n    return b\n";
    for first in ["    q = 1\n", "    q = 1\n    b = 2\n"] {
        let quote = |last: &str| format!("{first}    ...\n    return {last}\n");
        assert!(is_nowhere(&refused(file, &quote("b"), &quote("c"))), "{first}");
        assert_eq!(made(file, &quote("a"), &quote("c")).1, file.replace("return a", "return c"));
    }
    let file = "try {\n  x();\n} catch (e) {\n  y();\n}\n";
    let (search, replace) = ("  x();\n  // ...\n  y();\n", "  x();\n  // ...\n  z();\n");
    assert_eq!(made(file, search, replace).1, file.replace("y()", "z()"));
}

#[test]
fn elided_lines_may_have_what_only_looks_like_another_section() {
    for (language, file, search) in [
        (
            "markdown",
            "## Setup\nRun it.\n```sh\n# install\nmake\n```\n#tag\nDone.\n",
            "## Setup\n...\nDone.\n",
        ),
        ("sql", "BEGIN\n  a := 1;\n  b := 2;\n  RETURN b;\n", "BEGIN\n...\n  RETURN b;\n"),
        ("json", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", "{\n  \"a\": 1,\n  ...\n  \"c\": 3\n"),
        (
            "go",
            "func f() {\n\tswitch a {\n\tcase 1:\n\t\ty()\n\tdefault:\n\t\tz()\n\t}\n}\n",
            "\tswitch a {\n\t// ...\n\tdefault:\n\t\tz()\n",
        ),
        (
            "c",
            "int f(int a)\n{\n\tif (a)\n\t\tgoto out;\nout:\n\treturn r;\n}\n",
            "int f(int a)\n{\n\t...\n\treturn r;\n",
        ),
        (
            "c",
            "int f(void)\n{\n\ta();\n#ifdef X\n\tb();\n#else\n\tc();\n#endif\n\treturn r;\n}\n",
            "int f(void)\n{\n\t...\n\treturn r;\n",
        ),
        (
            "c",
            "{\n\ta();\n#ifdef X\n\tb();\n\td();\n#else\n\tc();\n#endif\n\treturn r;\n}\n",
            "\ta();\n#ifdef X\n\tb();\n\t...\n\treturn r;\n",
        ),
        ("c", "#define A 1\n#define B 2\n#define C x\n", "#define A 1\n...\n#define C x\n"),
        (
            "c",
            "#define A(x) \\\n\tone(x); \\\n\ttwo(x); \\\n\tlast(x)\n",
            "#define A(x) \\\n...\n\tlast(x)\n",
        ),
        ("go", "// One\n// two.\nfunc f() {\n\tif a {\n\t\tb()\n\t}\n}\n", "// One\n// ...\n\t\tb()\n"),
        (
            "python",
            "try:\n    a()\nexcept E:\n    b()\nfinally:\n    d()\n",
            "try:\n    ...\nfinally:\n    d()\n",
        ),
        (
            "csharp",
            "class T {\n    int first;\n    [Fact]\n    void F() {}\n    int last;\n}\n",
            "class T {\n...\n    int last;\n",
        ),
        (
            "python",
            "def f(\n    a,\n) -> int:\n    x = a\n# why\n    if x:\n        y()\n    return x\n",
            "def f(\n...\n    return x\n",
        ),
    ] {
        let last = search.lines().last().unwrap();
        let replace = search.replace(last, &last.to_uppercase());
        let (found, _) = located_in(language, file, search, &replace, MatchTolerance::Wrapping);
        assert!(matches!(found, Located::One(_)), "{language}: {found:?}");
    }
}

#[test]
fn a_wrapped_quote_with_a_place_is_not_taken_for_an_edit_that_was_made_elsewhere() {
    let file = "function a() {\n    return null;\n}\nfunction b() {\n    return nil;\n}\n";
    let after = file.replace("nil", "null");
    for quote in ["5:     return nil;\n", "```js\n    return nil;\n```\n"] {
        let replace = quote.replace("nil", "null");
        assert_eq!(made(file, quote, &replace).1, after, "{quote}");
        let again = refused(&after, quote, &replace);
        assert!(!matches!(again, Located::One(_)), "{again:?}");
    }
}

#[test]
fn a_replacement_with_its_own_indentation_instead_of_the_search_is_already_applied() {
    let is_applied = |file: &str, search: &str, replace: &str| {
        matches!(located(file, search, replace, PEN).0, Located::AlreadyApplied { .. })
    };
    for (file, search, replace) in [
        ("if a:\n        b(1)\n", "    b(1)\n", "        b(1)\n"),
        ("    a(1)\n    }\n}\n", "    a(1)\n    }\n    }\n", "    a(1)\n    }\n"),
        ("{\n    {\n    a(1)\n", "    {\n    {\n    a(1)\n", "    {\n    a(1)\n"),
        // The whole quote is shifted.
        ("    a(1) {\n        }\n}\n", "  a(1) {\n      }\n      }\n", "  a(1) {\n      }\n"),
        ("    if (a > b) {\n    }\n}\n", "    if (a &gt; b) {\n    }\n    }\n", "    if (a > b) {\n    }\n"),
    ] {
        assert!(is_applied(file, search, replace), "{file:?}");
    }
    for (file, search, replace) in [
        // The quote shows no indentation.
        ("    a(1)\n        b(1)\n", "a(1)\nb(1)\n", "a(1)\n"),
        ("    a(1)\n", "a(1)\n", "    a(1)\n"),
        // One rule maps the indentation.
        ("    a(1)\n        b(1)\n", "  a(1)\n      b(1)\n", "  a(1)\n"),
        // Another block with another indentation may have been edited before.
        ("  a(1)\n  c(22222)\n    a(1)\n    b(22222)\n", "  a(1)\n  b(22222)\n", "  a(1)\n  c(22222)\n"),
        ("  return None\n    return value\n", "  return value\n", "  return None\n"),
        // The edit adds or removes a blank line.
        ("    a(1)\n    b(1)\n", "  a(1)\n  b(1)\n", "    a(1)\n\n    b(1)\n"),
        ("    a(1)\n\n    b(1)\n", "  a(1)\n\n  b(1)\n", "    a(1)\n    b(1)\n"),
    ] {
        made(file, search, replace);
    }
}

#[test]
fn what_follows_each_match_already_is_not_added_to_each_again() {
    let every = |file: &str| {
        let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
        let search_text = SearchText {
            search: "    foo()\n",
            replace: "    foo()\n    bar()\n",
            on_duplicate: OnDuplicate::Reject,
        };
        locate_every(search_text, LineRange::new(&buffer, 1, usize::MAX)).map(|found| found.len())
    };
    let once = "    foo()\n    bar()\nx\n    foo()\n    bar()\n";
    assert_eq!(every(once), Err(Located::AlreadyApplied { line: 1 }));
    assert_eq!(every("    foo()\n    bar()\nx\n    foo()\n"), Ok(2));
    // Each match at its own depth.
    let deeper =
        Buffer::read(b"    foo()\n    bar()\nx\n  foo()\n  bar()\n".to_vec(), Hints::default()).unwrap();
    let search_text =
        SearchText { search: "foo()\n", replace: "foo()\nbar()\n", on_duplicate: OnDuplicate::Reject };
    let again = locate_every(search_text, LineRange::new(&deeper, 1, usize::MAX));
    assert_eq!(again.map(|found| found.len()), Err(Located::AlreadyApplied { line: 1 }));
}

#[test]
fn elided_lines_of_another_function_section_or_statement() {
    for (language, file, head, other, own) in [
        (
            "c",
            "int f(void)\n{\n\tint a = 0;\n\treturn sum(a);\n}\n\nint g(void)\n{\n\tint b = 0;\n\treturn total(b);\n}\n",
            "int f(void)\n{\n",
            "\treturn total(b);\n",
            "\treturn sum(a);\n",
        ),
        (
            "rust",
            "/// One.\nfn f() {\n    let a = 1;\n    one(a)\n}\n\n/// Two.\nfn g() {\n    let b = 2;\n    two(b)\n}\n",
            "/// One.\nfn f() {\n",
            "    two(b)\n",
            "    one(a)\n",
        ),
        (
            "python",
            "class A:\n    def f(self):\n        a = 1\n        return a\n\n    def g(self):\n        b = 2\n        return b\n",
            "class A:\n    def f(self):\n",
            "        return b\n",
            "        return a\n",
        ),
        (
            "toml",
            "[a]\nname = 1\nsize = 2\n\n[b]\nkind = 3\nother = 4\n",
            "[a]\n",
            "other = 4\n",
            "size = 2\n",
        ),
        (
            "markdown",
            "## Install\nRun it.\n### Twice\nAgain.\n\n## Usage\nRead it.\nWrite it.\n",
            "## Install\n",
            "Write it.\n",
            "Again.\n",
        ),
        (
            "html",
            "<ul id=\"a\">\n  <li>1</li>\n  <li>2</li>\n</ul>\n<ul id=\"b\">\n  <li>3</li>\n  <li>4</li>\n</ul>\n",
            "<ul id=\"a\">\n",
            "  <li>4</li>\n</ul>\n",
            "  <li>2</li>\n</ul>\n",
        ),
        (
            "sql",
            "SELECT a\nFROM one\nWHERE a = 1;\n\nSELECT b\nFROM two\nWHERE b = 2;\n",
            "SELECT a\n",
            "WHERE b = 2;\n",
            "WHERE a = 1;\n",
        ),
        (
            "go",
            "// One\n// two.\nfunc f() {\n\ta(1)\n}\n\nfunc g() {\n\tb(2)\n}\n",
            "// One\n",
            "\tb(2)\n",
            "\ta(1)\n",
        ),
        ("yaml", "kind: A\nimage: a\n---\nkind: B\nname: c\n", "kind: A\n", "name: c\n", "image: a\n"),
        ("markdown", "A\n===\nOne.\nTwo.\n\nB\n===\nLast.\n", "A\n===\n", "Last.\n", "Two.\n"),
        (
            "typescript",
            "let a = 1;\nlet b = 2;\nfunction f() {\n  two(b);\n}\n",
            "let a = 1;\n",
            "  two(b);\n",
            "let b = 2;\n",
        ),
        (
            "yaml",
            "steps:\n- run: a\n- run: b\nother:\n- run: c\n- run: d\n",
            "steps:\n",
            "- run: d\n",
            "- run: b\n",
        ),
        (
            "c",
            "#define A(x) \\\n\tone(x); \\\n\tadd(x, 1)\n#define B(x) \\\n\ttwo(x); \\\n\tadd(x, 2)\n",
            "#define A(x) \\\n",
            "\tadd(x, 2)\n",
            "\tadd(x, 1)\n",
        ),
        (
            "c",
            "#if A\nint one;\nint x;\nint y = 1;\n#endif\n#if B\nint z = 2;\n#endif\n",
            "int one;\n",
            "int z = 2;\n",
            "int y = 1;\n",
        ),
        (
            "c",
            "# if A\nint one;\nint x;\nint y = 1;\n# endif\n# if B\nint z = 2;\n# endif\n",
            "# if A\nint one;\n",
            "int z = 2;\n",
            "int y = 1;\n",
        ),
        (
            "text",
            "[a]\nname = 1\nkey = 0\nsize = 2\n\n[b]\nkind = 3\nother = 4\n",
            "name = 1\n",
            "other = 4\n",
            "size = 2\n",
        ),
    ] {
        let edit = |last: &str| {
            let search = format!("{head}...\n{last}");
            let replace = format!(
                "{head}...\n{}",
                last.replacen(['1', '2', '3', '4', 'a', 'b', 'c', 'd', '.'], "9", 1)
            );
            located_in(language, file, &search, &replace, MatchTolerance::Wrapping).0
        };
        assert!(is_nowhere(&edit(other)), "{language}: {:?}", edit(other));
        assert!(matches!(edit(own), Located::One(_)), "{language}: {:?}", edit(own));
    }
}

/// Somebody inserted a line above the quoted one.
#[test]
fn a_mark_that_is_a_line_of_the_file_represents_no_others() {
    let file = "on(a, function () {\n  inserted()\n  // ...\n})\n";
    let (search, replace) =
        ("on(a, function () {\n  // ...\n})\n", "on(a, function () {\n  new()\n  // ...\n})\n");
    assert!(is_nowhere(&refused(file, search, replace)));
    // The control: without that line, the mark represents the others.
    let elided = file.replace("  // ...\n", "  last()\n");
    assert_eq!(made(&elided, search, replace).1, elided.replace("  inserted()", "  new()\n  inserted()"));
}

#[test]
fn one_line_away() {
    let file = "first_line(1)\nsecond_line(2)\nthird_line(3)\nfourth_line(4)\nfifth_line(5)\nsixth_line(6)\nx()\n\
        seventh_line(7)\neighth_line(8)\n";
    let search = file.replace("x()\n", "");
    let (level, text) = made(file, &search, &search.replace("second_line(2)", "second_line(0)"));
    assert_eq!((level, text), (MatchLevel::Similar, file.replace("second_line(2)", "second_line(0)")));
    let gap = refused(file, &search, &search.replace("sixth_line(6)\n", "sixth_line(6)\nnew()\n"));
    assert!(matches!(gap, Located::Conflict(_)), "{gap:?}");
    let typo = file.replace("third", "thrid");
    let (level, text) = made(file, &typo, &typo.replace("second_line(2)", "second_line(0)"));
    assert_eq!((level, text), (MatchLevel::Similar, file.replace("second_line(2)", "second_line(0)")));
}

#[test]
fn another_line_is_another_block() {
    let file = "first_line(1)\nsecond_line(2)\nthird_line(3)\nfourth_line(4)\nfifth_line(5)\nsixth_line(6)\n";
    for (actual, quoted) in [
        ("third_line(3)", "third_line(9)"),
        ("third_line(3)", "third_row(3)"),
        ("first_line(1)", "first_line(7)"),
        ("third_line(3)\n", ""),
    ] {
        let search = file.replace(actual, quoted);
        let located = refused(file, &search, &search.replace("fifth", "5th"));
        assert!(is_nowhere(&located), "{quoted}: {located:?}");
    }
}

#[test]
fn a_comment_may_differ_in_wording() {
    let file =
        "first_line(1)\nsecond_line(2)\n# explains what the next line does\nthird_line(3)\nfourth_line(4)\n";
    let search = file.replace("explains what", "tells what");
    let (level, text) = made(file, &search, &search.replace("fourth_line(4)", "fourth_line(5)"));
    assert_eq!((level, text), (MatchLevel::Similar, file.replace("fourth_line(4)", "fourth_line(5)")));
}

#[test]
fn a_part_that_is_taken_for_made_is_refused() {
    let file =
        "old_name = 1\nsecond_line(2)\n# uses old_name for this and that\nthird_line(3)\nfourth_line(4)\n";
    let search = file.replace("uses old_name", "uses new_name");
    let located = refused(file, &search, &search.replace("old_name", "new_name"));
    assert!(is_nowhere(&located), "{located:?}");
}

#[test]
fn two_matches_are_rejected_at_every_level() {
    for (file, search, replace) in [
        ("a\nb\na\nb\n", "a\nb\n", "a\nc\n"),
        ("a \nb\na\nb \n", "a\nb\n", "a\nc\n"),
        ("  a\n  b\n    a\n    b\n", "a\nb\n", "a\nc\n"),
        ("\u{201c}a\u{201d}b\nx\n\u{201c}a\u{201d}b\n", "\"a\"b", "\"a\"c"),
        ("a\nb\na\nb\n", "```\na\nb\n```\n", "```\na\nc\n```\n"),
    ] {
        let located = refused(file, search, replace);
        assert!(matches!(&located, Located::Ambiguous { lines, .. } if lines.len() == 2), "{located:?}");
    }
}

#[test]
fn a_stricter_match_wins() {
    assert_eq!(
        made("  a\n  b\na \nb\n", "a\nb\n", "a\nc\n"),
        (MatchLevel::Space, "  a\n  b\na \nc\n".into())
    );
}

#[test]
fn an_applied_edit_is_not_made_again() {
    for (file, search, replace) in [
        ("a\nb\nc\n", "a\n", "a\nb\n"),
        ("  first()\n  second()\n  third()\n", "first()\nthird()\n", "first()\nsecond()\nthird()\n"),
        ("value = compute(2)\n", "value = compute(1)\n", "value = compute(2)\n"),
        ("class A:\n\tx = 1\n", "class A:\n", "class A:\n    x = 1\n"),
    ] {
        let located = refused(file, search, replace);
        assert!(matches!(located, Located::AlreadyApplied { line: 1 }), "{search}: {located:?}");
    }
    assert_eq!(made("    }\n}\n", "    }\n", "    }\n  }\n").1, "    }\n  }\n}\n", "indented otherwise");
}

#[test]
fn a_replacement_inside_the_escaped_quote_is_not_applied_yet() {
    let file = "def f():\n    a = 1\n    bcd = 22\n    return a\n";
    let shorter = "def f():\n    a = 1\n    bcd = 22\n";
    let quote = file.trim_end().replace('\n', "\\n");
    assert_eq!(made(file, &quote, shorter).1, shorter);
    let located = refused(shorter, &quote, shorter);
    assert!(matches!(located, Located::AlreadyApplied { line: 1 }), "{located:?}");
}

#[test]
fn a_replacement_of_a_few_characters_may_stand_anywhere() {
    assert!(is_nowhere(&refused("pass\nfirst()\n", "second()\n", "pass\n")));
}

#[test]
fn a_line_quoted_from_its_first_word_on_keeps_its_neighbours() {
    let file = "def f():\n    a()\n    two()\nthree()\n";
    assert_eq!(made(file, "two()\n", "").1, "def f():\n    a()\nthree()\n");
    assert_eq!(made(file, "two()\n", "two()\nb()\n").1, "def f():\n    a()\n    two()\n    b()\nthree()\n");
    let either = refused(file, "two()\n", "if b:\n    two()\n");
    assert!(matches!(either, Located::Conflict(_)), "{either:?}");
}

#[test]
fn context_of_a_diff_is_no_indentation() {
    let file = "one()\ntwo()\n";
    assert_eq!(made(file, " one()\n two()\n", " one()\n+new()\n two()\n").1, "one()\nnew()\ntwo()\n");
    let deeper = "        one()\n        two()\n";
    let doubtful = refused(deeper, " one()\n two()\n", " one()\n+new()\n two()\n");
    assert!(matches!(doubtful, Located::Conflict(_)), "{doubtful:?}");
}

#[test]
fn an_edit_that_changes_nothing_is_unchanged() {
    assert_eq!(refused("a\n", "a", "a"), Located::Unchanged);
    assert_eq!(refused("a\nb\n", "a \nb\n", "a\nb\n"), Located::Unchanged);
}

#[test]
fn the_proposal_is_the_edit_with_the_true_text() {
    let file = "let total = compute_value(data);\nreturn total;\n";
    let located =
        located(file, "let total = compute_valeu(data);", "let total = 0;", MatchTolerance::Wrapping).0;
    let Located::NotFound { proposal: Some(proposal), .. } = located else { panic!("{located:?}") };
    assert_eq!(proposal.search, "let total = compute_value(data);");
    assert_eq!(
        made(file, &proposal.search, &proposal.replace),
        (MatchLevel::Exact, "let total = 0;\nreturn total;\n".into())
    );
}

/// Only the blanks around a match are looked at, not its whole line: that would take minutes.
#[test]
fn many_matches_in_one_line_take_linear_time() {
    let number = 400_000;
    let buffer = Buffer::read("f(a,b); ".repeat(number).into(), Hints::default()).unwrap();
    let search_text = SearchText { search: "(a,b)", replace: "(a, b)", on_duplicate: OnDuplicate::Reject };
    let found = locate_every(search_text, LineRange::new(&buffer, 1, 1)).unwrap();
    assert_eq!(found.len(), number);
}

#[test]
fn every_match_of_a_level_is_edited() {
    let every = |file: &str, search: &str, replace: &str| {
        let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
        let search_text = SearchText { search, replace, on_duplicate: OnDuplicate::Reject };
        let found = locate_every(search_text, LineRange::new(&buffer, 1, buffer.lines().count()))?;
        let changes = found.into_iter().flat_map(|found| found.changes).collect();
        let plan = buffer.plan(changes).unwrap();
        Ok::<_, Located>(String::from_utf8(buffer.apply(&plan).unwrap().bytes().to_vec()).unwrap())
    };
    assert_eq!(every("a\nb\na\n", "a", "c").unwrap(), "c\nb\nc\n");
    assert_eq!(
        every("  a\n  b\n\n    a\n    b\n", "a\nb\n", "a\nc\n").unwrap(),
        "  a\n  c\n\n    a\n    c\n"
    );
    assert_eq!(every(" a\n b\n a\n b\n", "1: a\n2: b\n", "1: a\n2: c\n").unwrap(), " a\n c\n a\n c\n");
    assert_eq!(every("  a\n  b\n\n  a\n  b\n", "a\nb\n", "  a\n  c\n").unwrap(), "  a\n  c\n\n  a\n  c\n");
    let some = every("  a\n  b\n\n    a\n    b\n", "a\nb\n", "  a\n  c\n");
    assert!(matches!(some, Err(Located::Conflict(_))), "the replacement is indented like the first");
    assert!(matches!(every(" a\n a\n a\n", "a\na\n", "b\na\n"), Err(Located::Ambiguous { .. })));
    assert!(matches!(every("a\n", "b", "c"), Err(Located::NotFound { .. })));
}

#[test]
fn places_that_overlap_are_several() {
    let located = refused("aaa\n", "aa", "b");
    assert!(matches!(&located, Located::Ambiguous { lines, .. } if lines.len() == 2), "{located:?}");
}

/// Two methods: the first has a long line more than the quote, the second a short one.
const TWO_METHODS: &str = "class Order:
    def save(self):
        data = self.collect(first, second)
        self.audit.record_event(\"order.saved\", user=self.current_user, payload=data, when=now())
        self.write(data, self.path)
        return data


class Cart:
    def save(self):
        data = self.collect(first, second)
        flush()
        self.write(data, self.path)
        return data
";

const METHOD: &str = "    def save(self):
        data = self.collect(first, second)
        self.write(data, self.path)
        return data
";

#[test]
fn all_quoted_lines_in_another_place_are_a_second_match() {
    let edit = |file: &str, quote: &str| {
        located(file, quote, &quote.replace("return data", "return bool(data)"), PEN).0
    };
    let audit = "when=now())\n";
    for file in [
        TWO_METHODS.to_owned(),
        TWO_METHODS.replace(audit, "when=now())\n        self.audit.flush()\n"),
        TWO_METHODS.replace(audit, "when=now())\n        a = 1\n\n        b = 2\n        c = 3\n"),
        TWO_METHODS.replacen("self.path)", "self.path)  # to the disk", 1),
        TWO_METHODS.replacen("second)", "second)# of both", 1),
    ] {
        let found = edit(&file, METHOD);
        let Located::Ambiguous { lines, .. } = &found else { panic!("{found:?}\nin {file}") };
        let twin = file.lines().position(|line| line == "class Cart:").unwrap() + 2;
        assert_eq!(lines, &[2, twin], "{file}");
    }
    let flushed = "        flush()\n        self.write(data, self.path)";
    let quoted = METHOD.replace("self.path)", "self.path)  # to the disk");
    let file = TWO_METHODS.replace(flushed, "        self.write(data, self.path)  # to a disk");
    let found = edit(&file, &quoted);
    assert!(matches!(found, Located::Ambiguous { .. }), "a comment in other words: {found:?}");
}

#[test]
fn a_quoted_comment_may_name_the_place() {
    let found = |language: &str, file: &str, quote: &str, replace: &str| {
        let found = located_in(language, file, quote, replace, PEN).0;
        let Located::One(found) = found else { panic!("{found:?}\nin {file}") };
        assert_eq!(found.match_info.level, MatchLevel::Similar);
        found.match_info.line
    };
    let js = "function a() {\n  foo(x);\n  break; // leave the outermost loop here\n}\nfunction b() {\n  break;\n}\n";
    let quote = "  break; // leave the outermot loop here\n";
    assert_eq!(found("javascript", js, quote, &quote.replace("break", "return")), 3);

    let python =
        "import os  # noqa: F401 keep for plugins\nimport sys\n\ndef f():\n    import os\n    return os\n";
    let quote = "import os  # noqa: F401 keep for plugns\n";
    assert_eq!(found("python", python, quote, &quote.replace("import os", "import os, re")), 1);

    let quote = "    open_all(x); // first all files\n    write_all(x); // second all lines\n    close_all(x); // third all of them again\n";
    let bare = "    open_all(x);\n    write_all(x);\n    close_all(x);\n";
    let longer = quote.replace("    write_all", "    log(x);\n    write_all");
    let rust = format!("fn a(x: &X) {{\n{longer}}}\n\nfn b(x: &X) {{\n{bare}}}\n");
    assert_eq!(found("rust", &rust, quote, &quote.replace("write_all(x)", "write_some(x)")), 2);
}

#[test]
fn a_file_is_only_parsed_if_a_comment_may_decide() {
    let parsed = |file: &str, quote: &str| {
        let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
        let range = LineRange::new(&buffer, 1, usize::MAX).with_language(
            Some("python"),
            "a.py",
            &lockgate_syntax::Grammars,
        );
        let replace = quote.replace("return", "yield");
        let search_text = SearchText { search: quote, replace: &replace, on_duplicate: OnDuplicate::Reject };
        let count = std::cell::Cell::new(0);
        let outline = || {
            count.set(count.get() + 1);
            lockgate_syntax::outline("python", "a.py", file)
        };
        let located = locate(search_text, range, PEN, &outline);
        (matches!(located, Located::One(_)), count.get() > 0)
    };
    let extra = REPORT.replace("    log", "    total += 1\n    log");
    assert_eq!(parsed(&extra, REPORT), (true, false));
    let commented = REPORT.replace("total = 0", "total = 0  # sum");
    assert_eq!(parsed(&commented, REPORT), (true, true));
    let long = REPORT.replace("log(total)", &format!("log({})", "'all of the rows', ".repeat(30)));
    assert_eq!(parsed(&long.replace("= 0", "= 0 + first_of(row)"), &long), (false, false));
}

#[test]
fn a_block_without_one_of_the_quoted_lines_is_no_second_match() {
    let replace = METHOD.replace("return data", "return 1");
    let (_, cart) = TWO_METHODS.split_once("\n\n\n").unwrap();
    for (line, other) in
        [("return data", "return None"), ("def save", "def load"), ("first, second", "first")]
    {
        let order = TWO_METHODS.replacen(line, other, 1);
        let file = order.replace(cart, "") + cart;
        assert_eq!(
            made(&file, METHOD, &replace).1,
            order.replace(cart, "") + &cart.replace("return data", "return 1")
        );
    }
}

#[test]
fn all_quoted_lines_in_another_place_are_a_second_match_for_any_line_that_differs() {
    let any = MatchTolerance::Similar { threshold: MatchTolerance::THRESHOLD, typos: TypoPolicy::Any };
    let flushed = "        flush()\n        self.write(data, self.path)";
    let file = TWO_METHODS.replace(flushed, "        self.write(data, self.pat)");
    let replace = METHOD.replace("return data", "return bool(data)");
    let found = located(&file, METHOD, &replace, any).0;
    assert!(matches!(found, Located::Ambiguous { .. }), "{found:?}");
    let (_, cart) = file.split_once("\n\n\n").unwrap();
    assert!(matches!(located(cart, METHOD, &replace, any).0, Located::One(_)));
}

const REPORT: &str = "def report(rows):
    total = 0
    for row in rows:
        total += row.value
    log(total)
    return total
";

#[test]
fn a_comment_at_the_end_of_a_line_may_be_missing() {
    let commented = REPORT.replace("total = 0", "total = 0  # sum");
    for (file, quote) in [(commented.as_str(), REPORT), (REPORT, commented.as_str())] {
        let (level, text) = made(file, quote, &quote.replace("return total", "return round(total)"));
        assert_eq!((level, text), (MatchLevel::Similar, file.replace("return total", "return round(total)")));
        let line = quote.lines().nth(1).unwrap();
        for changed in [line.replace("= 0", "= 1"), line.replace("  # sum", "  # count"), String::new()] {
            if changed != line {
                let conflict = refused(file, quote, &quote.replace(line, &changed));
                assert!(matches!(conflict, Located::Conflict(_)), "{changed}: {conflict:?}");
            }
        }
    }
    let rust = "fn report(rows: &[Row]) -> u32 {\n    let total = 0; // sum\n    for row in rows {\n        add(row);\n    }\n    total\n}\n";
    let bare = rust.replace(" // sum", "");
    for (file, quote) in [(rust, bare.as_str()), (bare.as_str(), rust)] {
        let found = located_in("rust", file, quote, &quote.replace("add(row)", "push(row)"), PEN).0;
        assert!(matches!(found, Located::One(_)), "{found:?}");
    }
}

#[test]
fn what_only_looks_like_a_comment_may_not_be_missing() {
    let lines = |line: &str| REPORT.replace("    total = 0", line);
    for (one, other) in [
        // An operator, a part of a string, and other code.
        ("    total = 8 // 2", "    total = 8"),
        ("    total = 'a  # a'", "    total = 'a"),
        ("    total = 0, # a", "    total = 0"),
        ("    total = 1  # a", "    total = 0"),
        // Two lines.
        ("    total = 0\n    count = 0  # a", "    total = 0  # a\n    count = 0"),
    ] {
        for (file, quote) in [(lines(one), lines(other)), (lines(other), lines(one))] {
            let found = refused(&file, &quote, &quote.replace("return total", "return 1"));
            assert!(is_nowhere(&found), "{file}: {found:?}");
        }
    }
    let yaml =
        "deploy:\n  script: |\n    first_step all\n    second_step all\n    third_step all\n  name: deploy\n";
    let quote = yaml.replace("second_step all", "second_step all  # a");
    for (file, quote) in [(yaml, quote.as_str()), (quote.as_str(), yaml)] {
        let found = located_in("yaml", file, quote, &quote.replace("name: deploy", "name: b"), PEN).0;
        assert!(is_nowhere(&found), "{file}: {found:?}");
    }
    // In a string, the sign begins no comment.
    let file = REPORT.replace("    total = 0\n", "    text = \"\"\"\n    total = 0\n    \"\"\"\n");
    let quote = file.replace("total = 0", "total = 0  # a");
    for (file, quote) in [(&file, &quote), (&quote, &file)] {
        let found = refused(file, quote, &quote.replace("return total", "return 1"));
        assert!(is_nowhere(&found), "{file}: {found:?}");
    }
}

#[test]
fn an_accent_may_be_separate() {
    for (composed, separate) in [("caf\u{e9}", "cafe\u{301}"), ("\u{d55c}", "\u{1112}\u{1161}\u{11ab}")] {
        for (actual, quoted) in [(composed, separate), (separate, composed)] {
            let file = format!("name = \"{actual}\"\nsize = 1\n");
            let search = format!("name = \"{quoted}\"\nsize = 1\n");
            let replace = search.replace("size = 1", "size = 2");
            assert_eq!(made(&file, &search, &replace), (MatchLevel::Marks, file.replace("= 1", "= 2")));
            let replace = search.replace("name =", "label =");
            assert_eq!(made(&file, &search, &replace).1, file.replace("name =", "label ="), "{actual:?}");
        }
    }
    for other in ["cafe", "caf\u{e8}", "cafe\u{300}"] {
        let file = format!("name = \"{other}\"\nsize = 1\n");
        let found = refused(&file, "name = \"caf\u{e9}\"\nsize = 1\n", "size = 1\n");
        assert!(is_nowhere(&found), "{other:?}");
    }
}
