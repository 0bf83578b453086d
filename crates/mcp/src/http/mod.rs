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
mod head_fields;
mod heads;
mod held_response;
mod listen;
mod metrics;
mod rejection;
mod routes;
mod setup;
mod token_scope;
mod tracked_stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::rpc::STOP_TIMEOUT;
use app::HttpApp;
use connections::Connections;
use lockgate_error::{Code, Error};
use metrics::HttpMetrics;

pub use bearer_token::BearerToken;
pub use setup::{Grants, Principal, Setup};

/// Time for connections to close in order.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

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
    if timeout(STOP_TIMEOUT, app.wait_idle()).await.is_err() {
        tracing::warn!("the server ends although calls have not been answered");
    }
    // Streams and sessions do not end by themselves.
    ended.cancel();
    closing.cancel();
    drop(timeout(CLOSE_TIMEOUT, connections.wait_closed()).await);
    listening_to.abort();
    Ok(())
}
