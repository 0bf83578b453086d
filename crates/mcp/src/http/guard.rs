//! Checks the head of a request against the configured hosts and origins.
//!
//! A page of another site can make a local browser send requests here, under a name that resolves to this machine.
//! The `Host` and `Origin` headers reveal it: <https://modelcontextprotocol.io/specification>, "DNS rebinding".
//!
//! Invariant: an ambiguous head is rejected.

use axum::http::header::{AUTHORIZATION, CONTENT_ENCODING, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};

use super::bearer_token;
use super::rejection::HttpRejection;
use lockgate_policy::{Host, WebOrigin};

/// Accepts a request for one of these hosts that comes from no page or from one of these origins; returns the
/// `Origin` header.
pub(super) fn check(
    uri: &Uri,
    headers: &HeaderMap,
    hosts: &[Host],
    sites: &[WebOrigin],
) -> Result<Option<HeaderValue>, HttpRejection> {
    let bad = |message| HttpRejection::new(StatusCode::BAD_REQUEST, "host", message);
    let host = single(headers, &HOST).map_err(|()| bad("more than one Host header"))?;
    let host = host.ok_or_else(|| bad("no Host header"))?;
    // A request line may also name a host, which takes precedence.
    let named_host = uri.authority().map(|authority| authority.as_str());
    for name in host.to_str().ok().into_iter().chain(named_host) {
        let name = Host::read(name).ok_or_else(|| bad("the Host header is not valid"))?;
        if !hosts.iter().any(|host| host.admits(&name)) {
            let message = "this Host is not allowed: add it to `allowed_hosts`";
            return Err(HttpRejection::new(StatusCode::FORBIDDEN, "host", message));
        }
    }
    if host.to_str().is_err() {
        return Err(bad("the Host header is not valid"));
    }
    origin(headers, sites)
}

fn origin(headers: &HeaderMap, sites: &[WebOrigin]) -> Result<Option<HeaderValue>, HttpRejection> {
    let many = |()| HttpRejection::new(StatusCode::BAD_REQUEST, "origin", "more than one Origin header");
    let Some(origin) = single(headers, &ORIGIN).map_err(many)? else { return Ok(None) };
    match origin.to_str().ok().and_then(WebOrigin::read) {
        Some(requested) if sites.iter().any(|site| site.admits(&requested)) => Ok(Some(origin.clone())),
        Some(_) | None => {
            let message = "this Origin is not allowed: add it to `allowed_origins`";
            Err(HttpRejection::new(StatusCode::FORBIDDEN, "origin", message))
        }
    }
}

/// Rejects a body with a content encoding.
pub(super) fn check_encoding(headers: &HeaderMap) -> Result<(), HttpRejection> {
    for value in headers.get_all(CONTENT_ENCODING) {
        let mut codings = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let unknown = |coding: &&[u8]| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity");
        if let Some(coding) = codings.find(unknown) {
            return Err(HttpRejection::unsupported_encoding(&String::from_utf8_lossy(coding)));
        }
    }
    Ok(())
}

/// Returns the hash of the request's token.
pub(super) fn token_hash(headers: &HeaderMap) -> Result<blake3::Hash, HttpRejection> {
    let many =
        |()| HttpRejection::new(StatusCode::BAD_REQUEST, "token", "more than one Authorization header");
    let missing = || {
        HttpRejection::unauthorized(
            "Bearer realm=\"lockgate\"",
            "this server needs `Authorization: Bearer TOKEN`",
        )
    };
    let value = single(headers, &AUTHORIZATION).map_err(many)?.ok_or_else(missing)?;
    bearer_token::hash_from_header(value.as_bytes()).ok_or_else(missing)
}

/// Returns the error for an unknown token.
pub(super) fn unknown_token() -> HttpRejection {
    HttpRejection::unauthorized(
        "Bearer realm=\"lockgate\", error=\"invalid_token\"",
        "the server does not know this token",
    )
}

/// Returns the only header with this name; fails if there are several.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(()),
        (value, None) => Ok(value),
    }
}
