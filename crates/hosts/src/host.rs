//! The hosts of agents, and the facts about each that decide how an edit is guarded.
//!
//! docs/hosts.md lists the sources of these facts.

use serde::{Deserialize, Serialize};

/// A program that runs an agent with edit tools of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Host {
    /// Claude Code, and hosts that use its events as they are.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode, through its plugin.
    OpenCode,
    /// Copilot CLI and the cloud agent.
    Copilot,
    /// VS Code.
    VsCode,
    /// Cursor.
    Cursor,
    /// Windsurf.
    Windsurf,
    /// Cline.
    Cline,
    /// Antigravity.
    Antigravity,
}

/// The way in which a host's tool reads a file and writes it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextHabit {
    /// UTF-8 only; one line end for the whole file, the more common one.
    Majority,
    /// Bytes that are not UTF-8 are lost; CRLF for the whole file if any line has it.
    CrLfIfAny,
    /// Bytes that are not UTF-8 are lost; new lines get CRLF if any line has it.
    NewLinesCrLfIfAny,
    /// Bytes that are not UTF-8 are lost; all else stays.
    Lossy,
    /// UTF-8 only; added lines get the line end of the first line, and a last line without an end gets it.
    FirstLine,
    /// The behaviour is not known.
    Unknown,
}

impl Host {
    /// All hosts, in the order of the documentation.
    pub const ALL: [Host; 10] = [
        Host::ClaudeCode,
        Host::Codex,
        Host::Gemini,
        Host::OpenCode,
        Host::Copilot,
        Host::VsCode,
        Host::Cursor,
        Host::Windsurf,
        Host::Cline,
        Host::Antigravity,
    ];

    /// Returns the names that [`Host::from_name`] takes, in the order of the documentation.
    pub fn names() -> Vec<&'static str> {
        std::iter::once("claude").chain(Host::ALL.map(Host::name)).collect()
    }

    /// Returns the name of the host in the history and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Host::ClaudeCode => "claude-code",
            Host::Codex => "codex",
            Host::Gemini => "gemini",
            Host::OpenCode => "opencode",
            Host::Copilot => "copilot",
            Host::VsCode => "vscode",
            Host::Cursor => "cursor",
            Host::Windsurf => "windsurf",
            Host::Cline => "cline",
            Host::Antigravity => "antigravity",
        }
    }

    /// Returns the host of this name.
    pub fn from_name(name: &str) -> Option<Host> {
        let name = if name == "claude" { "claude-code" } else { name };
        Host::ALL.into_iter().find(|host| host.name() == name)
    }

    /// Returns how the host's tool reads and writes a file.
    pub const fn habit(self) -> TextHabit {
        match self {
            Host::ClaudeCode => TextHabit::Majority,
            Host::Codex => TextHabit::FirstLine,
            Host::Gemini => TextHabit::CrLfIfAny,
            Host::OpenCode => TextHabit::NewLinesCrLfIfAny,
            Host::Copilot => TextHabit::Lossy,
            Host::VsCode | Host::Cursor | Host::Windsurf | Host::Cline | Host::Antigravity => {
                TextHabit::Unknown
            }
        }
    }

    /// True if the event comes before the host looks for the quote, so that a wrong quote can be helped.
    pub const fn fires_before_search(self) -> bool {
        match self {
            Host::ClaudeCode => false,
            Host::Codex
            | Host::Gemini
            | Host::OpenCode
            | Host::Copilot
            | Host::VsCode
            | Host::Cursor
            | Host::Windsurf
            | Host::Cline
            | Host::Antigravity => true,
        }
    }

    /// True if a hook can change the arguments of the call.
    pub const fn accepts_rewrite(self) -> bool {
        match self {
            Host::ClaudeCode
            | Host::Codex
            | Host::Gemini
            | Host::OpenCode
            | Host::Copilot
            | Host::VsCode
            | Host::Cursor
            | Host::Cline => true,
            Host::Windsurf | Host::Antigravity => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_is_found_by_its_name() {
        for host in Host::ALL {
            assert_eq!(Host::from_name(host.name()), Some(host));
        }
        assert_eq!(Host::from_name("emacs"), None);
        let mut named: Vec<Host> = Host::names().into_iter().filter_map(Host::from_name).collect();
        assert_eq!(named.len(), Host::names().len());
        named.dedup();
        assert_eq!(named, Host::ALL);
    }
}
