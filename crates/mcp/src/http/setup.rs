//! The configuration of a server over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use super::bearer_token::BearerToken;
use crate::rpc::ServerOptions;
use crate::selection::{Selection, WriteAccess};
use lockgate_engine::Workspace;
use lockgate_policy::{Host, Readers, ServerLimits, WebOrigin};

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
