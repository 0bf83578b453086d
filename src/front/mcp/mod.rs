//! Model Context Protocol over standard input and output, in every revision that clients speak: those that begin with
//! `initialize`, and those in which each request stands for itself.
//!
//! Invariant: nothing lives in a session. Whatever a call needs to know of an earlier one is in its arguments.

mod ask;
mod call;
mod envelope;
mod frames;
mod metrics;
mod outcome;
mod pipe;
mod progress;
mod reader;
mod server;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::toolset::{Selection, WriteAccess};
use crate::engine::Workspace;
use crate::error::{Code, Error};
use pipe::Pipe;

pub use metrics::MetricsSink;
#[cfg(feature = "http")]
pub(super) use outcome::GRACE;
#[cfg(feature = "http")]
pub(super) use reader::{Heard, LARGE, heard};
#[cfg(feature = "http")]
pub(super) use server::Caller;
pub(super) use server::Server;

/// Whether answers have `structuredContent` beside the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Structured {
    /// For clients whose protocol has it: 2025-06-18 and newer.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Structured {
    /// Every choice, in the order of the documentation.
    pub const ALL: [Structured; 3] = [Structured::Auto, Structured::On, Structured::Off];

    /// The choice's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Structured::Auto => "auto",
            Structured::On => "on",
            Structured::Off => "off",
        }
    }
}

/// How a server behaves towards its client.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// Whether answers have `structuredContent`.
    pub structured: Structured,
    /// How long the client's model may take to write code.
    pub patience: Duration,
}

impl ServerOptions {
    /// How long the client's model may take, in seconds, where nothing else is said.
    pub const PATIENCE: u64 = 120;
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            structured: Structured::default(),
            patience: Duration::from_secs(ServerOptions::PATIENCE),
        }
    }
}

/// What `tools/list` answers.
pub fn listed(selection: &Selection, access: WriteAccess) -> Value {
    let mut tools: Vec<_> = selection.tools(access).map(|tool| server::listing(tool, selection)).collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    json!({ "tools": tools })
}

/// Serves a client over standard input and output until it hangs up, or `stop` is cancelled, and every edit has ended;
/// those that run two seconds later are cancelled.
///
/// Errors: `IO_FAILED` when standard input or output fails.
pub async fn serve(
    workspace: Arc<Workspace>,
    selection: Selection,
    access: WriteAccess,
    manners: ServerOptions,
    stop: CancellationToken,
) -> Result<(), Error> {
    let (input, output) = stdio_pipes();
    let server = Server::new(workspace, &selection, access, manners, stop.clone());
    serve_on(server, Pipe::new(input, output, stop)).await
}

/// Serves a client over a pipe; what a client may not begin with is passed over.
async fn serve_on(server: Server, pipe: Pipe) -> Result<(), Error> {
    loop {
        match server.clone().serve(pipe.clone()).await {
            Ok(running) => {
                return match running.waiting().await {
                    Ok(_) => Ok(()),
                    Err(trouble) => Err(Error::new(Code::Internal, format!("the server stopped: {trouble}"))),
                };
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(ServerInitializeError::TransportError { error, .. }) => {
                return Err(Error::new(Code::IoFailed, format!("cannot write to the client: {error}")));
            }
            Err(trouble) => tracing::warn!(%trouble, "the client has not begun a session"),
        }
    }
}

#[cfg(test)]
mod tests;
