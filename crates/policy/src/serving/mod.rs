//! The configuration of the HTTP server: its address, its clients and its limits.
//!
//! The operator of the server writes it in YAML, and the policy's reader parses it.
//!
//! Invariant: a parsed configuration is complete: an address that other machines can reach has allowed hosts,
//! and all tokens are different.

mod host;
mod keys;
#[cfg(test)]
mod tests;
mod token;

use std::net::SocketAddr;
use std::time::Duration;

use super::node::{MapFields, PolicyError, YamlNode};
use super::{Setting, yaml};
use lockgate_error::{Code, Error};

pub use host::{Host, WebOrigin};
pub use keys::Readers;
pub use token::Token;

/// The configuration of an HTTP server for several clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serving {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The accepted values of the header `Host`; the loopback names by default.
    pub hosts: Vec<Host>,
    /// The accepted values of the header `Origin`; none by default.
    pub origins: Vec<WebOrigin>,
    /// The clients that may read the metrics.
    pub metrics: Readers,
    /// The limits of the server.
    pub limits: ServerLimits,
    /// The URL of the database of stored content, if the configuration has it.
    pub store: Option<String>,
    /// The tokens of the clients.
    pub tokens: Vec<Token>,
}

/// The size, time and concurrency limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// The largest body of a request, in bytes.
    pub body: usize,
    /// The time limit for the head of a request.
    pub headers_timeout: Duration,
    /// The time limit for the body of a request.
    pub body_timeout: Duration,
    /// The longest time that a client may stop reading a pending answer.
    pub read_timeout: Duration,
    /// The longest time that a connection may stay open without a request.
    pub idle: Duration,
    /// The most open connections; beyond that, the longest idle one is closed.
    pub connections: usize,
    /// The most concurrent requests of one token.
    pub requests: usize,
    /// The most sessions of one token.
    pub sessions: usize,
    /// The longest time that a session is kept without a request.
    pub session_idle: Duration,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        let seconds = Duration::from_secs;
        ServerLimits {
            body: 4 << 20,
            headers_timeout: seconds(10),
            body_timeout: seconds(30),
            read_timeout: seconds(30),
            idle: seconds(90),
            connections: 1024,
            requests: 64,
            sessions: 256,
            session_idle: seconds(8 * 60 * 60),
        }
    }
}

impl Serving {
    /// The default port on the loopback address.
    pub const PORT: u16 = 8137;

    /// Parses a configuration.
    ///
    /// Errors: `INVALID_INPUT`, with line and column, but without the line itself, which could contain a
    /// token in place of its hash.
    pub fn parse(name: &str, text: &str) -> Result<Serving, Error> {
        yaml::read(name, text, serving).map_err(|error| {
            let message = error.message.lines().next().unwrap_or_default();
            Error::new(Code::InvalidInput, message)
                .hint("correct the configuration; docs/serving.md describes every key")
        })
    }

    /// Returns every key of a configuration.
    pub fn settings() -> &'static [Setting] {
        keys::SERVING
    }
}

fn serving(root: &YamlNode) -> Result<Serving, PolicyError> {
    let fields = root.settings("the configuration", &[keys::SERVING])?;
    let listen = fields.optional("listen", address)?.unwrap_or(([127, 0, 0, 1], Serving::PORT).into());
    let hosts = fields.each("allowed_hosts", host)?;
    let has_hosts = fields.get("allowed_hosts").is_some();
    if !listen.ip().is_loopback() && !has_hosts {
        let message =
            "other machines can reach this address: set `allowed_hosts` to the host names that clients use";
        return Err(fields.get("listen").unwrap_or(root).fault(message));
    }
    let node = fields.require("tokens")?;
    let tokens = fields.each("tokens", token::token)?;
    if tokens.is_empty() {
        return Err(node.fault("`tokens` is empty, so no client could connect: add a token"));
    }
    token::check_apart(node.list("`tokens`")?, &tokens)?;
    Ok(Serving {
        listen,
        hosts: if has_hosts { hosts } else { Host::own() },
        origins: fields.each("allowed_origins", origin)?,
        metrics: fields.read("metrics", Readers::Token)?,
        limits: limits(&fields.map("limits")?)?,
        store: fields.read_optional("store")?,
        tokens,
    })
}

fn address(node: &YamlNode, what: &str) -> Result<SocketAddr, PolicyError> {
    let wrong = |_| node.fault(format!("{what} must be an address and a port, as in `127.0.0.1:8137`"));
    node.text(what)?.parse().map_err(wrong)
}

fn host(node: &YamlNode, what: &str) -> Result<Host, PolicyError> {
    let expected = "a host such as `edits.example.com` or `[::1]:8137`, without a scheme";
    Host::read(node.text(what)?).ok_or_else(|| node.fault(format!("each of {what} must be {expected}")))
}

fn origin(node: &YamlNode, what: &str) -> Result<WebOrigin, PolicyError> {
    let expected = "an origin such as `https://ide.example.com`, without a path";
    WebOrigin::read(node.text(what)?).ok_or_else(|| node.fault(format!("each of {what} must be {expected}")))
}

fn limits(fields: &MapFields<'_>) -> Result<ServerLimits, PolicyError> {
    let base = ServerLimits::default();
    Ok(ServerLimits {
        body: fields.read("body", base.body)?,
        headers_timeout: fields.read("headers_within", base.headers_timeout)?,
        body_timeout: fields.read("body_within", base.body_timeout)?,
        read_timeout: fields.read("read_within", base.read_timeout)?,
        idle: fields.read("idle", base.idle)?,
        connections: fields.read("connections", base.connections)?,
        requests: fields.read("requests", base.requests)?,
        sessions: fields.read("sessions", base.sessions)?,
        session_idle: fields.read("session_idle", base.session_idle)?,
    })
}
