//! A minimal MCP client: JSON-RPC lines over the pipes of a server that it starts.
//!
//! Invariant: every wait for an answer has a timeout, and the server never outlives the client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use lockgate_error::{Code, Error};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(180);
/// Time for the server to exit after its input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Protocol revision of the client.
const PROTOCOL: &str = "2025-11-25";

/// A client and the server that it started.
pub(super) struct DemoClient {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    last_id: u64,
}

impl DemoClient {
    /// Starts this executable as a server for a folder, with an optional state folder, and initializes the
    /// connection.
    ///
    /// Errors: `INTERNAL`.
    pub(super) fn start(root: &Path, own: Option<&Path>) -> Result<DemoClient, Error> {
        let program = std::env::current_exe().map_err(|error| failed("find its own program", &error))?;
        let mut server = Command::new(program)
            .args(["serve", "--trust", "--tools", "all", "--root"])
            .arg(root)
            // The journal of a temporary folder is useless afterwards, and so are the caches of its tools.
            .envs(own.iter().flat_map(|own| {
                [("XDG_STATE_HOME", own.join("state")), ("XDG_CACHE_HOME", own.join("cache"))]
            }))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed("start the server", &error))?;
        let input = server.stdin.take();
        let messages = spawn_reader(server.stdout.take());
        let mut client = DemoClient { server, input, messages, last_id: 0 };
        let about = json!({"name": "lockgate demo", "version": env!("CARGO_PKG_VERSION")});
        client.request(
            "initialize",
            &json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about}),
        )?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Calls a tool and returns the structured content of its answer.
    ///
    /// Errors: `INTERNAL` for a protocol error, an answer without structured content, or no answer.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Error> {
        let mut result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        match result.get_mut("structuredContent") {
            Some(answer) => Ok(answer.take()),
            None => Err(failed("find structured content in the answer", &result)),
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Error> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut message =
                self.messages.recv_timeout(left).map_err(|error| failed("read from the server", &error))?;
            if message.get("id") != Some(&id.into()) {
                continue;
            }
            return match message.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => Err(failed(&format!("have {method} answered"), &message)),
            };
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        let Some(input) = &mut self.input else { return Err(failed("write to the server", &"no pipe")) };
        input
            .write_all(format!("{message}\n").as_bytes())
            .and_then(|()| input.flush())
            .map_err(|error| failed("write to the server", &error))
    }
}

impl Drop for DemoClient {
    fn drop(&mut self) {
        drop(self.input.take());
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while Instant::now() < deadline {
            if !matches!(self.server.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // The server may have exited meanwhile; wait for it in both cases.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Reads messages on a separate thread, so that waits can time out. The thread ends with the server's output.
fn spawn_reader(output: Option<ChildStdout>) -> Receiver<Value> {
    let (sender, messages) = channel();
    if let Some(output) = output {
        let read = move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(message) = serde_json::from_str(&line) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        };
        // If no thread can be started, the closed channel looks like a server that exited.
        let _started = thread::Builder::new().spawn(read);
    }
    messages
}

fn failed(action: &str, error: &impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("the demo cannot {action}: {error}"))
}
