//! The server before clients that are not ours: the protocol's Python SDK and its inspector; and its manners towards
//! any client: it stays awake, and it ends what it has begun.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::wire::{Server, TIMEOUT, lockgate};

/// The promise is 50 ms; a debug build on a busy machine gets ten times that.
const AWAKE: Duration = Duration::from_millis(500);

/// A folder that `tests/run` fills; without it the test says that it did not run, which fails in CI.
pub fn installed(variable: &str, folder: &str, file: &str) -> Option<PathBuf> {
    let target = || Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join(folder);
    let found = std::env::var_os(variable).map_or_else(target, PathBuf::from).join(file);
    if found.exists() {
        return Some(found);
    }
    super::store::not_run(&format!("{} is not there; tests/run installs it", found.display()));
    None
}

pub fn python() -> Option<PathBuf> {
    installed("LOCKGATE_TEST_VENV", "venv", "bin/python")
}

/// The folder `node_modules` with this package of the protocol.
pub fn node_modules(package: &str) -> Option<PathBuf> {
    let package = format!("node_modules/@modelcontextprotocol/{package}");
    let package = installed("LOCKGATE_TEST_NODE", "node", &package)?;
    package.ancestors().nth(2).map(Path::to_owned)
}

pub fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools").join(name)
}

/// Runs a command, and gives what it wrote when it succeeds.
pub fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}:\n{text}", output.status);
    text
}

/// Runs a script that is a client of the server, and that reports this number of checks.
#[track_caller]
pub fn check_with(program: &Path, script: &str, arguments: &[&str], checks: usize) {
    let mut client = Command::new(program);
    let output = succeeds(client.arg(tool(script)).arg(env!("CARGO_BIN_EXE_lockgate")).args(arguments));
    let passed = output.lines().filter(|line| line.starts_with("ok ")).count();
    assert_eq!(passed, checks, "{script}: {output}");
}

#[test]
fn the_python_sdk_is_served_in_both_eras() {
    let Some(python) = python() else { return };
    check_with(&python, "mcp_client.py", &[], 21);
}

#[test]
fn a_confirmation_is_requested_in_both_eras() {
    let Some(python) = python() else { return };
    check_with(&python, "confirm_client.py", &[], 14);
}

#[test]
fn the_python_sdk_uses_every_tool_in_both_eras() {
    let Some(python) = python() else { return };
    check_with(&python, "sdk_client.py", &[], 10);
}

#[test]
fn the_typescript_sdk_uses_every_tool_in_both_eras() {
    let Some(modules) = node_modules("client") else { return };
    check_with(&modules.join(".bin/node"), "sdk_client.mjs", &[modules.to_str().unwrap()], 10);
}

/// A client that did not look would take anything for right: each is given a plan that is wrong in one place.
#[test]
fn both_sdk_clients_fail_where_an_answer_is_not_what_it_should_be() {
    let Some((python, modules)) = python().zip(node_modules("client")) else { return };
    let plan = std::fs::read_to_string(tool("every_tool.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for script in ["sdk_client.py", "sdk_checks.py", "sdk_client.mjs"] {
        std::fs::copy(tool(script), folder.path().join(script)).unwrap();
    }
    for (right, wrong) in [
        (r#""replacements": 1"#, r#""replacements": 2"#),
        (r#""+     assert quantity > 0""#, r#""+     assert quantity > 1""#),
        (r#""refused": "FILE_EXISTS""#, r#""refused": "NO_MATCH""#),
        (r#""tool": "create_file""#, r#""tool": "create_no_file""#),
    ] {
        let spoilt = plan.replace(right, wrong);
        assert!(spoilt != plan, "{right} is not in the plan");
        std::fs::write(folder.path().join("every_tool.json"), spoilt).unwrap();
        let binary = env!("CARGO_BIN_EXE_lockgate");
        let mut both = [Command::new(&python), Command::new(modules.join(".bin/node"))];
        both[0].arg(folder.path().join("sdk_client.py")).arg(binary);
        both[1].arg(folder.path().join("sdk_client.mjs")).arg(binary).arg(&modules);
        for client in &mut both {
            assert!(!client.output().unwrap().status.success(), "{client:?} did not see {wrong}");
        }
    }
}

#[test]
fn a_client_s_model_writes_code_in_both_eras() {
    let Some(python) = python() else { return };
    check_with(&python, "sampling_client.py", &[], 23);
}

#[test]
fn a_confirmation_is_requested_at_the_terminal() {
    let script = tool("at_terminal.py");
    let output = succeeds(Command::new("python3").arg(script).arg(env!("CARGO_BIN_EXE_lockgate")));
    assert_eq!(output, "ok\n");
}

/// Of 100 different rejections, at least 90 lead to a next call that succeeds, and that the answer alone names. The control
/// demands what no answer can name.
#[test]
fn a_rejection_names_the_next_call() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval/rejections.py");
    let run = |least: &str| {
        let binary = env!("CARGO_BIN_EXE_lockgate");
        Command::new("python3").arg(&script).args(["--binary", binary, "--least", least]).output().unwrap()
    };
    let output = run("90");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let counted = text.lines().last().unwrap_or_default();
    let cases: usize = counted.split(' ').nth(2).and_then(|count| count.parse().ok()).unwrap_or_default();
    assert!(cases >= 100, "{counted}");
    assert!(!run("100").status.success(), "a finding that blocks has no next call");
}

/// What the inspector says about the tools of a server.
fn inspected(bin: &Path, server: &[&str]) -> String {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut inspector = Command::new(bin.join("mcp-inspector"));
    succeeds(inspector.env("PATH", path).arg("--cli").args(server).args([
        "--method",
        "tools/list",
        "--strict",
    ]))
}

#[test]
fn the_inspector_has_nothing_to_say_about_the_tools() {
    let Some(modules) = node_modules("inspector") else { return };
    let bin = modules.join(".bin");
    let root = tempfile::tempdir().unwrap();
    let root = root.path().to_str().unwrap();
    for tools in ["edit,look", "all"] {
        let output =
            inspected(&bin, &[env!("CARGO_BIN_EXE_lockgate"), "serve", "--tools", tools, "--root", root]);
        let listed = output.matches("inputSchema").count();
        assert!(listed > 0 && !output.contains("Warning:") && !output.contains("Error:"), "{output}");
    }
    let control = tool("inspector_control.mjs");
    let output = inspected(&bin, &["node", control.to_str().unwrap()]);
    assert!(
        output.contains("Warning:") && output.contains("0 errors, 1 warning"),
        "the control is not seen: {output}"
    );
}

/// A text whose syntax takes a debug build a while to check.
fn large() -> String {
    "def f(a, b):\n    return [a, b, (a, b), {a: b}]\n".repeat(8_000)
}

#[test]
fn a_ping_is_answered_while_edits_are_judged() {
    let root = tempfile::tempdir().unwrap();
    let mut server = Server::start(root.path(), &[]);
    let calls_start = Instant::now();
    let edits: Vec<u64> = (0..4)
        .map(|number| {
            let arguments = json!({"path": format!("{number}.py"), "content": large(), "show_diff": false});
            server.post_call("safe_edit_file", &arguments)
        })
        .collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let start = Instant::now();
        let ping = server.post("ping", json!({}));
        server.wait(ping).unwrap();
        slowest = slowest.max(start.elapsed());
    }
    let pinged = calls_start.elapsed();
    for edit in edits {
        assert_eq!(server.wait_answer(edit).unwrap().status(), "written");
    }
    let took = calls_start.elapsed();
    assert!(slowest < AWAKE, "a ping took {slowest:?}");
    assert!(took > pinged + slowest, "the edits took {took:?} only, so the pings met no work");
}

/// What a client says that wants `a.py` to be a large file; its edit has the number 2.
fn greeting_and_edit() -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}}});
    let edit = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
        {"name": "safe_edit_file", "arguments": {"path": "a.py", "content": large(), "show_diff": false}}});
    format!("{hello}\n{edit}")
}

#[test]
fn an_edit_that_runs_when_the_client_hangs_up_is_ended_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (root, home) = (folder.path().join("root"), folder.path().join("home"));
    std::fs::create_dir(&root).unwrap();
    let mut child = lockgate(&home)
        .args(["serve", "--root"])
        .arg(&root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Not even the last line end is sent.
    child.stdin.take().unwrap().write_all(greeting_and_edit().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["id"], &last["result"]["structuredContent"]["status"]),
        (&json!(2), &json!("written")),
        "{last}"
    );
    assert_eq!(std::fs::read_to_string(root.join("a.py")).unwrap(), large());
}

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    succeeds(Command::new("kill").args(["-s", name, &child.id().to_string()]));
}

#[cfg(unix)]
#[test]
fn an_edit_that_runs_when_a_signal_comes_is_ended_and_answered() {
    for name in ["TERM", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let (root, home) = (folder.path().join("root"), folder.path().join("home"));
        std::fs::create_dir(&root).unwrap();
        let mut serve = lockgate(&home);
        serve.args(["serve", "--root"]).arg(&root).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = serve.stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
        input.write_all(format!("{}\n{ping}\n", greeting_and_edit()).as_bytes()).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        // The ping is behind the edit, so when it is answered the edit has been read.
        assert!(answers.by_ref().take(2).any(|answer| answer["id"] == 3));
        signal(&child, name);
        let last = answers.last().unwrap();
        assert_eq!(
            (&last["id"], &last["result"]["structuredContent"]["status"]),
            (&json!(2), &json!("written")),
            "{last}"
        );
        assert!(child.wait().unwrap().success(), "{name}");
        assert_eq!(std::fs::read_to_string(root.join("a.py")).unwrap(), large());
        drop(input);
    }
}

/// A socket, unlike a pipe, is read by a thread that nothing can wake.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_server_whose_client_says_nothing() {
    let private = tempfile::tempdir().unwrap();
    let (silent, input) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut serve = lockgate(private.path());
    serve.args(["serve", "--root"]).arg(private.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = serve.stdin(std::os::fd::OwnedFd::from(input)).spawn().unwrap();
    let mut greeting = &silent;
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    greeting.write_all(format!("{}\n{ping}\n", greeting_and_edit()).as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().take(3).any(|line| line.unwrap().contains("written")));
    signal(&child, "TERM");
    assert_ends(&mut child);
    drop(silent);
}

/// The answers fill the pipe, so that the server cannot write more of them.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_server_whose_client_reads_nothing() {
    let private = tempfile::tempdir().unwrap();
    let mut serve = lockgate(private.path());
    serve.args(["serve", "--root"]).arg(private.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = serve.stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lists = (3..40).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string());
    let sent: Vec<_> = [greeting_and_edit()].into_iter().chain(lists).collect();
    input.write_all((sent.join("\n") + "\n").as_bytes()).unwrap();
    let unread = child.stdout.take().unwrap();
    let deadline = Instant::now() + TIMEOUT;
    while Instant::now() < deadline && rustix::io::ioctl_fionread(&unread).unwrap() < 50_000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(rustix::io::ioctl_fionread(&unread).unwrap() >= 50_000, "the pipe is not full");
    signal(&child, "TERM");
    assert_ends(&mut child);
    drop((input, unread));
}

#[cfg(unix)]
fn assert_ends(child: &mut Child) {
    let deadline = Instant::now() + TIMEOUT;
    while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().ok();
    let status = child.wait().unwrap();
    assert!(status.success(), "the server waits for its client: {status}");
}
