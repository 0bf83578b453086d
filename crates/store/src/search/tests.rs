//! What a walk comes to, what it leaves out, and what a search counts.

mod names;
mod rules;

use super::*;
use lockgate_error::Code;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn clock(waiting: &dyn SearchClock) -> Clock<'_> {
    Clock::new(Instant::now() + Duration::from_secs(600), waiting)
}

/// A folder with a root in it.
struct Fixture {
    dir: tempfile::TempDir,
    files: Files,
}

impl Fixture {
    fn new(tree: &[(&str, &str)]) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("root");
        fs::create_dir(&root).unwrap();
        for (path, text) in tree {
            write(&root.join(path), text);
        }
        let files = Files::open(&[root]).unwrap();
        Fixture { dir, files }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("root")
    }

    fn found(&self, path: &str, hidden: Hidden) -> Vec<String> {
        let SearchTarget::Roots(below) =
            self.files.search_target(Some(path).filter(|path| !path.is_empty())).unwrap()
        else {
            panic!("{path} is a file")
        };
        let clock = clock(&());
        let found =
            self.files.find(&below, hidden, SearchLimits { most: 1000, largest: 1 << 20, clock: &clock });
        found.files.into_iter().map(|(place, _)| place.shown().to_owned()).collect()
    }

    fn hits(&self, pattern: &str, most: usize) -> Hits {
        let SearchTarget::Roots(below) = self.files.search_target(None).unwrap() else { panic!() };
        let (pattern, clock) = (SearchPattern::new(pattern, MatchReach::Line).unwrap(), clock(&()));
        self.files.search(
            &below,
            &pattern,
            Hidden::Included,
            SearchLimits { most, largest: 1 << 20, clock: &clock },
        )
    }

    fn refused(&self, path: &str) -> Option<Code> {
        self.files.search_target(Some(path)).err().map(|error| error.code)
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn what_is_hidden_ignored_or_protected_is_left_out() {
    let fixture = Fixture::new(&[
        (".gitignore", "*.log\n/build\n!keep.log\n"),
        ("a.txt", ""),
        ("a.log", ""),
        ("keep.log", ""),
        ("build/a.txt", ""),
        ("sub/build/a.txt", ""),
        ("sub/.gitignore", "b.txt\n"),
        ("sub/b.txt", ""),
        (".hidden/a.txt", ""),
        (".env", ""),
        ("sub/server.pem", ""),
        (".git/config", ""),
        (".git/info/exclude", "excluded\n"),
        ("excluded", ""),
        (".vscode/settings.json", ""),
        (".vscode/extensions.json", ""),
        ("quality.yaml", ""),
        ("inner/.git/HEAD", ""),
        ("inner/a.log", ""),
        ("inner/.gitignore", "inner.txt\n"),
        ("inner/inner.txt", ""),
        ("bare/HEAD", ""),
        ("bare/objects/x", ""),
        ("bare/refs/x", ""),
        (".a.txt.0123456789abcdef.lockgate", ""),
    ]);
    let expected = ["a.txt", "inner/a.log", "keep.log", "sub/build/a.txt"];
    assert_eq!(fixture.found("", Hidden::Excluded), expected);
    let all = [
        ".gitignore",
        ".hidden/a.txt",
        ".vscode/extensions.json",
        "a.txt",
        "inner/.gitignore",
        "inner/a.log",
        "keep.log",
        "sub/.gitignore",
        "sub/build/a.txt",
    ];
    assert_eq!(fixture.found("", Hidden::Included), all);
    assert_eq!(fixture.found("sub", Hidden::Excluded), ["sub/build/a.txt"]);
    assert_eq!(fixture.found("build", Hidden::Excluded), ["build/a.txt"]);
    assert_eq!(fixture.found(".hidden", Hidden::Excluded), [".hidden/a.txt"]);
    assert_eq!(fixture.found("inner", Hidden::Excluded), ["inner/a.log"]);
}

#[test]
fn a_glob_finds_files_and_what_stands_there_comes_first() {
    let fixture = Fixture::new(&[
        ("a.py", ""),
        ("b.md", ""),
        ("src/a.py", ""),
        ("src/b.pyi", ""),
        ("src/deep/a.py", ""),
        ("src/[id]/page.py", ""),
        ("src/i/page.py", ""),
        ("!odd.py", ""),
        (".github/a.py", ""),
    ]);
    for (path, expected) in [
        ("*.py", &["!odd.py", "a.py", "src/[id]/page.py", "src/a.py", "src/deep/a.py", "src/i/page.py"][..]),
        ("src/*.py", &["src/a.py"]),
        ("./src/**/a.py", &["src/a.py", "src/deep/a.py"]),
        ("./*.py", &["!odd.py", "a.py"]),
        ("./**/b.*", &["b.md", "src/b.pyi"]),
        ("./!*.py", &["!odd.py"]),
        ("src/**", &["src/[id]/page.py", "src/a.py", "src/b.pyi", "src/deep/a.py", "src/i/page.py"]),
        ("src/*.{py,pyi}", &["src/a.py", "src/b.pyi"]),
        ("src/[id]", &["src/[id]/page.py"]),
        ("src/[id]/*.py", &["src/i/page.py"]),
        ("!*.py", &["!odd.py"]),
        (".github/*.py", &[".github/a.py"]),
        ("*.rs", &[]),
    ] {
        assert_eq!(fixture.found(path, Hidden::Excluded), expected, "{path}");
    }
    let absolute = format!("{}/*.py", fixture.root().display());
    assert_eq!(fixture.found(&absolute, Hidden::Excluded), ["!odd.py", "a.py"]);
    assert_eq!(fixture.found("**", Hidden::Excluded).len(), 8);
    assert_eq!(fixture.found("./**", Hidden::Excluded).len(), 8);
    for (path, code) in [
        ("none", Code::FileNotFound),
        ("none/*.py", Code::FileNotFound),
        ("src/*/../*.py", Code::BadPattern),
        ("src/[.py", Code::BadPattern),
        ("../*.py", Code::PathOutsideRoot),
        ("/etc/*.conf", Code::PathOutsideRoot),
        (".git", Code::Protected),
        (".git/*", Code::Protected),
        ("x/.GIT/hooks/*", Code::Protected),
    ] {
        assert_eq!(fixture.refused(path), Some(code), "{path}");
    }
}

#[test]
fn a_glob_is_relative_to_the_base() {
    let Fixture { dir, files } =
        Fixture::new(&[("a.py", ""), ("src/a.py", ""), ("src/deep/a.py", ""), ("lib/a.py", "")]);
    let fixture = Fixture { dir, files: files.with_base("src") };
    assert_eq!(fixture.found("*.py", Hidden::Excluded), ["a.py", "deep/a.py"]);
    assert_eq!(fixture.found("./*.py", Hidden::Excluded), ["a.py"]);
    assert_eq!(fixture.found("deep/*.py", Hidden::Excluded), ["deep/a.py"]);
}

#[test]
fn a_beginning_of_a_path_is_one() {
    let fixture = Fixture::new(&[
        ("src/main.rs", ""),
        ("src/map.rs", ""),
        ("src/other.rs", ""),
        ("srcs/a", ""),
        ("web/[id].ts", ""),
        ("web/i.ts", ""),
    ]);
    let clock = clock(&());
    let bounds = SearchLimits { most: 2, largest: 1, clock: &clock };
    for (path, expected, is_cut) in [
        ("src/ma", &["src/main.rs", "src/map.rs"][..], false),
        ("src", &["src/main.rs", "src/map.rs"], true),
        ("srcs", &["srcs/a"], false),
        ("sr/", &[], false),
        ("s", &["src/main.rs", "src/map.rs"], true),
        ("none/x", &[], false),
        // A name with the characters of a glob is a name first.
        ("web/[id].ts", &["web/[id].ts"], false),
        ("web/[ij].ts", &["web/i.ts"], false),
    ] {
        let found = fixture.files.find(&fixture.files.with_prefix(path).unwrap(), Hidden::Excluded, bounds);
        let names: Vec<&str> = found.files.iter().map(|(place, _)| place.shown()).collect();
        assert_eq!((names.as_slice(), found.is_cut), (expected, is_cut), "{path}");
    }
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let fixture = Fixture::new(&[("a", "needle\n")]);
    let SearchTarget::Roots(below) = fixture.files.search_target(None).unwrap() else { panic!() };
    let pattern = SearchPattern::new("needle", MatchReach::Line).unwrap();
    let late = Clock::new(Instant::now(), &());
    for clock in [clock(&|| true), late] {
        let bounds = SearchLimits { most: 9, largest: 9, clock: &clock };
        assert_eq!(fixture.files.search(&below, &pattern, Hidden::Included, bounds).total, 0);
        assert!(clock.is_stopped());
        assert!(fixture.files.find(&below, Hidden::Included, bounds).is_cut);
    }
}

#[test]
fn the_first_files_are_counted_however_few_matches_are_shown() {
    let names: Vec<String> = (0..60).map(|at| format!("{at:02}")).collect();
    let tree: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "needle\nneedle\n")).collect();
    let hits = Fixture::new(&tree).hits("needle", 3);
    let counted: Vec<(&str, usize)> =
        hits.counted.iter().map(|(place, count)| (place.shown(), *count)).collect();
    let expected: Vec<(&str, usize)> = tree.iter().take(50).map(|(name, _)| (*name, 2)).collect();
    assert_eq!((counted, hits.files.len(), hits.total), (expected, 2, 120));
}

#[test]
fn what_cannot_be_searched_is_counted() {
    let fixture =
        Fixture::new(&[("a", "needle\n"), ("binary", "needle\0\n"), ("late", ""), ("sub/b", "needle\n")]);
    let root = fixture.root();
    fs::write(root.join("large"), "needle\n".repeat(1 << 18)).unwrap();
    fs::write(root.join("late"), format!("needle\n{}\0", "x\n".repeat(9000))).unwrap();
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff");
    fs::write(root.join(name), "needle\n").unwrap();
    let hits = fixture.hits("needle", 100);
    assert_eq!(hits.total, 2);
    assert_eq!(hits.skipped, Skipped { large: 1, unreadable: 0, unnamed: 1, slow: 0 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_first_matches_do_not_depend_on_threads(
        texts in prop::collection::vec("[ab\n]{0,12}", 1..20), most in 1_usize..12,
    ) {
        let names: Vec<String> = (0..texts.len()).map(|at| format!("{}/{at}", at % 3)).collect();
        let tree: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        let fixture = Fixture::new(&tree);
        let mut counts: Vec<(&str, usize)> = tree
            .iter()
            .map(|(name, text)| (*name, text.lines().filter(|line| line.contains('a')).count()))
            .filter(|(_, count)| *count > 0)
            .collect();
        counts.sort_unstable();
        let total: usize = counts.iter().map(|(_, count)| count).sum();
        let mut before = 0;
        counts.retain(|(_, count)| {
            before += count;
            before - count < most
        });
        let hits = fixture.hits("a", most);
        let found: Vec<(&str, usize)> = hits.files.iter().map(|(place, count)| (place.shown(), *count)).collect();
        prop_assert_eq!((found, hits.total, hits.searched), (counts, total, texts.len()));
    }
}
