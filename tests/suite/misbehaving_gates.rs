//! A gate whose program misbehaves has not passed, whatever it does, and nothing of it is left.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use super::wire::{Server, lockgate};

/// The time of the gate, and what an answer may take beyond it; twice the promise in a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(3);
const BEYOND: Duration = Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 2 });

/// What the program does, and what becomes of its gate: one of these outcomes.
const ATTEMPTS: [(&str, &[&str]); 15] = [
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
    ("no-such-action", &["broken"]),
];

/// A root whose one gate does this; its program is found by the tag.
fn policy(attempt: &str, tag: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/misbehave.py");
    let words: Vec<String> = attempt.split(' ').map(|word| format!(", {word:?}")).collect();
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
fn count_processes(tag: &str) -> usize {
    let folders = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = folders.filter_map(|folder| fs::read(folder.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|word| word == tag.as_bytes())).count()
}

#[test]
fn no_misbehaving_program_passes_or_leaves_anything() {
    for (number, (attempt, expected)) in ATTEMPTS.iter().enumerate() {
        let tag = format!("misdeed-{number}-{}", std::process::id());
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("quality.yaml"), policy(attempt, &tag)).unwrap();
        fs::write(root.path().join("a.txt"), "a\n").unwrap();
        let mut server = Server::start(root.path(), &["--trust"]);
        let start = Instant::now();
        let edit = server.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
        let ping = server.post("ping", json!({}));
        server.wait(ping).unwrap();
        let answer = server.wait_answer(edit).unwrap();
        let elapsed = start.elapsed();
        let outcome = answer.structured["gates"][0]["outcome"].as_str().unwrap_or("").to_owned();
        assert!(expected.contains(&outcome.as_str()), "{attempt}: {outcome}\n{}", answer.text);
        assert_eq!(answer.code(), "GATE_REFUSED", "{attempt}: {}", answer.text);
        assert!(elapsed < LIMIT + BEYOND, "{attempt}: {elapsed:?}");
        assert_eq!(count_processes(&tag), 0, "{attempt}: a process is left");
        assert_eq!(fs::read_to_string(root.path().join("a.txt")).unwrap(), "a\n", "{attempt}");
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
        let start = Instant::now();
        while (count_processes(&tag) > 0) != runs {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "{} processes, runs: {runs}",
                count_processes(&tag)
            );
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

/// A server that is killed while a program runs leaves its private folder, and the next one removes it.
#[test]
fn the_folder_of_a_killed_server_is_removed_by_the_next() {
    let tag = format!("misdeed-killed-{}", std::process::id());
    let (root, user, temporary) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let start = |policy: &str| {
        // A program that is given the path of the draft needs a folder at every level of isolation.
        let shadow_policy = policy.replace("input: stdin", "input: shadow");
        let shadow_policy = shadow_policy.replace(&format!("{tag}]"), &format!("{tag}, '{{draft}}']"));
        fs::write(root.path().join("quality.yaml"), shadow_policy).unwrap();
        let mut command = lockgate(user.path());
        command.env("TMPDIR", temporary.path());
        Server::start_by(command, root.path(), &["--trust"])
    };
    let folders = || {
        let entries = fs::read_dir(temporary.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.join(".lockgate-stage").exists()).collect::<Vec<_>>()
    };
    let wait = |what: &str, is_done: &dyn Fn() -> bool| {
        let wait_start = Instant::now();
        while !is_done() {
            assert!(wait_start.elapsed() < Duration::from_secs(20), "{what}: {:?}", folders());
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let patient =
        policy("sleep", &tag).replace("timeout: 3s", "timeout: 5m").replace("total: 30s", "total: 5m");
    let mut killed = start(&patient);
    killed.post_call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    wait("the program does not start", &|| count_processes(&tag) > 0);
    let _ended = Command::new("kill").args(["-KILL", &killed.id().to_string()]).status().unwrap();
    drop(killed);
    let _ended = Command::new("pkill").args(["-KILL", "-f", &tag]).status().unwrap();
    let stale = folders();
    assert!(!stale.is_empty(), "nothing was left that could be removed");
    let mut next = start(&policy("exit 64", &tag));
    next.call("safe_edit_file", &json!({"path": "a.txt", "content": "c\n"}));
    assert!(stale.iter().all(|folder| folder.exists()), "a young folder may be another's");
    drop(next);
    for folder in &stale {
        let lock = fs::File::options().write(true).open(folder.join(".lockgate-stage")).unwrap();
        lock.set_modified(SystemTime::now() - Duration::from_secs(300)).unwrap();
    }
    let mut next = start(&policy("exit 64", &tag));
    next.call("safe_edit_file", &json!({"path": "a.txt", "content": "c\n"}));
    wait("a stale folder stays", &|| stale.iter().all(|folder| !folder.exists()));
}

/// What a client leaves open is not inherited by the programs of gates.
#[test]
fn a_descriptor_of_the_client_is_not_open_in_a_gate() {
    let (root, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let leak = user.path().join("leak");
    // Starts a program with descriptor 9 open.
    let leaving_open = || {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" 9>> \"$LEAK\"", "sh"]).env("LEAK", &leak);
        shell
    };
    let size = || fs::metadata(&leak).map_or(0, |found| found.len());
    // The control: any other program has it.
    assert!(leaving_open().args(["sh", "-c", "echo leaked >&9"]).status().unwrap().success());
    let written = size();
    assert!(written > 0);
    let finds = r#"command: [sh, -c, 'sed -n "s/.*bad.*/{\"line\":1,\"message\":\"bad\"}/p"; (echo leaked >&9) 2> /dev/null; :', python3"#;
    let works = policy("sleep", "tag").replace("command: [python3", finds);
    fs::write(root.path().join("quality.yaml"), works).unwrap();
    let own = lockgate(user.path());
    let mut command = leaving_open();
    command.arg(own.get_program());
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut server = Server::start_by(command, root.path(), &["--trust"]);
    let answer = server.call("safe_edit_file", &json!({"path": "a.txt", "content": "b\n"}));
    assert_eq!(answer.status(), "written", "{}", answer.text);
    assert_eq!(size(), written);
}
