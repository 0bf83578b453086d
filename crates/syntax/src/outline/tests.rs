//! The symbols of small texts, by language.

use lockgate_text::Outline;

fn outline(path: &str, text: &str) -> Outline {
    let language = match path.rsplit('.').next().unwrap() {
        "py" => "python",
        "js" => "javascript",
        "ts" | "tsx" => "typescript",
        "rs" => "rust",
        "sh" => "bash",
        "md" => "markdown",
        "h" => "c",
        other => other,
    };
    super::outline(language, path, text).unwrap()
}

fn names(path: &str, text: &str) -> Vec<String> {
    outline(path, text).names().map(str::to_owned).collect()
}

/// The texts of the spans of a name.
fn spans<'t>(path: &str, text: &'t str, name: &str) -> Vec<&'t str> {
    outline(path, text).spans(name).into_iter().map(|span| text.get(span).unwrap()).collect()
}

/// A path, its text, and the expected symbols.
const NAMES: &[(&str, &str, &[&str])] = &[
    (
        "a.py",
        "class A:\n    @b\n    def f(self):\n        def g(): pass\n    async def h(self): pass\n\ndef i(): pass\n",
        &["A", "A.f", "A.f.g", "A.h", "i"],
    ),
    (
        "a.rs",
        "mod m { pub struct S; impl<T> X for S<T> { const C: u8 = 1; fn f() { fn g() {} } } }\nenum E {}\n\
         trait T { type A; fn s(); }\nmacro_rules! k { () => {} }\nstatic G: u8 = 0;\ntype Y = u8;\nimpl a::B {}\n",
        &["m", "m.S", "m.S", "m.S.C", "m.S.f", "m.S.f.g", "E", "T", "T.A", "T.s", "k", "G", "Y", "a.B"],
    ),
    (
        "a.go",
        "package a\n\nfunc F() {}\n\nfunc (r *R[T]) M() {}\n\nfunc (R) N() {}\n\ntype (\n\tA struct{}\n\tB = int\n)\n\ntype C int\n",
        &["F", "R.M", "R.N", "A", "B", "C"],
    ),
    (
        "a.js",
        "export function f() {}\nexport default class A { #p() {} g = () => 1; static h() {} n = 1 }\n\
         const k = async () => { const l = function () {} }, m = 1;\nfunction* o() {}\nmodule.exports.q = () => 1;\n\
         const r = { s() {}, t: () => 1 };\n",
        &["f", "A", "A.#p", "A.g", "A.h", "k", "k.l", "o", "module.exports.q", "s", "t"],
    ),
    (
        "a.ts",
        "interface I { m(): void }\ntype T = string;\nenum E { A }\nnamespace N.M { export function f(): void {} }\n\
         abstract class C { abstract a(): void; b = () => 1 }\ndeclare function d(): void;\ndeclare module \"x\" { function y(): void }\n",
        &["I", "I.m", "T", "E", "N.M", "N.M.f", "C", "C.a", "C.b", "d", "x", "x.y"],
    ),
    ("a.tsx", "const A = (p: P) => <div>{p.x}</div>;\nfunction B() { return <A/>; }\n", &["A", "B"]),
    (
        "a.java",
        "class A { A() {} int f() { return 1; } interface I { void g(); } enum E { X } record R(int a) { R {} } }\n@interface N {}\n",
        &["A", "A.A", "A.f", "A.I", "A.I.g", "A.E", "A.R", "A.R.R", "N"],
    ),
    (
        "a.c",
        "#define M 1\n#define F(x) x\nstatic char **f(int a) { return 0; }\nint (*g(void))(int) { return 0; }\n\
         struct S { int a; };\nstruct S s;\ntypedef struct { int b; } T;\nenum E { A };\nunion U { int c; };\nint p(void);\n",
        &["M", "F", "f", "g", "S", "T", "E", "U"],
    ),
    (
        "a.cpp",
        "namespace a::b { class A { void f() {} A() {} ~A() {} bool operator<(A o) { return 1; } }; }\n\
         int ns::A<T>::g() const { return 1; }\ntemplate <class T> T &h(T a) { return a; }\nusing U = int;\nnamespace { void i() {} }\n",
        &["a.b", "a.b.A", "a.b.A.f", "a.b.A.A", "a.b.A.~A", "a.b.A.operator<", "ns.A.g", "h", "U", "i"],
    ),
    ("a.h", "class A { public: int f() { return 1; } };\n", &["A", "A.f"]),
    ("a.sh", "f() { g; }\nfunction h { i() { j; }; }\n", &["f", "h", "h.i"]),
    (
        "a.css",
        "a:hover,\n.b > c { d: e }\n@media print { #f { g: h } }\n@keyframes k { from { a: b } }\n",
        &["a:hover, .b > c", "#f", "k"],
    ),
    (
        "a.html",
        "<main id=a><p ID='b'>x</p><img id=\"c\"/><i class=d></i></main>\n<script id=e>let a;</script>\n",
        &["a", "a.b", "a.c", "e"],
    ),
    ("a.json", "{\"a\": {\"b\": [{\"c d\": 1}]}, \"e\": 2}\n", &["a", "a.b", "a.b.c d", "e"]),
    ("a.jsonc", "{ // x\n  \"a\": {\"b\": 1,},\n}\n", &["a", "a.b"]),
    (
        "a.yaml",
        "a:\n  b: 1\n'd': {e: 1}\nf:\n- g: 1\n---\na: 2\n",
        &["a", "a.b", "d", "d.e", "f", "f.g", "a"],
    ),
    (
        "a.toml",
        "x = 1\n[a]\nb = {c = 1}\n[a.d]\n[[e]]\n\"f g\".h = 1\n",
        &["x", "a", "a.b", "a.b.c", "a.d", "e", "e.\"f g\".h"],
    ),
    (
        "a.md",
        "text\n\n# A #\n\n## B `c`\n\ntext\n\n```\n# no\n```\n\n## D\n\nE\n=\n\n### F",
        &["A", "A.B `c`", "A.D", "E", "E.F"],
    ),
];

#[test]
fn an_alias_is_a_symbol() {
    let text = "type A = int\ntype B[T] = list[T]\nclass C:\n    type D = int\ntype = 1\n";
    let outline = outline("a.py", text);
    let paths: Vec<_> = outline.symbols().map(|symbol| symbol.path).collect();
    assert_eq!(paths, ["A", "B", "C", "C.D", "type"]);
    assert_eq!(spans("a.py", text, "B"), ["type B[T] = list[T]\n"]);
}

#[test]
fn symbols_have_their_paths() {
    let mut wrong = Vec::new();
    for (path, text, wanted) in NAMES {
        let found = names(path, text);
        if found != *wanted {
            wrong.push(format!("{path}: wanted {wanted:?}\n      got {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A path, its text, a name, and the expected spans of that name.
const SPANS: &[(&str, &str, &str, &[&str])] = &[
    (
        "a.py",
        "class A:\n    x = 1\n\n    # y\n    @b\n    @c\n    def f(self):\n        pass  # z\n\n    def g(self): pass\n",
        "A.f",
        &["    # y\n    @b\n    @c\n    def f(self):\n        pass  # z\n"],
    ),
    ("a.py", "# a licence\n\ndef f(): pass\n", "f", &["def f(): pass\n"]),
    ("a.py", "def f():\n    pass\n    # of f\ndef g(): pass\n", "g", &["def g(): pass\n"]),
    ("a.py", "x = 1  # of x\ndef f(): pass", "f", &["def f(): pass"]),
    ("a.sh", "#!/bin/sh\nf() { a; }\n", "f", &["f() { a; }\n"]),
    (
        "a.rs",
        "//! Of the file.\n/// Of S.\n#[derive(A)]\n// b\npub struct S;\n\nimpl S {\n    #[a] fn f() {}\n}\n",
        "S",
        &["/// Of S.\n#[derive(A)]\n// b\npub struct S;\n", "impl S {\n    #[a] fn f() {}\n}\n"],
    ),
    ("a.rs", "impl S {\n    #[a] fn f() {}\n}\n", "S::f()", &["    #[a] fn f() {}\n"]),
    (
        "a.js",
        "/** a */\nexport const f = () => {\n  1;\n};\n\n// b\nclass A {\n  g() {}\n}\n",
        "f",
        &["/** a */\nexport const f = () => {\n  1;\n};\n"],
    ),
    ("a.js", "const f = () => 1,\n  g = () => 2;\n", "g", &["  g = () => 2;\n"]),
    ("a.ts", "@A()\nexport class B {\n  // c\n  @D()\n  e() {}\n}\n", "B#e", &["  // c\n  @D()\n  e() {}\n"]),
    ("a.ts", "@A()\nexport class B {\n}\n", "B", &["@A()\nexport class B {\n}\n"]),
    (
        "a.java",
        "/** c */\n@A\nclass B {\n  /* d */\n  @E\n  void f() {}\n}\n",
        "B.f",
        &["  /* d */\n  @E\n  void f() {}\n"],
    ),
    (
        "a.go",
        "package a\n\n// A is.\ntype A struct {\n\tb int\n}\n",
        "A",
        &["// A is.\ntype A struct {\n\tb int\n}\n"],
    ),
    ("a.go", "package a\n\ntype (\n\t// A is.\n\tA int\n\tB int\n)\n", "A", &["\t// A is.\n\tA int\n"]),
    (
        "a.cpp",
        "// a\ntemplate <class T>\nT f(T a) {\n}\nint b;\n",
        "f",
        &["// a\ntemplate <class T>\nT f(T a) {\n}\n"],
    ),
    ("a.cpp", "int ns::A::f() {\n}\n", "A::f", &["int ns::A::f() {\n}\n"]),
    ("a.cpp", "int\nFoo::\nbar()\n{\n}\n", "Foo.bar", &["int\nFoo::\nbar()\n{\n}\n"]),
    ("a.cpp", "int Foo :: baz() {\n}\n", "Foo::baz", &["int Foo :: baz() {\n}\n"]),
    ("a.cpp", "class A {\n  ~A();\n  int b;\n};\n", "A.~A", &["  ~A();\n"]),
    (
        "a.cpp",
        "class A {\n  A &operator=(const A &);\n};\n",
        "A.operator=",
        &["  A &operator=(const A &);\n"],
    ),
    (
        "a.cpp",
        "struct A {\n  operator bool() const;\n};\n",
        "A.operator bool",
        &["  operator bool() const;\n"],
    ),
    (
        "a.cpp",
        "struct A {\n  operator bool() const { return 1; }\n};\n",
        "A.operator bool",
        &["  operator bool() const { return 1; }\n"],
    ),
    ("a.cpp", "A::~A() {\n}\n", "A::~A", &["A::~A() {\n}\n"]),
    ("a.cpp", "A::operator int() {\n}\n", "A::operator int", &["A::operator int() {\n}\n"]),
    ("a.md", "# A\n\nb\n\n## C\n\nd\n\n\n## E\n", "C", &["## C\n\nd\n"]),
    ("a.md", "# A\n\nb\n\n## C\n\nd\n\n\n## E\n\nf", "A", &["# A\n\nb\n\n## C\n\nd\n\n\n## E\n\nf"]),
    ("a.yaml", "a:\n  # c\n  b:\n    - 1\n\n  d: 2\n", "a.b", &["  # c\n  b:\n    - 1\n"]),
    ("a.toml", "[a]\nb = 1\n\n[c]\nb = 2\n", "c.b", &["b = 2\n"]),
    ("a.toml", "[a]\nb = 1\n\n[c]\nb = 2\n", "b", &["b = 1\n", "b = 2\n"]),
    ("a.toml", "[a]\nb = 1\n\n[c]\nb = 2\n", "a", &["[a]\nb = 1\n"]),
    ("a.json", "{\n  \"a\": {\"b\": 1},\n  \"b\": 2\n}\n", "b", &["  \"b\": 2\n"]),
    ("a.html", "<p>\n  <i id=a>\n  </i>\n</p>\n", "#a", &["  <i id=a>\n  </i>\n"]),
    ("a.css", ".a { b: c }\n.d::after { e: f }\n", ".d::after", &[".d::after { e: f }\n"]),
    // The signs of a name that is no path of identifiers.
    ("a.css", ".n { b: c }\n", "#n", &[]),
    ("a.css", ".n { b: c }\n", "n", &[]),
    ("a.css", ".m.n { b: c }\n", "n", &[]),
    ("a.css", ".m {\n  .n { b: c }\n}\n", ".n", &["  .n { b: c }\n"]),
    ("a.css", ".n { b: c }\n#n { b: d }\nn { b: e }\n", "#n", &["#n { b: d }\n"]),
    ("a.css", ".n { b: c }\n#n { b: d }\nn { b: e }\n", ".n", &[".n { b: c }\n"]),
    ("a.css", ".n { b: c }\n#n { b: d }\nn { b: e }\n", "n", &["n { b: e }\n"]),
    ("a.json", "{\n  \"a\": 1,\n  \"#a\": 2,\n  \".a\": 3\n}\n", "#a", &["  \"#a\": 2,\n"]),
    ("a.json", "{\n  \"a\": 1,\n  \"#a\": 2,\n  \".a\": 3\n}\n", "a", &["  \"a\": 1,\n"]),
    ("a.json", "{\n  \"e\": {\n    \".a\": 3\n  }\n}\n", "a", &[]),
    ("a.json", "{\n  \"e.\": {\n    \"a\": 3\n  }\n}\n", "a", &["    \"a\": 3\n"]),
    ("a.yaml", ".base:\n  a: 1\n", "base", &[]),
    ("a.toml", "[a.b]\nc = 1\n", "b", &["[a.b]\nc = 1\n"]),
    ("a.md", "# Issue .12\n\nA\n", "Issue #12", &[]),
    ("a.md", "# Issue .12\n\n# Issue #12\n", "Issue #12", &["# Issue #12\n"]),
    ("a.md", "# Client.connect\n", "connect", &["# Client.connect\n"]),
    ("a.html", "<p>\n  <i id=a>\n  </i>\n</p>\n", ".a", &[]),
    // A name that ends in parentheses.
    ("a.md", "# f()\n\nA\n", "f()", &["# f()\n\nA\n"]),
    ("a.json", "{\n  \"f()\": 1,\n  \"f\": 2\n}\n", "f()", &["  \"f()\": 1,\n"]),
    ("a.json", "{\n  \"f()\": 1,\n  \"f\": 2\n}\n", "f", &["  \"f\": 2\n"]),
    (
        "a.cpp",
        "struct A {\n  int operator()(int a) { return a; }\n};\n",
        "A::operator()",
        &["  int operator()(int a) { return a; }\n"],
    ),
    (
        "a.cpp",
        "struct A {\n  int operator()(int a) { return a; }\n};\n",
        "A.operator()",
        &["  int operator()(int a) { return a; }\n"],
    ),
    // Declarations of the name of a definition.
    (
        "a.cpp",
        "struct S {\n  int f(int k);\n  int f() { return 1; }\n};\n",
        "S.f",
        &["  int f() { return 1; }\n"],
    ),
    (
        "a.cpp",
        "struct S {\n  int f(int k);\n  int f() { return 1; }\n};\n",
        "S.f[1]",
        &["  int f() { return 1; }\n"],
    ),
    ("a.cpp", "struct S {\n  int f(int k);\n  int f() { return 1; }\n};\n", "f[2]", &["  int f(int k);\n"]),
    ("a.java", "class A {\n  int size;\n  int size() { return size; }\n}\n", "A.size[2]", &["  int size;\n"]),
    ("a.java", "class A {\n  int size;\n  int size() { return size; }\n}\n", "A.size[3]", &[]),
    // Members of an enumeration, with values and without.
    ("a.ts", "export enum E {\n  A = 1, // x\n  B,\n  // c\n  C,\n}\n", "E.A", &["  A = 1, // x\n"]),
    ("a.ts", "export enum E {\n  A = 1, // x\n  B,\n  // c\n  C,\n}\n", "E.B", &["  B,\n"]),
    ("a.ts", "export enum E {\n  A = 1, // x\n  B,\n  // c\n  C,\n}\n", "E.C", &["  // c\n  C,\n"]),
    ("a.py", "def f(): pass\nclass A:\n  def f(): pass\n", "f", &["def f(): pass\n"]),
    ("a.py", "def afoo(): pass\n", "foo", &[]),
    ("a.py", "def f(): pass\n", "", &[]),
    ("a.py", "def f(): pass\n", "g", &[]),
];

#[test]
fn spans_are_the_lines_of_a_name() {
    let mut wrong = Vec::new();
    for (path, text, name, wanted) in SPANS {
        let found = spans(path, text, name);
        if found != *wanted {
            wrong.push(format!("{path} {name}: wanted {wanted:?}\n      got {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A path, its text, a name, and true if a symbol of that name shares its lines with other text.
const SHARED: &[(&str, &str, &str, bool)] = &[
    // A member of a symbol that has the same lines.
    ("a.yaml", "s:\n  w: {i: 1, j: 1}\n", "s.w.i", true),
    ("a.yaml", "s:\n  w: {i: 1, j: 1}\n", "s.w", false),
    ("a.toml", "b = {c = 1, d = 1}\n", "b.c", true),
    ("a.json", "{\n  \"a\": {\"b\": 1}\n}\n", "a.b", true),
    ("a.js", "const o = { m() {\n  return x\n}, k: x }\n", "m", true),
    ("a.js", "const o = { m() {\n  return x\n}, k: x }\n", "o", false),
    ("a.js", "const o = {\n  m() {\n    return x\n  },\n  k: x\n}\n", "m", false),
    ("a.ts", "class C { k = x; f() { return x } }\n", "C.f", true),
    ("a.ts", "class C { k = x; f() { return x } }\n", "C", false),
    ("a.ts", "namespace N { export function f() {} }\n", "N.f", true),
    ("a.go", "package a\n\ntype T struct { a int; b int }\n", "T.a", true),
    ("a.go", "package a\n\ntype T struct { a int; b int }\n", "T", false),
    ("a.rs", "struct S { a: u8, b: u8 }\n", "S.a", true),
    ("a.rs", "struct S { a: u8, b: u8 }\n", "S", false),
    ("a.java", "class A { int a = X; int b = X; }\n", "A.a", true),
    ("a.c", "struct S { int a; int b; };\n", "S.a", true),
    ("a.c", "struct S { int a; int b; };\n", "S", false),
    // The first key of a list item.
    ("a.yaml", "s:\n  - n: a\n    r: 1\n  - n: b\n    r: 2\n", "n[2]", false),
    ("a.yaml", "s:\n  - - n: a\n      r: 1\n", "n", false),
    ("a.yaml", "s:\n  - {n: a, r: 1}\n", "n", true),
    ("a.yaml", "s: [{n: a}]\n", "n", true),
    // Several declarations in one statement.
    ("a.go", "package a\n\nvar a, b = X, X\n", "a", true),
    ("a.go", "package a\n\ntype T struct {\n\ta, b int\n\tc int\n}\n", "T.b", true),
    ("a.go", "package a\n\ntype T struct {\n\ta, b int\n\tc int\n}\n", "T.c", false),
    ("a.c", "int a = X, b = X;\n", "a", true),
    ("a.c", "int a = X;\n", "a", false),
    ("a.java", "class A {\n  int a = X, b = X;\n}\n", "A.b", true),
    ("a.py", "x, y = X, X\n", "x", true),
    ("a.js", "const a = X, f = () => X;\n", "f", true),
    ("a.js", "function g() {\n  const a = X, f = () => X;\n}\n", "g.f", true),
    ("a.js", "const a = X,\n  f = () => X;\n", "f", false),
    ("a.js", "a.x = X, a.f = () => X;\n", "a.f", true),
    // Another symbol without a letter in its name.
    ("a.json", "{\n  \"a\": 1, \"+\": \"-\"\n}\n", "a", true),
    // Text that belongs to no symbol.
    ("a.js", "f(x, () => {\n  class A {}\n}); g(x)\nclass B {} g(x)\n", "B", true),
    // A symbol that is alone on its lines.
    ("a.py", "@b\nclass A:\n    # c\n    @d\n    def f(self): pass\n", "A.f", false),
    ("a.py", "@b\nclass A:\n    # c\n    @d\n    def f(self): pass\n", "A", false),
    ("a.js", "/** a */\nexport const f = () => {\n  return 1\n};\n", "f", false),
    ("a.ts", "@A({ x: 1, y: 2 })\nexport class B {\n  @C(1, 2) c = 1;\n}\n", "B", false),
    ("a.ts", "enum E {\n  A,\n  B = 2,\n}\n", "E.A", false),
    ("a.ts", "enum E {\n  A = 1, // x\n  B,\n}\n", "E.A", false),
    ("a.ts", "enum E {\n  A = 1, // x\n  B,\n}\n", "E.B", false),
    ("a.ts", "enum E { A = 1, B }\n", "E.B", true),
    ("a.rs", "enum E {\n    A { b: u8 },\n    C,\n}\n", "E.A", false),
    ("a.sh", "export A=1\nreadonly B=2 C=3\n", "A", false),
    ("a.sh", "export A=1\nreadonly B=2 C=3\n", "B", true),
    ("a.cpp", "template <class A, class B>\nA f(B b) {\n}\n", "f", false),
    ("a.md", "# A\n\na\n\n<!-- b -->\n# B\n", "A", false),
    // The name of a declaration in C follows its type.
    ("a.c", "typedef struct node {\n  int a;\n} *node_t;\n", "node", false),
    ("a.c", "typedef struct node {\n  int a;\n} node_t;\n", "node_t", false),
    ("a.c", "static struct s {\n  int a;\n} one;\n", "s", false),
    ("a.c", "struct s {\n  int a;\n} one, two;\n", "s", false),
    ("a.c", "typedef struct s {\n  int a;\n} s_t, *list, all[4]; // the s\n", "s", false),
    ("a.c", "static struct s {\n  int a;\n} const one;\n", "s", false),
    ("a.c", "struct s {\n  int a;\n} one[2] = { 1 };\n", "s", true),
    // A comment at the end of the line.
    ("a.py", "MAX = 1  # the max\nN = 1\n", "MAX", false),
    ("a.rs", "struct A {\n    a: u8, // one\n    b: u8, // b: two\n}\n", "A.a", false),
    ("a.rs", "struct A {\n    a: u8, /* one */ b: u8,\n}\n", "A.a", true),
    ("a.go", "package p\n\nconst (\n\tA = 1 // one\n\tB = 2\n)\n", "A", false),
    ("a.c", "struct s {\n  int a;\n} one = { 1 };\n", "s", true),
    // One of several symbols of a name.
    ("a.toml", "[[p]]\nn = {a = 1}\n\n[[p]]\nn = 2\n", "p.n.a", true),
    ("a.py", "def f(): pass\nx = 1; f = 2\n", "f", false),
    ("a.py", "def f(): pass\ng = 1; f = 2\n", "g", true),
];

#[test]
fn a_symbol_that_shares_its_lines_is_known() {
    let mut wrong = Vec::new();
    for (path, text, name, wanted) in SHARED {
        let outline = outline(path, text);
        if outline.spans(name).is_empty() || outline.sharing_lines(name, text).is_some() != *wanted {
            wrong.push(format!("{path} {name}: wanted {wanted} in {text:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let shared = |path: &str, text: &str, name: &str| {
        let outline = outline(path, text);
        let shared = outline.sharing_lines(name, text).unwrap();
        (text.get(..shared.offset).unwrap().matches('\n').count() + 1, shared.has_symbol)
    };
    let js = "f(() => {\n  class A {}\n}); g(x)\nclass B {\n} g(x)\n";
    assert_eq!(shared("a.js", js, "B"), (5, false));
    assert_eq!(shared("a.yaml", "s:\n  w: {i: 1, j: 1}\n", "s.w.i"), (2, true));
    assert_eq!(shared("a.go", "package a\n\nvar a, b = X, X\n", "a"), (3, true));
    let text = "a:\n  b: 1\n---\na: {b: 1}\n";
    let outline = outline("a.yaml", text);
    let is_shared = |name| outline.sharing_lines(name, text).is_some();
    assert_eq!(["a.b[1]", "a.b[2]", "a.b[3]", "a.b"].map(is_shared), [false, true, false, true]);
}

#[test]
fn members_of_an_enumeration_are_in_the_order_of_the_text() {
    let text =
        "enum E {\n  A,\n  B = (() => { function f() {} return 1; })(),\n  'C',\n  D = 2,\n}\nlet x;\n";
    let outline = outline("a.ts", text);
    let paths: Vec<_> = outline.symbols().map(|symbol| symbol.path).collect();
    assert_eq!(paths, ["E", "E.A", "E.B", "E.f", "E.C", "E.D", "x"]);
}

#[test]
fn the_innermost_symbol_is_around() {
    let text = "x = 1\n\nclass A:\n    y = 2\n\n    # of f\n    @b\n    def f(self):\n        z\n\n    w = 3\n\nv = 4\n";
    let outline = outline("a.py", text);
    let around = |part: &str| outline.enclosing(text.find(part).unwrap());
    assert_eq!(
        ["x = 1", "class", "y = 2", "of f", "@b", "z", "w = 3", "v = 4"].map(around),
        [None, Some("A"), Some("A"), Some("A.f"), Some("A.f"), Some("A.f"), Some("A"), None]
    );
    assert_eq!([0, text.len(), usize::MAX].map(|at| outline.enclosing(at)), [None; 3]);
    let line = text.find("    # of f").unwrap();
    assert_eq!(outline.enclosing(line), Some("A.f"), "a whole line is as far as its words");
    assert_eq!(outline.enclosing(line - 1), Some("A"), "the blank line before is not");
}

#[test]
fn symbols_on_one_line_are_distinguished() {
    let text = "{\"a\": {\"b\": 1, \"c\": [2]}, \"d\": 3}";
    let outline = outline("a.json", text);
    let around = |part: &str| outline.enclosing(text.find(part).unwrap());
    assert_eq!(["1", "2", "3", "}, \"d"].map(around), [Some("a.b"), Some("a.c"), Some("d"), Some("a")]);
    assert_eq!(outline.spans("a.b").first(), Some(&(0..text.len())));
}

#[test]
fn comments_are_distinguished_from_code() {
    for (path, text) in [
        ("a.py", "a = 1  # [words here]\nb = '# no'\n"),
        ("a.js", "/* [words here] */ a(); // no\n"),
        ("a.ts", "// [words here]\nlet a = '// no';\n"),
        ("a.rs", "/// [words here]\nfn f() { \"// no\"; }\n"),
        ("a.go", "package a\n\n// [words here]\nvar a = \"// no\"\n"),
        ("a.java", "/** [words here] */\nclass A { String a = \"// no\"; }\n"),
        ("a.c", "/* a\n * [words here]\n */\nchar *a = \"// no\";\n"),
        ("a.cpp", "int a; // [words here]\nauto b = \"// no\";\n"),
        ("a.sh", "a # [words here]\nb '# no'\n"),
        ("a.css", "/* [words here] */\na { b: \"/* no\" }\n"),
        ("a.html", "<!-- [words here] -->\n<p>no</p>\n"),
        ("a.jsonc", "{ // [words here]\n \"a\": \"// no\" }\n"),
        ("a.yaml", "a: 1 # [words here]\nb: 'no'\n"),
        ("a.toml", "a = 1 # [words here]\nb = '# no'\n"),
        ("a.md", "a\n\n<!-- [words here] -->\n\nno\n"),
    ] {
        let outline = outline(path, text);
        let (open, close) = (text.find('[').unwrap(), text.find(']').unwrap() + 1);
        assert!(outline.in_comment(open..close), "{path}");
        assert!(outline.in_comment(open..open), "{path}");
        assert!(!outline.in_comment(0..close), "{path}: the sign before");
        assert!(!outline.in_comment(open..text.len()), "{path}: the sign behind");
        let no = text.rfind("no").map_or(0..1, |no| no..no + 2);
        let behind = path != "a.js";
        assert!(!behind || !outline.in_comment(no), "{path}: what only looks like one");
    }
    let two = "# a\n# b\n";
    assert!(!outline("a.py", two).in_comment(2..7), "two are not one");
}

#[test]
fn a_fault_elsewhere_hides_no_symbol() {
    for (path, text, name) in [
        ("a.py", "x = (]\n\nclass A:\n    def f(self):\n        pass\n", "A.f"),
        ("a.rs", "fn a() { let = ; }\n\nimpl A {\n    fn f() {}\n}\n", "A.f"),
        ("a.js", "f(];\n\nclass A {\n  f() {}\n}\n", "A.f"),
        ("a.go", "package a\n\nfunc (A) f() {\n}\n\nvar a = )\n", "A.f"),
        ("a.java", "class A {\n  int x = ;\n  void f() {\n  }\n}\n", "A.f"),
        ("a.c", "int a b;\n\nint f(void) {\n}\n", "f"),
        ("a.json", "{\n  \"x\" 1,\n  \"f\": 1\n}\n", "f"),
    ] {
        assert_eq!(spans(path, text, name).len(), 1, "{path}: {:?}", names(path, text));
    }
}

#[test]
fn a_language_without_grammar_has_no_outline() {
    assert!(crate::outline("cobol", "a.cob", "A.\n").is_none());
}

#[test]
fn a_selector_names_one_of_several_symbols() {
    for (path, text, place, selector, span) in [
        ("a.yaml", "a:\n  b: 1\n---\na:\n  b: 1\n", "b: 1\n---", "a.b[1]", "  b: 1\n"),
        ("a.toml", "[[p]]\nn = 1\n\n[[p]]\nn = 2\n", "n = 2", "p[2].n", ""),
        (
            "a.java",
            "class A {\n  int f(int x) { return x; }\n  int f(long x) { return 0; }\n}\n",
            "return 0",
            "A.f[2]",
            "  int f(long x) { return 0; }\n",
        ),
        ("a.py", "def f():\n    return 1\n", "return 1", "f", "def f():\n    return 1\n"),
        ("a.md", "# f()\n\nA\n", "A", "f()", "# f()\n\nA\n"),
        ("a.css", ".n { b: c }\n#n { b: d }\n", "d", "#n", "#n { b: d }\n"),
    ] {
        let outline = outline(path, text);
        let found = outline.selector(text.find(place).unwrap()).unwrap();
        let spans = outline.spans(&found);
        assert_eq!(spans.len(), 1, "{path}: {found}");
        assert!(spans[0].contains(&text.find(place).unwrap()), "{path}: {found}");
        if !span.is_empty() {
            assert_eq!((found.as_str(), text.get(spans[0].clone())), (selector, Some(span)), "{path}");
        }
    }
    let outline = outline("a.toml", "[[p]]\nn = 1\n\n[[p]]\nn = 2\n");
    assert_eq!(outline.spans("p[1]").len(), 1);
    assert_ne!(outline.spans("p[1]"), outline.spans("p[2]"));
    for none in ["p[0]", "p[3]", "p[x]", "[1]", "p[18446744073709551616]"] {
        assert!(outline.spans(none).is_empty(), "{none}");
    }
}
