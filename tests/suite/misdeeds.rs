//! A gate whose program misbehaves has not passed, whatever it does, and nothing of it is left.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::wire::Server;

/// The time of the gate, and what an answer may take beyond it; twice the promise in a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(3);
const BEYOND: Duration = Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 2 });

/// What the program does, and what becomes of its gate: one of these outcomes.
const DEEDS: [(&str, &[&str]); 15] = [
    ("exit 64", &["broken"]),
    ("die-of SIGKILL", &["broken"]),
    ("die-of SIGSEGV", &["broken"]),
    ("stop", &["timed_out"]),
    ("sleep", &["timed_out"]),
    ("stubborn", &["timed_out"]),
    ("flood stdout 1024", &["broken"]),
    ("flood stderr 1024", &["broken", "timed_out"]),
    ("close-and-sleep", &["timed_out"]),
    ("close-and-exit", &["broken"]),
    ("deaf", &["broken"]),
    ("child bare,session wait", &["broken", "timed_out"]),
    ("leave-daemon bare", &["broken"]),
    ("tree 30 wait", &["broken", "timed_out"]),
    ("no-such-deed", &["broken"]),
];

/// A root whose one gate does this; its program is found by the tag.
fn policy(deed: &str, tag: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/misbehave.py");
    let words: Vec<String> = deed.split(' ').map(|word| format!(", {word:?}")).collect();
    format!(
        "define:\n  bad:\n    about: Misbehaves.\n    languages: ['*']\n    kind: command\n    input: stdin\n    \
         command: [python3, {script:?}{}, {tag}]\n    output: {{ jsonl: {{ line: line, message: message }} }}\n    \
         timeout: {}s\n    canary: bad\n\
         quality_gates: {{ '*': [{{ tool: bad, required: true }}] }}\nlimits: {{ total: 30s }}\n",
        words.concat(),
        LIMIT.as_secs()
    )
}

/// The processes with this word among their arguments.
fn left(tag: &str) -> usize {
    let folders = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = folders.filter_map(|folder| fs::read(folder.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|word| word == tag.as_bytes())).count()
}

#[test]
fn no_misdeed_passes_or_leaves_anything() {
    for (number, (deed, due)) in DEEDS.iter().enumerate() {
        let tag = format!("misdeed-{number}-{}", std::process::id());
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("quality.yaml"), policy(deed, &tag)).unwrap();
        fs::write(root.path().join("a.txt"), "a\n").unwrap();
        let mut server = Server::start(root.path(), &["--trust"]);
        let begun = Instant::now();
        let edit = server.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
        let ping = server.post("ping", json!({}));
        server.wait(ping).unwrap();
        let answer = server.wait_answer(edit).unwrap();
        let taken = begun.elapsed();
        let outcome = answer.structured["gates"][0]["outcome"].as_str().unwrap_or("").to_owned();
        assert!(due.contains(&outcome.as_str()), "{deed}: {outcome}\n{}", answer.text);
        assert_eq!(answer.code(), "GATE_REFUSED", "{deed}: {}", answer.text);
        assert!(taken < LIMIT + BEYOND, "{deed}: {taken:?}");
        assert_eq!(left(&tag), 0, "{deed}: a process is left");
        assert_eq!(fs::read_to_string(root.path().join("a.txt")).unwrap(), "a\n", "{deed}");
    }
}

/// The control: the same gate with a program that works passes a good draft, and finds what is bad.
#[test]
fn a_program_that_works_passes() {
    let root = tempfile::tempdir().unwrap();
    let finds = r#"command: [sh, -c, 'sed -n "s/.*bad.*/{\"line\":1,\"message\":\"bad\"}/p"', python3"#;
    let works = policy("sleep", "tag").replace("command: [python3", finds);
    fs::write(root.path().join("quality.yaml"), works).unwrap();
    let mut server = Server::start(root.path(), &["--trust"]);
    let answer = server.call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    assert_eq!(
        (answer.status(), answer.structured["gates"][0]["outcome"].as_str()),
        ("written", Some("passed")),
        "{}",
        answer.text
    );
    let answer = server.call("safe_edit_file", &json!({"path": "b.txt", "content": "bad\n"}));
    assert_eq!(answer.code(), "GATE_REFUSED", "{}", answer.text);
}

/// A client that cancels its call ends the program of the gate, long before its time is up, and nothing is written.
#[test]
fn a_cancelled_call_ends_its_program() {
    let tag = format!("misdeed-cancelled-{}", std::process::id());
    let root = tempfile::tempdir().unwrap();
    let patient =
        policy("sleep", &tag).replace("timeout: 3s", "timeout: 5m").replace("total: 30s", "total: 5m");
    fs::write(root.path().join("quality.yaml"), patient).unwrap();
    let mut server = Server::start(root.path(), &["--trust"]);
    let call = server.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    // What keeps the program apart has its words, too.
    let wait = |runs: bool| {
        let begun = Instant::now();
        while (left(&tag) > 0) != runs {
            assert!(begun.elapsed() < Duration::from_secs(20), "{} processes, runs: {runs}", left(&tag));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait(true);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
    server.send(cancel.to_string().as_bytes());
    wait(false);
    let ping = server.post("ping", json!({}));
    server.wait(ping).unwrap();
    assert!(!root.path().join("a.txt").exists());
}
