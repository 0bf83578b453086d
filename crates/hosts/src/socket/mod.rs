//! The conversation between `lockgate hook` and a server that runs for the same root: the server has its language servers
//! and caches loaded, so it judges the event in place of the command.
//!
//! The command sends a line with a [`Question`], then the payload. The server answers with lines: `accepted`, the settings
//! of the policy as soon as they are known, and the reply. Any other answer, and none, means that the command judges
//! alone.
//!
//! Invariant: what arrives here is not believed: a payload is read as leniently as on standard input, and nothing of it is
//! run.

mod client;
mod server;

pub use client::ask;
pub use server::serve;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::HookReply;
use super::host::Host;
use super::texts::OwnTools;
use lockgate_policy::{ClineAnswer, HookSettings, OnFailure};

/// The version of lockgate, which both ends must share.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The number of this conversation, which both ends must share.
const PROTOCOL: u64 = 2;
/// The most bytes of a line.
const MAX_LINE: u64 = 1 << 20;
/// The largest payload, in bytes.
pub const MAX_PAYLOAD: u64 = 64 << 20;

/// What the server needs beside the payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The real path of the root.
    pub root: PathBuf,
    /// The folder that relative paths start from, absolute.
    pub folder: PathBuf,
    /// The host, if the command line names it.
    pub host: Option<Host>,
    /// Where the model can make an edit with lockgate itself.
    pub tools: OwnTools,
    /// For each call of the event, whether this is the first hook that has it.
    pub claims: Vec<bool>,
    /// The time since the event arrived.
    pub elapsed: Duration,
}

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ServerMessage {
    /// The server works on the event.
    Accepted,
    /// The settings of the policy that the command needs for its own deadline.
    Settings { deadline: Duration, fail_closed: bool, cline_cancel: bool },
    /// The reply for the host.
    Reply(HookReply),
}

impl Question {
    /// Writes the line; `None` if a path is not UTF-8.
    fn to_line(&self, length: usize) -> Option<String> {
        let question = serde_json::to_value(self).ok()?;
        let line =
            json!({ "protocol": PROTOCOL, "version": VERSION, "length": length, "question": question });
        Some(format!("{line}\n"))
    }

    /// Reads the line, and the length of the payload; `None` for anything that this version does not write.
    fn from_line(line: &[u8]) -> Option<(Question, u64)> {
        let mut value: Value = serde_json::from_slice(line).ok()?;
        if value.get("protocol")?.as_u64()? != PROTOCOL || value.get("version")?.as_str()? != VERSION {
            return None;
        }
        let length = value.get("length")?.as_u64().filter(|length| *length <= MAX_PAYLOAD)?;
        let question: Question = serde_json::from_value(value.get_mut("question")?.take()).ok()?;
        (question.root.is_absolute() && question.folder.is_absolute()).then_some((question, length))
    }
}

impl ServerMessage {
    fn settings(settings: HookSettings) -> ServerMessage {
        ServerMessage::Settings {
            deadline: settings.deadline,
            fail_closed: settings.fail == OnFailure::Closed,
            cline_cancel: settings.cline == ClineAnswer::Cancel,
        }
    }

    fn to_line(&self) -> String {
        format!("{}\n", json!(self))
    }

    fn from_line(line: &str) -> Option<ServerMessage> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let question = Question {
            root: "/p\n\"".into(),
            folder: "/p/q".into(),
            host: Some(Host::Codex),
            tools: OwnTools::Server,
            claims: vec![true, false],
            elapsed: Duration::from_millis(7),
        };
        let line = question.to_line(9).unwrap();
        assert_eq!(line.lines().count(), 1);
        assert_eq!(Question::from_line(line.as_bytes()), Some((question.clone(), 9)));
        for (from, to) in [
            ("\"protocol\":2", "\"protocol\":1"),
            (VERSION, "0.0.1"),
            ("\"/p/q\"", "\"p/q\""),
            ("\"Codex\"", "\"Emacs\""),
            ("\"length\":9", "\"length\":67108865"),
            ("\"length\":9", "\"length\":-1"),
            ("[true,false]", "[1]"),
        ] {
            let other = line.replace(from, to);
            assert_ne!(other, line, "{from}");
            assert_eq!(Question::from_line(other.as_bytes()), None, "{other}");
        }
        let settings = HookSettings {
            fail: OnFailure::Closed,
            cline: ClineAnswer::Cancel,
            deadline: Duration::from_secs(3),
            ..HookSettings::default()
        };
        let reply = HookReply { output: Some(json!({"a": "b\n"})), error: Some("c\nd".into()), exit: 2 };
        let silent = HookReply::default();
        for message in [
            ServerMessage::Accepted,
            ServerMessage::settings(settings),
            ServerMessage::Reply(reply),
            ServerMessage::Reply(silent),
        ] {
            let line = message.to_line();
            assert_eq!(line.lines().count(), 1, "{line}");
            assert_eq!(ServerMessage::from_line(&line), Some(message));
        }
        for line in [
            "",
            "{}",
            "[]",
            "{\"accepted\":true}",
            "{\"reply\":{}}",
            "{\"reply\":{\"output\":null,\"error\":7,\"exit\":0}}",
        ] {
            assert_eq!(ServerMessage::from_line(line), None, "{line}");
        }
    }
}
