//! Tests of the definitions of each language, and that their names are those of an outline.

use super::super::SymbolKind;
use super::{NOTHING, World, tags};
use crate::ContextQuery;
use lockgate_policy::language_of;
use lockgate_protocol::{ContextResponse, ContextSymbol};

fn outline(path: &str, text: &str) -> Vec<ContextSymbol> {
    let world = World::new(&[(path, text)]);
    let ContextResponse { target, .. } = world.ask(ContextQuery { near: Some(path), ..NOTHING });
    target.unwrap().outline
}

/// Symbols as `name kind line-end: signature | doc`.
fn described(path: &str, text: &str) -> Vec<String> {
    let line = |it: ContextSymbol| {
        let doc = it.doc.map(|doc| format!(" | {doc}")).unwrap_or_default();
        format!("{} {} {}-{}: {}{doc}", it.name, it.kind, it.line, it.end_line, it.signature)
    };
    outline(path, text).into_iter().map(line).collect()
}

/// The path of a text, the text, and its symbols.
const DESCRIBED: &[(&str, &str, &[&str])] = &[
    (
        "a.py",
        "\"\"\"Of the module.\"\"\"\nMAX: int = 3\na, (b, c) = 1, (2, 3)\n\n# of A\n@dec(1)\nclass A(B):\n    '''\n    Of A.\n    '''\n    x = 1\n\n    \
         async def f(self,\n                y: int) -> None:\n        r\"\"\"Of f.\n\n        More.\"\"\"\n        z = 1\n        def g(): pass\n",
        &[
            "MAX constant 2-2: MAX: int = 3",
            "a variable 3-3: a, (b, c) = 1, (2, 3)",
            "b variable 3-3: a, (b, c) = 1, (2, 3)",
            "c variable 3-3: a, (b, c) = 1, (2, 3)",
            "A class 7-19: class A(B) | Of A.",
            "A.x field 11-11: x = 1",
            "A.f method 13-19: async def f(self, y: int) -> None | Of f.",
            "A.f.g function 19-19: def g()",
        ],
    ),
    (
        "a.js",
        "/** Of f. */\nexport async function f(a) { const b = 1; }\nconst LIMIT = 3, go = (x) => x;\nclass A extends B {\n  // of p\n  #p = 1;\n  \
         get q() { return 1; }\n}\nmodule.exports.r = function () {};\n",
        &[
            "f function 2-2: export async function f(a) | Of f.",
            "LIMIT constant 3-3: const LIMIT = 3",
            "go function 3-3: const LIMIT = 3, go = (x)",
            "A class 4-8: class A extends B",
            "A.#p field 6-6: #p = 1 | of p",
            "A.q method 7-7: get q()",
            "module.exports.r method 9-9: module.exports.r = function ()",
        ],
    ),
    (
        "a.ts",
        "/**\n * Of I.\n * More.\n */\nexport interface I<T> {\n  name: string;\n  m(): void;\n}\nenum E { One, Two = 2 }\ntype T = string | {\n  a: 1 };\n\
         abstract class C { private x: number = 1; abstract a(): void; }\nexport const v: I = x;\n",
        &[
            "I interface 5-8: export interface I<T> | Of I.",
            "I.name field 6-6: name: string",
            "I.m method 7-7: m(): void",
            "E enum 9-9: enum E",
            "E.One variant 9-9: One",
            "E.Two variant 9-9: Two = 2",
            "T type 10-11: type T = string |",
            "T.a field 11-11: a: 1",
            "C class 12-12: abstract class C",
            "C.x field 12-12: private x: number = 1",
            "C.a method 12-12: abstract a(): void",
            "v variable 13-13: export const v: I = x",
        ],
    ),
    (
        "b.ts",
        "namespace N {\n  export const a = 1;\n  export interface I { b: string }\n  function f() { const c = 1; }\n}\n\
         declare module \"m\" {\n  var d: number;\n}\ndeclare global {\n  interface W { e: string }\n}\n{ const g = 1; }\n",
        &[
            "N module 1-5: namespace N",
            "N.a variable 2-2: export const a = 1",
            "N.I interface 3-3: export interface I",
            "N.I.b field 3-3: b: string",
            "N.f function 4-4: function f()",
            "m module 6-8: declare module \"m\"",
            "m.d variable 7-7: var d: number",
            "W interface 10-10: interface W",
            "W.e field 10-10: e: string",
        ],
    ),
    (
        "c.ts",
        "/** Of x. */ export const x = 1;\n/* Of f. */ async function f() {}\n// in **/*.rs\nlet y = 2;\n/**\n * Of g.\n */ export function g() {}\n/**\n */ export function h() {}\n",
        &[
            "x variable 1-1: export const x = 1 | Of x.",
            "f function 2-2: async function f() | Of f.",
            "y variable 4-4: let y = 2 | in **/*.rs",
            "g function 7-7: export function g() | Of g.",
            "h function 9-9: export function h()",
        ],
    ),
    ("a.tsx", "export const A = (p: P) => <div>{p.x}</div>;\n", &["A function 1-1: export const A = (p: P)"]),
    (
        "a.rs",
        "//! Of the file.\n\n/// Of S.\n#[derive(Debug)]\npub struct S<T> where T: X {\n    /// Of a.\n    pub a: u8,\n}\n\nimpl<T> S<T> {\n    const C: u8 = 1;\n    pub fn f(&self) -> u8 { 1 }\n}\n\
         pub enum E { One(u8), Two }\ntrait T { fn s(); }\nmacro_rules! k { () => {} }\nstatic G: u8 = 0;\ntype Y = u8;\npub mod m { fn n() {} }\n",
        &[
            "S struct 5-8: pub struct S<T> where T: X | Of S.",
            "S.a field 7-7: pub a: u8 | Of a.",
            "S impl 10-13: impl<T> S<T>",
            "S.C constant 11-11: const C: u8 = 1",
            "S.f method 12-12: pub fn f(&self) -> u8",
            "E enum 14-14: pub enum E",
            "E.One variant 14-14: One(u8)",
            "E.Two variant 14-14: Two",
            "T trait 15-15: trait T",
            "T.s method 15-15: fn s()",
            "k macro 16-16: macro_rules! k { () => {} }",
            "G constant 17-17: static G: u8 = 0",
            "Y type 18-18: type Y = u8",
            "m module 19-19: pub mod m",
            "m.n function 19-19: fn n()",
        ],
    ),
    (
        "a.go",
        "package a\n\n// Max is.\nconst Max, min = 1, 2\n\nvar (\n\t// v is.\n\tv int\n\t_ = v\n)\n\n// A is\n// more.\ntype A struct {\n\tb int\n}\n\n\
         func (a *A) M(x int) (int, error) { const no = 1; return 1, nil }\n\nfunc F() {}\n\ntype I interface {\n\tN()\n}\n",
        &[
            "Max constant 4-4: const Max, min = 1, 2 | Max is.",
            "min constant 4-4: const Max, min = 1, 2 | Max is.",
            "v variable 8-8: v int | v is.",
            "A struct 14-16: type A struct | A is",
            "A.b field 15-15: b int",
            "A.M method 18-18: func (a *A) M(x int) (int, error)",
            "F function 20-20: func F()",
            "I interface 22-24: type I interface",
            "I.N method 23-23: N()",
        ],
    ),
    (
        "a.java",
        "/** Of A. */\n@Deprecated\npublic class A<T> extends B {\n  private static final int MAX = 1, x;\n  A() {}\n  /** Of f. */\n  @Override\n  public int f(int a) { int b; return 1; }\n  \
         enum E { X, Y; }\n}\n",
        &[
            "A class 3-10: public class A<T> extends B | Of A.",
            "A.MAX field 4-4: private static final int MAX = 1, x",
            "A.x field 4-4: private static final int MAX = 1, x",
            "A.A method 5-5: A()",
            "A.f method 8-8: public int f(int a) | Of f.",
            "A.E enum 9-9: enum E",
            "A.E.X variant 9-9: X",
            "A.E.Y variant 9-9: Y",
        ],
    ),
    (
        "a.c",
        "/* Of M. */\n#define M 1\nstatic char *f(int a)\n{\n  int b;\n  return 0;\n}\nint count = 0, *other;\nint p(void);\nstruct S { int a; };\nenum E { A, B };\n\
         typedef struct { int b; } T;\nint (*hook)(int);\n",
        &[
            "M macro 2-2: #define M 1 | Of M.",
            "f function 3-7: static char *f(int a)",
            "count variable 8-8: int count = 0, *other",
            "other variable 8-8: int count = 0, *other",
            "p function 9-9: int p(void)",
            "S struct 10-10: struct S",
            "S.a field 10-10: int a",
            "E enum 11-11: enum E",
            "E.A variant 11-11: A",
            "E.B variant 11-11: B",
            "T struct 12-12: typedef struct",
            "T.b field 12-12: int b",
            "hook variable 13-13: int (*hook)(int)",
        ],
    ),
    (
        "a.cpp",
        "namespace n {\n// Of A.\ntemplate <class T>\nclass A : public B {\n public:\n  int x;\n  void f(int a);\n  int g() { return 1; }\n};\n}\nint n::A<int>::f() { return 1; }\nusing U = int;\n",
        &[
            "n module 1-10: namespace n",
            "n.A class 4-9: class A : public B | Of A.",
            "n.A.x field 6-6: int x",
            "n.A.f method 7-7: void f(int a)",
            "n.A.g method 8-8: int g()",
            "n.A.f method 11-11: int n::A<int>::f()",
            "U type 12-12: using U = int",
        ],
    ),
    (
        "a.sh",
        "#!/bin/sh\n\nROOT=/tmp\n# Of f.\nf() {\n  local x=1\n}\n",
        &["ROOT constant 3-3: ROOT=/tmp", "f function 5-7: f() | Of f."],
    ),
    (
        "a.css",
        "/* Of a. */\na:hover,\n.b > c { d: e }\n",
        &["a:hover, .b > c rule 2-3: a:hover, .b > c | Of a."],
    ),
    (
        "a.html",
        "<main id=a>\n<p id='b'>x</p>\n</main>\n",
        &["a element 1-3: <main id=a>", "a.b element 2-2: <p id='b'>x</p>"],
    ),
    ("a.json", "{\n  \"a\": {\n    \"b\": [1]\n  }\n}\n", &["a key 2-4: \"a\"", "a.b key 3-3: \"b\": [1]"]),
    ("a.jsonc", "{ // x\n  \"a\": 1,\n}\n", &["a key 2-2: \"a\": 1"]),
    ("a.yaml", "# of a\na:\n  b: 1\n", &["a key 2-3: a | of a", "a.b key 3-3: b: 1"]),
    (
        "a.toml",
        "x = 1\n\n# of a\n[a]\nb = 2\n",
        &["x key 1-1: x = 1", "a key 4-5: [a] | of a", "a.b key 5-5: b = 2"],
    ),
    (
        "a.md",
        "# One\n\ntext\n\n## Two `x`\n\nmore\n",
        &["One heading 1-7: # One", "One.Two `x` heading 5-7: ## Two `x`"],
    ),
];

#[test]
fn symbols_are_described_as_they_are_declared() {
    let mut wrong = Vec::new();
    for (path, text, wanted) in DESCRIBED {
        let found = described(path, text);
        if found != *wanted {
            wrong.push(format!("{path}: wanted {wanted:#?}\n      got {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modifiers_are_found_wherever_the_text_is_cut() {
    let text = format!("// {}\n\nexport function f() {{}}\n", "é".repeat(3_000));
    assert_eq!(described("a.js", &text), ["f function 3-3: export function f()"]);
}

#[test]
fn every_language_with_a_grammar_is_covered() {
    let languages: Vec<&str> =
        DESCRIBED.iter().map(|(path, ..)| language_of(path, None).unwrap().name.as_str()).collect();
    for grammar in lockgate_syntax::grammars() {
        assert!(languages.contains(&grammar.language), "{}", grammar.language);
    }
}

/// Every returned name is accepted as `within`, and then refers to the same lines.
#[test]
fn every_name_is_one_of_the_outline() {
    let symbols = SymbolKind::ALL;
    let mut kinds = std::collections::HashSet::new();
    for (path, text, _) in DESCRIBED {
        let language = &language_of(path, None).unwrap().name;
        let found = lockgate_syntax::outline(language, path, text).unwrap();
        let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        for symbol in outline(path, text) {
            let spans = found.spans(&symbol.name);
            let has = |span: &std::ops::Range<usize>| {
                let last = line(span.end.max(1) - 1);
                (line(span.start)..=last).contains(&symbol.start_line.unwrap_or(symbol.line))
                    && last >= symbol.end_line
            };
            // A container comes before another symbol of the same name.
            let other =
                symbol.kind == SymbolKind::Method.name() && found.paths().contains(&symbol.name.as_str());
            let is_found = spans.iter().any(has) || (other && !spans.is_empty());
            assert!(is_found, "{path}: {symbol:?}: {spans:?}");
            kinds.insert(symbol.kind);
        }
    }
    let never: Vec<_> = symbols.iter().filter(|kind| !kinds.contains(kind.name())).collect();
    assert!(never.is_empty(), "no text has these: {never:?}");
}

/// A brace before the body is a part of the declaration.
#[test]
fn a_signature_goes_up_to_the_body() {
    for (path, text, signature) in [
        (
            "A.java",
            "@SuppressWarnings({\"a\", \"b\"})\npublic class Cart extends Basket {\n}\n",
            "public class Cart extends Basket",
        ),
        (
            "a.ts",
            "export class Foo<T extends {}> extends Bar {\n  a = 1;\n}\n",
            "export class Foo<T extends {}> extends Bar",
        ),
        (
            "b.ts",
            "export interface Props<T = {}> extends Base<T> {\n  a: T;\n}\n",
            "export interface Props<T = {}> extends Base<T>",
        ),
        ("a.js", "class A extends mixin({a: 1}) {\n}\n", "class A extends mixin({a: 1})"),
        ("a.rs", "impl A<{ 4 }> {\n    fn f() {}\n}\n", "impl A<{ 4 }>"),
        (
            "a.go",
            "package a\n\ntype S[T interface{ ~int }] struct {\n\tA T\n}\n",
            "type S[T interface{ ~int }] struct",
        ),
        ("a.py", "class A(B, metaclass={}):\n    pass\n", "class A(B, metaclass={})"),
        ("a.cpp", "class A : public B<decltype([]{})> {\n};\n", "class A : public B<decltype([]{})>"),
        ("a.css", ".a {\n  color: red;\n}\n", ".a"),
    ] {
        assert_eq!(outline(path, text)[0].signature, signature, "{path}");
    }
}

/// A field and a method may share a name. Then `within` means the method, as it did before fields had
/// names.
#[test]
fn what_can_hold_others_goes_before_what_cannot() {
    let text = "struct S {\n    len: u8,\n}\nimpl S {\n    fn len(&self) -> u8 { 1 }\n}\n";
    let found = lockgate_syntax::outline("rust", "a.rs", text).unwrap();
    let spans = found.spans("S.len");
    assert_eq!(
        spans.iter().filter_map(|span| text.get(span.clone())).collect::<Vec<_>>(),
        ["    fn len(&self) -> u8 { 1 }\n"]
    );
    assert_eq!(described("a.rs", text).len(), 4);
    assert_eq!(found.enclosing(text.find("len: u8").unwrap()), Some("S"));
}

#[test]
fn the_grammars_own_tags_are_among_ours() {
    for (path, text, _) in DESCRIBED {
        let language = &language_of(path, None).unwrap().name;
        for (name, line) in own_tags(language, path, text) {
            let known = tags(path, text).unwrap().definitions;
            let is_it = |tag: &crate::Tag| {
                let last = tag.part.rsplit('.').next().unwrap_or_default();
                usize::try_from(tag.location.line) == Ok(line) && (last == name || tag.part == name)
            };
            // The grammars cannot tell which of two parts of a template is meant, or which symbols are
            // local.
            let local =
                text.lines().nth(line - 1).is_some_and(|it| it.starts_with([' ', '\t']) && language == "go");
            assert!(known.iter().any(is_it) || local, "{path}:{line}: {name}");
        }
    }
}

/// Returns the definitions found by a grammar's own tag query, if it has one: each name with its line.
fn own_tags(language: &str, path: &str, text: &str) -> Vec<(String, usize)> {
    let javascript = tree_sitter_javascript::TAGS_QUERY;
    let source = match language {
        "python" => tree_sitter_python::TAGS_QUERY.to_owned(),
        "javascript" => javascript.to_owned(),
        "typescript" => tree_sitter_typescript::TAGS_QUERY.to_owned(),
        "rust" => tree_sitter_rust::TAGS_QUERY.to_owned(),
        "go" => tree_sitter_go::TAGS_QUERY.to_owned(),
        "c" => tree_sitter_c::TAGS_QUERY.to_owned(),
        "cpp" => tree_sitter_cpp::TAGS_QUERY.to_owned(),
        "java" => tree_sitter_java::TAGS_QUERY.to_owned(),
        _ => return Vec::new(),
    };
    let found = lockgate_syntax::with_large_stack(|deep| {
        let tree = lockgate_syntax::read_on(deep, usize::MAX, language, path, text, 1 << 20).unwrap();
        let query = tree_sitter::Query::new(&tree.language(), &source).unwrap();
        let names = query.capture_names();
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        let mut found = Vec::new();
        while let Some(one) = tree_sitter::StreamingIterator::next(&mut matches) {
            let name = |capture: &tree_sitter::QueryCapture<'_>| names[capture.index as usize];
            if one.captures().iter().any(|capture| name(capture).starts_with("definition")) {
                let node = one.captures().iter().find(|capture| name(capture) == "name").unwrap().node;
                found.push((text.get(node.byte_range()).unwrap().to_owned(), node.start_position().row + 1));
            }
        }
        found
    });
    found.unwrap()
}
