//! The supported MCP clients: path and format of their project configuration, and the next step for a person.
//!
//! docs/init.md lists the source of each format.

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

/// The configuration format of a client, from its documentation.
#[derive(Debug)]
pub(super) struct ClientKind {
    /// Display name of the client.
    pub(super) name: &'static str,
    /// Path of the file, relative to the project's folder.
    pub(super) path: &'static str,
    /// The property that contains the servers.
    pub(super) key: &'static str,
    /// The value that stands for the project's folder in a server's arguments.
    pub(super) root: &'static str,
    /// Set when an entry names its transport.
    pub(super) typed: bool,
    /// Set when the file may have comments and trailing commas.
    pub(super) lenient: bool,
    /// The next step for a person.
    pub(super) next: &'static str,
}

impl Client {
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
