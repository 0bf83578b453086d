//! `lockgate cache`: what gates keep is shown, and removed where no gate uses it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::wire::{Server, lockgate};

/// A gate that keeps a file in its cache, and then works until a file is there.
const POLICY: &str = r#"
define:
  keeper:
    about: Keeps what it is given.
    languages: ['*']
    kind: command
    input: stdin
    command: [sh, -c, 'mkdir -p "$1/keeper" && cat > "$1/keeper/kept"; while test -e "$2/busy"; do sleep 0.05; done', sh, '{cache}', '{root}']
    output: { text: exit, message: found }
quality_gates: { '*': [{ tool: keeper, timeout: 60s }] }
limits: { total: 60s }
"#;

struct Project {
    root: tempfile::TempDir,
    user: tempfile::TempDir,
}

/// How a command ended, and what it printed.
struct CommandResult {
    code: i32,
    text: String,
}

impl Project {
    fn new() -> Project {
        let project = Project { root: tempfile::tempdir().unwrap(), user: tempfile::tempdir().unwrap() };
        fs::write(project.root.path().join("quality.yaml"), POLICY).unwrap();
        project
    }

    fn server(&self) -> Server {
        let mut command = lockgate(self.user.path());
        command.env("LOCKGATE_ISOLATION", "none");
        Server::start_by(command, self.root.path(), &["--tools", "all", "--trust"])
    }

    fn edit(&self, text: &str) {
        let answer = self.server().call("safe_edit_file", &json!({"path": "a.txt", "content": text}));
        assert_eq!(answer.status(), "written", "{}", answer.text);
    }

    fn cache(&self, arguments: &[&str]) -> CommandResult {
        self.cache_in(self.root.path(), arguments)
    }

    fn cache_in(&self, folder: &Path, arguments: &[&str]) -> CommandResult {
        let output =
            lockgate(self.user.path()).arg("cache").args(arguments).current_dir(folder).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        CommandResult { code: output.status.code().unwrap(), text: String::from_utf8(text).unwrap() }
    }

    fn listed(&self) -> Vec<Value> {
        let output = self.cache(&["--json"]);
        assert_eq!(output.code, 0, "{}", output.text);
        let listing: Value = serde_json::from_str(&output.text).unwrap();
        assert_eq!(listing["limits"], json!({"workspace": 10_u64 << 30, "all": 30_u64 << 30}));
        listing["caches"].as_array().unwrap().clone()
    }
}

#[test]
fn caches_of_gates_are_shown_and_cleared() {
    let project = Project::new();
    assert!(project.listed().is_empty());
    let nothing = project.cache(&["clear"]);
    assert!(nothing.code == 0 && nothing.text.contains("nothing"), "{}", nothing.text);
    project.edit("x\n");
    let listed = project.listed();
    let root = project.root.path().canonicalize().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["workspace"].as_str(), root.to_str());
    assert_eq!((&listed[0]["gates"][0]["gate"], &listed[0]["in_use"]), (&json!("keeper"), &json!(false)));
    assert!(listed[0]["size"].as_u64().unwrap() > 0);
    let shown = project.cache(&[]);
    assert!(shown.text.contains(root.to_str().unwrap()) && shown.text.contains("keeper"), "{}", shown.text);
    assert!(shown.text.contains("of 30.0 GiB in "), "{}", shown.text);
    // That of another workspace stays.
    let elsewhere = tempfile::tempdir().unwrap();
    let other = project.cache(&["clear", "--workspace", elsewhere.path().to_str().unwrap()]);
    assert!(other.code == 0 && project.listed().len() == 1, "{}", other.text);
    let refused = project.cache(&["clear", "--workspace", "/no/such/folder"]);
    assert!(refused.code == 3 && refused.text.contains("FILE_NOT_FOUND"), "{}", refused.text);
    let cleared = project.cache(&["clear"]);
    assert!(cleared.code == 0 && cleared.text.contains("removed"), "{}", cleared.text);
    assert!(project.listed().is_empty());
    project.edit("y\n");
    let all: Value =
        serde_json::from_str(&project.cache_in(elsewhere.path(), &["clear", "--all", "--json"]).text)
            .unwrap();
    assert_eq!((all["removed"].as_array().unwrap().len(), &all["in_use"]), (1, &json!([])));
    assert!(project.listed().is_empty());
}

#[test]
fn a_cache_that_cannot_be_removed_keeps_no_other_from_being_cleared() {
    let project = Project::new();
    project.edit("x\n");
    let own = project.listed()[0]["folder"].as_str().unwrap().to_owned();
    // The largest is the first. Its file next to it cannot be opened.
    let faulty = Path::new(&own).with_file_name("f".repeat(64));
    fs::create_dir(&faulty).unwrap();
    fs::write(faulty.join("large"), vec![1_u8; 1 << 20]).unwrap();
    fs::create_dir(faulty.with_extension("root")).unwrap();
    assert_eq!(project.listed()[0]["folder"].as_str(), faulty.to_str());
    let done = project.cache(&["clear", "--all"]);
    assert!(done.code == 70 && done.text.contains("removed"), "{} {}", done.code, done.text);
    assert!(done.text.contains("IO_FAILED") && done.text.contains(faulty.to_str().unwrap()), "{}", done.text);
    assert!(faulty.exists() && !Path::new(&own).exists());
    project.edit("y\n");
    let done = project.cache(&["clear", "--all", "--json"]);
    let told: Value = serde_json::from_str(&done.text).unwrap();
    let count = |list: &str| told[list].as_array().unwrap().len();
    assert_eq!((done.code, count("removed"), count("in_use"), count("failed")), (70, 1, 0, 1), "{told}");
    // The control: without the fault it is removed.
    fs::remove_dir(faulty.with_extension("root")).unwrap();
    assert_eq!(project.cache(&["clear", "--all"]).code, 0);
    assert!(project.listed().is_empty());
}

#[test]
fn a_name_of_a_folder_forges_no_line() {
    let project = Project::new();
    project.edit("x\n");
    let own = project.listed()[0]["folder"].as_str().unwrap().to_owned();
    fs::create_dir(Path::new(&own).join("a\nin all    0 B\u{202e}")).unwrap();
    let shown = project.cache(&[]).text;
    assert!(shown.contains("\"a\\nin all    0 B\\u{202e}\""), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("in all")).count(), 1, "{shown}");
}

#[test]
fn listing_the_caches_removes_what_is_left_behind_and_a_call_within_the_hour_does_not() {
    let project = Project::new();
    project.edit("x\n");
    let listed = project.listed();
    let left = Path::new(listed[0]["folder"].as_str().unwrap()).with_file_name(".removed-1");
    fs::create_dir(&left).unwrap();
    project.edit("y\n");
    assert!(left.exists(), "the control");
    assert!(project.listed().len() == 1 && !left.exists());
}

#[test]
fn a_cache_that_a_gate_uses_is_not_removed() {
    let project = Project::new();
    project.edit("x\n");
    let busy = project.root.path().join("busy");
    fs::write(&busy, "").unwrap();
    let mut server = project.server();
    let call = server.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "y\n"}));
    let until = Instant::now() + Duration::from_secs(30);
    while project.listed()[0]["in_use"] != json!(true) {
        assert!(Instant::now() < until, "the gate was not seen to run");
        std::thread::sleep(Duration::from_millis(20));
    }
    for arguments in [&["clear"][..], &["clear", "--all"]] {
        let output = project.cache(arguments);
        assert!(
            output.code == 7 && output.text.contains("a gate uses it"),
            "{} {}",
            output.code,
            output.text
        );
    }
    assert_eq!(project.listed().len(), 1);
    fs::remove_file(&busy).unwrap();
    assert_eq!(server.wait_answer(call).unwrap().status(), "written");
    // The control: the call has ended, the server is still there.
    assert_eq!(project.cache(&["clear"]).code, 0);
    assert!(project.listed().is_empty());
}

#[test]
fn the_cache_of_a_killed_process_is_in_use_no_longer() {
    let project = Project::new();
    project.edit("x\n");
    fs::write(project.root.path().join("busy"), "").unwrap();
    let mut server = project.server();
    server.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "y\n"}));
    let until = Instant::now() + Duration::from_secs(30);
    while project.listed()[0]["in_use"] != json!(true) {
        assert!(Instant::now() < until, "the gate was not seen to run");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.kill();
    fs::remove_file(project.root.path().join("busy")).unwrap();
    let output = project.cache(&["clear"]);
    assert!(output.code == 0 && project.listed().is_empty(), "{}", output.text);
}
