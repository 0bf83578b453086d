//! Samples of the long trials of `tests/soak`: kills, faults, full disks, several servers, the past. Each has its control.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::store::not_run;

/// What a trial ends with where the machine lacks what it needs.
const NOT_HERE: i32 = 77;

/// Runs a sample of a trial; its exit code, and what it said.
fn sample(trial: &str, more: &[&str]) -> Option<(i32, String)> {
    let trials = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials");
    let output = Command::new("python3")
        .arg("-B")
        .arg(trials.join(trial).with_extension("py"))
        .args(["--binary", env!("CARGO_BIN_EXE_lockgate"), "--quick"])
        .args(more)
        .current_dir(trials)
        .output();
    let Ok(output) = output else {
        not_run(&format!("the trial {trial}: no python3"));
        return None;
    };
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let exit = output.status.code().unwrap_or(-1);
    if exit == NOT_HERE {
        not_run(&format!("the trial {trial}: {text}"));
        return None;
    }
    Some((exit, text))
}

#[track_caller]
fn assert_holds(trial: &str, more: &[&str]) {
    if let Some((exit, output)) = sample(trial, more) {
        assert_eq!(exit, 0, "{output}");
    }
}

/// The same trial of a naive writer must find something.
#[track_caller]
fn assert_detected(trial: &str, more: &[&str]) {
    if let Some((exit, output)) = sample(trial, &[more, &["--control"]].concat()) {
        assert!(exit == 1 && output.contains("the control is seen"), "{exit} {output}");
    }
}

#[test]
fn a_kill_leaves_every_file_whole_and_a_restart_recovers() {
    assert_holds("kills", &[]);
}

#[test]
fn a_kill_in_a_naive_writer_is_detected() {
    assert_detected("kills", &["--ways", "replace,create"]);
}

#[test]
fn a_system_call_error_is_reported_and_leaves_every_file_whole() {
    assert_holds("faults", &[]);
}

#[test]
fn a_writer_that_ignores_errors_is_detected() {
    assert_detected("faults", &["--ways", "replace,create"]);
}

#[test]
fn a_full_disk_leaves_every_file_whole() {
    assert_holds("full", &[]);
}

#[test]
fn a_naive_writer_on_a_full_disk_is_detected() {
    assert_detected("full", &["--ways", "replace"]);
}

#[test]
fn four_servers_lose_and_double_nothing() {
    assert_holds("servers", &[]);
}

#[test]
fn clients_without_a_server_lose_some() {
    assert_detected("servers", &[]);
}

#[test]
fn batches_of_four_servers_are_whole_and_never_stuck() {
    // A debug build on a busy machine is not what the goal is about.
    assert_holds("locks", &["--goal", "1000"]);
}

#[test]
fn batches_without_a_lock_are_torn() {
    assert_detected("locks", &[]);
}

#[test]
fn a_warm_edit_makes_few_system_calls() {
    assert_holds("calls", &[]);
}

#[test]
fn a_system_call_more_is_detected() {
    assert_detected("calls", &[]);
}

#[test]
fn any_sequence_of_undo_and_redo_gives_the_same_bytes() {
    assert_holds("history", &[]);
}

#[test]
fn undo_without_a_journal_is_detected() {
    assert_detected("history", &[]);
}

/// Every trial is run from here, or is what the others share.
#[test]
fn no_trial_is_forgotten() {
    let source = include_str!("trials.rs");
    let shared = ["blocklog", "client", "lab", "naive", "tracer", "ways"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials");
    let soak = std::fs::read_to_string(folder.join("../soak")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|ending| ending == "py") && !shared.contains(&name) {
            assert!(soak.contains(&format!("trial {name}")), "{name} is not in tests/soak");
            assert!(name == "powercut" || source.contains(&format!("(\"{name}\",")), "{name} has no sample");
        }
    }
}
