//! Results of programs that end by themselves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use super::for_both_callers;
use super::process_fixture::{LONG, ProcessFixture, SECRET, exited, python, timed};
use crate::run::POLL_INTERVAL;
use crate::watch::Watch;
use crate::{Order, ProcessOutcome, run};

for_both_callers! {
    exit_codes_and_both_outputs_are_returned
    a_signal_is_named
    a_large_input_comes_back
    no_input_is_an_empty_one
    an_unread_input_is_reported
    an_output_that_is_closed_is_none
    a_flood_on_stderr_is_cut_and_one_on_stdout_ends_it
    the_environment_is_clean
    what_cannot_be_started_says_why
    an_end_is_noticed_at_once
}

fn broken(why: &str) -> ProcessOutcome {
    ProcessOutcome::Broken(why.to_owned())
}

fn exit_codes_and_both_outputs_are_returned(fixture: &ProcessFixture) {
    for code in [0, 1, 3] {
        let (exit_code, stdout, stderr) = exited(fixture.run(&["exit", &code.to_string()], LONG));
        assert_eq!((exit_code, stdout.as_str(), stderr.as_str()), (code, "out", "err"));
    }
}

fn a_signal_is_named(fixture: &ProcessFixture) {
    for (name, signal) in [("SIGKILL", 9), ("SIGSEGV", 11), ("SIGTERM", 15)] {
        let why = format!("was killed by signal {signal} ({name})");
        assert_eq!(fixture.run(&["die-of", name], LONG), ProcessOutcome::Killed { signal, why });
    }
}

fn a_large_input_comes_back(fixture: &ProcessFixture) {
    let text: Vec<u8> = (0..5_u32 << 20).map(|at| at.to_le_bytes()[at as usize % 3]).collect();
    let ProcessOutcome::Exited { code: 0, stdout, .. } = fixture.give(&["echo"], Some(&text), LONG) else {
        panic!("the echo has failed")
    };
    assert!(stdout == text, "{} bytes have come back of {}", stdout.len(), text.len());
}

fn no_input_is_an_empty_one(fixture: &ProcessFixture) {
    assert_eq!(exited(fixture.give(&["echo"], None, LONG)).1, "");
    assert_eq!(exited(fixture.give(&["echo"], Some(b""), LONG)).1, "");
}

fn an_unread_input_is_reported(fixture: &ProcessFixture) {
    let large = vec![b'x'; 1 << 20];
    assert!(matches!(
        fixture.give(&["deaf"], Some(&large), LONG),
        ProcessOutcome::StdinUnread { code: 0, .. }
    ));
    // What fits into the pipe counts as read, also if the program ends before it is written.
    for input in [&b"x"[..], &large[..64 << 10]] {
        assert_eq!(exited(fixture.give(&["deaf"], Some(input), LONG)).0, 0);
        let order = Order { program: Path::new("/bin/true"), input: Some(input), ..fixture.order(&[], None) };
        for _ in 0..50 {
            assert_eq!(exited(run(&order, Watch::idle().until(Instant::now() + LONG))).0, 0);
        }
    }
}

fn an_output_that_is_closed_is_none(fixture: &ProcessFixture) {
    assert_eq!(exited(fixture.run(&["close-and-exit"], LONG)), (0, String::new(), String::new()));
}

fn a_flood_on_stderr_is_cut_and_one_on_stdout_ends_it(fixture: &ProcessFixture) {
    let (code, stdout, stderr) = exited(fixture.run(&["flood", "stderr", "200"], LONG));
    assert_eq!((code, stdout.as_str()), (0, ""));
    let left_out = (200 << 20) - (128 << 10);
    assert!(stderr.contains(&format!("\n[{left_out} bytes left out]\n")), "{} bytes", stderr.len());
    assert!(fixture.run(&["flood", "stdout", "200"], LONG) == broken("wrote more than 16 MiB"));
    assert_eq!(exited(fixture.run(&["flood", "stdout", "16"], LONG)).1.len(), 16 << 20);
}

fn the_environment_is_clean(fixture: &ProcessFixture) {
    assert!(std::env::var_os(SECRET).is_some(), "there is nothing to hide");
    let mut order = fixture.order(&["environment", "a b", "*", "$HOME"], None);
    order.env.push(("MYPY_CACHE_DIR".into(), "/cache".into()));
    let output = exited(run(&order, Watch::idle().until(Instant::now() + LONG))).1;
    for expected in
        ["\"MYPY_CACHE_DIR\": \"/cache\"", "\"LANG\": \"C.UTF-8\"", "\"LOCKGATE_GATE\": \"", "\"PATH\": \"/"]
    {
        assert!(output.contains(expected), "no {expected} in {output}");
    }
    for hidden in [SECRET, "LOCKGATE_TEST_ALONE", "\"PWD\""] {
        assert!(!output.contains(hidden), "{hidden} in {output}");
    }
    let folder = fixture.folder().canonicalize().unwrap();
    assert!(output.contains(&format!("\"folder\": \"{}\"", folder.display())), "{output}");
    assert!(output.contains("[\"environment\", \"a b\", \"*\", \"$HOME\", \"misbehave-"), "{output}");
}

fn what_cannot_be_started_says_why(fixture: &ProcessFixture) {
    let file = |name: &str, text: &str, mode: u32| {
        let path = fixture.folder().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let why = |program: &Path, folder: &Path| {
        let order = Order { program, cwd: folder, ..fixture.order(&[], None) };
        run(&order, Watch::idle().until(Instant::now() + LONG))
    };
    let nowhere = fixture.folder().join("nowhere");
    for (program, folder, reason) in [
        (nowhere.as_path(), fixture.folder(), "it was not found"),
        (python(), nowhere.as_path(), "the folder to run in was not found"),
        (&file("locked", "#!/bin/sh\n", 0o644), fixture.folder(), "permission denied"),
        (&file("text", "true\n", 0o755), fixture.folder(), "it is not a program"),
        (
            &file("script", "#!/nowhere/sh\n", 0o755),
            fixture.folder(),
            "the interpreter on its first line was not found",
        ),
    ] {
        assert_eq!(why(program, folder), broken(&format!("could not be started: {reason}")));
    }
}

fn an_end_is_noticed_at_once(fixture: &ProcessFixture) {
    let order = Order { program: Path::new("/bin/true"), ..fixture.order(&[], None) };
    let took = || timed(|| exited(run(&order, Watch::idle().until(Instant::now() + LONG)))).0;
    let best = (0..20).map(|_| took()).min().unwrap();
    assert!(best < POLL_INTERVAL * 3 / 4, "the best of 20 took {best:?}");
}
