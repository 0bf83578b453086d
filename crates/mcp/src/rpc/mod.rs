//! Model Context Protocol over standard input and output, in all supported revisions: those with `initialize`, and
//! the stateless ones.
//!
//! Invariant: no state lives in a session, except which notes it has shown. A call that depends on an earlier one gets all
//! data in its arguments.

mod ask;
mod call;
mod call_context;
mod id_scanner;
mod input_lines;
mod metrics;
mod outcome;
mod pipe;
mod progress;
mod reader;
mod server;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::selection::{EntityStorage, Selection, WriteAccess};
use lockgate_engine::Workspace;
use lockgate_error::{Code, Error};
use pipe::Pipe;

pub(super) use call_context::Caller;
pub use metrics::{CallOutcome, MetricsSink};
pub(super) use outcome::GRACE;
pub(super) use reader::{LARGE_MESSAGE_BYTES, ParsedMessage, parse_message};
pub(super) use server::Server;

/// The clients that get the text alone, by the names that they give themselves: each was run with a scripted model, and
/// passed the text on to it. Claude Code 2.1.332 and Codex 0.169.0 leave the text out where there is JSON too, Gemini CLI
/// 0.61.0 and opencode 1.18.34 the JSON; Copilot CLI 1.0.102 sends both, which is the same twice.
const TEXT_CLIENTS: [&str; 5] =
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
    /// Controls if answers include `structuredContent`; by default the protocol version decides.
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

/// Returns the answer to `tools/list`.
pub fn listed(selection: &Selection, access: WriteAccess, storage: EntityStorage) -> Value {
    let mut tools: Vec<_> =
        selection.tools(access).map(|tool| server::listing(tool, selection, storage)).collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    json!({ "tools": tools })
}

/// Serves a client over standard input and output until it disconnects or `stop` is cancelled, and every edit has
/// ended. Edits that still run two seconds later are cancelled.
///
/// Errors: `IO_FAILED` when standard input or output fails.
pub async fn serve(
    workspace: Arc<Workspace>,
    selection: Selection,
    access: WriteAccess,
    options: ServerOptions,
    stop: CancellationToken,
) -> Result<(), Error> {
    let (input, output) = stdio_pipes();
    let server = Server::new(workspace, &selection, access, options, stop.clone());
    serve_on(server, Pipe::new(input, output, stop)).await
}

/// Serves a client over a pipe; messages that cannot begin a session are skipped.
async fn serve_on(server: Server, pipe: Pipe) -> Result<(), Error> {
    loop {
        match server.clone().serve(pipe.clone()).await {
            Ok(running) => {
                return match running.waiting().await {
                    Ok(_) => Ok(()),
                    Err(cause) => Err(Error::new(Code::Internal, format!("the server stopped: {cause}"))),
                };
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(ServerInitializeError::TransportError { error, .. }) => {
                return Err(Error::new(Code::IoFailed, format!("cannot write to the client: {error}")));
            }
            Err(cause) => tracing::warn!(error = %cause, "the client has not begun a session"),
        }
    }
}

#[cfg(test)]
mod tests;
