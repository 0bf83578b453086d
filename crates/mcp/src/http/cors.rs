//! CORS headers for browsers: <https://fetch.spec.whatwg.org>, "CORS protocol".

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

/// The headers that a page may send, besides the protocol's `mcp-param-` headers.
const ALLOWED_HEADERS: &str =
    "authorization, content-type, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name";

/// True if a request is a CORS preflight.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the answer to a preflight of an allowed page.
pub(super) fn preflight(requested: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    let parameters =
        requested.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok()).unwrap_or("");
    let parameters = parameters.split(',').map(str::trim).filter(|name| name.starts_with("mcp-param-"));
    let sent = std::iter::once(ALLOWED_HEADERS).chain(parameters).collect::<Vec<_>>().join(", ");
    headers.extend(HeaderValue::from_str(&sent).ok().map(|sent| (ACCESS_CONTROL_ALLOW_HEADERS, sent)));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Adds the headers that let the page read the answer.
pub(super) fn allow_origin(response: &mut Response<Body>, page: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after"),
    );
    headers.append(VARY, HeaderValue::from_static("origin"));
}
