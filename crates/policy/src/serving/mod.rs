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

use super::node::{PolicyError, YamlNode};
use super::{Setting, quantity, yaml};
use lockgate_error::{Code, Error};

pub use host::{Host, WebOrigin};
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

/// The clients that may read the metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Readers {
    /// Clients whose token allows it.
    #[default]
    Token,
    /// All clients, without a token.
    All,
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
    let hosts = fields.optional("allowed_hosts", |node, what| {
        each(node, what, "a host such as `edits.example.com` or `[::1]:8137`, without a scheme", Host::read)
    })?;
    if !listen.ip().is_loopback() && hosts.is_none() {
        let message =
            "other machines can reach this address: set `allowed_hosts` to the host names that clients use";
        return Err(fields.get("listen").unwrap_or(root).fault(message));
    }
    let tokens = fields.require("tokens")?;
    let listed = tokens.list("`tokens`")?;
    let read: Vec<Token> =
        listed.iter().map(|item| token::token(item, "a token")).collect::<Result<_, _>>()?;
    if read.is_empty() {
        return Err(tokens.fault("`tokens` is empty, so no client could connect: add a token"));
    }
    token::check_apart(listed, &read)?;
    let readers = [("token", Readers::Token), ("open", Readers::All)];
    Ok(Serving {
        listen,
        hosts: hosts.unwrap_or_else(Host::own),
        origins: fields
            .optional("allowed_origins", |node, what| {
                each(
                    node,
                    what,
                    "an origin such as `https://ide.example.com`, without a path",
                    WebOrigin::read,
                )
            })?
            .unwrap_or_default(),
        metrics: fields.optional("metrics", |node, what| node.one_of(what, &readers))?.unwrap_or_default(),
        limits: fields.optional("limits", bounds)?.unwrap_or_default(),
        store: fields.optional("store", |node, what| node.text(what).map(str::to_owned))?,
        tokens: read,
    })
}

fn address(node: &YamlNode, what: &str) -> Result<SocketAddr, PolicyError> {
    let wrong = |_| node.fault(format!("{what} must be an address and a port, as in `127.0.0.1:8137`"));
    node.text(what)?.parse().map_err(wrong)
}

fn each<T>(
    node: &YamlNode,
    what: &str,
    expected: &str,
    read: fn(&str) -> Option<T>,
) -> Result<Vec<T>, PolicyError> {
    let one = |item: &YamlNode| {
        read(item.text(what)?).ok_or_else(|| item.fault(format!("each of {what} must be {expected}")))
    };
    node.list(what)?.iter().map(one).collect()
}

fn bounds(node: &YamlNode, what: &str) -> Result<ServerLimits, PolicyError> {
    let fields = node.settings(what, &[keys::LIMITS])?;
    let base = ServerLimits::default();
    let time = |name: &str, base: Duration| {
        let read = fields.optional(name, |node, what| quantity::duration(node, what, keys::WITHIN));
        read.map(|time| time.unwrap_or(base))
    };
    let count = |name: &str, range, base: usize| {
        let read = fields.optional(name, |node, what| node.whole_in_range(what, range));
        read.map(|count| count.and_then(|count| usize::try_from(count).ok()).unwrap_or(base))
    };
    let body = fields.optional("body", |node, what| quantity::size(node, what, keys::BODY))?;
    Ok(ServerLimits {
        body: body.and_then(|body| usize::try_from(body).ok()).unwrap_or(base.body),
        headers_timeout: time("headers_within", base.headers_timeout)?,
        body_timeout: time("body_within", base.body_timeout)?,
        read_timeout: time("read_within", base.read_timeout)?,
        idle: time("idle", base.idle)?,
        connections: count("connections", keys::CONNECTIONS, base.connections)?,
        requests: count("requests", keys::COUNT, base.requests)?,
        sessions: count("sessions", keys::COUNT, base.sessions)?,
        session_idle: fields
            .optional("session_idle", |node, what| quantity::age(node, what, keys::SESSION))?
            .unwrap_or(base.session_idle),
    })
}
