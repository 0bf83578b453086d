//! A request that the server does not carry out, and how its sender is told.

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};

/// Why a request is not carried out.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    /// The word under which it is counted.
    pub(super) reason: &'static str,
    code: ErrorCode,
    message: String,
    id: Option<RequestId>,
    header: Option<(HeaderName, &'static str)>,
}

/// JSON-RPC 2.0: what a server may mean by itself.
const SERVER_ERROR: ErrorCode = ErrorCode(-32000);

impl Refused {
    pub(super) fn new(status: StatusCode, reason: &'static str, message: impl Into<String>) -> Refused {
        Refused { status, reason, code: SERVER_ERROR, message: message.into(), id: None, header: None }
    }

    /// The token is missing, or none that is known.
    pub(super) fn unknown(challenge: &'static str, message: &str) -> Refused {
        let refused = Refused::new(StatusCode::UNAUTHORIZED, "token", message);
        Refused { header: Some((WWW_AUTHENTICATE, challenge)), ..refused }
    }

    /// The method is none of these.
    pub(super) fn method(allowed: &'static str) -> Refused {
        let refused = Refused::new(StatusCode::METHOD_NOT_ALLOWED, "method", format!("this takes {allowed}"));
        Refused { header: Some((ALLOW, allowed)), ..refused }
    }

    /// The body is encoded in a way that is not decoded here.
    pub(super) fn encoding(coding: &str) -> Refused {
        let message = format!(
            "the Content-Encoding {coding:?} is not supported: send the body without one, or as `identity`"
        );
        let refused = Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "encoding", message);
        Refused { header: Some((ACCEPT_ENCODING, "identity")), ..refused }
    }

    /// There is too much to do.
    pub(super) fn busy(status: StatusCode, reason: &'static str, message: impl Into<String>) -> Refused {
        Refused { header: Some((RETRY_AFTER, "1")), ..Refused::new(status, reason, message) }
    }

    /// The body is no message of the protocol.
    pub(super) fn nonsense(error: ErrorData, id: Option<RequestId>) -> Refused {
        let refused = Refused::new(StatusCode::BAD_REQUEST, "message", error.message);
        Refused { code: error.code, id, ..refused }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response<Body> {
        let error = JsonRpcError::new(self.id, ErrorData::new(self.code, self.message, None));
        let mut response = Response::new(Body::from(serde_json::to_vec(&error).unwrap_or_default()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some((name, value)) = self.header {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
