//! A word counts for servers and commands that run: at once where it is given or taken back, and only for what was there.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::fixture::Fixture;
use super::{CHANGED, NEVER, fixture, withheld};
use crate::suite::wire::{Answer, Server};

/// Gives the file another text, and tells whether the gate's program ran.
fn edited(fixture: &Fixture, server: &mut Server, path: &str, text: &str) -> (Answer, bool) {
    let answer = server.call("safe_edit_file", &json!({"path": path, "content": text}));
    assert_eq!(answer.status(), "written", "{}", answer.structured);
    (answer, !fixture.ran().is_empty())
}

#[track_caller]
fn assert_reason(answer: &Answer, why: &str) {
    let notes = answer.structured["notes"].to_string();
    assert!(notes.contains(why) && notes.contains("lockgate trust"), "{why}: {}", answer.structured);
}

#[test]
fn granted_or_revoked_trust_counts_at_once() {
    let fixture = fixture();
    let mut server = fixture.server(&["--tools", "all"]);
    let (answer, has_run) = edited(&fixture, &mut server, "app.py", "x = 2\n");
    assert!(!has_run);
    assert_reason(&answer, NEVER);
    fixture.trust(".");
    assert!(edited(&fixture, &mut server, "app.py", "x = 3\n").1);
    fixture.append("root/quality.yaml", "# a remark\n");
    let (answer, has_run) = edited(&fixture, &mut server, "app.py", "x = 4\n");
    assert!(!has_run);
    assert_reason(&answer, CHANGED);
    fixture.trust(".");
    assert!(edited(&fixture, &mut server, "app.py", "x = 5\n").1);
    fixture.call(&["trust", "revoke"]);
    assert!(!edited(&fixture, &mut server, "app.py", "x = 6\n").1);
}

#[test]
fn trust_for_one_process_covers_only_existing_policies() {
    let fixture = fixture();
    let mut server = fixture.server(&["--tools", "all", "--trust"]);
    assert!(edited(&fixture, &mut server, "app.py", "x = 2\n").1);
    withheld(&fixture, NEVER);
    // A policy that is put there meanwhile, and one that is changed, are nobody's word.
    fixture.policy("root/sub/quality.yaml", "[it]");
    let (answer, has_run) = edited(&fixture, &mut server, "sub/app.py", "x = 1\n");
    assert!(!has_run);
    assert_reason(&answer, "sub/quality.yaml changed after this process started");
    assert!(edited(&fixture, &mut server, "app.py", "x = 3\n").1);
    fixture.append("root/quality.yaml", "# a remark\n");
    let (answer, has_run) = edited(&fixture, &mut server, "app.py", "x = 4\n");
    assert!(!has_run);
    assert_reason(&answer, "quality.yaml changed after this process started");
    // What is written down counts all the same.
    fixture.trust(".");
    assert!(edited(&fixture, &mut server, "app.py", "x = 5\n").1);
}

#[test]
fn trust_for_one_process_excludes_a_moved_or_linked_policy() {
    let fixture = fixture();
    fs::remove_file(fixture.at("root/quality.yaml")).unwrap();
    fixture.policy("root/elsewhere/quality.yaml", "[it]");
    fixture.policy("root/sub/ready.yaml", "[it]");
    let mut server = fixture.server(&["--tools", "all", "--trust"]);
    assert!(edited(&fixture, &mut server, "elsewhere/app.py", "x = 1\n").1, "the control");
    fs::rename(fixture.at("root/sub/ready.yaml"), fixture.at("root/sub/quality.yaml")).unwrap();
    fixture.link(Path::new("../elsewhere/quality.yaml"), "root/one/quality.yaml");
    fixture.link(Path::new("../elsewhere"), "root/two/.lockgate");
    for path in ["sub/app.py", "one/app.py", "two/app.py"] {
        let (answer, has_run) = edited(&fixture, &mut server, path, "x = 1\n");
        assert!(!has_run, "{path}");
        assert_reason(&answer, "changed after this process started");
    }
}

#[test]
fn trust_for_one_process_covers_only_existing_programs() {
    let fixture = fixture();
    let mut server = fixture.server(&["--tools", "all", "--trust"]);
    assert!(edited(&fixture, &mut server, "app.py", "x = 2\n").1);
    fixture.program("bin/other");
    fixture.link(&fixture.at("bin/other"), "bin/it");
    let (answer, has_run) = edited(&fixture, &mut server, "app.py", "x = 3\n");
    assert!(!has_run);
    assert_reason(&answer, "the program of the gate it is now");
}

#[test]
fn an_edit_of_the_command_line_accepts_trust_too() {
    let fixture = fixture();
    let edit = ["edit", "--json", "--path", "app.py", "--content", "x = 2\n", "--mode", "verify_only"];
    assert_eq!(fixture.call(&edit).exit, 0);
    assert_eq!(fixture.ran(), [""; 0]);
    assert_eq!(fixture.call(&[&edit[..], &["--trust"]].concat()).exit, 0);
    assert_eq!(fixture.ran(), [fixture.at("bin/it").display().to_string()]);
}
