//! Model Context Protocol over standard input and output, in all supported revisions: those with `initialize`, and
//! the stateless ones.
//!
//! Invariant: no state lives in a session, except which notes it has shown. A call that depends on an earlier one gets all
//! data in its arguments.

mod ask;
mod batch_ids;
mod call;
mod call_context;
mod executor;
mod id_scanner;
mod in_flight;
mod input_lines;
mod listing;
mod metrics;
mod options;
mod pending_requests;
mod pipe;
mod progress;
mod reader;
mod server;
mod writer;

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::selection::{Selection, WriteAccess};
use lockgate_engine::Workspace;
use lockgate_error::{Code, Error};
use pipe::Pipe;

pub(super) use executor::{GRACE, STOP_TIMEOUT};
pub(super) use in_flight::{Arrival, RequestGuard, RequestsInFlight, SERVER_ERROR, duplicate_id};
pub use listing::listed;
pub use metrics::{CallOutcome, MetricsSink};
pub use options::{ServerOptions, Structured};
pub(super) use reader::{BYTE_ORDER_MARK, LARGE_MESSAGE_BYTES, ParsedMessage, parse_message};
pub(super) use server::Server;

/// Serves a client over standard input and output until it disconnects or `stop` is cancelled, and every edit has
/// ended. Edits that still run two seconds after `stop` are cancelled. Five seconds later the server ends in any case: a
/// client may not read its answers.
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
    serve_until(server, Pipe::new(input, output, stop.clone()), stop).await
}

/// Serves a client over a pipe. After `stop`, the server ends although the client does not read its answers.
async fn serve_until(server: Server, pipe: Pipe, stop: CancellationToken) -> Result<(), Error> {
    tokio::select! {
        served = serve_on(server, pipe) => served,
        () = async { stop.cancelled().await; sleep(STOP_TIMEOUT).await } => {
            tracing::warn!("the server ends although calls have not been answered");
            Ok(())
        }
    }
}

/// Serves a client over a pipe; messages that cannot begin a session are skipped.
async fn serve_on(server: Server, pipe: Pipe) -> Result<(), Error> {
    let server = server.with_input_end(pipe.input_ended());
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
