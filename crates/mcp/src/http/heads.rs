//! Rejects request heads that another parser could read in another way.
//!
//! A parser that accepts a bare LF as a line end sees other requests than one that does not. A proxy and the server
//! behind it then disagree about the end of a request, and one client can put a request before that of another
//! (request smuggling). hyper accepts it, as RFC 9112 section 2.2 allows, so the bytes of a head are checked before
//! hyper reads them. The same applies to a body with two possible ends ([`super::head_fields`]).
//!
//! Invariant: bytes after a head are passed on only when the end of its body is known, so that each head is checked
//! from its first byte.

use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::body::Body;
use tokio::io::{AsyncRead, ReadBuf};

use super::conn_state::ConnState;
use super::head_fields::HeadFields;

/// The size of the read buffer, in bytes.
const BUFFER_SIZE: usize = 16 * 1024;
/// Replaces the rest of a rejected head; hyper answers it with 400 and closes.
const MALFORMED: &[u8] = b"\0\r\n\r\n";

/// The use of the connection after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeepAlive {
    /// Another request may follow, because the end of the body is known.
    Yes,
    /// No request may follow, because only the reader of the body finds its end.
    No,
}

/// The parser state of a connection's bytes.
#[derive(Debug)]
pub(super) struct Framing(Mutex<HeadPart>);

#[derive(Debug)]
enum HeadPart {
    Head(HeadLines),
    /// After a head, before the end of its body is known.
    Parsed,
    /// Within a body with this many remaining bytes.
    Body(u64),
    /// Within a body that is the last thing read.
    Last,
    Refused,
}

/// The position within the lines of a head.
#[derive(Debug, Default)]
struct HeadLines {
    /// Set after the first line that is not empty; empty lines before it are skipped.
    has_begun: bool,
    /// Set when the line is not empty.
    is_filled: bool,
    /// Set when the last byte was a CR.
    is_ending: bool,
    fields: HeadFields,
}

/// The class of a byte within a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Byte {
    Good,
    /// The last byte of the head.
    Last,
    /// Part of an invalid line end, or the end of an invalid field.
    Bad,
}

/// The number of bytes to pass on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PassedBytes {
    Bytes(usize),
    /// This many bytes; the rest is rejected.
    Until(usize),
}

impl HeadLines {
    fn take(&mut self, byte: u8) -> Byte {
        match (self.is_ending, byte) {
            (true, b'\n') => {
                let is_last = self.has_begun && !self.is_filled;
                if self.is_filled && !self.fields.end_line() {
                    return Byte::Bad;
                }
                (self.is_ending, self.is_filled) = (false, false);
                if is_last { Byte::Last } else { Byte::Good }
            }
            (true, _) | (false, b'\n') => Byte::Bad,
            (false, b'\r') => {
                self.is_ending = true;
                Byte::Good
            }
            (false, _) => {
                (self.has_begun, self.is_filled) = (true, true);
                self.fields.push(byte);
                Byte::Good
            }
        }
    }
}

impl Framing {
    pub(super) fn new() -> Arc<Framing> {
        Arc::new(Framing(Mutex::new(HeadPart::Head(HeadLines::default()))))
    }

    /// Records the length of the body after a head was parsed.
    pub(super) fn begin_body(&self, body: &impl Body) -> KeepAlive {
        let (part, next) = match body.size_hint().exact() {
            Some(0) => (HeadPart::Head(HeadLines::default()), KeepAlive::Yes),
            Some(length) => (HeadPart::Body(length), KeepAlive::Yes),
            None => (HeadPart::Last, KeepAlive::No),
        };
        *self.0.lock() = part;
        next
    }

    fn pass(&self, bytes: &[u8]) -> io::Result<PassedBytes> {
        let mut part = self.0.lock();
        match &mut *part {
            HeadPart::Head(lines) => {
                for (index, byte) in bytes.iter().enumerate() {
                    match lines.take(*byte) {
                        Byte::Good => {}
                        Byte::Last => {
                            *part = HeadPart::Parsed;
                            return Ok(PassedBytes::Bytes(index + 1));
                        }
                        Byte::Bad => {
                            *part = HeadPart::Refused;
                            return Ok(PassedBytes::Until(index));
                        }
                    }
                }
                Ok(PassedBytes::Bytes(bytes.len()))
            }
            HeadPart::Body(remaining) => {
                let count = usize::try_from(*remaining).unwrap_or(usize::MAX).min(bytes.len());
                *remaining -= count as u64;
                if *remaining == 0 {
                    *part = HeadPart::Head(HeadLines::default());
                }
                Ok(PassedBytes::Bytes(count))
            }
            HeadPart::Last | HeadPart::Refused => Ok(PassedBytes::Bytes(bytes.len())),
            HeadPart::Parsed => Err(io::Error::other("more was read than the head of a request")),
        }
    }

    fn is_refused(&self) -> bool {
        matches!(*self.0.lock(), HeadPart::Refused)
    }
}

/// The input of a connection, whose request heads are checked.
pub(super) struct CheckedHeads<S> {
    stream: S,
    framing: Arc<Framing>,
    state: Arc<ConnState>,
    /// Bytes that were read but not passed on.
    buffered: Vec<u8>,
    consumed: usize,
}

impl<S> CheckedHeads<S> {
    pub(super) fn new(stream: S, framing: Arc<Framing>, state: Arc<ConnState>) -> CheckedHeads<S> {
        CheckedHeads { stream, framing, state, buffered: Vec::new(), consumed: 0 }
    }
}

impl<S: AsyncRead + Unpin> CheckedHeads<S> {
    /// Reads more if all bytes were passed on; returns false at the end.
    fn fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.consumed < self.buffered.len() {
            return Poll::Ready(Ok(true));
        }
        self.consumed = 0;
        self.buffered.clear();
        if self.framing.is_refused() {
            return Poll::Ready(Ok(false));
        }
        self.buffered.resize(BUFFER_SIZE, 0);
        let mut buffer = ReadBuf::new(&mut self.buffered);
        let read = Pin::new(&mut self.stream).poll_read(context, &mut buffer);
        let count = buffer.filled().len();
        self.buffered.truncate(count);
        ready!(read)?;
        Poll::Ready(Ok(count > 0))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CheckedHeads<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        while buffer.filled().len() == before {
            if !ready!(self.fill(context))? {
                break;
            }
            let CheckedHeads { framing, state, buffered: ahead, consumed, .. } = &mut *self;
            let rest = ahead.get(*consumed..).unwrap_or_default();
            let rest = rest.get(..buffer.remaining()).unwrap_or(rest);
            match framing.pass(rest)? {
                PassedBytes::Bytes(count) => {
                    buffer.put_slice(rest.get(..count).unwrap_or_default());
                    *consumed += count;
                }
                PassedBytes::Until(count) => {
                    buffer.put_slice(rest.get(..count).unwrap_or_default());
                    // The answer would be lost if the rest of the request were not read.
                    state.mark_unread();
                    tracing::info!(status = 400, reason = "head", "a request was refused");
                    (*ahead, *consumed) = (MALFORMED.to_vec(), 0);
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::{BodyExt, Empty};
    use hyper::body::{Bytes, Incoming};
    use hyper::header::{CONNECTION, HeaderValue};
    use hyper::server::conn::http1::Builder;
    use hyper::service::service_fn;
    use hyper::{Request, Response};
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;
    use lockgate_policy::ServerLimits;

    /// Sends these pieces; returns the paths and bodies of the handled requests, and all responses.
    async fn exchange(pieces: &[&[u8]], is_guarded: bool) -> (Vec<String>, String) {
        let (mut client, server) = duplex(1 << 16);
        let (framing, requests) = (Framing::new(), Arc::new(Mutex::new(Vec::new())));
        let (known, log) = (Arc::clone(&framing), Arc::clone(&requests));
        let service = service_fn(move |request: Request<Incoming>| {
            let (next, log) = (known.begin_body(request.body()), Arc::clone(&log));
            async move {
                let path = request.uri().path().to_owned();
                let body =
                    request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                log.lock().push(format!("{path} {}", String::from_utf8_lossy(&body)));
                let mut answer = Response::new(Empty::<Bytes>::new());
                if is_guarded && next == KeepAlive::No {
                    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let state = Arc::new(ConnState::new(ServerLimits::default(), Arc::default()));
        let server = tokio::spawn(async move {
            let builder = Builder::new();
            if is_guarded {
                let (input, output) = tokio::io::split(server);
                let stream = tokio::io::join(CheckedHeads::new(input, framing, state), output);
                drop(builder.serve_connection(TokioIo::new(stream), service).await);
            } else {
                drop(builder.serve_connection(TokioIo::new(server), service).await);
            }
        });
        for piece in pieces {
            if client.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        client.shutdown().await.ok();
        let mut response = String::new();
        client.read_to_string(&mut response).await.ok();
        server.await.unwrap();
        let requests = requests.lock().clone();
        (requests, response)
    }

    const BARE: [&str; 6] = [
        "GET /a HTTP/1.1\nHost: x\n\n",
        "GET /a HTTP/1.1\nHost: x\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: x\n\r\n",
        "GET /a HTTP/1.1\r\nHost: x\r\n\n",
        "\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
    ];

    #[tokio::test]
    async fn a_bare_line_feed_in_a_head_is_refused_at_every_position_and_split() {
        for head in BARE {
            let whole = [head.as_bytes()];
            let bytes: Vec<&[u8]> = head.as_bytes().chunks(1).collect();
            for pieces in [&whole[..], &bytes[..]] {
                let (requests, response) = exchange(pieces, true).await;
                assert!(
                    requests.is_empty() && response.starts_with("HTTP/1.1 400"),
                    "{head:?}: {requests:?} {response}"
                );
            }
            let (requests, _) = exchange(&whole, false).await;
            assert_eq!(requests, ["/a "], "the control: hyper alone takes {head:?}");
        }
    }

    #[tokio::test]
    async fn each_head_is_checked_from_its_first_byte_whatever_body_precedes_it() {
        let first = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1\n2\r\n\r\n\n3";
        let second = "\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n";
        let bare = "GET /c HTTP/1.1\r\nHost: x\n\r\n";
        let all = [first, second, first, bare, second].concat();
        for length in [1, 2, 3, 7, all.len()] {
            let pieces: Vec<&[u8]> = all.as_bytes().chunks(length).collect();
            let (requests, response) = exchange(&pieces, true).await;
            assert_eq!(requests, ["/a 1\n2\r\n\r\n\n3", "/b ", "/a 1\n2\r\n\r\n\n3"], "{length}: {response}");
            assert_eq!((response.matches("200 OK").count(), response.matches("400 Bad").count()), (3, 1));
        }
        let (requests, _) = exchange(&[all.as_bytes()], false).await;
        assert_eq!(requests.len(), 5, "the control: hyper alone takes all of them: {requests:?}");
    }

    #[tokio::test]
    async fn nothing_is_read_after_a_body_whose_end_only_its_reader_finds() {
        let chunked =
            "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\n\n\n\r\n0\r\n\r\n";
        let after = "GET /b HTTP/1.1\nHost: x\n\n";
        let all = [chunked, after].concat();
        let (requests, response) = exchange(&[all.as_bytes()], true).await;
        assert_eq!(requests, ["/a \n\n\n"], "{response}");
        assert!(response.to_lowercase().contains("connection: close"), "{response}");
        let (requests, _) = exchange(&[all.as_bytes()], false).await;
        assert_eq!(requests.len(), 2, "the control: {requests:?}");
    }

    /// The ends of a head: the request line, `Host`, and these lines.
    const TWO_READINGS: [(&str, &str); 37] = [
        ("Content-Length: 3\r\nContent-Length: 4", "abc"),
        ("Content-Length: 3\r\nContent-Length: 3", "abc"),
        ("Content-Length: 3\r\ncontent-length: 3", "abc"),
        ("Content-Length: 3, 3", "abc"),
        ("Content-Length: 3, 4", "abc"),
        ("Content-Length: +3", "abc"),
        ("Content-Length: -0", ""),
        ("Content-Length: 0x3", "abc"),
        ("Content-Length: 3 4", "abc"),
        ("Content-Length: 3;a", "abc"),
        ("Content-Length:\x0b3", "abc"),
        ("Content-Length:", ""),
        ("Content-Length: ", ""),
        ("Content-Length: 99999999999999999999", ""),
        ("Content-Length : 3", "abc"),
        ("Content-Length\t: 3", "abc"),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nX: a\r\nContent-Length: 0", "0\r\n\r\n"),
        ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked, chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: identity, chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: , chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked,", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked, gzip", "0\r\n\r\n"),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: identity", ""),
        ("Transfer-Encoding: xchunked", "0\r\n\r\n"),
        ("Transfer-Encoding: \"chunked\"", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked;a=b", "0\r\n\r\n"),
        ("Transfer-Encoding:\x0bchunked", "0\r\n\r\n"),
        ("Transfer-Encoding:", ""),
        ("Transfer-Encoding : chunked", "0\r\n\r\n"),
        ("X: a\r\n folded", ""),
        ("X: a\r\n\tTransfer-Encoding: chunked", ""),
        ("X: a\rb", ""),
    ];

    fn post(fields: &str, body: &str) -> String {
        format!("POST /a HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n{body}")
    }

    #[tokio::test]
    async fn a_head_that_could_be_read_in_two_ways_is_refused() {
        let next = "GET /b HTTP/1.1\r\nHost: x\r\n\r\n";
        for (fields, body) in TWO_READINGS {
            let all = post(fields, body) + next;
            let whole = [all.as_bytes()];
            let bytes: Vec<&[u8]> = all.as_bytes().chunks(1).collect();
            for pieces in [&whole[..], &bytes[..]] {
                let (requests, response) = exchange(pieces, true).await;
                assert!(
                    requests.is_empty() && response.starts_with("HTTP/1.1 400"),
                    "{fields:?}: {requests:?} {response}"
                );
            }
        }
        for head in [
            "GET /a HTTP/1.1\r\nHost: x\r\n\r\r\n",
            "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /a HTTP/1.1\r\n Host: x\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: x\r\nX : a\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n",
            "POST /a HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            let (requests, response) = exchange(&[head.as_bytes()], true).await;
            assert!(requests.is_empty() && response.contains(" 400 "), "{head:?}: {requests:?} {response}");
        }
        let long = format!("Transfer-Encoding:{}chunked", " ".repeat(1000));
        let (requests, _) = exchange(&[post(&long, "0\r\n\r\n").as_bytes()], true).await;
        assert!(requests.is_empty(), "{requests:?}");
    }

    #[tokio::test]
    async fn a_head_with_one_end_of_its_body_is_handled() {
        let chunks = "3\r\nabc\r\n0\r\n\r\n";
        let long = format!("X: {}\r\nContent-Length: 3", "a: ".repeat(1000));
        let long_name = format!("X-{}: a\r\nContent-Length: 3", "a".repeat(1000));
        for (fields, body) in [
            ("Content-Length: 3", "abc"),
            ("content-length:3", "abc"),
            ("Content-Length: \t3 \t", "abc"),
            ("Content-Length: 0003", "abc"),
            ("X: Content-Length: 4\r\nContent-Length: 3", "abc"),
            ("X-Content-Length: 4\r\nContent-Length: 3", "abc"),
            ("X:\r\nContent-Length: 3", "abc"),
            (&long, "abc"),
            (&long_name, "abc"),
            ("Transfer-Encoding: chunked", chunks),
            ("TRANSFER-ENCODING:\tChunked ", chunks),
        ] {
            let (requests, response) = exchange(&[post(fields, body).as_bytes()], true).await;
            assert_eq!(requests, ["/a abc"], "{fields:?}: {response}");
        }
        let (requests, _) = exchange(&[post("X:\ta", "").as_bytes()], true).await;
        assert_eq!(requests, ["/a "]);
    }

    /// The control: hyper alone handles these, so they are refused here.
    #[tokio::test]
    async fn hyper_alone_handles_some_of_the_ambiguous_heads() {
        let mut handled = Vec::new();
        for (fields, body) in TWO_READINGS {
            if !exchange(&[post(fields, body).as_bytes()], false).await.0.is_empty() {
                handled.push(fields);
            }
        }
        for fields in [
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: identity, chunked",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Content-Length: 3\r\nContent-Length: 3",
        ] {
            assert!(handled.contains(&fields), "{fields}: {handled:?}");
        }
    }
}
