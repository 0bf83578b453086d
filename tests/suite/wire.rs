//! A client of the real binary: MCP over its standard input and output, and its command line.
//!
//! Invariant: a server never sees the state, the home or the settings of the person who runs the tests.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};

/// How long an answer may take in a debug build on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server.
pub struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    kept: Vec<Value>,
    next: u64,
    errors: NamedTempFile,
    user: Option<TempDir>,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// True if the answer is marked as a rejection.
    pub is_error: bool,
    /// The part for programs.
    pub structured: Value,
    /// The part for readers.
    pub text: String,
}

impl Answer {
    /// Reads the result of a call.
    pub fn from_result(result: &Value) -> Answer {
        let parts = result["content"].as_array().cloned().unwrap_or_default();
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        Answer {
            is_error: result["isError"] == json!(true),
            structured: result["structuredContent"].clone(),
            text: texts.join("\n"),
        }
    }

    /// The code of a rejection, empty for a success.
    pub fn code(&self) -> &str {
        self.structured["code"].as_str().unwrap_or("")
    }

    /// The status of an edit, empty where there is none.
    pub fn status(&self) -> &str {
        self.structured["status"].as_str().unwrap_or("")
    }
}

/// The binary under test, with surroundings of its own under `private`.
pub fn lockgate(private: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockgate"));
    for (name, folder) in [
        ("HOME", "home"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_RUNTIME_DIR", "run"),
    ] {
        let folder = private.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        command.env(name, folder);
    }
    command.env("PATH", tools_path()).env_remove("RUST_LOG").env("NO_COLOR", "1");
    command.env_remove("LOCKGATE_STORE").env_remove("LOCKGATE_SEAL");
    command
}

/// Has a command that runs the binary serve one call, and gives what the process wrote until it ended.
pub fn serve_once(mut command: Command, tool: &str, arguments: &Value) -> Output {
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}),
    ];
    command
        .args(["serve", "--tools", "all"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    // A server that has ended already reads nothing.
    let _sent = messages.iter().try_for_each(|message| writeln!(input, "{message}"));
    drop(input);
    server.wait_with_output().unwrap()
}

/// The search path with the tools before it that `tests/run` installs, so that a server finds them.
pub fn tools_path() -> OsString {
    let installed = [("LOCKGATE_TEST_VENV", "bin"), ("LOCKGATE_TEST_NODE", "node_modules/.bin")];
    let own =
        installed.iter().filter_map(|(name, below)| Some(PathBuf::from(std::env::var_os(name)?).join(below)));
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.chain(std::env::split_paths(&inherited))).unwrap()
}

impl Server {
    /// Starts a server on one root with every tool, and with `more` arguments.
    pub fn start(root: &Path, more: &[&str]) -> Server {
        let mut arguments = vec!["--tools", "all"];
        arguments.extend_from_slice(more);
        Server::start_bare(root, &arguments)
    }

    /// Starts a server on one root with exactly these further arguments.
    pub fn start_bare(root: &Path, arguments: &[&str]) -> Server {
        let user = tempfile::tempdir().unwrap();
        let mut server = Server::start_for(user.path(), root, arguments);
        server.user = Some(user);
        server
    }

    /// Starts a server for a user whose own folders are under `user`.
    pub fn start_for(user: &Path, root: &Path, arguments: &[&str]) -> Server {
        Server::start_by(lockgate(user), root, arguments)
    }

    /// Starts a server by a command that runs the binary.
    pub fn start_by(mut command: Command, root: &Path, arguments: &[&str]) -> Server {
        let errors = tempfile::NamedTempFile::new().unwrap();
        let mut child = command
            .arg("serve")
            .arg("--root")
            .arg(root)
            .args(arguments)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors.reopen().unwrap())
            .spawn()
            .expect("the binary starts");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
        });
        let input = child.stdin.take();
        let mut server = Server { child, input, lines, kept: Vec::new(), next: 0, errors, user: None };
        server.initialize();
        server
    }

    /// Ends the process at once, as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }

    fn initialize(&mut self) {
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "suite", "version": "1"}});
        let id = self.post("initialize", hello);
        self.wait(id).unwrap_or_else(|why| panic!("no greeting: {why}"));
        self.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    }

    /// Sends one line as it is.
    pub fn send(&mut self, line: &[u8]) {
        let Some(input) = &mut self.input else { return };
        // Whoever waits for the answer is told that the server has ended.
        input.write_all(&[line, b"\n"].concat()).and_then(|()| input.flush()).ok();
    }

    /// Sends a request and gives its number, without waiting for the answer.
    pub fn post(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(message.to_string().as_bytes());
        self.next
    }

    /// Sends a call of a tool and gives its number.
    pub fn post_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.post("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Sends calls of a tool in one write and gives their numbers.
    pub fn post_calls(&mut self, tool: &str, calls: &[Value]) -> Vec<u64> {
        let first = self.next + 1;
        self.next += calls.len() as u64;
        let ids: Vec<u64> = (first..=self.next).collect();
        let message = |(id, arguments): (&u64, &Value)| {
            let params = json!({"name": tool, "arguments": arguments});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
        };
        let lines: Vec<String> = ids.iter().zip(calls).map(message).collect();
        self.send(lines.join("\n").as_bytes());
        ids
    }

    /// Waits for the answer of a number; `Err` says why there is none.
    pub fn wait(&mut self, id: u64) -> Result<Value, String> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(at) = self.kept.iter().position(|message| message["id"] == json!(id)) {
                return Ok(self.kept.swap_remove(at));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => match serde_json::from_str::<Value>(&line) {
                    Ok(message) => self.kept.push(message),
                    Err(error) => {
                        return Err(format!("the server wrote what is not JSON ({error}): {line:.200}"));
                    }
                },
                Err(RecvTimeoutError::Timeout) => return Err(format!("no answer within {TIMEOUT:?}")),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("the server ended; its last words: {}", self.last_words()));
                }
            }
        }
    }

    /// Waits for the answer of a tool; `Err` also for an error of the protocol.
    pub fn wait_answer(&mut self, id: u64) -> Result<Answer, String> {
        let message = self.wait(id)?;
        let Some(result) = message.get("result") else {
            return Err(format!("an error of the protocol instead of a rejection: {}", message["error"]));
        };
        Ok(Answer::from_result(result))
    }

    /// Calls a tool and waits for its answer.
    pub fn try_call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        let id = self.post_call(tool, arguments);
        self.wait_answer(id)
    }

    /// Calls a tool; an answer must come.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        self.try_call(tool, arguments).unwrap_or_else(|why| panic!("{tool}: {why}"))
    }

    /// The process of the server.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A figure of the memory of the process, such as `VmHWM`, in bytes.
    pub fn memory(&self, name: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    fn last_words(&self) -> String {
        let text = std::fs::read_to_string(self.errors.path()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let error = lines.iter().position(|line| line.starts_with("error:"));
        let first = error.unwrap_or(lines.len()).min(lines.len().saturating_sub(5));
        lines[first..].join(" | ")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What a call of the command line gave.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `-1` when a signal ended it.
    pub exit: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

/// Runs the command line to its end with this standard input, for a user of whom nothing is known yet.
pub fn run(arguments: &[impl AsRef<OsStr>], root: &Path, input: &str) -> Outcome {
    run_for(tempfile::tempdir().unwrap().path(), arguments, root, input)
}

/// The same for a user whose own folders are under `user`.
pub fn run_for(user: &Path, arguments: &[impl AsRef<OsStr>], root: &Path, input: &str) -> Outcome {
    let mut child = lockgate(user)
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let feeding = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap().ok();
    outcome(&output)
}

/// The outcome of a process that has ended.
pub fn outcome(output: &Output) -> Outcome {
    Outcome {
        exit: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Reads a file and writes the same bytes as any program would that is careful with them: staged, synced, renamed.
pub fn plain_write(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let staged = path.with_extension("staged");
    let mut file = std::fs::File::create_new(&staged).unwrap();
    file.write_all(&bytes).unwrap();
    file.sync_all().unwrap();
    drop(file);
    std::fs::rename(&staged, path).unwrap();
}
