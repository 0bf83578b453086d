//! A client of the protocol, which goes to another server when its own does not answer.

use std::net::SocketAddr;
use std::time::Duration;

use super::wire::{Connection, Response, field};

/// The protocol's two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolEra {
    /// With sessions: 2025-11-25.
    Sessions,
    /// Each request for itself: 2026-07-28.
    Stateless,
}

/// How often a call is sent before it counts as unanswered.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

pub struct Peer {
    pub era: ProtocolEra,
    pub token: String,
    servers: Vec<SocketAddr>,
    at: usize,
    connection: Option<Connection>,
    session: Option<String>,
    next: u64,
}

/// What became of a call.
pub struct PeerResponse {
    pub body: Vec<u8>,
    /// How often it was sent again, as no answer came.
    pub resent: u32,
}

impl PeerResponse {
    /// The code of a rejection; absent where the call did what it was to do.
    pub fn code(&self) -> Option<String> {
        if memchr::memmem::find(&self.body, b"\"isError\":false").is_some() {
            return None;
        }
        Some(field(&self.body, "code").unwrap_or("PROTOCOL_ERROR").to_owned())
    }
}

impl Peer {
    pub fn new(era: ProtocolEra, token: String, servers: Vec<SocketAddr>, at: usize) -> Peer {
        Peer { era, token, servers, at, connection: None, session: None, next: 0 }
    }

    /// Calls a tool until there is an answer; an error is the code of what came in its place.
    pub async fn call(&mut self, tool: &str, arguments: &str) -> Result<PeerResponse, String> {
        self.next += 1;
        let body = self.message(tool, arguments);
        let mut resent = 0;
        loop {
            match self.once(tool, &body).await {
                Ok(Response { status: 200, body, .. }) => return Ok(PeerResponse { body, resent }),
                // The session was another server's.
                Ok(Response { status: 404, .. }) if self.session.is_some() => self.session = None,
                Ok(Response { status, .. }) if status != 503 => return Err(format!("HTTP_{status}")),
                Ok(_) => tokio::time::sleep(PAUSE).await,
                Err(_) => {
                    (self.connection, self.session) = (None, None);
                    self.at = (self.at + 1) % self.servers.len();
                    // The other one is there at once; only where none is, it is waited for.
                    if resent > 0 {
                        tokio::time::sleep(PAUSE).await;
                    }
                }
            }
            resent += 1;
            if resent == TRIES {
                return Err("UNANSWERED".to_owned());
            }
        }
    }

    async fn once(&mut self, tool: &str, body: &str) -> std::io::Result<Response> {
        if self.connection.is_none() {
            self.connection = Some(Connection::open(self.servers[self.at]).await?);
        }
        if self.era == ProtocolEra::Sessions && self.session.is_none() {
            self.initialize().await?;
        }
        let request = self.request(tool, body);
        self.send(&request).await
    }

    async fn initialize(&mut self) -> std::io::Result<()> {
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#;
        let greeted = self.send(&self.request("", hello)).await?;
        self.session = greeted.session;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.send(&self.request("", ready)).await.map(drop)
    }

    async fn send(&mut self, request: &[u8]) -> std::io::Result<Response> {
        let connection = self.connection.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
        connection.exchange(request).await
    }

    fn message(&self, tool: &str, arguments: &str) -> String {
        let meta = match self.era {
            ProtocolEra::Sessions => "",
            ProtocolEra::Stateless => {
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#
            }
        };
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{meta}}}}}"#,
            self.next
        )
    }

    fn request(&self, tool: &str, body: &str) -> Vec<u8> {
        let era = match (self.era, &self.session) {
            (ProtocolEra::Stateless, _) => {
                format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n")
            }
            (ProtocolEra::Sessions, Some(session)) => {
                format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n")
            }
            (ProtocolEra::Sessions, None) => String::new(),
        };
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\n{era}Content-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        )
        .into_bytes()
    }
}
