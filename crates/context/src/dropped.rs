//! Finds definitions that an edit removes from a text.
//!
//! Invariant: a definition that moved, is imported or is exported under its name is not dropped.

use std::collections::{HashMap, HashSet};

use super::line_starts::wide;
use super::tags::{Tag, Tags, is_function_or_type};
use super::uses::EXPORT_ALL;

/// Returns the definitions of one text that none of the others has, with their names and lines:
/// functions, types and the like. A removed container is returned without its members.
pub fn dropped(before: &Tags, after: &Tags, other_files: &[&Tags]) -> Vec<(String, usize)> {
    let elsewhere: HashSet<&str> = other_files.iter().copied().flat_map(Tags::names).collect();
    let (had, has) = (named_paths(before), named_paths(after));
    let none = HashSet::new();
    // Another symbol of the name that was there before is not where this one went.
    let is_gone = |tag: &Tag, path: &str| {
        let paths = has.get(tag.name()).unwrap_or(&none);
        let is_fewer = paths.len() < had.get(tag.name()).map_or(0, HashSet::len);
        !elsewhere.contains(tag.name()) && !paths.contains(path) && is_fewer
    };
    // An edit that writes the export of a name has not forgotten the name.
    let is_newly_exported = |name: &str| after.exported.contains(name) && !before.exported.contains(name);
    // An import or export of everything can provide any name at the top level.
    let is_new = |key: &str| after.uses.contains_key(key) && !before.uses.contains_key(key);
    let has_new_glob = is_new("+*") || is_new(EXPORT_ALL);
    let mut paths = HashSet::new();
    let mut dropped = Vec::new();
    for tag in before.definitions.iter().filter(|tag| is_function_or_type(tag.kind)) {
        let path = path_of(before, tag);
        if !is_gone(tag, &path) {
            continue;
        }
        let around = tag.around.and_then(|around| before.definitions.get(around));
        if around.is_some_and(|outer| outer.name() == tag.name()) {
            // A constructor; a record has one without a definition.
            continue;
        }
        let is_reported_with_outer =
            around.is_some_and(|outer| outer.kind.is_executable() || is_gone(outer, &path_of(before, outer)));
        let may_be_in_glob = around.is_none() && has_new_glob;
        let is_provided = may_be_in_glob || after.brings_in(tag.name()) || is_newly_exported(tag.name());
        if !is_reported_with_outer && !is_provided && paths.insert(path.clone()) {
            dropped.push((path, wide(tag.location.line)));
        }
    }
    dropped
}

/// Returns the name of a symbol with that of the symbol around it.
fn path_of(tags: &Tags, tag: &Tag) -> String {
    let around = tag.around.and_then(|around| tags.definitions.get(around));
    around.map_or(tag.part.clone(), |outer| format!("{}.{}", outer.part, tag.part))
}

/// Returns the paths of the symbols of a text by their names.
fn named_paths(tags: &Tags) -> HashMap<&str, HashSet<String>> {
    let mut paths: HashMap<&str, HashSet<String>> = HashMap::new();
    for (name, tag) in tags.names().zip(&tags.definitions) {
        paths.entry(name).or_default().insert(path_of(tags, tag));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests;

    fn tags(path: &str, text: &str) -> Tags {
        tests::tags(path, text).unwrap()
    }

    /// Another symbol of the same name hides nothing, and one that moved or was joined with others is not dropped.
    #[test]
    fn a_name_that_others_have_too_is_dropped_all_the_same() {
        let two =
            "class A:\n    def save(self): pass\nclass B:\n    def save(self): pass\n    def x(self): pass\n";
        let types = "struct A;\nstruct B;\nimpl A { fn new() {} }\nimpl B { fn new() {} fn x() {} }\n";
        for (path, before, after, gone) in [
            ("m.py", two, "class A:\n    def save(self): pass\nclass B:\n    def x(self): pass\n", "B.save"),
            (
                "m.py",
                two,
                "class A:\n    def save(self): pass\n    def x(self): pass\nclass B:\n    def save(self): pass\n",
                "",
            ),
            (
                "m.py",
                two,
                "class A:\n    def save(self): pass\nclass C:\n    def save(self): pass\n    def x(self): pass\n",
                "B",
            ),
            (
                "m.py",
                "def save(): pass\nclass A:\n    def save(self): pass\n",
                "class A:\n    def save(self): pass\n",
                "save",
            ),
            ("m.rs", types, "struct A;\nstruct B;\nimpl A { fn new() {} }\nimpl B { fn x() {} }\n", "B.new"),
            (
                "m.rs",
                types,
                "struct A;\nstruct B;\nimpl B { fn x() {} fn new() {} }\nimpl A { fn new() {} }\n",
                "",
            ),
            (
                "m.ts",
                "function a(x: string): void;\nfunction a(x: number): void;\nfunction a(x: any) {}\n",
                "function a(x: any) {}\n",
                "",
            ),
            (
                "m.py",
                "class A:\n    @property\n    def a(self): pass\n    @a.setter\n    def a(self, x): pass\n",
                "class A:\n    @property\n    def a(self): pass\n",
                "",
            ),
        ] {
            let names: Vec<String> = dropped(&tags(path, before), &tags(path, after), &[])
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            assert_eq!(names.join(" "), gone, "{after:?}");
        }
    }

    #[test]
    fn what_a_new_content_drops_is_named_without_what_lies_in_it() {
        let before = tags(
            "a.py",
            "class A:\n    def b(self): pass\nclass C:\n    def d(self): pass\n    def e(self): pass\ndef f(): pass\ndef g(): pass\n",
        );
        let after = tags("a.py", "class C:\n    def e(self): pass\nfrom x import g\n");
        let dropped_names = |other_files: &[&Tags]| {
            dropped(&before, &after, other_files).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(dropped_names(&[]), ["A", "C.d", "f"]);
        assert_eq!(
            dropped_names(&[&tags("b.py", "def f(): pass\nclass A:\n    def b(self): pass\n")]),
            ["C.d"]
        );
        assert_eq!(dropped(&before, &before, &[]), []);
    }
}
