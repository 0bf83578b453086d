//! A signal ends an edit, and with it the programs of its gates.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::lockgate;
use crate::suite::wire::Server;

/// How long a program may take to start, and a call to end: far less than the gate's time.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A root in which each edit is judged by a program that never ends.
pub fn hanging(tag: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/misbehave.py");
    let policy = format!(
        "define:\n  hang:\n    about: Hangs.\n    languages: ['*']\n    kind: command\n    input: stdin\n    \
         command: [python3, {script:?}, sleep, {tag}]\n    output: {{ text: exit, message: seen }}\n    timeout: 10m\n\
         quality_gates: {{ '*': [{{ tool: hang, required: true }}] }}\nlimits: {{ total: 10m }}\n"
    );
    fs::write(root.path().join("quality.yaml"), policy).unwrap();
    fs::write(root.path().join("a.txt"), "a\n").unwrap();
    root
}

/// True if a process with this word among its arguments runs.
pub fn runs(tag: &str) -> bool {
    let folders = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let has = |line: Vec<u8>| line.split(|byte| *byte == 0).any(|word| word == tag.as_bytes());
    folders.filter_map(|folder| fs::read(folder.path().join("cmdline")).ok()).any(has)
}

#[track_caller]
pub fn wait_until(event: &str, is_done: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < TIMEOUT, "waited in vain until {event}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// The process's exit code, once it has ended.
#[track_caller]
fn ended(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return status.code(),
            None => assert!(start.elapsed() < TIMEOUT, "it has not ended"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_signal_ends_the_programs_of_an_edit() {
    for name in ["INT", "TERM", "HUP"] {
        let tag = format!("stopped-{name}-{}", std::process::id());
        let (root, private, temporary) =
            (hanging(&tag), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut edit: Command = lockgate(private.path());
        edit.args(["edit", "--trust", "--path", "a.txt", "--content", "b\n", "--root"]).arg(root.path());
        edit.env("TMPDIR", temporary.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = edit.spawn().unwrap();
        wait_until("the gate runs", || runs(&tag));
        signal(name, child.id());
        assert_eq!(ended(&mut child), Some(70), "{name}");
        assert!(!runs(&tag), "{name}: the program is left");
        assert_eq!(fs::read_to_string(root.path().join("a.txt")).unwrap(), "a\n");
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "{name}: something is left in TMPDIR");
    }
}

#[test]
fn a_signal_ends_the_programs_of_a_server_and_answers() {
    let tag = format!("stopped-server-{}", std::process::id());
    let root = hanging(&tag);
    let mut server = Server::start(root.path(), &["--trust"]);
    let call = server.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    wait_until("the gate runs", || runs(&tag));
    signal("TERM", server.id());
    let answer = server.wait_answer(call).unwrap();
    assert!(answer.is_error && answer.text.contains("nothing was written"), "{}", answer.text);
    drop(server);
    assert!(!runs(&tag), "the program is left");
    assert_eq!(fs::read_to_string(root.path().join("a.txt")).unwrap(), "a\n");
}
