//! What is said of the database itself: its password to nobody, and that no edit may reach it.

use std::path::Path;

use serde_json::json;

use super::Fixture;
use crate::suite::wire::lockgate;

#[test]
fn a_password_is_never_shown() {
    let fixture = Fixture::new();
    let root = fixture.folder.path();
    fixture.write("in/module/_global/a.py", "x = 1\n");
    let commands: &[&[&str]] = &[
        &["store", "migrate"],
        &["store", "export", "out"],
        &["store", "import", "in"],
        &["store", "app", "list"],
        &["serve", "--http", "127.0.0.1:0"],
        &["edit", "--path", "a.txt", "--content", "x"],
        &["log"],
        &["show", "d50c-1"],
        &["undo", "d50c-1"],
        &["redo", "d50c-1"],
    ];
    for command in commands {
        for url in ["postgres://u:hunter2@127.0.0.1:1/d", "postgres://127.0.0.1:1/d?password=hunter2"] {
            let outcome = fixture.run(&[*command, &["--store", url]].concat(), 2);
            assert!(
                outcome.stderr.contains("a password in the arguments"),
                "{command:?}: {}",
                outcome.stderr
            );
            assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
        }
        for url in [
            "mysql://u:hunter2@127.0.0.1/d",
            "postgres://u:hunter2@[/d",
            "hunter2",
            "sqlite:hunter2?mode=rwc",
        ] {
            let output = run_with_url(&fixture, command, url);
            assert!(
                output.0 == 2 && output.1.contains("LOCKGATE_STORE") || output.1.contains("store URL"),
                "{output:?}"
            );
            assert!(!output.1.contains("hunter2"), "{command:?} {url}: {}", output.1);
        }
    }
    // A database that cannot be reached, with all that can be logged.
    for command in commands.iter().filter(|command| command[0] == "store") {
        let (exit, output) = run_with_url(&fixture, command, "postgres://u:hunter2@127.0.0.1:1/secret_name");
        assert_eq!(exit, 70, "{command:?}: {output}");
        assert!(output.contains("STORE_UNAVAILABLE") && !output.contains("hunter2"), "{output}");
    }
    let (_, help) = run_with_url(&fixture, &["serve", "--help"], "postgres://u:hunter2@h/d");
    assert!(help.contains("--store <URL>") && !help.contains("hunter2"), "{help}");
    assert!(!root.join("a.txt").exists());
}

/// The exit code of a command with that URL in its environment, and all that it says.
fn run_with_url(fixture: &Fixture, arguments: &[&str], url: &str) -> (i32, String) {
    let mut command = lockgate(fixture.home.path());
    command.args(arguments).current_dir(fixture.folder.path());
    command.env("LOCKGATE_STORE", url).env("LOCKGATE_LOG", "trace").env("RUST_LOG", "trace");
    let out = command.output().unwrap();
    let output = [out.stdout, out.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (out.status.code().unwrap_or(-1), output)
}

#[test]
fn commands_that_read_create_no_database() {
    let fixture = Fixture::new();
    fixture.write("root/a.txt", "x\n");
    for command in [
        &["store", "export", "out"][..],
        &["store", "app", "list"],
        &["log", "--root", "root"],
        &["show", "--root", "root"],
    ] {
        let refused = fixture.json(&[command, &["--store", "sqlite:typo.db"]].concat(), 3);
        assert_eq!(
            (&refused["code"], &refused["message"]),
            (&json!("FILE_NOT_FOUND"), &json!("there is no database at typo.db"))
        );
        assert!(refused["hint"].as_str().unwrap().contains("lockgate store migrate"), "{refused}");
    }
    assert_eq!(fixture.files("").into_keys().collect::<Vec<_>>(), ["root/a.txt"]);
    // A database for later edits is no mistake.
    let (exit, output) = run_with_url(&fixture, &["log", "--root", "root"], "sqlite:later.db");
    assert_eq!(exit, 0, "{output}");
}

#[test]
fn a_database_that_edits_could_change_is_refused() {
    let fixture = Fixture::new();
    fixture.write("root/a.txt", "x\n");
    let root = fixture.folder.path().join("root").display().to_string();
    for path in ["root/content.db", "root/../root/sub/content.db"] {
        let url = format!("sqlite:{path}");
        let edit = ["edit", "--root", &root, "--store", &url, "--path", "a.txt", "--content", "y\n"];
        let refused = fixture.run(&edit, 2);
        assert!(refused.stderr.contains("inside the root"), "{}", refused.stderr);
    }
    assert_eq!(fixture.files("root").len(), 1);
    for organization in ["", "a\nb", &"x".repeat(129)] {
        let refused = fixture.run(&["log", "--root", &root, "--organization", organization], 2);
        assert!(refused.stderr.contains("1 to 128 bytes"), "{}", refused.stderr);
    }
    let edit = ["edit", "--root", &root, "--store", "sqlite:aside.db", "--path", "a.txt", "--content", "y\n"];
    fixture.run(&edit, 0);
    assert!(!Path::new(&fixture.folder.path().join("aside.db")).exists(), "edits of files need no database");
}
