//! Reads the body of a request within its limits.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::refused::Refused;
use crate::front::mcp::{Heard, LARGE, heard};

/// The kind of a request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// An `initialize` request, which begins a session.
    Greeting,
    Message,
    Aside,
}

/// Reads a body of at most `most` bytes within the given time.
pub(super) async fn read(body: Body, most: usize, within: Duration) -> Result<Bytes, Refused> {
    let large = || {
        let message = format!("the body is larger than {most} bytes; nothing was written");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "body", message)
    };
    // A declared length above the limit is rejected without reading.
    if usize::try_from(body.size_hint().lower()).map_or(true, |told| told > most) {
        return Err(large());
    }
    let late = |_| Refused::new(StatusCode::REQUEST_TIMEOUT, "body", "timed out reading the body");
    match timeout(within, Limited::new(body, most).collect()).await.map_err(late)? {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(trouble) if trouble.is::<LengthLimitError>() => Err(large()),
        Err(_) => Err(Refused::new(StatusCode::BAD_REQUEST, "body", "the body is incomplete")),
    }
}

/// Determines the kind of a body; a large one is parsed on a blocking thread.
pub(super) async fn understand(body: &Bytes) -> Result<BodyKind, Refused> {
    if body.len() < LARGE {
        return kind(heard(body));
    }
    let body = body.clone();
    let lost =
        |_| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "message", "the message could not be parsed");
    spawn_blocking(move || kind(heard(&body))).await.map_err(lost)?
}

fn kind(heard: Heard) -> Result<BodyKind, Refused> {
    match heard {
        Heard::Message(message) => Ok(if greets(&message) { BodyKind::Greeting } else { BodyKind::Message }),
        Heard::Aside => Ok(BodyKind::Aside),
        Heard::Nonsense(error, id) => Err(Refused::nonsense(error, id)),
    }
}

fn greets(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::InitializeRequest(_)))
}
