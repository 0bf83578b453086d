//! The tour goes as told, and leaves nothing behind.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use super::lockgate;
use crate::suite::store::not_run;
use crate::suite::wire::tools_path;

#[test]
fn the_tour_shows_each_outcome_and_cleans_up() {
    let (private, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tour = |path: &OsStr, more: &[&str]| {
        let mut demo: Command = lockgate(private.path());
        demo.env("PATH", path);
        demo.arg("demo").args(more).env("TMPDIR", temporary.path()).env("TMP", temporary.path());
        let done = demo.output().unwrap();
        let (seen, errors) =
            (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
        assert!(done.status.success() && errors.is_empty(), "{seen}{errors}");
        seen
    };
    let left =
        || fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();

    // A machine without any tool: three stops are written unjudged, and say so.
    let bare = tour("/nowhere".as_ref(), &[]);
    counted(&bare, [("written", 10), ("refused", 1), ("verified", 1), ("unavailable", 3), ("on disk", 14)]);
    let seen = match std::env::var_os("LOCKGATE_TEST_VENV") {
        Some(_) => tour(&tools_path(), &[]),
        None => return not_run("the tour with ruff, gofmt and pyright: no LOCKGATE_TEST_VENV"),
    };
    counted(&seen, [("written", 8), ("refused", 3), ("verified", 1), ("unavailable", 0), ("on disk", 14)]);
    assert_eq!(seen.matches("same as before the call").count(), 4, "{seen}");
    assert!(
        seen.contains("+++ b/cmd/stockd/main.go") && seen.contains('^') && !seen.contains('\u{1b}'),
        "{seen}"
    );
    assert_eq!(left(), Vec::<std::path::PathBuf>::new());

    let seen = tour("/nowhere".as_ref(), &["--keep"]);
    let [kept] = &left()[..] else { panic!("one folder is kept, found {:?}", left()) };
    assert!(seen.contains(&format!("stays in {}", kept.display())), "{seen}");
    assert!(kept.join("tests/test_inventory.py").exists());
    let readme = fs::read_to_string(kept.join("README.md")).unwrap();
    assert!(readme.contains("below `reorder_at`") && readme.contains("## Shipping"), "{readme}");
}

/// Holds how many lines begin with these labels.
#[track_caller]
fn counted(seen: &str, wanted: [(&str, usize); 5]) {
    for (label, times) in wanted {
        assert_eq!(seen.matches(&format!("\n{label} ")).count(), times, "{label:?} in {seen}");
    }
}

#[test]
fn a_tour_that_cannot_begin_fails() {
    let private = tempfile::tempdir().unwrap();
    let nowhere = private.path().join("nowhere");
    let mut demo: Command = lockgate(private.path());
    let done = demo.arg("demo").env("TMPDIR", &nowhere).env("TMP", &nowhere).output().unwrap();
    assert_eq!(done.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&done.stderr).contains("IO_FAILED"), "{done:?}");
}
