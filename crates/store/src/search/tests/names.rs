//! Compares the search with the admission of single paths, for hard links, symlinks and nested roots.

use super::*;
use std::os::unix::fs::symlink;

#[test]
fn other_names_of_what_is_protected_are_not_searched() {
    let fixture = Fixture::new(&[
        ("open.txt", "needle\n"),
        (".env", "needle\n"),
        ("plain/secret.txt", "needle\n"),
        ("plain/settings/settings.json", "needle\n"),
        ("plain/settings/fine.json", "needle\n"),
        ("hooks/run.sh", "needle\n"),
        ("plain/key.txt", "needle\n"),
        (".git/objects/pack", "needle\n"),
    ]);
    let root = fixture.root();
    let found = || -> Vec<String> {
        let hits = fixture.hits("needle", 100);
        assert_eq!(hits.total, hits.files.iter().map(|(_, count)| count).sum::<usize>());
        hits.files.into_iter().map(|(place, _)| place.shown().to_owned()).collect()
    };
    let all = [
        "hooks/run.sh",
        "open.txt",
        "plain/key.txt",
        "plain/secret.txt",
        "plain/settings/fine.json",
        "plain/settings/settings.json",
    ];
    assert_eq!(found(), all, "the control: nothing leads to them yet");
    fs::hard_link(root.join(".env"), root.join("second.txt")).unwrap();
    fs::hard_link(root.join(".git/objects/pack"), root.join("pack.txt")).unwrap();
    fs::hard_link(root.join("open.txt"), root.join("open too.txt")).unwrap();
    symlink("plain/secret.txt", root.join(".envrc")).unwrap();
    symlink("plain/settings", root.join(".vscode")).unwrap();
    symlink("plain/key.txt", root.join("tls.key")).unwrap();
    fs::create_dir(root.join(".husky")).unwrap();
    symlink("../hooks/run.sh", root.join(".husky/pre-push")).unwrap();
    assert_eq!(found(), ["open too.txt", "open.txt", "plain/settings/fine.json"]);
    // As each of them is refused by itself.
    let protected = [
        "second.txt",
        "pack.txt",
        "plain/key.txt",
        "plain/secret.txt",
        "plain/settings/settings.json",
        "hooks/run.sh",
    ];
    for path in protected {
        assert_eq!(fixture.files.admit_to_read(path).unwrap_err().code, Code::Protected, "{path}");
        assert_eq!(fixture.refused(path), Some(Code::Protected), "{path}");
    }
    assert_eq!(fixture.found("plain/settings", Hidden::Included), ["plain/settings/fine.json"]);
}

/// A workspace file is runnable and not secret, so a link of such a name hides nothing from a search.
#[test]
fn the_target_of_a_link_with_a_runnable_name_is_searched() {
    let fixture = Fixture::new(&[("plain/app.json", "needle\n"), ("plain/key.txt", "needle\n")]);
    let root = fixture.root();
    symlink("plain/app.json", root.join("app.code-workspace")).unwrap();
    assert_eq!(fixture.found("", Hidden::Included), ["plain/app.json", "plain/key.txt"]);
    assert_eq!(fixture.hits("needle", 100).total, 2);
    assert!(fixture.files.admit_to_read("plain/app.json").is_ok());
    // The control: a link of a protected name hides its target.
    symlink("plain/key.txt", root.join("tls.key")).unwrap();
    assert_eq!(fixture.found("", Hidden::Included), ["plain/app.json"]);
    assert_eq!(fixture.hits("needle", 100).total, 1);
}

#[test]
fn a_link_is_not_followed_and_no_loop_is_walked() {
    let fixture = Fixture::new(&[("real/a.txt", "needle\n")]);
    let root = fixture.root();
    fs::write(fixture.dir.path().join("theirs.txt"), "needle\n").unwrap();
    symlink("..", root.join("real/up")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("../theirs.txt", root.join("theirs.txt")).unwrap();
    symlink("..", root.join("out")).unwrap();
    symlink("real", root.join("same")).unwrap();
    assert_eq!(fixture.found("", Hidden::Included), ["real/a.txt"]);
    assert_eq!(fixture.found("same", Hidden::Included), ["real/a.txt"]);
    assert_eq!(fixture.found("same/*.txt", Hidden::Included), ["real/a.txt"]);
    assert_eq!(fixture.refused("out"), Some(Code::PathOutsideRoot));
    assert_eq!(fixture.refused("theirs.txt"), Some(Code::PathOutsideRoot));
}

#[test]
fn a_root_within_another_is_walked_once() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap().join("top");
    for path in ["a", "inner/a", "inner/deep/a"] {
        write(&top.join(path), "needle\n");
    }
    let files = Files::open(&[top.clone(), top.join("inner")]).unwrap();
    let clock = clock(&());
    let bounds = SearchLimits { most: 100, largest: 1 << 20, clock: &clock };
    let names = |path: Option<&str>| -> Vec<String> {
        let SearchTarget::Roots(below) = files.search_target(path).unwrap() else { panic!() };
        let found = files.find(&below, Hidden::Excluded, bounds);
        found.files.iter().map(|(place, _)| place.shown().to_owned()).collect()
    };
    let inner = |path: &str| top.join("inner").join(path).display().to_string();
    assert_eq!(names(None), ["a".to_owned(), inner("a"), inner("deep/a")]);
    assert_eq!(names(Some("inner")), ["inner/a", "inner/deep/a"]);
    assert_eq!(names(Some(&inner("deep"))), [inner("deep/a")]);
}
