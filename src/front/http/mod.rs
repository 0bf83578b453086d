//! Model Context Protocol over HTTP, for several clients, in both forms of its "streamable HTTP": with sessions until
//! 2025-11-25, without from 2026-07-28 on.
//!
//! A request goes through the same doors each time: who is called (`Host`), by which page (`Origin`), with which token, by
//! which method, with how large a body. Then it is the protocol's, whose side of it rmcp carries out.
//!
//! Invariant: nothing is read of a body, and nothing is done, before the token is known; what a caller reaches comes from
//! its token alone.

mod app;
mod body;
mod conn_state;
mod connections;
mod counts;
mod guard;
mod heads;
mod held_response;
mod listen;
mod pace;
mod pages;
mod refused;
mod routes;
mod scope;
mod secret;

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
use crate::policy::{Host, Readers, ServingBounds, WebOrigin};
use app::HttpApp;
use connections::Connections;
use counts::Counts;

pub use secret::Secret;

/// How long, after the grace of running calls, their answers may take to be read.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long connections may take to end in order.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What a server is told before it listens.
pub struct Setup {
    /// Where it listens.
    pub listen: SocketAddr,
    /// By which names it is called.
    pub hosts: Vec<Host>,
    /// Which web pages may call it.
    pub sites: Vec<WebOrigin>,
    /// Who may read the metrics.
    pub metrics: Readers,
    /// How much and how long.
    pub bounds: ServingBounds,
    /// How it behaves towards a client.
    pub manners: ServerOptions,
    /// What servers have in common that take turns for the same clients; where there is none, each knows its own questions.
    pub seal: Option<Secret>,
    /// Who may call.
    pub parties: Vec<Principal>,
}

/// One that may call.
pub struct Principal {
    /// The name that the journal gets, where there is one.
    pub name: Option<Arc<str>>,
    /// The BLAKE3 of its token.
    pub hash: [u8; 32],
    /// Whether it may read the metrics.
    pub metrics: bool,
    /// What it reaches; nothing but the metrics where there is none.
    pub reach: Option<Grants>,
}

/// What a caller reaches.
pub struct Grants {
    /// The files.
    pub workspace: Arc<Workspace>,
    /// The tools.
    pub selection: Selection,
    /// Whether they may write.
    pub access: WriteAccess,
}

/// Serves clients over HTTP until `stop` is cancelled and every call has ended; those that run two seconds later are
/// cancelled. `listening` is told the address once clients can connect.
///
/// Errors: `IO_FAILED` when the address cannot be listened on.
pub async fn serve(
    setup: Setup,
    stop: CancellationToken,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), Error> {
    let cannot =
        |trouble| Error::new(Code::IoFailed, format!("cannot listen on {}: {trouble}", setup.listen));
    let listener = TcpListener::bind(setup.listen).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let (ended, closing) = (CancellationToken::new(), CancellationToken::new());
    let connections = Connections::new(setup.bounds);
    let door = Arc::new(HttpApp::new(setup, Counts::new(Arc::clone(&connections)), stop.clone(), &ended));
    let router = routes::router(Arc::clone(&door));
    let listening_to =
        tokio::spawn(listen::listen(listener, Arc::clone(&connections), router, closing.clone()));
    listening(address);
    stop.cancelled().await;
    if timeout(GRACE + LAST_ANSWERS, door.idle()).await.is_err() {
        tracing::warn!("the server ends although calls have not been answered");
    }
    // Streams and sessions have no end of their own.
    ended.cancel();
    closing.cancel();
    drop(timeout(LAST_WORDS, connections.none()).await);
    listening_to.abort();
    Ok(())
}
