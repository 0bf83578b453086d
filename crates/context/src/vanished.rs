//! Finds definitions that a call removes while other files of the index use them.
//!
//! A name in another file counts as a use only if it can hardly refer to anything else: it is imported
//! from the file that defined it, it is written as a member of that module or type, or, in languages
//! that share names without imports, no other file defines it.
//!
//! Invariant: the index is only read, and its data about a file is compared only with the texts of the
//! call.

use std::collections::{BTreeSet, HashSet};

use super::index::{Definition, Index, IndexedFile};
use super::indexed_symbol::{IndexedSymbol, owners, symbols};
use super::line_starts::wide;
use super::near::{Distance, folder, is_test};
use super::symbol_group::{LanguageFamily, SymbolVisibility, family, imports, visibility};
use super::tags::{Tags, is_function_or_type};
use super::uses::EXPORT_ALL;
use lockgate_text::SymbolKind;

/// The maximum number of removed definitions examined; a call that removes more does not do so by
/// accident.
const MAX_DEFINITIONS: usize = 50;

/// A file as a call leaves it.
#[derive(Debug, Clone, Copy)]
pub struct RemainingFile<'t> {
    /// Its path in the index.
    pub path: &'t str,
    /// The tags of its text; `None` if it cannot be parsed.
    pub tags: Option<&'t Tags>,
    /// True if the index knows the text before the call.
    pub is_known: bool,
}

/// A definition that a call removes while other files use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vanished {
    /// The index of the file that defined it, among the files of the call.
    pub file: usize,
    /// Its name with the names around it, as in `Class.method`.
    pub name: String,
    /// The line with its name, from 1, in the text before.
    pub line: usize,
    /// Its uses, nearest first: each a file and a line from 1.
    pub uses: Vec<(String, usize)>,
}

/// The index keys for uses of a removed definition.
#[derive(Debug, Default)]
struct UseKeys<'k> {
    /// The folder of the file that defined it.
    folder: &'k str,
    /// UseKeys that refer to it on their own.
    sure: HashSet<u32>,
    /// The ones that import it, after which its bare name refers to it.
    imports: HashSet<u32>,
    /// The key of its bare name, without a qualifier.
    plain: Option<u32>,
    /// Its name as a member of something.
    member: Option<u32>,
    /// The name of the type that it belongs to.
    owner: Option<u32>,
    /// True if no other file in the same language family defines its name.
    is_only: bool,
}

impl Index {
    /// True if a file defines a name on a line for which `is_removed` is true.
    pub fn defines_on(&self, path: &str, is_removed: impl Fn(usize) -> bool) -> bool {
        let file = self.files.get(path);
        file.is_some_and(|file| {
            file.definitions.iter().any(|it| is_used_by_name(it) && is_removed(wide(it.location.line)))
        })
    }

    /// Returns the definitions that none of these files has any more and that others use. The users are
    /// files of the index, and files of the call as the call leaves them.
    pub fn vanished(&self, files: &[RemainingFile<'_>]) -> Vec<Vanished> {
        let remaining: HashSet<&str> =
            files.iter().filter_map(|file| file.tags).flat_map(Tags::names).collect();
        let mut vanished = Vec::new();
        for (at, one) in files.iter().enumerate().filter(|(_, file)| file.is_known) {
            let Some((file, tags)) = self.files.get(one.path).zip(one.tags) else { continue };
            let lost: Vec<IndexedSymbol<'_>> = self.removed_definitions(one.path, file, tags, &remaining);
            for found in lost.into_iter().take(MAX_DEFINITIONS) {
                let uses = self.uses(&found, files);
                if !uses.is_empty() {
                    let name = file.path(found.definition, &self.names);
                    let line = wide(found.definition.location.line);
                    vanished.push(Vanished { file: at, name, line, uses });
                }
            }
        }
        vanished
    }

    /// Returns the definitions of a file whose names the call neither defines nor imports into the file
    /// any more.
    fn removed_definitions<'i>(
        &'i self,
        path: &'i str,
        file: &'i IndexedFile,
        tags: &Tags,
        remaining: &HashSet<&str>,
    ) -> Vec<IndexedSymbol<'i>> {
        let mut paths: HashSet<String> = HashSet::new();
        let is_gone = |definition: &Definition| !remaining.contains(self.names.text(definition.name));
        let is_brought_in = |definition: &Definition| tags.brings_in(self.names.text(definition.name));
        // A Python module can provide any name dynamically, a script all names of another module.
        let has_getattr = file.language == "python"
            && tags.definitions.iter().any(|tag| tag.around.is_none() && tag.part == "__getattr__");
        let exported_all = self.names.number(EXPORT_ALL).is_some_and(|key| file.uses(key));
        let answers_for_all = has_getattr || (tags.uses.contains_key(EXPORT_ALL) && !exported_all);
        let outer_is_gone = |definition: &Definition| {
            let around = definition.around.and_then(|around| file.definition(around));
            around.is_some_and(|around| is_used_by_name(around) && is_gone(around))
        };
        file.definitions
            .iter()
            .filter(|it| is_used_by_name(it) && is_gone(it) && !outer_is_gone(it) && !is_brought_in(it))
            .map(|definition| IndexedSymbol { path, file, definition })
            .filter(|found| match visibility(found) {
                SymbolVisibility::Free => !answers_for_all,
                SymbolVisibility::Member => true,
                SymbolVisibility::Local => false,
            })
            .filter(|found| paths.insert(file.path(found.definition, &self.names)))
            .collect()
    }

    fn uses(&self, lost: &IndexedSymbol<'_>, files: &[RemainingFile<'_>]) -> Vec<(String, usize)> {
        let keys = self.keys(lost, files);
        let language_family = family(lost.file.language);
        let mut uses: Vec<(&str, u32)> = Vec::new();
        for (path, file) in &self.files {
            if path == lost.path || family(file.language) != language_family {
                continue;
            }
            let before = lines(&keys, language_family, path, &|key| file.lines(key));
            match files.iter().find(|one| one.path == path) {
                // In a file of the call, only the remaining uses count.
                Some(RemainingFile { tags: Some(tags), .. }) if !before.is_empty() => {
                    let after = |key| tags.uses.get(self.names.text(key)).cloned().unwrap_or_default();
                    let after = lines(&keys, language_family, path, &after);
                    uses.extend(after.into_iter().map(|line| (path.as_str(), line)));
                }
                Some(_) => {}
                None => uses.extend(before.into_iter().map(|line| (path.as_str(), line))),
            }
        }
        uses.sort_by_cached_key(|(path, line)| {
            (is_test(path), Distance::between(lost.path, path), *path, *line)
        });
        uses.into_iter().map(|(path, line)| (path.to_owned(), wide(line))).collect()
    }

    fn keys<'i>(&self, lost: &IndexedSymbol<'i>, files: &[RemainingFile<'_>]) -> UseKeys<'i> {
        let name = self.names.text(lost.definition.name);
        let language_family = family(lost.file.language);
        let is_of_call = |path: &str| files.iter().any(|one| one.path == path);
        let other_definitions: Vec<IndexedSymbol<'_>> = symbols(self)
            .filter(|found| found.definition.name == lost.definition.name)
            .filter(|found| !is_of_call(found.path) && family(found.file.language) == language_family)
            .collect();
        let mut keys = UseKeys {
            folder: folder(lost.path),
            is_only: other_definitions.is_empty(),
            ..UseKeys::default()
        };
        let parent = lost.definition.around.and_then(|around| lost.file.definition(around));
        let parent = parent.map(|parent| self.names.text(parent.name));
        let end = format!(".{name}");
        let modules: HashSet<&str> = match visibility(lost) {
            SymbolVisibility::Free => {
                let brought_in = imports(self, &[*lost], name);
                let elsewhere = imports(self, &other_definitions, name);
                keys.imports = brought_in.difference(&elsewhere).copied().collect();
                keys.plain = Some(lost.definition.name);
                let foreign: HashSet<&str> =
                    other_definitions.iter().flat_map(|other| owners(self, other.path)).collect();
                let own = owners(self, lost.path).into_iter().chain(parent);
                own.filter(|owner| !foreign.contains(owner)).collect()
            }
            SymbolVisibility::Member | SymbolVisibility::Local => {
                keys.member = self.names.number(&end);
                keys.owner = parent.and_then(|parent| self.names.number(parent));
                parent.into_iter().collect()
            }
        };
        let owned = self.names.with_suffix(&end).filter(|(_, key)| {
            key.strip_suffix(&end).is_some_and(|owner| !owner.is_empty() && modules.contains(owner))
        });
        keys.sure = owned.map(|(key, _)| key).chain(keys.imports.iter().copied()).collect();
        keys
    }
}

/// Returns the lines of the file at a path that use a removed definition; `at` returns those of a key.
fn lines(
    keys: &UseKeys<'_>,
    family: LanguageFamily,
    path: &str,
    at: &dyn Fn(u32) -> Vec<u32>,
) -> BTreeSet<u32> {
    let mut lines: BTreeSet<u32> = keys.sure.iter().flat_map(|key| at(*key)).collect();
    let is_brought_in = || keys.imports.iter().any(|key| !at(*key).is_empty());
    let plain_means_it = match family {
        LanguageFamily::Python | LanguageFamily::Rust | LanguageFamily::Script => is_brought_in(),
        LanguageFamily::Go => folder(path) == keys.folder && keys.is_only,
        LanguageFamily::Java | LanguageFamily::C => keys.is_only,
        LanguageFamily::Other => false,
    };
    if plain_means_it {
        lines.extend(keys.plain.into_iter().flat_map(at));
    }
    // A member of something else may have the name, unless the file mentions the type as well.
    let names_owner = || keys.owner.is_some_and(|owner| !at(owner).is_empty());
    if keys.is_only && keys.member.is_some() && names_owner() {
        lines.extend(keys.member.into_iter().flat_map(at));
    }
    lines
}

/// True if other files use definitions of this kind by name.
fn is_used_by_name(definition: &Definition) -> bool {
    let kind = definition.kind;
    is_function_or_type(kind)
        || kind == SymbolKind::Constant
        || (kind == SymbolKind::Variable && definition.around.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dropped, tests};
    use lockgate_text::Version;

    fn tags(path: &str, text: &str) -> Tags {
        tests::tags(path, text).unwrap()
    }

    /// Returns the definitions that vanish when these files are edited, each as `name: file:line ...`.
    #[track_caller]
    fn vanished_uses(project: &[(&str, &str)], call: &[(&str, &str)]) -> Vec<String> {
        let mut index = Index::new("project");
        for (path, text) in project {
            index.put(path, Version::hash(text.as_bytes()), &tags(path, text));
        }
        let after: Vec<(&str, Tags)> = call.iter().map(|(path, text)| (*path, tags(path, text))).collect();
        let files: Vec<RemainingFile<'_>> = after
            .iter()
            .map(|(path, tags)| RemainingFile { path, tags: Some(tags), is_known: true })
            .collect();
        let description = |it: Vanished| {
            let uses: Vec<String> = it.uses.iter().map(|(path, line)| format!("{path}:{line}")).collect();
            format!("{}@{}: {}", it.name, it.line, uses.join(" "))
        };
        index.vanished(&files).into_iter().map(description).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn a_name_that_is_used_elsewhere_is_reported_with_its_uses() {
        for (project, call, reported) in [
            (
                vec![("a.py", "x = 1\ndef one(): pass\n"), ("b/c.py", "from a import one\none()\n")],
                ("a.py", "x = 1\ndef two(): pass\n"),
                "one@2: b/c.py:1 b/c.py:2",
            ),
            (
                vec![("pkg/a.py", "def one(): pass\n"), ("c.py", "import pkg.a\npkg.a.one()\n")],
                ("pkg/a.py", "def two(): pass\n"),
                "one@1: c.py:2",
            ),
            (
                vec![
                    ("a.py", "class A:\n    def one(self): pass\n    def two(self): pass\n"),
                    ("c.py", "from a import A\nx = A()\nx.one()\n"),
                ],
                ("a.py", "class A:\n    def two(self): pass\n"),
                "A.one@2: c.py:3",
            ),
            (
                vec![
                    ("src/a.ts", "export function one() {}\n"),
                    ("src/c.ts", "import { one } from './a'\none()\n"),
                ],
                ("src/a.ts", "export function two() {}\n"),
                "one@1: src/c.ts:1 src/c.ts:2",
            ),
            (
                vec![
                    ("p/a.go", "package p\n\nfunc one() {}\n"),
                    ("p/c.go", "package p\n\nfunc f() { one() }\n"),
                ],
                ("p/a.go", "package p\n\nfunc two() {}\n"),
                "one@3: p/c.go:3",
            ),
            (
                vec![
                    ("src/a.rs", "pub fn one() {}\n"),
                    ("src/c.rs", concat!("use ", "crate", "::a::one;\nfn f() { one() }\n")),
                ],
                ("src/a.rs", "pub fn two() {}\n"),
                "one@1: src/c.rs:1 src/c.rs:2",
            ),
        ] {
            assert_eq!(vanished_uses(&project, &[call]), [reported], "{call:?}");
            // Unchanged, nothing vanishes.
            let (path, text) = project[0];
            assert_eq!(vanished_uses(&project, &[(path, text)]), NONE, "{path}");
        }
    }

    #[test]
    fn the_files_of_a_call_are_taken_together() {
        let project = [
            ("a.py", "def one(): pass\n"),
            ("b.py", "from a import one\none()\n"),
            ("c.py", "from a import one\none()\n"),
        ];
        let renamed = ("a.py", "def two(): pass\n");
        let [b, c] = ["b.py", "c.py"].map(|path| (path, "from a import two\ntwo()\n"));
        assert_eq!(vanished_uses(&project, &[renamed, b, c]), NONE);
        assert_eq!(
            vanished_uses(&project, &[renamed, b]),
            ["one@1: c.py:1 c.py:2"],
            "one file was forgotten"
        );
        let partial = ("c.py", "from a import two\ntwo()\nfrom a import one\n");
        assert_eq!(
            vanished_uses(&project, &[renamed, b, partial]),
            ["one@1: c.py:3"],
            "one use was forgotten"
        );
        assert_eq!(
            vanished_uses(&project, &[("a.py", "x = 1\n"), ("d.py", "def one(): pass\n")]),
            NONE,
            "moved"
        );
        assert_eq!(vanished_uses(&project, &[("a.py", "from d import one\n")]), NONE, "it is brought in now");
    }

    #[test]
    fn names_that_may_mean_something_else_are_not_reported() {
        let changed = ("a.py", "x = 1\n");
        let quiet = |a: &str, more: &[(&str, &str)]| {
            let project: Vec<_> = std::iter::once(("a.py", a)).chain(more.iter().copied()).collect();
            assert_eq!(vanished_uses(&project, &[changed]), NONE, "{a:?} {more:?}");
        };
        quiet("def one(): pass\n", &[("b.py", "from other import one\none()\n")]);
        quiet("def one(): pass\n", &[("b.py", "def one(): pass\none()\n")]);
        quiet("def one(): pass\n", &[("b.py", "one = 1\nprint(one)\n")]);
        quiet("def one(): pass\none()\n", &[("b.py", "# one\nx = 'one'\n")]);
        quiet("class A:\n    def close(self): pass\n", &[("b.py", "f = open('x')\nf.close()\n")]);
        let two = [
            ("p/one.py", "def f(): pass\n"),
            ("q/one.py", "def f(): pass\n"),
            ("c.py", "import q.one\nq.one.f()\n"),
        ];
        assert_eq!(vanished_uses(&two, &[("p/one.py", "x = 1\n")]), NONE, "another module of that name");
    }

    #[test]
    fn names_that_a_text_binds_otherwise_are_neither_dropped_nor_gone() {
        let def = "def a(): pass\ndef b(): pass\n";
        let function = "export function a() {}\nexport function b() {}\n";
        for (path, before, after, still) in [
            ("m.py", def, "from .impl import *\n", ""),
            ("m.py", def, "import q as a, z.b as b\n", ""),
            ("m.py", def, "from q import x as b\n", "a"),
            ("m.py", def, "for a in x:\n    pass\nwith y as b:\n    pass\n", ""),
            ("m.py", def, "def f():\n    for a in x: pass\n    return lambda b: b\n", "a b"),
            ("m.js", function, "const { a, c: b } = require('x')\n", ""),
            ("m.js", function, "function f(a, b) { return a }\n", "a b"),
            ("m.rs", "pub fn a() {}\npub fn b() {}\n", concat!("pub use ", "crate", "::x::*;\n"), ""),
        ] {
            let dropped = dropped(&tags(path, before), &tags(path, after), &[]);
            let names: Vec<String> = dropped.into_iter().map(|(name, _)| name).collect();
            assert_eq!(names.join(" "), still, "{after:?}");
        }
        let project = [("m.py", def), ("u.py", "from m import a\na()\n")];
        for (text, count) in [
            ("from q import x as a\n", 0),
            ("def __getattr__(name): return 1\n", 0),
            ("from q import x as c\n", 1),
            ("class C:\n    def __getattr__(self, name): return 1\n", 1),
        ] {
            assert_eq!(vanished_uses(&project, &[("m.py", text)]).len(), count, "{text:?}");
        }
    }

    #[test]
    fn names_that_a_text_exports_for_something_else_are_neither_dropped_nor_gone() {
        let function = "export function a() {}\nexport function b() {}\n";
        let listed = "function a() {}\nfunction b() {}\nexport { a, b }\n";
        let class = "class P {\n  private int x;\n  P(int x) {}\n  int x() { return x; }\n  int y() { return 1; }\n}\n";
        for (path, before, after, still) in [
            ("m.js", function, "export { a, x as b } from './x'\n", ""),
            ("m.js", function, "export { a as x, b } from './x'\n", "a"),
            ("m.ts", function, "export type { a } from './x'\nexport { type b } from './y'\n", ""),
            ("m.js", function, "export * from './x'\n", ""),
            ("m.js", function, "export * as a from './x'\n", "b"),
            ("m.js", function, "export { a }\nexport default b\n", ""),
            ("m.js", function, "exports.a = x; module.exports.b = 1\n", ""),
            ("m.js", function, "other.a = x; other.exports = { b }\n", "a b"),
            ("m.js", function, "module.exports = { a: x, b: 1 }\n", ""),
            ("m.js", function, "module.exports = { x: a, y: b }\n", "a b"),
            ("m.js", function, "module.exports = require('./x')\n", ""),
            ("m.js", function, "module.exports = { ...require('./x') }\n", ""),
            ("m.js", function, "const x = { ...require('./x') }\n", "a b"),
            ("m.js", function, "import * as a from './x'\n", "b"),
            ("m.ts", function, "import a = require('./x')\nimport b = N.b\n", ""),
            // The export was there before, so the edit may have forgotten the definition.
            ("m.js", listed, "function b() {}\nexport { a, b }\n", "a"),
            ("m.js", listed, "function b() {}\nexport { b }\nexport { a } from './x'\n", ""),
            ("m.js", "function a() {}\nexports.a = a\n", "exports.a = a\n", "a"),
            ("m.js", "function a() {}\nmodule.exports = { a }\n", "module.exports = { a }\n", "a"),
            ("m.js", "function a() {}\nexport * from './x'\n", "export * from './x'\n", "a"),
            ("m.js", function, "module.exports = exports = { a: x, 'b': 1 }\n", ""),
            ("m.js", function, "exports = module.exports = { 'a': x, b() {} }\n", ""),
            ("m.js", function, "x.y = z = { a: x, b: 1 }\n", "a b"),
            ("m.js", function, "exports['a'] = x; module.exports[\"b\"] = 1\n", ""),
            ("m.js", function, "other['a'] = x\n", "a b"),
            ("m.js", function, "exports.a ||= x; exports.b ??= y\n", ""),
            ("m.js", function, "other.a ||= x; other.b ??= y\n", "a b"),
            ("m.js", function, "export { x as 'a', y as \"b\" } from './x'\n", ""),
            ("m.js", function, "export { a as 'x' } from './x'\nexport * as 'b' from './y'\n", "a"),
            // As tsc and others compile it.
            ("m.js", function, "exports.b = exports.a = void 0;\nexports.a = x_1.c;\n", "b"),
            (
                "m.js",
                function,
                "Object.defineProperty(exports, \"a\", { enumerable: true, get: function () { return x_1.a; } });\n",
                "b",
            ),
            ("m.js", function, "Object.defineProperty(other, \"a\", { value: 1 });\n", "a b"),
            ("m.js", function, "__exportStar(require(\"./x\"), exports);\n", ""),
            ("m.js", function, "tslib_1.__exportStar(require(\"./x\"), exports);\n", ""),
            ("m.js", function, "call(require(\"./x\"), exports);\n", "a b"),
            ("m.js", function, "Object.assign(exports, { a: x, 'b': y });\n", ""),
            ("m.js", function, "Object.assign(module.exports, require('./x'));\n", ""),
            ("m.js", function, "Object.assign(other, { a: x }, require('./x'));\n", "a b"),
            ("m.js", function, "for (const k in x) exports[k] = x[k];\n", ""),
            ("m.js", "exports.a = void 0;\nfunction a() {}\nexports.a = a;\n", "exports.a = void 0;\n", "a"),
            (
                "m.ts",
                "class P {\n  x() {}\n  y() {}\n}\n",
                "class P {\n  constructor(public x: A, readonly y = 1) {}\n}\n",
                "",
            ),
            (
                "m.ts",
                "class P {\n  x() {}\n  y() {}\n}\n",
                "class P {\n  constructor(x: A, private y?: B) {}\n}\n",
                "P.x",
            ),
            ("P.java", class, "record P(int x) {}\n", "P.y"),
            ("P.java", class, "record P(int... y) {}\n", "P.x"),
        ] {
            let dropped = dropped(&tags(path, before), &tags(path, after), &[]);
            let names: Vec<String> = dropped.into_iter().map(|(name, _)| name).collect();
            assert_eq!(names.join(" "), still, "{after:?}");
        }
        let user = ("u.js", "import { a } from './m'\na()\n");
        for (before, text, gone) in [
            (function, "export { a } from './x'\n", 0),
            (function, "export * from './x'\n", 0),
            (function, "exports.a = x\n", 0),
            (function, "export { a as x } from './x'\n", 1),
            (function, "export { a }\n", 1),
            ("export function a() {}\nexport * from './x'\n", "export * from './x'\n", 1),
        ] {
            let project = [("m.js", before), user];
            assert_eq!(vanished_uses(&project, &[("m.js", text)]).len(), gone, "{text:?}");
        }
        let users = [("P.java", class), ("U.java", "class U { int f(P p) { return p.x() + p.y(); } }\n")];
        let gone = vanished_uses(&users, &[("P.java", "record P(int x) {}\n")]);
        assert_eq!(gone, ["P.y@5: U.java:1"]);
    }
}
