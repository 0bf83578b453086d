use super::operators::IS_OFF;
use crate::damage::tests::findings;
use lockgate_policy::Accident;

fn found(path: &str, before: &str, after: &str) -> usize {
    findings(Accident::LinePrefixes, path, Some(before), after).len()
}

#[test]
fn operators_at_the_start_of_lines_are_no_diff_marks() {
    for (path, before, after) in [
        ("a.js", "f()\n", "f()\nconst total = price\n+ tax\n+ tip;\n"),
        ("a.js", "f()\n", "f()\nconst total = price\n+ tax\n"),
        ("a.js", "f()\n", "f()\nconst total = price\n+tax;\n"),
        ("a.ts", "f()\n", "f()\nconst total: number = price\n+ tax\n- tip\n"),
        ("a.js", "x = a +\nbbbbbbbbbbbb;\n", "x = a\n+ bbbbbbbbbbbb;\n"),
        ("a.py", "y = 1\n", "y = 1\nx = (a\n+ b\n- c)\n"),
        ("a.py", "y = 1\n", "y = 1\nx = (\n- a\n+ b)\n"),
        ("a.py", "y = 1\n", "y = 1\nx = a \\\n+ b \\\n+ c\n"),
        ("a.sql", "select 1;\n", "select 1;\nselect a\n+ b\n+ c as total\nfrom t;\n"),
        ("A.java", "class A {}\n", "class A {\nint x = a\n+ b\n+ c;\n}\n"),
        ("a.c", "int y;\n", "int y;\nint x = a\n+ b\n- c;\n"),
        ("a.c", "int y;\n", "int y;\n#define X (a) \\\n+ (b) \\\n+ (c)\n"),
        ("a.cpp", "int y;\n", "int y;\nauto x = s\n+ \"b\"\n+ \"c\";\n"),
        ("a.rs", "fn g() {}\n", "fn g() {}\nconst X: u8 = A\n+ B\n+ C;\n"),
        ("a.go", "package p\n", "package p\n\nvar x = 1 +\n- 2 +\n+ 3\n"),
        ("a.json", "[]\n", "[\n-1,\n-2\n]\n"),
        ("a.json", "{}\n", "{\n\"a\": [\n-1.5,\n-2e3\n]\n}\n"),
        ("a.toml", "a = 1\n", "a = 1\nx = [\n-1,\n+2,\n]\n"),
        ("a.py", "y = 1\n", "y = 1\nx = [\n+1,\n+2,\n]\n"),
        ("a.js", "f()\n", "f()\nx = [\n+1,\n-2.5,\n];\n"),
        ("a.c", "int y;\n", "int y;\nint x[] = {\n-1,\n+2,\n};\n"),
        ("a.c", "int y;\n", "int y;\nfloat x[] = { // y\n+1.5f, // z\n-2, // z\n+.5,\n-N\n};\n"),
        ("a.c", "int y;\n", "int y;\nint x[2][2] = {{\n-1,\n+2\n}, {\n+3,\n- 4\n}};\n"),
        ("a.c", "int y;\n", "int y;\nint x = f(a,\n+1,\n-1);\n"),
        ("a.cpp", "int y;\n", "int y;\nstd::vector<int> x{\n-1,\n+2,\n};\n"),
        ("A.java", "class A {}\n", "class A {\nint[] x = {\n-1,\n+2,\n};\n}\n"),
        ("a.go", "package p\n", "package p\n\nvar x = []int{\n-1,\n+2,\n}\n"),
        ("a.go", "package p\n", "package p\n\nvar x = map[int]int{\n-1: 1,\n+2: 2,\n}\n"),
        ("a.py", "y = 1\n", "y = 1\nx = {\n-1, # z\n+2,\n}\n"),
        ("a.py", "y = 1\n", "y = 1\nx = {\n-1: 2,\n+2: 3,\n}\n"),
        ("a.py", "y = 1\n", "y = 1\nx = [ # z\n-1, # z\n+2,\n]\n"),
    ] {
        assert_eq!(found(path, before, after), 0, "{path}: {after:?}");
        IS_OFF.set(true);
        let without = found(path, before, after);
        IS_OFF.set(false);
        assert_eq!(without, 1, "{path}: the rule does not look at this: {after:?}");
    }
}

#[test]
fn diff_marks_in_front_of_code_are_found() {
    for (path, before, after) in [
        ("a.js", "f();\n", "f();\n+const total = price;\n+g(total);\n"),
        ("a.js", "f()\n", "f()\n+g()\n+h()\n"),
        ("a.js", "f()\n", "f()\n+ const a = 1\n+ const b = 2\n"),
        ("a.js", "f();\n", "f();\n+ g();\n+ h();\n"),
        ("a.js", "x = g(\n  a,\n  b\n)\n", "x = g(\n  a\n-  b\n+  c\n)\n"),
        ("a.py", "def f():\n    a = 1\n", "def f():\n-    a = 1\n+    a = 2\n"),
        ("a.py", "y = 1\n", "y = 1\n+x = 2\n+z = 3\n"),
        ("a.py", "y = 1\n", "y = 1\n+ x\n+ z\n"),
        ("a.py", "x = [\n    1,\n]\n", "x = [\n    1\n+    2\n+    3\n]\n"),
        ("a.py", "x = [\n 1,\n y,\n]\n", "x = [\n 1\n- y,\n+ z,\n]\n"),
        ("a.sql", "select 1;\n", "select 1;\n+ select a\n+ from t;\n"),
        ("a.sql", "create table t (\n a int\n);\n", "create table t (\n a int,\n+ b int,\n+ c int\n);\n"),
        ("A.java", "class A {\n}\n", "class A {\n+int a;\n+int b;\n}\n"),
        ("a.c", "int y;\n", "int y;\n+int x = a;\n+int z;\n"),
        ("a.c", "int y;\n", "int y;\n#define X(a) \\\n+    f(a); \\\n+    g(a)\n"),
        ("a.rs", "fn g() {\n    f();\n}\n", "fn g() {\n-    f();\n+    h();\n}\n"),
        ("a.go", "package p\n", "package p\n\n+var a = 1\n+var b = 2\n"),
        ("a.json", "[\n1,\n2,\n3\n]\n", "[\n-1,\n-2,\n3\n]\n"),
        ("a.json", "[\n1,\n2\n]\n", "[\n1,\n+2,\n+3\n]\n"),
        ("a.toml", "a = 1\n", "a = 1\n-b = 1\n-c = 2\n"),
        ("a.py", "x = [\n1,\n2,\n]\n", "x = [\n1,\n-2,\n+3,\n]\n"),
        ("a.c", "int x[] = {\n1,\n2,\n};\n", "int x[] = {\n1,\n-2,\n+3,\n};\n"),
        ("a.c", "int x[] = {\nA,\n};\n", "int x[] = {\nA,\n+B,\n+C,\n};\n"),
        ("a.c", "int x[] = {\n 1,\n};\n", "int x[] = {\n 1\n- 1,\n+ N,\n};\n"),
        ("a.c", "void f(void) {\n}\n", "void f(void) {\n+1;\n+2;\n}\n"),
        ("a.go", "package p\n", "package p\n\nfunc f() {\n+g()\n+h()\n}\n"),
    ] {
        assert_eq!(found(path, before, after), 1, "{path}: {after:?}");
    }
}

#[test]
fn marks_with_a_blank_are_found_where_no_list_has_them() {
    for (path, before, after) in [
        (
            "b.html",
            "<p>a</p>\n<p>bbbb</p>\n<p>cccc</p>\n<p>d</p>\n",
            "<p>a</p>\n- <p>bbbb</p>\n+ <p>b2</p>\n+ <p>cccc</p>\n<p>d</p>\n",
        ),
        ("Makefile", "a:\nX = bbb\nc:\n", "a:\n- X = bbb\n+ X = b2\nc:\n"),
        ("Dockerfile", "FROM a\nRUN bbb\nRUN ccc\n", "FROM a\n- RUN bbb\n+ RUN b2\nRUN ccc\n"),
        ("a.vue", "<p>a</p>\n<p>b</p>\n", "<p>a</p>\n- <p>b</p>\n+ <p>b2</p>\n"),
    ] {
        assert_eq!(found(path, before, after), 1, "{path}: {after:?}");
    }
    for (path, before, after) in [
        ("a.md", "a\n\nFast start\nSmall\n", "a\n\n- Fast start\n+ Tiny\n"),
        ("a.txt", "a\n\nFast start\nSmall\n", "a\n\n- Fast start\n+ Tiny\n"),
        ("a.rst", "a\n\nFast start\nSmall\n", "a\n\n- Fast start\n+ Tiny\n"),
        ("a.adoc.j2", "a\n\nFast start\nSmall\n", "a\n\n- Fast start\n+ Tiny\n"),
        (
            "b.html",
            "<pre>\nFast startup\nSmall size\n</pre>\n",
            "<pre>\n- Fast startup\n- Small size\n</pre>\n",
        ),
        ("Makefile", "include bbb\n", "-include bbb\n-include ccc\n"),
        ("Makefile", "a:\n\trm b\n", "a:\n\t- rm b\n\t+ make c\n"),
        ("Dockerfile", "RUN a \\\nbbb\n", "RUN a \\\n- bbb\n"),
    ] {
        assert_eq!(found(path, before, after), 0, "{path}: {after:?}");
    }
}

#[test]
fn a_patch_with_its_header_is_shown_in_a_text_that_is_no_code() {
    let patch = "--- a/x.py\n+++ b/x.py\n@@ -1,4 +1,4 @@\n a\n-bbb\n+ccc\n\n d\n@@ -9 +9,2 @@ def f():\n-eee\n+fff\n+ggg\n\\ No newline\n";
    let shown = format!("$ git diff\n{patch}");
    let numbers = "-- old --\nbbb is a long line\n-- new --\nb\n";
    let golden = format!("{numbers}-- diff --\n--- old\n+++ new\n@@ -1 +1 @@\n-bbb is a long line\n+b\n");
    for path in ["tests/golden/diff.txt", "diff.golden", "diff.out", "cram.t", "expected", "a.log"] {
        assert_eq!(found(path, "x\n", &shown), 0, "{path}");
        assert_eq!(findings(Accident::LinePrefixes, path, None, &shown), [], "{path}");
        assert_eq!(found(path, numbers, &golden), 0, "{path}");
    }
    // The controls: a file of code, a patch of the file itself or of its replaced lines, and a hunk without a header.
    for path in
        ["a.py", "a.rs", "a.rb", "a.vue", "a.html", "Makefile", "Dockerfile", "CMakeLists.txt", "a.md"]
    {
        assert_eq!(found(path, "x\n", &shown), 1, "{path}");
    }
    assert_eq!(found("src/x.py.txt", "x\n", &shown.replace("b/x.py", "b/src/x.py.txt")), 1);
    assert_eq!(found("a.txt", "a\nbbb\nd\n", patch), 1);
    assert_eq!(found("a.txt", "x\n", "$ git diff\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), 1);
    assert_eq!(
        found("a.txt", "x\n", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-b\n+c\n\n@@ -1 +1 @@\n-b\n+c\n"),
        1
    );
    // Behind a patch, marks before known lines count.
    let marked = format!("{shown}x\n+one long line\n-two long line\n");
    assert_eq!(found("a.txt", "one long line\ntwo long line\n", &marked), 1);
}
