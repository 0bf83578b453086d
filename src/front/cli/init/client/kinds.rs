//! The clients that are known: where each keeps its servers for a project, in which form, and what it wants next.
//!
//! docs/init.md says where each form was found.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

/// A client of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::front::cli::init) enum Client {
    /// Claude Code, .mcp.json
    Claude,
    /// VS Code, .vscode/mcp.json
    Vscode,
    /// Cursor, .cursor/mcp.json
    Cursor,
    /// Zed, .zed/settings.json
    Zed,
    /// Gemini CLI, .gemini/settings.json
    Gemini,
}

/// What a client's documentation says of its configuration.
#[derive(Debug)]
pub(super) struct ClientKind {
    /// Its name for people.
    pub(super) name: &'static str,
    /// The file, relative to the project's folder.
    pub(super) path: &'static str,
    /// The property that has the servers.
    pub(super) key: &'static str,
    /// How the project's folder is named in a server's words.
    pub(super) root: &'static str,
    /// Whether an entry names its transport.
    pub(super) typed: bool,
    /// Whether the file may have comments and trailing commas.
    pub(super) lenient: bool,
    /// What a person does then.
    pub(super) next: &'static str,
}

impl Client {
    /// What is known of it.
    pub(super) fn kind(self) -> ClientKind {
        match self {
            Client::Claude => CLAUDE,
            Client::Vscode => VSCODE,
            Client::Cursor => CURSOR,
            Client::Zed => ZED,
            Client::Gemini => GEMINI,
        }
    }
}

const CLAUDE: ClientKind = ClientKind {
    name: "Claude Code",
    path: ".mcp.json",
    key: "mcpServers",
    root: ".",
    typed: false,
    lenient: false,
    next: "start `claude` in this folder and approve the server when it asks; `/mcp` shows it",
};

const VSCODE: ClientKind = ClientKind {
    name: "VS Code",
    path: ".vscode/mcp.json",
    key: "servers",
    root: "${workspaceFolder}",
    typed: true,
    lenient: true,
    next: "run `MCP: List Servers` from the command palette, start the server, and trust it when VS Code asks",
};

const CURSOR: ClientKind = ClientKind {
    name: "Cursor",
    path: ".cursor/mcp.json",
    key: "mcpServers",
    root: "${workspaceFolder}",
    typed: false,
    lenient: false,
    next: "open Cursor's settings for MCP and switch the server on",
};

const ZED: ClientKind = ClientKind {
    name: "Zed",
    path: ".zed/settings.json",
    key: "context_servers",
    root: ".",
    typed: false,
    lenient: true,
    next: "trust the project where Zed asks; the Agent Panel's settings show a green dot beside the server",
};

const GEMINI: ClientKind = ClientKind {
    name: "Gemini CLI",
    path: ".gemini/settings.json",
    key: "mcpServers",
    root: ".",
    typed: false,
    lenient: false,
    next: "start `gemini` in this folder and trust the folder when it asks; `/mcp` shows the server",
};

impl ClientKind {
    /// What is said of the server in its configuration.
    pub(super) fn entry(&self, toolsets: Option<&str>) -> Map<String, Value> {
        let mut entry = Map::new();
        if self.typed {
            entry.insert("type".to_owned(), json!("stdio"));
        }
        entry.insert("command".to_owned(), json!("lockgate"));
        let words = ["serve", "--root", self.root].into_iter();
        let tools = toolsets.into_iter().flat_map(|list| ["--tools", list]);
        entry.insert("args".to_owned(), words.chain(tools).collect());
        entry
    }
}
