//! `lockgate init` proposes the tools that pass their trial here.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::fixture::{Fixture, gates};
use crate::suite::files;
use lockgate_policy::Policy;

/// Finds the canary as yamllint does, and nothing else.
const WORKS: &str = "while read -r line; do case $line in *lockgate_canary*) echo 'stdin:1:1: [error] x (colons)'; exit 1;; esac; done";
/// Finds nothing, whatever it is given.
const PASSES_ALL: &str = "while read -r line; do :; done";
/// Finds fault with all.
const REFUSES_ALL: &str = "while read -r line; do :; done; echo 'stdin:1:1: [error] x (colons)'; exit 1";
/// Fails, as a program with a broken installation does.
const FAILS: &str = "echo 'No module named yamllint' >&2; exit 1";

/// A project that names yamllint, with this program of that name in this folder.
fn fixture(script: Option<&str>, folder: &str) -> Fixture {
    let fixture =
        Fixture::new(&[("a.yaml", "a: 1\n"), (".yamllint", "rules: {}\n"), (".gitignore", ".venv\n")]);
    if let Some(script) = script {
        let program = fixture.folder.path().join(folder).join("yamllint");
        let script = format!("#!/bin/sh\necho run > '{}'\n{script}\n", fixture.marker().display());
        files::write(&program, script);
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fixture
}

/// The gates for YAML of the policy that is written, and its text.
#[track_caller]
fn proposed(fixture: &Fixture, words: &[&str]) -> (Vec<String>, String) {
    let printed = fixture.command(&[words, &["--print"]].concat()).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(!fixture.root().join("quality.yaml").exists(), "--print writes nothing");
    let output = fixture.init(words);
    assert_eq!((output.exit, &output.json["status"]), (0, &Value::from("written")), "{:#}", output.json);
    let text = fixture.text("quality.yaml");
    assert_eq!(printed, text, "--print shows what is written");
    let policy = Policy::parse("quality.yaml", &text).unwrap();
    (gates(&policy, "yaml"), text)
}

#[test]
fn only_a_tool_that_passes_its_trial_is_proposed() {
    for (script, reason) in [
        (Some(WORKS), None),
        (Some(PASSES_ALL), Some("finds nothing in its canary")),
        (
            Some(REFUSES_ALL),
            Some("reports a finding in its passing sample: x; next: `lockgate gates test yamllint`"),
        ),
        (
            Some(FAILS),
            Some(
                "No module named yamllint; next: `lockgate gates test yamllint` shows more; its definition is for yamllint 1.38.0",
            ),
        ),
        (None, Some("not on this machine, though .yamllint is there; next: pip install yamllint")),
    ] {
        let (gates, text) = proposed(&fixture(script, "bin"), &[]);
        match reason {
            None => {
                assert_eq!(gates, ["yamllint"], "{text}");
                assert!(!text.contains("not proposed: "), "{text}");
            }
            Some(reason) => {
                assert_eq!(gates, [""; 0], "{script:?}: {text}");
                let line = text.lines().find(|line| line.contains("not proposed: yamllint: ")).unwrap();
                assert!(line.starts_with('#') && line.contains(reason), "{line}");
            }
        }
        // The control: what is not tried is proposed wherever it is found.
        if script.is_some() {
            let fixture = fixture(script, "bin");
            let (gates, text) = proposed(&fixture, &["--no-trial"]);
            assert_eq!(gates, ["yamllint"]);
            assert!(!fixture.marker().exists() && text.contains("not tried"), "{text}");
        }
    }
}

#[test]
fn json_explains_why_a_tool_is_not_proposed() {
    let output = fixture(Some(PASSES_ALL), "bin").init(&["--print"]);
    let gate = &output.json["gates"][0];
    assert_eq!((&gate["gate"], &gate["state"]), (&"yamllint".into(), &"failed".into()), "{:#}", output.json);
    assert!(gate["failure"].as_str().unwrap().contains("finds nothing in its canary"), "{gate}");
    assert!(gate["next"].as_str().unwrap().contains("lockgate gates test yamllint"), "{gate}");
    let output = fixture(Some(WORKS), "bin").init(&["--print"]);
    let gate = &output.json["gates"][0];
    assert_eq!((&gate["state"], &gate["failure"]), (&"proposed".into(), &Value::Null), "{:#}", output.json);
}

#[test]
fn a_program_of_the_project_is_run_only_where_a_person_says_so() {
    let new_fixture = || fixture(Some(WORKS), "root/.venv/bin");
    let fixture = new_fixture();
    let (gates, text) = proposed(&fixture, &[]);
    assert_eq!(gates, [""; 0], "{text}");
    assert!(!fixture.marker().exists(), "it was run");
    assert!(
        text.contains("lies in the project, so it was not run; next: `lockgate init --trust` tries it"),
        "{text}"
    );
    let fixture = new_fixture();
    assert_eq!(proposed(&fixture, &["--trust"]).0, ["yamllint"]);
    assert!(fixture.marker().exists(), "it was not run");
}
