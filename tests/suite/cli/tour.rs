//! The tour goes as told, and leaves nothing behind.

use std::fs;
use std::process::Command;

use super::lockgate;

#[test]
fn the_tour_shows_each_outcome_and_cleans_up() {
    let (private, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tour = |more: &[&str]| {
        let mut demo: Command = lockgate(private.path());
        demo.arg("demo").args(more).env("TMPDIR", temporary.path()).env("TMP", temporary.path());
        let done = demo.output().unwrap();
        let (seen, errors) =
            (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
        assert!(done.status.success() && errors.is_empty(), "{seen}{errors}");
        seen
    };
    let left =
        || fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();

    let seen = tour(&[]);
    for (line, times) in
        [("\nwritten ", 4), ("\nrefused ", 1), ("\nverified ", 1), ("\non disk ", 6), ("GATE_REFUSED", 1)]
    {
        assert_eq!(seen.matches(line).count(), times, "{line:?} in {seen}");
    }
    assert_eq!(seen.matches("same as before the call").count(), 2, "{seen}");
    assert!(
        seen.contains("+++ b/cmd/stockd/main.go") && seen.contains('^') && !seen.contains('\u{1b}'),
        "{seen}"
    );
    assert_eq!(left(), Vec::<std::path::PathBuf>::new());

    let seen = tour(&["--keep"]);
    let [kept] = &left()[..] else { panic!("one folder is kept, found {:?}", left()) };
    assert!(seen.contains(&format!("stays in {}", kept.display())), "{seen}");
    assert!(kept.join("tests/test_inventory.py").exists());
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
