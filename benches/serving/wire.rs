//! HTTP/1.1 by hand, so that the one who measures costs little.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long an answer is waited for.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A connection that is kept.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer to a request.
pub struct Response {
    pub status: u16,
    pub session: Option<String>,
    pub body: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Connection> {
        let stream = with_timeout(TcpStream::connect(address)).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: Vec::with_capacity(32 << 10) })
    }

    /// Sends a request and reads its answer; after an error the connection is of no use.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Response> {
        with_timeout(async {
            self.stream.write_all(request).await?;
            self.response().await
        })
        .await
    }

    async fn response(&mut self) -> Result<Response> {
        self.buffer.clear();
        let head = loop {
            if let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]).into_owned();
        let status = text.get(9..12).and_then(|code| code.parse().ok()).ok_or(ErrorKind::InvalidData)?;
        let header = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
        };
        let session = header("mcp-session-id").map(str::to_owned);
        let body = if header("transfer-encoding").is_some() {
            self.chunks(head).await?
        } else {
            let length: usize = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            while self.buffer.len() < head + length {
                self.more().await?;
            }
            self.buffer[head..head + length].to_vec()
        };
        Ok(Response { status, session, body })
    }

    async fn chunks(&mut self, mut at: usize) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                match memmem::find(&self.buffer[at..], b"\r\n") {
                    Some(end) => break at + end,
                    None => self.more().await?,
                }
            };
            let size = std::str::from_utf8(&self.buffer[at..end]).ok();
            let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
            let size = size.ok_or(ErrorKind::InvalidData)?;
            while self.buffer.len() < end + 2 + size + 2 {
                self.more().await?;
            }
            body.extend_from_slice(&self.buffer[end + 2..end + 2 + size]);
            at = end + 2 + size + 2;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    async fn more(&mut self) -> Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

async fn with_timeout<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(TIMEOUT, work).await.unwrap_or_else(|_| Err(Error::from(ErrorKind::TimedOut)))
}

/// The text of a field of an answer, without a look at the rest: no text within a text has quotes that are not escaped.
pub fn field<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    let start = format!("\"{name}\":\"");
    let rest = &body[memmem::find(body, start.as_bytes())? + start.len()..];
    std::str::from_utf8(&rest[..memchr::memchr(b'"', rest)?]).ok()
}

/// A text as JSON has it.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
