//! Reads the body of a request within its limits.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::rejection::HttpRejection;
use crate::rpc::{BYTE_ORDER_MARK, LARGE_MESSAGE_BYTES, ParsedMessage, parse_message};

/// The kind of a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// An `initialize` request, which begins a session.
    Initialize(RequestId),
    /// Another request.
    Request(RequestId),
    /// A notification, or the answer to a request of the server.
    Message,
    UnknownNotification,
}

/// Reads a body of at most `most` bytes within the given time, without a byte order mark.
pub(super) async fn read(body: Body, most: usize, within: Duration) -> Result<Bytes, HttpRejection> {
    let large = || {
        let message = format!("the body is larger than {most} bytes; nothing was written");
        HttpRejection::new(StatusCode::PAYLOAD_TOO_LARGE, "body", message)
    };
    // A declared length above the limit is rejected without reading.
    if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > most) {
        return Err(large());
    }
    let late = |_| HttpRejection::new(StatusCode::REQUEST_TIMEOUT, "body", "timed out reading the body");
    match timeout(within, Limited::new(body, most).collect()).await.map_err(late)? {
        Ok(collected) => Ok(strip_byte_order_mark(collected.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(large()),
        Err(_) => Err(HttpRejection::new(StatusCode::BAD_REQUEST, "body", "the body is incomplete")),
    }
}

/// Removes the byte order mark, which rmcp does not accept.
fn strip_byte_order_mark(body: Bytes) -> Bytes {
    match body.strip_prefix(BYTE_ORDER_MARK) {
        Some(message) => body.slice_ref(message),
        None => body,
    }
}

/// Determines the kind of a body; a large one is parsed on a blocking thread.
pub(super) async fn parse_kind(body: &Bytes) -> Result<BodyKind, HttpRejection> {
    if body.len() < LARGE_MESSAGE_BYTES {
        return kind(parse_message(body));
    }
    let body = body.clone();
    let lost = |_| {
        HttpRejection::new(StatusCode::INTERNAL_SERVER_ERROR, "message", "the message could not be parsed")
    };
    spawn_blocking(move || kind(parse_message(&body))).await.map_err(lost)?
}

fn kind(parsed: ParsedMessage) -> Result<BodyKind, HttpRejection> {
    match parsed {
        ParsedMessage::Message(message) => Ok(match *message {
            JsonRpcMessage::Request(request) => match request.request {
                ClientRequest::InitializeRequest(_) => BodyKind::Initialize(request.id),
                _ => BodyKind::Request(request.id),
            },
            JsonRpcMessage::Notification(_) | JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                BodyKind::Message
            }
        }),
        ParsedMessage::UnknownNotification => Ok(BodyKind::UnknownNotification),
        ParsedMessage::Invalid(error, id) => Err(HttpRejection::invalid_message(error, id)),
        // The status ends every request of the batch.
        ParsedMessage::Batch(error, _) => Err(HttpRejection::invalid_message(error, None)),
    }
}
