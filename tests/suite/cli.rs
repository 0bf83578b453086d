//! The command line as people and scripts meet it: the real binary, its output and its exit codes.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use lockgate_error::ErrorFamily;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::wire::{Outcome, Server, lockgate, run};

mod demo;
mod output;
mod page;
pub mod signals;
mod store;

const PYTHON: &str = "def total(items):\n    return sum(items)\n";
const BROKEN: &str = "def total(items):\nreturn sum(items)\n";

fn project() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("app.py"), PYTHON).unwrap();
    root
}

fn text(root: &Path) -> String {
    fs::read_to_string(root.join("app.py")).unwrap()
}

fn call(root: &Path, arguments: &[&str]) -> Outcome {
    call_with(root, arguments, "")
}

fn call_with(root: &Path, arguments: &[&str], input: &str) -> Outcome {
    run(arguments, root, input)
}

/// An answer without what differs from run to run.
fn steady(mut answer: Value) -> Value {
    for gate in answer.get_mut("gates").and_then(Value::as_array_mut).into_iter().flatten() {
        gate.as_object_mut().unwrap().remove("ms");
    }
    answer.as_object_mut().unwrap().remove("edit_id");
    answer
}

#[test]
fn every_family_has_its_exit_code_and_leaves_the_file_alone() {
    let app = ["edit", "--json", "--path", "app.py"];
    let search = ["--search", "nowhere", "--replace", ""];
    let cases: [(ErrorFamily, &str, Vec<&str>); 7] = [
        (ErrorFamily::Gate, "GATE_REFUSED", [&app[..], &["--content", BROKEN]].concat()),
        (
            ErrorFamily::Request,
            "RANGE_OUT_OF_BOUNDS",
            [&app[..], &["--lines", "9", "--new-content", "x"]].concat(),
        ),
        (
            ErrorFamily::Target,
            "FILE_NOT_FOUND",
            [&["edit", "--json", "--path", "none.py"], &search[..]].concat(),
        ),
        (
            ErrorFamily::Access,
            "PATH_OUTSIDE_ROOT",
            vec!["edit", "--json", "--path", "../app.py", "--content", "x"],
        ),
        (ErrorFamily::Match, "NO_MATCH", [&app[..], &search].concat()),
        (
            ErrorFamily::Conflict,
            "EDIT_CONFLICT",
            [&app[..], &["--content", "", "--expected-version", "0123456789ab"]].concat(),
        ),
        (ErrorFamily::Policy, "POLICY_INVALID", [&app[..], &["--content", ""]].concat()),
    ];
    for (family, code, arguments) in cases {
        let root = project();
        if family == ErrorFamily::Policy {
            fs::write(root.path().join("quality.yaml"), "quality_gate: {}\n").unwrap();
        }
        let output = call(root.path(), &arguments);
        let answer: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{code}: {}", output.stderr));
        assert_eq!(
            (answer["code"].as_str(), output.exit),
            (Some(code), i32::from(family.exit_code())),
            "{answer:#}"
        );
        assert!(answer["message"].as_str().unwrap().contains("nothing was written"), "{answer:#}");
        assert_eq!(text(root.path()), PYTHON, "{code}");
    }
    let root = project();
    let output = call(root.path(), &[&app[..], &["--content", "x = 1\n"]].concat());
    assert_eq!((output.exit, text(root.path()).as_str()), (0, "x = 1\n"), "{}", output.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_a_failure() {
    let private = tempfile::tempdir().unwrap();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = lockgate(private.path()).args(["completions", "bash"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(ErrorFamily::System.exit_code())));
    assert!(String::from_utf8_lossy(&output.stderr).contains("IO_FAILED"), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_edit_whose_report_cannot_be_printed_is_not_reported_as_refused() {
    let root = project();
    let private = tempfile::tempdir().unwrap();
    let into_full = |arguments: &[&str]| {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = lockgate(private.path());
        let output = command.args(arguments).current_dir(root.path()).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(i32::from(ErrorFamily::System.exit_code())), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let insert = ["edit", "--path", "app.py", "--at-line", "1", "--new-content", "import os\n"];
    for arguments in [&insert[..], &["undo"], &["redo", "--json"]] {
        let error = into_full(arguments);
        let id = error.split_once("edit ").and_then(|(_, rest)| rest.split_once(' ')).unwrap().0;
        assert!(error.contains(&format!("IO_FAILED: edit {id} was written, but not its report")), "{error}");
        assert!(error.contains(&format!("do not send the request again; `lockgate show {id}`")), "{error}");
        assert!(!error.contains("refused"), "{error}");
    }
    assert_eq!(text(root.path()), format!("import os\n{PYTHON}"));
    let error = into_full(&[&insert[..], &["--mode", "verify_only"]].concat());
    assert!(error.contains("IO_FAILED: cannot write to standard output"), "{error}");
    assert_eq!(text(root.path()), format!("import os\n{PYTHON}"));
}

#[test]
fn usage_errors_and_help_end_as_clap_has_them() {
    let root = project();
    for arguments in
        [vec!["edit"], vec!["edit", "--path", "app.py", "--content", "", "--lines", "1"], vec!["serv"]]
    {
        let output = call(root.path(), &arguments);
        assert_eq!(output.exit, 2, "{arguments:?}");
        assert!(output.stderr.contains("Usage:"), "{}", output.stderr);
    }
    assert_eq!(text(root.path()), PYTHON);
    let version = call(root.path(), &["--version"]);
    assert_eq!((version.exit, version.stdout), (0, format!("lockgate {}\n", env!("CARGO_PKG_VERSION"))));
    let help = call(root.path(), &["--help"]).stdout;
    assert!(help.contains("7 conflict"), "{help}");
    let readme = include_str!("../../README.md").lines().nth(2).unwrap();
    assert!(help.starts_with(readme.trim_end_matches('.')), "{readme}\n{help}");
    let serve = call(root.path(), &["serve", "--help"]).stdout;
    assert!(serve.contains("[default: those of the"), "{serve}");
}

#[test]
fn a_request_is_the_same_from_file_standard_input_and_flags() {
    let request =
        json!({"path": "app.py", "search": "total", "replace": "add_up", "search_count": 1}).to_string();
    let flags =
        ["edit", "--path", "app.py", "--search", "total", "--replace", "add_up", "--count", "1", "--json"];
    let answers = [vec!["--file", "request.json"], vec!["--file", "-"], vec![]].map(|way| {
        let root = project();
        fs::write(root.path().join("request.json"), &request).unwrap();
        let arguments =
            if way.is_empty() { flags.to_vec() } else { [&["edit", "--json"], way.as_slice()].concat() };
        let output = call_with(root.path(), &arguments, &request);
        assert_eq!(output.exit, 0, "{}{}", output.stdout, output.stderr);
        assert_eq!(text(root.path()), PYTHON.replace("total", "add_up"));
        steady(serde_json::from_str(&output.stdout).unwrap())
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[test]
fn content_may_come_from_standard_input() {
    let root = project();
    let output = call_with(root.path(), &["edit", "--path", "new/n.py", "--content-from", "-"], "n = 1\n");
    assert_eq!(output.exit, 0, "{}", output.stderr);
    assert_eq!(fs::read_to_string(root.path().join("new/n.py")).unwrap(), "n = 1\n");
}

#[test]
fn a_request_that_cannot_be_read_is_refused() {
    let root = project();
    for (input, message) in [
        ("[1]", "not a JSON object"),
        ("{\"path\": ", "not a JSON object"),
        ("{\"pth\": \"a\"}", "pth"),
        ("{\"path\": \"a\", \"content\": \"\", \"p\\u0061th\": \"b\"}", "duplicate key `path`"),
        (
            "{\"edits\": [{\"path\": \"a\", \"content\": \"x\", \"content\": \"\"}]}",
            "duplicate key `content`",
        ),
    ] {
        let output = call_with(root.path(), &["edit", "--file", "-"], input);
        assert_eq!(output.exit, 2, "{input}");
        assert!(
            output.stderr.contains("INVALID_INPUT") && output.stderr.contains(message),
            "{}",
            output.stderr
        );
    }
    for name in ["a", "b"] {
        assert!(!root.path().join(name).exists(), "{name} was written");
    }
    let output = call(root.path(), &["edit", "--file", "none.json"]);
    assert_eq!((output.exit, output.stderr.contains("none.json")), (2, true), "{}", output.stderr);
}

#[test]
fn json_is_the_answer_of_the_tool() {
    for request in [
        json!({"path": "app.py", "search": "sum", "replace": "max"}),
        json!({"path": "app.py", "content": BROKEN}),
        json!({"path": "app.py", "search": "nowhere", "replace": ""}),
        json!({"path": "app.py", "line_edits": [{"start_line": 2, "end_line": 1, "new_content": ""}]}),
        json!({"path": "app.py", "content": "x\n", "mode": "verify_only", "show_diff": false}),
    ] {
        let (cli_root, server_root) = (project(), project());
        let printed =
            call_with(cli_root.path(), &["edit", "--json", "--file", "-"], &request.to_string()).stdout;
        let response = Server::start(server_root.path(), &[]).call("safe_edit_file", &request);
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(steady(printed), steady(response.structured), "{request}");
    }
}

#[test]
fn the_mode_of_the_command_line_overrides_the_request() {
    let root = project();
    let request = json!({"path": "app.py", "content": "x = 1\n", "mode": "strict"}).to_string();
    let output = call_with(root.path(), &["edit", "--file", "-", "--mode", "verify_only"], &request);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    assert!(output.stdout.contains("verified") && output.stdout.contains("+x = 1\n"), "{}", output.stdout);
    assert_eq!(text(root.path()), PYTHON);
}

#[test]
fn a_finding_is_shown_with_its_line_and_a_caret() {
    let root = project();
    let output = call(root.path(), &["edit", "--path", "app.py", "--content", BROKEN]);
    assert_eq!(output.exit, 1);
    let caret = output.stdout.lines().skip_while(|line| !line.starts_with("2 |")).nth(1).unwrap_or_default();
    assert!(caret.contains('^') && caret.contains("syntax"), "{}", output.stdout);
    assert!(
        output.stdout.contains("app.py:2:1") && output.stdout.contains("nothing was written"),
        "{}",
        output.stdout
    );
}

#[test]
fn colours_are_for_terminals_and_text_never_steers_one() {
    let root = project();
    fs::write(root.path().join("app.py"), "a = '\u{1b}[2J'\n").unwrap();
    let arguments =
        ["edit", "--path", "app.py", "--search", "a =", "--replace", "b =", "--mode", "verify_only"];
    assert!(!call(root.path(), &arguments).stdout.contains('\u{1b}'));

    let private = tempfile::tempdir().unwrap();
    let mut forced = lockgate(private.path());
    forced.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1").args(arguments).current_dir(root.path());
    let colored = String::from_utf8(forced.output().unwrap().stdout).unwrap();
    assert!(colored.contains("\u{1b}[32m+b = '\u{241b}[2J'"), "{colored:?}");
    assert!(!colored.contains("\u{1b}[2J"), "{colored:?}");
}

#[test]
fn a_reader_that_goes_away_changes_nothing() {
    let root = project();
    let private = tempfile::tempdir().unwrap();
    for more in [&["--json"][..], &[]] {
        let mut edit = lockgate(private.path())
            .args(["edit", "--path", "app.py", "--content-from", "-"])
            .args(more)
            .current_dir(root.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The edit waits for its input, so the pipe is closed before anything can be written to it.
        drop(edit.stdout.take());
        fs::write(root.path().join("app.py"), PYTHON).unwrap();
        std::io::Write::write_all(&mut edit.stdin.take().unwrap(), b"x = 1\n").unwrap();
        let output = edit.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
        assert_eq!(text(root.path()), "x = 1\n");
    }
}

#[test]
fn the_whole_disk_and_the_home_are_no_roots() {
    let private = tempfile::tempdir().unwrap();
    let home = private.path().join("home");
    fs::create_dir_all(&home).unwrap();
    for command in [&["serve"][..], &["edit", "--path", "a.txt", "--content", "x"]] {
        for root in [Path::new("/"), &home] {
            let mut refused = lockgate(private.path());
            refused.args(command).arg("--root").arg(root).stdin(Stdio::null());
            let output = refused.output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{command:?} {root:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("INVALID_INPUT"), "{output:?}");
        }
    }
    assert!(!home.join("a.txt").exists());
}

#[test]
fn completions_come_for_every_shell() {
    let root = project();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = call(root.path(), &["completions", shell]);
        assert!(output.exit == 0 && output.stdout.contains("expected-version"), "{shell}: {}", output.stderr);
    }
}

#[test]
fn the_schema_is_what_a_server_lists() {
    let root = project();
    let printed: Value =
        serde_json::from_str(&call(root.path(), &["schema", "--tools", "all"]).stdout).unwrap();
    let mut server = Server::start(root.path(), &[]);
    let id = server.post("tools/list", json!({}));
    assert_eq!(printed["tools"], server.wait(id).unwrap()["result"]["tools"]);
    let few: Value = serde_json::from_str(&call(root.path(), &["schema", "tools"]).stdout).unwrap();
    assert_eq!(few["tools"].as_array().unwrap().len(), 9);
    let refused = call(root.path(), &["schema", "--tools", "edti"]);
    assert!(refused.exit == 2 && refused.stderr.contains("did you mean `edit`"), "{}", refused.stderr);
}
