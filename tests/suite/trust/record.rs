//! Where a word is written down: what a record says, of which root, and that no edit reaches it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::json;

use super::fixture::Fixture;
use super::{WITHHELD, fixture, trusted, withheld};
use crate::suite::wire::{Server, outcome};

/// The one record that there is.
fn record(fixture: &Fixture) -> PathBuf {
    let mut records = fs::read_dir(fixture.at("user/state/lockgate/trust")).unwrap();
    let only = records.next().unwrap().unwrap().path();
    assert!(records.next().is_none());
    only
}

#[test]
fn a_record_that_says_nothing_counts_as_none() {
    let fixture = fixture();
    fixture.trust(".");
    let record = record(&fixture);
    let good = fs::read_to_string(&record).unwrap();
    let bad = [
        (String::new(), "cannot be parsed"),
        ("{}".to_owned(), "cannot be parsed"),
        (good.replace("\"when\"", "\"then\""), "cannot be parsed"),
        (good.replace("\"version\": 1", "\"version\": 2"), "has the version 2"),
        (good.replace("\"quality.yaml\"", "\"sub/quality.yaml\""), "the commands of sub/quality.yaml in"),
        (good.replace("/root\"", "/other\""), "/other"),
    ];
    for (text, why) in bad {
        assert_ne!(text, good);
        fs::write(&record, text).unwrap();
        let status = fixture.call(&["trust", "status"]);
        assert!(status.exit == WITHHELD && status.stdout.contains(why), "{why}: {}", status.stdout);
    }
    fs::write(&record, &good).unwrap();
    trusted(&fixture);
    fs::set_permissions(&record, fs::Permissions::from_mode(0o666)).unwrap();
    withheld(&fixture, "the trust record is ignored: it may be written by others (mode 0666)");
}

#[test]
fn a_record_is_of_one_root() {
    let fixture = fixture();
    fixture.trust(".");
    let root = fixture.at("outside/root");
    fs::create_dir(&root).unwrap();
    fs::copy(fixture.at("root/quality.yaml"), root.join("quality.yaml")).unwrap();
    let status = fixture.call(&["trust", "status", "--root", root.to_str().unwrap()]);
    assert_eq!(status.exit, WITHHELD, "{}", status.stdout);
    fixture.link(&fixture.root(), "outside/link");
    let status = fixture.call(&["trust", "status", "--root", fixture.at("outside/link").to_str().unwrap()]);
    assert_eq!(status.exit, 0, "{}", status.stdout);
}

#[test]
fn nothing_is_recorded_where_an_edit_could_reach_it() {
    let fixture = fixture();
    for state in ["root/.state", "root", "root/sub/deep/new"] {
        let mut trust = fixture.command();
        trust.args(["trust", "--yes"]).env("XDG_STATE_HOME", fixture.at(state)).stdin(Stdio::null());
        let output = outcome(&trust.output().unwrap());
        assert_eq!(output.exit, 4, "{}", output.stderr);
        assert!(output.stderr.contains("is inside the root"), "{}", output.stderr);
        assert!(!fixture.at(state).join("lockgate").exists());
    }
}

#[test]
fn lockgate_s_own_folders_cannot_be_edited() {
    let fixture = Fixture::new();
    for made in [false, true] {
        let user = fixture.at("root");
        let mut server = Server::start_by(
            {
                let mut command = fixture.command();
                command.env("XDG_STATE_HOME", user.join("state")).env("XDG_CACHE_HOME", user.join("cache"));
                command
            },
            &user,
            &["--tools", "all"],
        );
        if made {
            fs::create_dir_all(user.join("state/lockgate/trust")).unwrap();
            fs::create_dir_all(user.join("cache/lockgate")).unwrap();
            fixture.link(&user.join("state/lockgate"), "root/link");
        }
        let more = if made { ["link/x", "link/trust/x"] } else { ["state/lockgate", "state/LockGate/x"] };
        for path in ["state/lockgate/trust/x.json", "cache/lockgate/x/y"].into_iter().chain(more) {
            let answer = server.call("create_file", &json!({"path": path, "content": "x\n"}));
            assert_eq!(answer.code(), "PROTECTED", "{path}: {}", answer.structured);
            assert!(answer.text.contains("lockgate's own folders"), "{}", answer.text);
        }
        for path in ["state/other/x", "lockgate/x", "cache/x"] {
            let path = format!("{path}{made}");
            let answer = server.call("create_file", &json!({"path": path, "content": "x\n"}));
            assert_eq!(answer.status(), "written", "{path}: {}", answer.structured);
        }
    }
    let mut inside = fixture.command();
    inside
        .args(["edit", "--path", "x", "--content", "x", "--root"])
        .arg(fixture.at("root/state/lockgate/trust"));
    let output = outcome(&inside.env("XDG_STATE_HOME", fixture.at("root/state")).output().unwrap());
    assert!(
        output.exit == 2 && output.stderr.contains("is inside lockgate's own folder"),
        "{}",
        output.stderr
    );
}

#[test]
fn what_changed_since_trust_was_given_is_shown() {
    let fixture = fixture();
    let first = fixture.call(&["trust", "--yes"]);
    assert!(first.exit == 0 && !first.stdout.contains("Changed since"), "{}", first.stdout);
    fixture.program("bin/other");
    let policy = fs::read_to_string(fixture.at("root/quality.yaml")).unwrap();
    fixture.write("root/quality.yaml", &policy.replace("[it, ", "[other, "));
    let again = fixture.call(&["trust", "--yes"]);
    let changed = again.stdout.split("Changed since these commands were trusted, ").nth(1);
    let changed = changed.unwrap_or_else(|| panic!("{}", again.stdout));
    assert!(
        changed.contains(" ago\n") && changed.contains("\n-runs      it {path}\n+runs      other {path}\n"),
        "{changed}"
    );
    trusted(&fixture);
    // A record of an earlier version does not have what was shown.
    let record = record(&fixture);
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    assert!(value.as_object_mut().unwrap().remove("shown").is_some(), "{value}");
    fs::write(&record, value.to_string()).unwrap();
    trusted(&fixture);
    fixture.write("root/quality.yaml", &policy);
    let unknown = fixture.call(&["trust", "--yes"]);
    assert!(unknown.exit == 0 && !unknown.stdout.contains("Changed since"), "{}", unknown.stdout);
}
