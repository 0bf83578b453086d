//! The demo runs as documented, and leaves nothing behind.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
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
fn a_quiet_demo_prints_only_the_folder_that_it_keeps() {
    let (private, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = |more: &[&str]| {
        let mut demo: Command = lockgate(private.path());
        demo.args(["demo", "-q"]).args(more).env("PATH", "/nowhere");
        demo.env("TMPDIR", temporary.path()).env("TMP", temporary.path());
        let result = demo.output().unwrap();
        assert!(result.status.success(), "{result:?}");
        String::from_utf8(result.stdout).unwrap()
    };
    assert_eq!(output(&[]), "");
    let kept = output(&["--keep"]);
    let folder = fs::read_dir(temporary.path()).unwrap().next().unwrap().unwrap().path();
    assert_eq!(kept, format!("{}\n", folder.display()));
}

#[test]
fn a_quiet_demo_that_fails_names_the_folder_and_the_step() {
    let (private, temporary, bin) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let state = private.path().join("state-file");
    fs::write(&state, "").unwrap();
    // One step fails without a journal, and none has an answer from a server that a gate program has ended.
    let ruff = bin.path().join("ruff");
    fs::write(&ruff, "#!/bin/sh\nkill -9 $PPID\n").unwrap();
    fs::set_permissions(&ruff, Permissions::from_mode(0o755)).unwrap();
    for (path, state, step) in
        [("/nowhere".as_ref(), Some(&state), "12 of 12: "), (bin.path(), None, "8 of 12: ")]
    {
        let mut demo: Command = lockgate(private.path());
        demo.args(["demo", "-q", "--keep"]).env("PATH", path).env("LOCKGATE_ISOLATION", "none");
        demo.env("TMPDIR", temporary.path()).env("TMP", temporary.path());
        demo.envs(state.map(|state| ("XDG_STATE_HOME", state)));
        let result = demo.output().unwrap();
        assert_eq!(result.status.code(), Some(70), "{result:?}");
        let output = String::from_utf8(result.stdout).unwrap();
        let (folder, steps) = output.split_once('\n').unwrap();
        assert!(Path::new(folder).starts_with(temporary.path()) && Path::new(folder).is_dir(), "{output}");
        assert!(
            steps.starts_with(&format!("\n{step}")) && steps.matches(" of 12: ").count() == 1,
            "{output}"
        );
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
