//! HTTP rejections and their responses.

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};

use crate::rpc::SERVER_ERROR;

#[derive(Debug)]
pub(super) struct HttpRejection {
    pub(super) status: StatusCode,
    /// The label of the rejection in the metrics.
    pub(super) reason: &'static str,
    code: ErrorCode,
    message: String,
    id: Option<RequestId>,
    header: Option<(HeaderName, &'static str)>,
}

impl HttpRejection {
    pub(super) fn new(status: StatusCode, reason: &'static str, message: impl Into<String>) -> HttpRejection {
        HttpRejection { status, reason, code: SERVER_ERROR, message: message.into(), id: None, header: None }
    }

    /// Creates the error for a missing or unknown token.
    pub(super) fn unauthorized(challenge: &'static str, message: &str) -> HttpRejection {
        let rejection = HttpRejection::new(StatusCode::UNAUTHORIZED, "token", message);
        HttpRejection { header: Some((WWW_AUTHENTICATE, challenge)), ..rejection }
    }

    /// Creates the error for a method that is not allowed.
    pub(super) fn method_not_allowed(allowed: &'static str) -> HttpRejection {
        let rejection = HttpRejection::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method",
            format!("method not allowed: use {allowed}"),
        );
        HttpRejection { header: Some((ALLOW, allowed)), ..rejection }
    }

    /// Creates the error for an unsupported content encoding.
    pub(super) fn unsupported_encoding(coding: &str) -> HttpRejection {
        let message = format!(
            "the Content-Encoding {coding:?} is not supported: send the body without one, or as `identity`"
        );
        let rejection = HttpRejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "encoding", message);
        HttpRejection { header: Some((ACCEPT_ENCODING, "identity")), ..rejection }
    }

    /// Creates the error for an overloaded server.
    pub(super) fn busy(
        status: StatusCode,
        reason: &'static str,
        message: impl Into<String>,
    ) -> HttpRejection {
        HttpRejection { header: Some((RETRY_AFTER, "1")), ..HttpRejection::new(status, reason, message) }
    }

    /// Creates the error for a body that is not a message of the protocol.
    pub(super) fn invalid_message(error: ErrorData, id: Option<RequestId>) -> HttpRejection {
        let rejection = HttpRejection::new(StatusCode::BAD_REQUEST, "message", error.message);
        HttpRejection { code: error.code, id, ..rejection }
    }
}

impl IntoResponse for HttpRejection {
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
