//! Commands that are started in a folder below the top of a project, without `--root`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::wire::{Outcome, run_for};

/// A policy that no built-in default resembles: it forbids one word.
const POLICY: &str = "define:\n  word: { kind: pattern, languages: ['*'], must_not_match: forbidden, message: \
                      a forbidden word }\nquality_gates:\n  '*': [{ tool: word }]\n";

/// A user, and a project with a folder in it.
struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new(policy: &str) -> Fixture {
        let fixture = Fixture { dir: tempfile::tempdir().unwrap() };
        for folder in ["user/home", "project/.git", "project/sub/deep"] {
            fs::create_dir_all(fixture.path(folder)).unwrap();
        }
        fixture.write("project/quality.yaml", policy);
        fixture.write("project/top.txt", "top\n");
        fixture.write("project/sub/a.txt", "a\n");
        fixture
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    fn run(&self, folder: &str, arguments: &[&str]) -> Outcome {
        self.run_with(&self.path(folder), arguments, "")
    }

    fn run_with(&self, folder: &Path, arguments: &[&str], input: &str) -> Outcome {
        run_for(&self.path("user"), arguments, folder, input)
    }

    /// The exit code of a command, and its answer.
    fn json(&self, folder: &str, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(folder, &[arguments, &["--json"]].concat());
        let answer = serde_json::from_str(&output.stdout);
        (output.exit, answer.unwrap_or_else(|_| panic!("{}{}", output.stdout, output.stderr)))
    }
}

const FORBIDDEN: [&str; 5] = ["edit", "--path", "a.txt", "--content", "forbidden\n"];

#[test]
fn an_edit_uses_the_policy_above_the_folder() {
    let fixture = Fixture::new(POLICY);
    let (exit, answer) = fixture.json("project/sub", &FORBIDDEN);
    assert_eq!((exit, answer["code"].as_str()), (1, Some("GATE_REFUSED")), "{answer:#}");
    assert_eq!(fixture.read("project/sub/a.txt"), "a\n");
    // The control: a root that a person names has no policy above it.
    let (exit, answer) = fixture.json("project/sub", &[&FORBIDDEN[..], &["--root", "."]].concat());
    assert_eq!((exit, fixture.read("project/sub/a.txt").as_str()), (0, "forbidden\n"), "{answer:#}");
}

#[test]
fn a_policy_of_the_folder_itself_still_rules_and_marks_no_root() {
    let fixture = Fixture::new(POLICY);
    fixture.write("project/sub/quality.yaml", "extends: parent\n");
    assert_eq!(fixture.json("project/sub", &FORBIDDEN).0, 1);
    fixture.write("project/sub/quality.yaml", "quality_gates: {}\n");
    assert_eq!(fixture.json("project/sub", &FORBIDDEN).0, 0, "the nearest one rules alone");
}

#[test]
fn without_a_repository_the_topmost_policy_applies() {
    let fixture = Fixture::new(POLICY);
    fs::remove_dir(fixture.path("project/.git")).unwrap();
    fixture.write("project/sub/quality.yaml", "extends: parent\n");
    assert_eq!(fixture.json("project/sub/deep", &["edit", "--path", "x", "--content", "forbidden\n"]).0, 1);
    fs::remove_file(fixture.path("project/quality.yaml")).unwrap();
    assert_eq!(fixture.json("project/sub/deep", &["edit", "--path", "x", "--content", "forbidden\n"]).0, 0);
}

#[test]
fn paths_are_relative_to_the_folder_and_reported_so() {
    let fixture = Fixture::new(POLICY);
    for (path, file) in
        [("a.txt", "sub/a.txt"), ("../top.txt", "top.txt"), ("deep/new.txt", "sub/deep/new.txt")]
    {
        let (exit, answer) = fixture.json("project/sub", &["edit", "--path", path, "--content", "new\n"]);
        assert_eq!((exit, answer["path"].as_str()), (0, Some(path)), "{answer:#}");
        assert_eq!(fixture.read(&format!("project/{file}")), "new\n", "{path}");
    }
    let (_, answer) = fixture.json("project/sub", &["edit", "--path", "../../outside", "--content", "x\n"]);
    assert_eq!(answer["code"], "PATH_OUTSIDE_ROOT", "{answer:#}");
}

#[test]
fn the_journal_is_that_of_the_project() {
    let fixture = Fixture::new(POLICY);
    let edit = |folder: &str, path: &str, text: &str| {
        let (exit, answer) = fixture.json(folder, &["edit", "--path", path, "--content", text]);
        assert_eq!(exit, 0, "{answer:#}");
    };
    edit("project", "top.txt", "one\n");
    edit("project/sub", "a.txt", "two\n");
    let paths = |folder: &str, more: &[&str]| -> Vec<String> {
        let (_, answer) = fixture.json(folder, &[&["log"], more].concat());
        let edits = answer["edits"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
        let path =
            |edit: &Value| edit["files"][0]["path"].as_str().unwrap_or_else(|| panic!("{edit:#}")).to_owned();
        edits.iter().map(path).collect()
    };
    assert_eq!(paths("project", &[]), ["sub/a.txt", "top.txt"]);
    assert_eq!(paths("project/sub", &[]), ["a.txt", "../top.txt"]);
    assert_eq!(paths("project/sub", &["../top.txt"]), ["../top.txt"]);
    assert_eq!(paths("project/sub/deep", &["../a.txt"]), ["../a.txt"]);
    // The control: another root has another journal.
    assert!(paths("project/sub", &["--root", "."]).is_empty());
    let output = fixture.run("project/sub/deep", &["undo"]);
    assert_eq!((output.exit, fixture.read("project/sub/a.txt").as_str()), (0, "a\n"), "{}", output.stderr);
    let output = fixture.run("project/sub", &["undo", "--path", "../top.txt"]);
    assert_eq!((output.exit, fixture.read("project/top.txt").as_str()), (0, "top\n"), "{}", output.stderr);
    let output = fixture.run("project", &["redo", "--path", "sub/a.txt"]);
    assert_eq!((output.exit, fixture.read("project/sub/a.txt").as_str()), (0, "two\n"), "{}", output.stderr);
}

#[test]
fn a_check_judges_the_folder_by_the_policy_above_it() {
    let fixture = Fixture::new(POLICY);
    fixture.write("project/top.txt", "forbidden\n");
    fixture.write("project/sub/a.txt", "forbidden\n");
    fs::remove_dir(fixture.path("project/.git")).unwrap();
    let findings = |folder: &str, more: &[&str]| -> Vec<String> {
        let output = fixture.run(folder, &[&["check", "--format", "json"], more].concat());
        let answer: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}", output.stderr));
        let path = |finding: &Value| finding["path"].as_str().unwrap().to_owned();
        let mut paths: Vec<String> = answer["findings"].as_array().unwrap().iter().map(path).collect();
        paths.sort();
        paths
    };
    assert_eq!(findings("project/sub", &[]), ["a.txt"]);
    assert_eq!(findings("project/sub", &[".."]), ["../top.txt", "a.txt"]);
    assert_eq!(findings("project", &[]), ["sub/a.txt", "top.txt"]);
    assert!(
        findings("project/sub", &["--root", "."]).is_empty(),
        "the control: no policy above a named root"
    );
}

#[test]
fn commands_of_a_policy_above_run_only_where_a_person_trusts_it() {
    let fixture = Fixture::new(
        "define:\n  word: { kind: command, about: Made up., languages: ['*'], input: stdin, command: [sh, -c, 'exit 1'], \
         output: { text: exit, message: bad } }\nquality_gates:\n  '*': [{ tool: word }]\n",
    );
    let outcome = || {
        let (exit, answer) = fixture.json("project/sub", &["edit", "--path", "new.txt", "--content", "b\n"]);
        fs::remove_file(fixture.path("project/sub/new.txt")).ok();
        (exit, answer["gates"][0]["outcome"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(outcome(), (0, "skipped".to_owned()));
    let output = fixture.run("project/sub", &["trust", "status"]);
    assert_ne!(output.exit, 0, "{}", output.stdout);
    let output = fixture.run("project/sub", &["trust", "--yes"]);
    assert_eq!(output.exit, 0, "{}", output.stderr);
    assert_eq!(outcome(), (1, "found".to_owned()));
    assert_eq!(fixture.run("project", &["trust", "status"]).exit, 0, "it is the same policy there");
    assert!(fixture.run("project/sub", &["gates", "show", "word"]).exit == 0);
}

#[test]
fn a_server_uses_the_policy_above_its_folder() {
    let fixture = Fixture::new(POLICY);
    let call = |content: &str, more: &[&str]| -> Value {
        let messages = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "safe_edit_file", "arguments": {"path": "a.txt", "content": content}}}),
        ];
        let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
        let output = fixture.run_with(&fixture.path("project/sub"), &[&["serve"], more].concat(), &input);
        let answers = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found = answers.into_iter().find(|answer| answer["id"] == 2);
        found.unwrap_or_else(|| panic!("{}{}", output.stdout, output.stderr))["result"]["structuredContent"]
            .clone()
    };
    assert_eq!(call("forbidden\n", &[])["code"], "GATE_REFUSED");
    let answer = call("b\n", &[]);
    assert_eq!((answer["path"].as_str(), fixture.read("project/sub/a.txt").as_str()), (Some("a.txt"), "b\n"));
    assert_eq!(call("forbidden\n", &["--root", "."])["status"], "written", "the control");
}

#[test]
fn the_whole_system_and_the_home_stay_refused() {
    let fixture = Fixture::new(POLICY);
    let edit = ["edit", "--json", "--path", "x", "--content", "x\n"];
    for folder in [Path::new("/"), &fixture.path("user/home")] {
        let output = fixture.run_with(folder, &edit, "");
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(answer["code"], "INVALID_INPUT", "{answer:#}");
    }
    // A repository in the home folder makes no root of it.
    fs::create_dir_all(fixture.path("user/home/.git")).unwrap();
    fs::create_dir_all(fixture.path("user/home/work")).unwrap();
    fixture.write("user/home/quality.yaml", POLICY);
    let (exit, answer) = fixture.json("user/home/work", &["edit", "--path", "x", "--content", "forbidden\n"]);
    assert_eq!(exit, 0, "{answer:#}");
    let (_, answer) = fixture.json("user/home/work", &["edit", "--path", "../y", "--content", "x\n"]);
    assert_eq!(answer["code"], "PATH_OUTSIDE_ROOT", "{answer:#}");
}
