//! The demo runs as documented, and leaves nothing behind.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use super::lockgate;
use crate::suite::store::not_run;
use crate::suite::wire::tools_path;

#[test]
fn the_demo_shows_each_outcome_and_cleans_up() {
    let (private, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tour = |path: &OsStr, more: &[&str]| {
        let mut demo: Command = lockgate(private.path());
        demo.env("PATH", path);
        demo.arg("demo").args(more).env("TMPDIR", temporary.path()).env("TMP", temporary.path());
        let result = demo.output().unwrap();
        let (output, errors) =
            (String::from_utf8(result.stdout).unwrap(), String::from_utf8(result.stderr).unwrap());
        assert!(result.status.success() && errors.is_empty(), "{output}{errors}");
        output
    };
    let left =
        || fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();

    // A machine without any tool: three stops are written unjudged, and say so.
    let bare = tour("/nowhere".as_ref(), &[]);
    counted(&bare, [("written", 10), ("refused", 1), ("verified", 1), ("unavailable", 3), ("on disk", 14)]);
    let output = match std::env::var_os("LOCKGATE_TEST_VENV") {
        Some(_) => tour(&tools_path(), &[]),
        None => return not_run("the tour with ruff, gofmt and pyright: no LOCKGATE_TEST_VENV"),
    };
    counted(&output, [("written", 8), ("refused", 3), ("verified", 1), ("unavailable", 0), ("on disk", 14)]);
    assert_eq!(output.matches("same as before the call").count(), 4, "{output}");
    assert!(
        output.contains("+++ b/cmd/stockd/main.go") && output.contains('^') && !output.contains('\u{1b}'),
        "{output}"
    );
    assert_eq!(left(), Vec::<std::path::PathBuf>::new());
    // Nor is anything left in the user's own folders, such as caches of the tools.
    let own = ["state", "cache"].map(|folder| private.path().join(folder).join("lockgate").exists());
    assert_eq!(own, [false, false]);

    let output = tour("/nowhere".as_ref(), &["--keep"]);
    let [folder] = &left()[..] else { panic!("one folder is kept, found {:?}", left()) };
    assert!(output.contains(&format!("stays in {}", folder.display())), "{output}");
    assert!(folder.join("tests/test_inventory.py").exists());
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("below `reorder_at`") && readme.contains("## Shipping"), "{readme}");
}

/// Holds how many lines begin with these labels.
#[track_caller]
fn counted(output: &str, expected: [(&str, usize); 5]) {
    for (label, times) in expected {
        assert_eq!(output.matches(&format!("\n{label} ")).count(), times, "{label:?} in {output}");
    }
}

#[test]
fn a_demo_that_cannot_start_fails() {
    let private = tempfile::tempdir().unwrap();
    let nowhere = private.path().join("nowhere");
    let mut demo: Command = lockgate(private.path());
    let result = demo.arg("demo").env("TMPDIR", &nowhere).env("TMP", &nowhere).output().unwrap();
    assert_eq!(result.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&result.stderr).contains("IO_FAILED"), "{result:?}");
}
