//! Lines of a project's files that may make a program skip one of them: directives that disable a tool, and
//! lines that name other files (`mod a;`, `import "./a"`, `package a`).
//!
//! A proof that a program looks at a file holds as long as these lines stay the same in the file and, if the
//! program looks at the whole project, in all files of the gate's languages. In that case any change to a
//! small file that may be part of a configuration counts as well. Words match anywhere in a line: one extra
//! run of a canary costs little, and a missing one would let an unread file pass.
//!
//! Invariant: if the files are too many or too large to be read, the traits of the tree are unknown.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::file_walk::{self, Tree};
use super::key_hasher::KeyHasher;
use crate::regular;
use lockgate_policy::{CacheScope, Gate};
use lockgate_text::Version;

/// The maximum number of bytes that are read from all files.
const MAX_READ: u64 = 64 << 20;

/// The beginnings of comments and attributes, which contain directives.
const MARKS: [&str; 7] = ["#", "//", "/*", "*", "--", "@", "%"];
/// Words of directives that disable a tool for a file or a part of it, in lower case.
const SWITCHES: [&str; 17] = [
    "ignore",
    "disable",
    "nocheck",
    "no-check",
    "noqa",
    "nolint",
    "nosec",
    "skip",
    "lint",
    "build",
    "cfg",
    "generated",
    "mypy",
    "pyright",
    "ruff:",
    "type:",
    "inspection",
];
/// Words of lines that name other files, in lower case.
const IMPORT_WORDS: [&str; 8] =
    ["mod ", "package ", "import", "include", "require", " from ", "#[path", "reference "];

/// The traits of the drafts of a run, and of the files around them.
#[derive(Debug)]
pub(crate) struct Traits {
    drafts: BTreeMap<String, Version>,
    tree: OnceCell<Option<Version>>,
    sources: Option<Sources>,
}

/// The files from which the traits of a tree are read.
#[derive(Debug)]
struct Sources {
    root: PathBuf,
    /// The other files on disk.
    others: Tree,
    /// The traits of the drafts as parts of the tree, by path.
    drafts: BTreeMap<String, Version>,
}

impl Traits {
    /// Creates the traits of the drafts, each a path and a text, which is `None` for a removed file. Those of
    /// the tree are read on first use, if the scope is wider than a file.
    pub(crate) fn new(
        gate: &Gate,
        root: &Path,
        scope: CacheScope,
        drafts: &[(&str, Option<&str>)],
    ) -> Traits {
        let sources = || {
            let edited: Vec<&str> = drafts.iter().map(|(path, _)| *path).collect();
            let tree = file_walk::tree(gate, root, &edited)?;
            let draft = |(path, text): &(&str, Option<&str>)| {
                let text = (*text)?;
                let is_whole = file_walk::is_configuration(gate, path);
                let traits =
                    if is_whole { Version::hash(text.as_bytes()) } else { switches_and_imports(text) };
                Some(((*path).to_owned(), traits))
            };
            Some(Sources {
                root: root.to_owned(),
                others: tree,
                drafts: drafts.iter().filter_map(draft).collect(),
            })
        };
        let sources = match scope {
            CacheScope::File => None,
            CacheScope::Package | CacheScope::Project => sources(),
        };
        Traits { drafts: switches_of(drafts), tree: OnceCell::new(), sources }
    }

    /// Returns a version of the directives of a draft.
    pub(super) fn of_file(&self, path: &str) -> Version {
        self.drafts.get(path).copied().unwrap_or_else(|| switches(""))
    }

    /// Returns a version of the traits of the tree and the directives of a draft; `None` if the scope
    /// is not the project, or the tree is too large.
    pub(super) fn of_tree_with(&self, path: &str) -> Option<Version> {
        let read = || self.sources.as_ref().and_then(Sources::read);
        let tree = (*self.tree.get_or_init(read))?;
        let mut both = KeyHasher::default();
        both.add_version(tree);
        both.add_version(self.of_file(path));
        Some(both.version())
    }

    /// Creates the traits of a tree that is identified by this text.
    #[cfg(test)]
    pub(super) fn made(tree: Option<&str>, drafts: &[(&str, &str)]) -> Traits {
        let drafts: Vec<_> = drafts.iter().map(|(path, text)| (*path, Some(*text))).collect();
        let tree = OnceCell::from(tree.map(|tree| Version::hash(tree.as_bytes())));
        Traits { drafts: switches_of(&drafts), tree, sources: None }
    }
}

impl Sources {
    fn read(&self) -> Option<Version> {
        let mut files = self.drafts.clone();
        let mut left = MAX_READ;
        for path in &self.others.sources {
            // A file that is not regular, or cannot be read, counts by its name.
            let text = regular::read(&self.root.join(path), left + 1).unwrap_or_default();
            left = left.checked_sub(text.len() as u64)?;
            files.insert(path.clone(), switches_and_imports(&String::from_utf8_lossy(&text)));
        }
        files.extend(self.others.configurations.clone());
        let mut all = KeyHasher::default();
        for (path, traits) in &files {
            all.add(path.as_bytes());
            all.add_version(*traits);
        }
        Some(all.version())
    }
}

fn switches_of(drafts: &[(&str, Option<&str>)]) -> BTreeMap<String, Version> {
    drafts.iter().map(|(path, text)| ((*path).to_owned(), switches(text.unwrap_or_default()))).collect()
}

/// Returns a version of the lines of a text that may disable a tool.
fn switches(text: &str) -> Version {
    hash_lines(text, is_switch)
}

/// Returns a version of those lines and of the lines that name other files.
fn switches_and_imports(text: &str) -> Version {
    hash_lines(text, |line| is_switch(line) || has(line, &IMPORT_WORDS))
}

fn is_switch(line: &str) -> bool {
    has(line, &MARKS) && has(line, &SWITCHES)
}

fn has(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.contains(word))
}

fn hash_lines(text: &str, counts: impl Fn(&str) -> bool) -> Version {
    let mut lines = KeyHasher::default();
    for line in text.lines().filter(|line| counts(&line.to_ascii_lowercase())) {
        lines.add(line.trim().as_bytes());
    }
    lines.version()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use lockgate_policy::Catalogue;

    #[test]
    fn an_edit_leaves_the_traits_and_a_directive_or_another_module_does_not() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(root.path().join(path), text).unwrap();
        write("lib.rs", "mod a;\n\nfn f() {}\n");
        let gate = Catalogue::embedded().find("cargo-check").unwrap();
        let of = |text: &str| {
            let traits = Traits::new(gate, root.path(), CacheScope::Project, &[("a.rs", Some(text))]);
            traits.of_tree_with("a.rs").unwrap()
        };
        let known = of("fn g() {}\n");
        assert_eq!(of("fn h() {\n    1;\n}\n"), known);
        assert_ne!(of("#![cfg(windows)]\nfn g() {}\n"), known);
        write("lib.rs", "mod a;\n\nfn f() { g() }\n");
        assert_eq!(of("fn g() {}\n"), known, "an edit of another file");
        write("lib.rs", "fn f() {}\n");
        assert_ne!(of("fn g() {}\n"), known, "the file is no module any more");
        write("lib.rs", "mod a;\n");
        assert_eq!(of("fn g() {}\n"), known);
        write("b.rs", "");
        assert_ne!(of("fn g() {}\n"), known, "another file");
    }

    #[test]
    fn a_configuration_that_another_may_extend_counts_and_data_does_not() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let place = root.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            // Another file each time, as the clock of the file system may stand still between two writes.
            fs::write(place.with_extension("new"), text).unwrap();
            fs::rename(place.with_extension("new"), place).unwrap();
        };
        let gate = Catalogue::embedded().find("tsc").unwrap();
        let of = |drafts: &[(&str, Option<&str>)]| {
            Traits::new(gate, root.path(), CacheScope::Project, drafts).of_tree_with("a.ts").unwrap()
        };
        let edit: (&str, Option<&str>) = ("a.ts", Some("let a = 1\n"));
        for path in
            ["config/base.json", "config/base.yaml", "sub/own.ini", "sub/.eslintignore", "sub/.pylintrc"]
        {
            write(path, "{}");
            let known = of(&[edit]);
            assert_eq!(of(&[edit]), known, "{path}");
            write(path, "{\"exclude\": [\"a.ts\"]}");
            let other = of(&[edit]);
            assert_ne!(other, known, "{path}");
            let drafts = ["{}", "{\"exclude\": []}"].map(|text| of(&[edit, (path, Some(text))]));
            assert!(drafts[0] != drafts[1] && drafts[0] != other, "{path}: a draft counts by its text");
        }
        let known = of(&[edit]);
        for path in ["README.md", "page.html", "data.txt", ".coverage", "node_modules/a/package.json"] {
            write(path, "x");
            assert_eq!(of(&[edit]), known, "{path}");
        }
        write("data.json", &" ".repeat(1 << 19));
        assert_eq!(of(&[edit]), known, "a large file is data");
    }

    #[test]
    fn a_pipe_or_a_device_among_the_sources_does_not_block() {
        let root = tempfile::tempdir().unwrap();
        regular::make_pipe(&root.path().join("a.rs"));
        std::os::unix::fs::symlink("/dev/zero", root.path().join("b.rs")).unwrap();
        let place = root.path().to_owned();
        let of = move || {
            let gate = Catalogue::embedded().find("cargo-check").unwrap();
            Traits::new(gate, &place, CacheScope::Project, &[("c.rs", Some("fn g() {}\n"))])
                .of_tree_with("c.rs")
        };
        let known = regular::in_time(of.clone());
        assert!(known.is_some());
        // The control: their names are among the traits, so the walk reached them.
        fs::remove_file(root.path().join("a.rs")).unwrap();
        assert_ne!(regular::in_time(of), known);
    }

    #[test]
    fn a_program_that_looks_at_one_file_has_no_tree() {
        let root = tempfile::tempdir().unwrap();
        let gate = Catalogue::embedded().find("cargo-check").unwrap();
        let traits = Traits::new(gate, root.path(), CacheScope::File, &[("a.rs", Some("fn g() {}\n"))]);
        assert_eq!(traits.of_tree_with("a.rs"), None);
    }
}
