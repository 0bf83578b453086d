//! Model Context Protocol over HTTP for several clients, in both forms of "streamable HTTP": with sessions up to
//! 2025-11-25, without from 2026-07-28 on.
//!
//! Every request passes the same checks: `Host`, `Origin`, token, method, and size of the body. rmcp then handles the
//! protocol.
//!
//! Invariant: no body is read and nothing is done before the token is known. The reach of a client depends only on
//! its token.

mod app;
mod bearer_token;
mod body;
mod conn_state;
mod connections;
mod cors;
mod guard;
mod heads;
mod held_response;
mod listen;
mod metrics;
mod rejection;
mod routes;
mod token_scope;
mod tracked_stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::mcp::{GRACE, ServerOptions};
use super::toolset::{Selection, WriteAccess};
use crate::engine::Workspace;
use crate::error::{Code, Error};
use crate::policy::{Host, Readers, ServerLimits, WebOrigin};
use app::HttpApp;
use connections::Connections;
use metrics::HttpMetrics;

pub use bearer_token::BearerToken;

/// Time for clients to read their answers, after the grace period of running calls.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for connections to close in order.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The configuration of a server.
pub struct Setup {
    /// Address on which the server listens.
    pub listen: SocketAddr,
    /// Accepted values of the `Host` header.
    pub hosts: Vec<Host>,
    /// Web origins whose pages may call the server.
    pub origins: Vec<WebOrigin>,
    /// The clients that may read the metrics.
    pub metrics: Readers,
    /// Limits of sizes and times.
    pub limits: ServerLimits,
    /// Options of the MCP server.
    pub options: ServerOptions,
    /// Secret that servers behind one balancer share; without it, a server can open only its own seals.
    pub seal: Option<BearerToken>,
    /// The clients that may call.
    pub principals: Vec<Principal>,
}

/// A client that may call.
pub struct Principal {
    /// Name for the journal, if the client has one.
    pub name: Option<Arc<str>>,
    /// BLAKE3 hash of its token.
    pub hash: [u8; 32],
    /// Set when the client may read the metrics.
    pub metrics: bool,
    /// The tools and files of the client; without them, it can only read the metrics.
    pub grants: Option<Grants>,
}

/// The files and tools of a client.
pub struct Grants {
    /// The workspace with the files.
    pub workspace: Arc<Workspace>,
    /// The toolsets that the client may use.
    pub selection: Selection,
    /// Selects whether the tools may write.
    pub access: WriteAccess,
}

/// Serves clients over HTTP until `stop` is cancelled and every call has ended. Calls that still run two seconds
/// later are cancelled. `listening` gets the address once clients can connect.
///
/// Errors: `IO_FAILED` when the server cannot listen on the address.
pub async fn serve(
    setup: Setup,
    stop: CancellationToken,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), Error> {
    let cannot = |error| Error::new(Code::IoFailed, format!("cannot listen on {}: {error}", setup.listen));
    let listener = TcpListener::bind(setup.listen).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let (ended, closing) = (CancellationToken::new(), CancellationToken::new());
    let connections = Connections::new(setup.limits);
    let app = Arc::new(HttpApp::new(setup, HttpMetrics::new(Arc::clone(&connections)), stop.clone(), &ended));
    let router = routes::router(Arc::clone(&app));
    let listening_to =
        tokio::spawn(listen::listen(listener, Arc::clone(&connections), router, closing.clone()));
    listening(address);
    stop.cancelled().await;
    if timeout(GRACE + ANSWER_TIMEOUT, app.wait_idle()).await.is_err() {
        tracing::warn!("the server ends although calls have not been answered");
    }
    // Streams and sessions do not end by themselves.
    ended.cancel();
    closing.cancel();
    drop(timeout(CLOSE_TIMEOUT, connections.wait_closed()).await);
    listening_to.abort();
    Ok(())
}
