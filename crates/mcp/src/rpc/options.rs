//! The options of a server.

use std::time::Duration;

/// The clients that get the text alone, by the names that they give themselves: each was run with a scripted model, and
/// passed the text on to it. Claude Code 2.1.332 and Codex 0.169.0 leave the text out where there is JSON too, Gemini CLI
/// 0.61.0 and opencode 1.18.34 the JSON; Copilot CLI 1.0.102 sends both, which is the same twice.
pub const TEXT_CLIENTS: [&str; 5] =
    ["claude-code", "codex-mcp-client", "gemini-cli-mcp-client", "opencode", "copilot-cli"];

/// Controls if answers include `structuredContent` besides the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Structured {
    /// Enabled for protocol versions that support it, 2025-06-18 and newer, except for the clients that show their model
    /// the text as well or alone.
    #[default]
    Auto,
    /// Always enabled, even for older clients.
    On,
    /// Only what the next call needs, even for older clients; the text is then one line.
    Compact,
    /// Never enabled, only the text is sent.
    Off,
}

impl Structured {
    /// All values in the order of the documentation.
    pub const ALL: [Structured; 4] = [Structured::Auto, Structured::On, Structured::Compact, Structured::Off];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Structured::Auto => "auto",
            Structured::On => "on",
            Structured::Compact => "compact",
            Structured::Off => "off",
        }
    }
}

/// Options of an MCP server.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// Controls if answers include `structuredContent`; by default the protocol version and the client decide.
    pub structured: Structured,
    /// Timeout of the client's model when it writes code.
    pub model_timeout: Duration,
}

impl ServerOptions {
    /// Default timeout of the client's model, in seconds.
    pub const DEFAULT_MODEL_TIMEOUT: u64 = 120;
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            structured: Structured::default(),
            model_timeout: Duration::from_secs(ServerOptions::DEFAULT_MODEL_TIMEOUT),
        }
    }
}
