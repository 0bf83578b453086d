//! A server over HTTP, as a process of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::raw::{Client, ProtocolEra, Raw};
use crate::suite::wire::{TIMEOUT, lockgate};

/// The token of the one who may call where nothing else is said.
pub const TOKEN: &str = "the-token-of-alice-0123456789";

/// Another's.
pub const OTHER: &str = "the-token-of-bob-01234567890";

/// A running server.
pub struct ServerProcess {
    pub address: SocketAddr,
    pub process: Child,
    said: Arc<Mutex<String>>,
    _home: TempDir,
}

/// An entry of `tokens`.
pub fn entry(name: &str, token: &str, more: &str) -> String {
    format!("- {{ name: {name}, hash: 'blake3:{}', {more} }}\n", blake3::hash(token.as_bytes()).to_hex())
}

/// What a configuration is written into, for the user alone.
pub fn written(home: &Path, text: &str) -> PathBuf {
    let file = home.join("serve.yaml");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

impl ServerProcess {
    /// A server of one root for one token, [`TOKEN`].
    pub fn start(root: &Path, more: &[&str]) -> ServerProcess {
        let home = tempfile::tempdir().unwrap();
        let mut command = lockgate(home.path());
        command.args(["serve", "--http", "127.0.0.1:0", "--tools", "all", "--root"]).arg(root).args(more);
        command.env("LOCKGATE_TOKEN", TOKEN);
        ServerProcess::by(command, home)
    }

    /// A server with a configuration, on a free port.
    pub fn configured(text: &str) -> ServerProcess {
        ServerProcess::configured_with(text, &[])
    }

    pub fn configured_with(text: &str, more: &[&str]) -> ServerProcess {
        let home = tempfile::tempdir().unwrap();
        let file = written(home.path(), &format!("listen: '127.0.0.1:0'\n{text}"));
        let mut command = lockgate(home.path());
        command.args(["serve", "--config"]).arg(file).args(more);
        ServerProcess::by(command, home)
    }

    pub fn by(mut command: Command, home: TempDir) -> ServerProcess {
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&log);
        let mut errors = BufReader::new(process.stderr.take().unwrap());
        std::thread::spawn(move || {
            let mut line = String::new();
            while errors.read_line(&mut line).is_ok_and(|read| read > 0) {
                heard.lock().unwrap().push_str(&std::mem::take(&mut line));
            }
        });
        let start = Instant::now();
        let address = loop {
            let text = log.lock().unwrap().clone();
            if let Some(after) = text.split("listening on http://").nth(1)
                && let Some((address, _)) = after.split_once("/mcp\n")
            {
                break address.parse().unwrap();
            }
            assert!(
                start.elapsed() < TIMEOUT && process.try_wait().unwrap().is_none(),
                "it does not listen: {text}"
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        ServerProcess { address, process, said: log, _home: home }
    }

    /// What the server wrote to standard error so far.
    pub fn log_text(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    pub fn connect(&self) -> Raw {
        Raw::to(self.address)
    }

    /// A client that has said hello, if its era has it do so.
    pub fn client(&self, token: &str, era: ProtocolEra) -> Client {
        Client::new(self.connect(), token, era)
    }

    pub fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([format!("-{name}"), id]).status().unwrap().success());
    }

    /// Waits for the end, and gives the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.code();
            }
            assert!(start.elapsed() < TIMEOUT, "the server does not end: {}", self.log_text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
