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

use serde_json::{Value, json};

use super::answer::HookReply;
use super::host::Host;
use super::texts::OwnTools;
use lockgate_policy::{ClineAnswer, HookSettings, OnFailure};

/// The version of lockgate, which both ends must share.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The number of this conversation, which both ends must share.
const PROTOCOL: u64 = 1;
/// The most bytes of a line.
const MAX_LINE: u64 = 1 << 20;
/// The largest payload, in bytes.
pub const MAX_PAYLOAD: u64 = 64 << 20;

/// What the server needs beside the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq)]
enum ServerMessage {
    /// The server works on the event.
    Accepted,
    /// The settings of the policy.
    Settings(HookSettings),
    /// The reply for the host.
    Reply(HookReply),
}

impl Question {
    /// Writes the line; `None` if a path is not UTF-8.
    fn to_line(&self, length: usize) -> Option<String> {
        let value = json!({
            "protocol": PROTOCOL,
            "version": VERSION,
            "root": self.root.to_str()?,
            "folder": self.folder.to_str()?,
            "host": self.host.map(Host::name),
            "has_server": self.tools == OwnTools::Server,
            "claims": self.claims,
            "elapsed_ms": u64::try_from(self.elapsed.as_millis()).ok()?,
            "length": length,
        });
        Some(format!("{value}\n"))
    }

    /// Reads the line, and the length of the payload; `None` for anything that this version does not write.
    fn from_line(line: &[u8]) -> Option<(Question, u64)> {
        let value: Value = serde_json::from_slice(line).ok()?;
        if value.get("protocol")?.as_u64()? != PROTOCOL || value.get("version")?.as_str()? != VERSION {
            return None;
        }
        let path = |name: &str| {
            let path = PathBuf::from(value.get(name)?.as_str()?);
            path.is_absolute().then_some(path)
        };
        let host = match value.get("host")? {
            Value::Null => None,
            name => Some(Host::from_name(name.as_str()?)?),
        };
        let tools = match value.get("has_server")?.as_bool()? {
            true => OwnTools::Server,
            false => OwnTools::CommandLine,
        };
        let claims = value.get("claims")?.as_array()?.iter().map(Value::as_bool).collect::<Option<_>>()?;
        let elapsed = Duration::from_millis(value.get("elapsed_ms")?.as_u64()?);
        let length = value.get("length")?.as_u64().filter(|length| *length <= MAX_PAYLOAD)?;
        let (root, folder) = (path("root")?, path("folder")?);
        Some((Question { root, folder, host, tools, claims, elapsed }, length))
    }
}

impl ServerMessage {
    fn to_line(&self) -> String {
        let value = match self {
            ServerMessage::Accepted => json!({ "accepted": true }),
            ServerMessage::Settings(settings) => json!({ "settings": {
                "deadline_ms": u64::try_from(settings.deadline.as_millis()).unwrap_or(u64::MAX),
                "fail_closed": settings.fail == OnFailure::Closed,
                "cline_cancel": settings.cline == ClineAnswer::Cancel,
            }}),
            ServerMessage::Reply(HookReply { output, error, exit }) => {
                json!({ "reply": { "output": output, "error": error, "exit": exit } })
            }
        };
        format!("{value}\n")
    }

    fn from_line(line: &str) -> Option<ServerMessage> {
        let value: Value = serde_json::from_str(line).ok()?;
        if value.get("accepted").is_some() {
            return Some(ServerMessage::Accepted);
        }
        if let Some(settings) = value.get("settings") {
            let fail =
                if settings.get("fail_closed")?.as_bool()? { OnFailure::Closed } else { OnFailure::Open };
            let cline = if settings.get("cline_cancel")?.as_bool()? {
                ClineAnswer::Cancel
            } else {
                ClineAnswer::Warn
            };
            let deadline = Duration::from_millis(settings.get("deadline_ms")?.as_u64()?);
            return Some(ServerMessage::Settings(HookSettings {
                fail,
                cline,
                deadline,
                ..HookSettings::default()
            }));
        }
        let reply = value.get("reply")?;
        let error = match reply.get("error")? {
            Value::Null => None,
            text => Some(text.as_str()?.to_owned()),
        };
        let exit = u8::try_from(reply.get("exit")?.as_u64()?).ok()?;
        let output = Some(reply.get("output")?.clone()).filter(|output| !output.is_null());
        Some(ServerMessage::Reply(HookReply { output, error, exit }))
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
            ("\"protocol\":1", "\"protocol\":2"),
            (VERSION, "0.0.1"),
            ("\"/p/q\"", "\"p/q\""),
            ("\"codex\"", "\"emacs\""),
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
            ServerMessage::Settings(settings),
            ServerMessage::Reply(reply),
            ServerMessage::Reply(silent),
        ] {
            let line = message.to_line();
            assert_eq!(line.lines().count(), 1, "{line}");
            assert_eq!(ServerMessage::from_line(&line), Some(message));
        }
        for line in ["", "{}", "[]", "{\"reply\":{}}", "{\"reply\":{\"output\":null,\"error\":7,\"exit\":0}}"]
        {
            assert_eq!(ServerMessage::from_line(line), None, "{line}");
        }
    }
}
