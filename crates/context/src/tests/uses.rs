//! Tests of the lines that use a symbol.

use super::{World, used};

/// Files, the requested symbol, and the lines that use it.
type Case = (&'static [(&'static str, &'static str)], &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    // An export of another module's name uses the name.
    (
        &[
            ("a.ts", "export function go() {}\n"),
            ("b.ts", "export { go as run } from './a';\n"),
            ("c.ts", "export { go } from './other';\n"),
            ("index.ts", "export { go } from './a';\n"),
        ],
        "go",
        &["b.ts:1", "index.ts:1"],
    ),
    // A name bound inside a function does not refer to other symbols.
    (
        &[
            (
                "a.py",
                "def load(): pass\n\ndef g(load):\n    return load()\n\ndef h():\n    global load\n    load = load()\n    [load for load in h]\n",
            ),
            ("b.py", "from a import load as read\n\ndef k():\n    return read(load)\n"),
            ("c.py", "import a\n\nhold = 1\nx = a.load\ny = b.load\n"),
            ("d.py", "from other import load\nload()\n"),
            ("e.py", "from a import *\nload()\n"),
        ],
        "load",
        &["a.py:7 h", "a.py:8 h", "b.py:1", "b.py:4 k", "c.py:4", "e.py:2"],
    ),
    // Any member of the name is found, unless it visibly belongs to another type.
    (
        &[(
            "a.py",
            "class A:\n    def f(self):\n        self.f()\n        x.f()\n\nclass B:\n    def f(self):\n        self.f()\n        A.f(self)\n        B.f(self)\n        f()\n",
        )],
        "A.f",
        &["a.py:3 A.f", "a.py:4 A.f", "a.py:9 B.f"],
    ),
    (&[("a.py", "class A: pass\n\ndef f(x: 'Optional[A]', A=1) -> A: pass\n")], "A", &["a.py:3 f"]),
    // The private members of a class have a name of their own.
    (
        &[(
            "a.js",
            "class A {\n  #n = 1;\n  n = 2;\n  f(a) { return this.#n + this.n; }\n  g(a) { return a.#n; }\n}\n",
        )],
        "A.#n",
        &["a.js:4 A.f", "a.js:5 A.g"],
    ),
    (&[("a.js", "class A {\n  #n = 1;\n  n = 2;\n  f() { return this.#n; }\n}\n")], "A.n", &[]),
    (
        &[
            ("a.js", "export function go() {}\nexport default class Car {}\n"),
            (
                "b.js",
                "import { go as run } from './a.js';\nimport * as a from './a';\nrun();\na.go();\n(go) => go();\n",
            ),
            ("c.js", "const { go } = require('./a');\ngo();\nconst other = { go };\n"),
            ("d.js", "import { go } from 'elsewhere';\ngo();\n"),
        ],
        "go",
        &["b.js:1", "b.js:3", "b.js:4", "c.js:1", "c.js:2", "c.js:3"],
    ),
    // The methods of an object belong to its variable.
    (
        &[
            ("a.js", "const A = {\n  foo() { return 1 },\n};\nA.foo();\n"),
            ("b.js", "const Other = {\n  bar() {},\n};\nOther.foo();\nA.bar();\n"),
        ],
        "foo",
        &["a.js:4"],
    ),
    // A module counts by its source, under each name that it is imported as.
    (
        &[
            ("util.ts", "export function helper(n: number) { return n }\n"),
            ("a.ts", "import * as u from './util';\nu.helper(1);\n"),
            ("b.js", "const u = require('./util.js');\nu.helper();\n"),
            ("c.ts", "import u = require('./util');\nu.helper();\n"),
            ("d.ts", "import * as util from './util';\nutil.helper(1);\n"),
            ("e.js", "const util = require(name);\nutil.helper();\n"),
            (
                "f.js",
                "function f() { const m = require('./util'); m.helper(); }\nfunction g() { const m = require('./other'); }\n",
            ),
            ("g.ts", "import * as util from 'node:util';\nutil.helper(1);\n"),
            ("h.js", "const util = require('./other');\nutil.helper();\n"),
            ("i.ts", "import util = require('lodash');\nutil.helper();\n"),
            ("j.ts", "import * as u from './other';\nu.helper(1);\n"),
        ],
        "helper",
        &["a.ts:2", "b.js:2", "c.ts:2", "d.ts:2", "e.js:2", "f.js:1 f"],
    ),
    (
        &[
            ("src/util.rs", "pub fn helper() {}\n"),
            ("src/a.rs", "use crate::util as u;\nfn f() { u::helper(); }\n"),
            ("src/b.rs", "use crate::util::{self as w};\nfn f() { w::helper(); }\n"),
            ("src/c.rs", "use crate::{other, util::{Other, self as w}};\nfn f() { vec![w::helper()]; }\n"),
            ("src/d.rs", "use crate::util;\nfn f() { util::helper(); }\n"),
            ("src/e.rs", "use std::other as util;\nfn f() { util::helper(); }\n"),
            ("src/f.rs", "use std::other::{self as util};\nfn f() { util::helper(); }\n"),
            ("src/g.rs", "use std::other as u;\nfn f() { u::helper(); }\n"),
        ],
        "helper",
        &["src/a.rs:2 f", "src/b.rs:2 f", "src/c.rs:2 f", "src/d.rs:2 f"],
    ),
    (
        &[
            (
                "a.ts",
                "export interface Shape { area(): number }\nexport const big = (s: Shape) => s.area();\n",
            ),
            (
                "b.tsx",
                "import { Shape } from './a';\nexport const V = (p: { s: Shape }) => <i>{p.s.area()}</i>;\n",
            ),
        ],
        "Shape",
        &["a.ts:2 big", "b.tsx:1", "b.tsx:2 V"],
    ),
    (
        &[(
            "a.ts",
            "namespace N {\n  export const a = 1;\n  export function f() { return a; }\n  function g(a) { a; }\n}\nx(N.a);\n",
        )],
        "N.a",
        &["a.ts:3 N.f", "a.ts:6"],
    ),
    (
        &[
            (
                "src/a.rs",
                "pub struct Map;\nimpl Map {\n    pub fn new() -> Self { Self::make() }\n    fn make() -> Self { Map }\n}\n",
            ),
            (
                "src/b.rs",
                "use super::a::{Map, Set};\nfn f(new: u8) -> Map { let m = Map::new(); vec![Map::new(), x.new()]; new }\n",
            ),
            ("src/c.rs", "use std::map::Map;\nfn f() -> Map { Map::new() }\n"),
        ],
        "Map.new",
        &["src/b.rs:2 f", "src/c.rs:2 f"],
    ),
    (
        &[
            ("http/a.go", "package http\n\nfunc Get(url string) error { return nil }\n"),
            ("http/b.go", "package http\n\nfunc f() { Get(\"\"); x.Get() }\n"),
            (
                "c.go",
                "package main\n\nimport (\n\tweb \"example.org/http\"\n\t\"net/rpc\"\n)\n\nfunc Get() {}\n\nfunc main() {\n\tweb.Get(\"\")\n\trpc.Get()\n\tGet()\n}\n",
            ),
        ],
        "http/a.go:Get",
        &["http/b.go:3 f", "c.go:11 main"],
    ),
    (
        &[
            ("a/a.go", "package a\n\ntype T struct{}\n\nfunc (t T) size() int { return t.size() }\n"),
            ("b/b.go", "package b\n\nfunc f(x X) { x.size() }\n"),
        ],
        "T.size",
        &["a/a.go:5 T.size"],
    ),
    (
        &[
            ("A.java", "package p;\nclass A {\n  int n;\n  void f() { this.f(); f(); int n; }\n}\n"),
            ("B.java", "package p;\nclass B { void g(A a) { a.f(); }\n  void h() { B.f(); } }\n"),
        ],
        "A.f",
        &["A.java:4 A.f", "B.java:2 B.g"],
    ),
    (
        &[
            ("a.h", "int sum(int a, int b);\n"),
            (
                "a.c",
                "#include \"a.h\"\nint sum(int a, int b) { return a + b; }\nint main(void) { int x = sum(1, 2); return x; }\n",
            ),
            ("b.c", "int twice(int sum) { return sum + sum; }\n"),
        ],
        "sum",
        &["a.c:3 main"],
    ),
    (
        &[(
            "a.cpp",
            "namespace n { struct A { static int f(); int x; }; }\nint g(n::A *a) { return n::A::f() + a->x; }\n",
        )],
        "A.f",
        &["a.cpp:2 g"],
    ),
    (&[("a.sh", "f() { g; }\ng() { f \"$X\"; }\nX=1\n")], "f", &["a.sh:2 g"]),
    (
        &[("a.html", "<p id=a></p>\n<label for=\"a\">x</label>\n<a href='#a'>y</a>\n")],
        "a",
        &["a.html:2", "a.html:3"],
    ),
    (
        &[("a.css", "@keyframes turn { from { top: 0 } }\n.b { animation-name: turn; }\n")],
        "turn",
        &["a.css:2 .b"],
    ),
    // A type of Rust has no member of another one, but its aliases, type parameters and traits may stand for it.
    (
        &[
            (
                "a.rs",
                "pub struct P;\nimpl P {\n    pub fn new() -> P { P }\n    pub fn two() { Self::new(); }\n}\n",
            ),
            (
                "b.rs",
                "use a::P;\nuse a::P as Path;\ntype Alias = P;\nfn f<Item: Make>() {\n    Box::new(P::new());\n    Arc::new(1);\n    Path::new();\n    Alias::new();\n    Item::new();\n    Make::new();\n    Late::new();\n    x.new();\n}\nimpl Make for Q {}\ncfg! { type Early = Q; type Late = P; }\n",
            ),
            ("c.rs", "pub use a::P as Public;\n"),
            ("d.rs", "use c::Public;\nfn g() {\n    Public::new();\n    Vec::new();\n}\n"),
        ],
        "P.new",
        &[
            "a.rs:4 P.two",
            "b.rs:5 f",
            "b.rs:7 f",
            "b.rs:8 f",
            "b.rs:9 f",
            "b.rs:10 f",
            "b.rs:11 f",
            "b.rs:12 f",
            "d.rs:3 g",
        ],
    ),
    // A type may have the method of a trait, which it does not define itself.
    (
        &[(
            "a.rs",
            "trait T {\n    fn go() {}\n}\nimpl T for Own {}\nfn f() {\n    Own::go();\n    Other::go();\n}\n",
        )],
        "T.go",
        &["a.rs:6 f", "a.rs:7 f"],
    ),
    (
        &[("a.rs", "impl<Any: T> Ext for Any {\n    fn go() {}\n}\nfn f() {\n    Own::go();\n}\n")],
        "Any.go",
        &["a.rs:5 f"],
    ),
    // Texts that the grammar does not parse have names.
    (
        &[
            (
                "a.h",
                "int clampi(int);\n#define CLAMP(v) clampi(v)\n#define BOTH(v) do { \\\n    CLAMP(v); \\\n    s->clampi; \\\n} while (0)\n",
            ),
            ("a.c", "int v;\nint clampi(int x) { return x; }\n"),
        ],
        "clampi",
        &["a.h:2 CLAMP"],
    ),
    (&[("a.h", "#define A 1\n#define B (A + 1) // A\n#define C \"A\"\n")], "A", &["a.h:2 B"]),
    (&[("a.c", "int v;\n#define CLAMP(v) clampi(v)\n")], "v", &[]),
    (
        &[(
            "a.rs",
            "const COUNT: u8 = 1;\nfn f() {\n    println!(\"a\\n{COUNT:?}\");\n    println!(\"{{COUNT}} COUNT\");\n    \"{COUNT}\";\n    let COUNT = 2;\n}\n",
        )],
        "COUNT",
        &[],
    ),
    (
        &[("a.rs", "const COUNT: u8 = 1;\nfn f() {\n    println!(\"a\\n{COUNT:?}\");\n}\n")],
        "COUNT",
        &["a.rs:3 f"],
    ),
];

#[test]
fn uses_are_distinguished_from_other_things_of_that_name() {
    let mut wrong = Vec::new();
    for (files, symbol, wanted) in CASES {
        let world = World::new(files);
        let (near_path, name) =
            symbol.split_once(':').map_or((None, *symbol), |(near_path, name)| (Some(near_path), name));
        let question = super::ContextQuery { symbol: Some(name), near: near_path, ..super::NOTHING };
        let found = used(&world.ask(question).references);
        if found != *wanted {
            wrong.push(format!("{symbol}: wanted {wanted:?}\n      got {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A name with thousands of definitions costs no more for each of them than a rare one.
#[test]
fn a_common_name_is_answered_as_well() {
    let class = |n: usize| format!("class C{n}:\n    def f(self):\n        self.f()\n        x.f()\n");
    let files: Vec<(String, String)> =
        (0..3_000).map(|n| (format!("p{}/m{n}.py", n % 50), class(n))).collect();
    let world = World(files.into_iter().collect());
    let answer = world.symbol("f");
    assert!(answer.truncated && !answer.references.unwrap().is_empty());
    let has_note = |words: &str| answer.notes.iter().any(|note| note.contains(words));
    assert!(
        has_note(" of 6000 references are not shown") && has_note(" of 3000 definitions are shown"),
        "{:?}",
        answer.notes
    );
}
