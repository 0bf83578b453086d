//! The permissions of one token: its own MCP server over its workspace.
//!
//! Invariant: sessions, questions to a person and limits belong to one token.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    ProtocolVersion, RequestId,
};
use rmcp::transport::common::http_header::{HEADER_MCP_PROTOCOL_VERSION, HEADER_SESSION_ID};
use rmcp::transport::common::server_side_http::SessionId;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{Mutex, MutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::rejection::HttpRejection;
use super::{BearerToken, Grants, Principal};
use crate::rpc::{GRACE, MetricsSink, RequestGuard, RequestsInFlight, Server, ServerOptions, duplicate_id};
use lockgate_policy::ServerLimits;

/// Purpose of the derived key for a token's seal.
const SEAL: &str = "lockgate 2026-10 requestState";

/// The permissions of one token.
pub(super) struct TokenScope {
    pub(super) hash: [u8; 32],
    pub(super) metrics: bool,
    pub(super) tools: Option<TokenServer>,
}

/// The MCP server of one token, with its limits.
pub(super) struct TokenServer {
    server: Server,
    service: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    in_flight: RequestsInFlight,
    most_sessions: usize,
    /// Held while a session begins.
    beginning: Mutex<()>,
    requests: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

/// The settings that all tokens of a server share.
pub(super) struct SharedSettings<'a> {
    pub(super) limits: ServerLimits,
    pub(super) options: ServerOptions,
    pub(super) seal: Option<&'a BearerToken>,
    pub(super) sink: Arc<dyn MetricsSink>,
    pub(super) stop: &'a CancellationToken,
    pub(super) ended: &'a CancellationToken,
}

impl TokenScope {
    pub(super) fn new(principal: Principal, common: &SharedSettings<'_>) -> TokenScope {
        let Principal { name, hash, metrics, grants } = principal;
        let seal = common.seal.map(|token| token.key(SEAL, &hash));
        let tools = grants.map(|grants| TokenServer::new(grants, name, seal, common));
        TokenScope { hash, metrics, tools }
    }
}

impl TokenServer {
    fn new(
        grants: Grants,
        caller: Option<Arc<str>>,
        seal: Option<[u8; 32]>,
        common: &SharedSettings<'_>,
    ) -> TokenServer {
        let Grants { workspace, selection, access } = grants;
        let server = Server::new(workspace, &selection, access, common.options, common.stop.clone())
            .with_caller(caller, Arc::clone(&common.sink));
        let server = match seal {
            Some(seal) => server.with_seal(seal),
            None => server,
        };
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(common.limits.session_idle);
        let sessions = Arc::new(sessions);
        // Host, origin and body size were checked before.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(common.limits.body)
            .with_json_response(true)
            .with_cancellation_token(common.ended.clone());
        let template = server.clone();
        TokenServer {
            service: StreamableHttpService::new(
                move || Ok(template.for_connection()),
                Arc::clone(&sessions),
                config,
            ),
            server,
            sessions,
            in_flight: RequestsInFlight::default(),
            most_sessions: common.limits.sessions,
            beginning: Mutex::default(),
            requests: Arc::new(Semaphore::new(common.limits.requests)),
            streams: Arc::new(Semaphore::new(common.limits.sessions)),
        }
    }

    /// Returns a permit for one more request.
    pub(super) fn request(&self) -> Result<OwnedSemaphorePermit, HttpRejection> {
        acquire(&self.requests, "concurrent requests for this token; retry")
    }

    /// Returns a permit for one more stream.
    pub(super) fn stream(&self) -> Result<OwnedSemaphorePermit, HttpRejection> {
        acquire(&self.streams, "open streams for this token")
    }

    /// Rejects a session above the limit. No other session begins until the guard is dropped.
    pub(super) async fn begin_session(&self) -> Result<MutexGuard<'_, ()>, HttpRejection> {
        let guard = self.beginning.lock().await;
        if self.sessions.sessions.read().await.len() < self.most_sessions {
            return Ok(guard);
        }
        let message = "too many sessions for this token: end one, or use a client of 2026-07-28";
        Err(HttpRejection::busy(StatusCode::SERVICE_UNAVAILABLE, "sessions", message))
    }

    /// Returns the number of sessions.
    pub(super) fn sessions(&self) -> usize {
        self.sessions.sessions.try_read().map_or(0, |sessions| sessions.len())
    }

    /// True if a request names a session of this token.
    pub(super) async fn has_session(&self, headers: &HeaderMap) -> bool {
        match session_id(headers) {
            Some(id) => self.sessions.sessions.read().await.contains_key(id),
            None => false,
        }
    }

    /// Cancels the calls of the session that a request ends, and waits a while until they have ended: their answers would be
    /// lost with the session.
    pub(super) async fn cancel_calls(&self, headers: &HeaderMap) {
        if let Some(session) = session_id(headers).filter(|_| may_end_session(headers)) {
            cancel_calls_of(session, &self.sessions, &self.in_flight, GRACE).await;
        }
    }

    /// Adds a request to those of its session that are in flight; one without a session is handled by itself.
    pub(super) fn begin_request(
        &self,
        headers: &HeaderMap,
        id: RequestId,
    ) -> Result<Option<Arc<RequestGuard>>, HttpRejection> {
        let Some(session) = session_id(headers) else { return Ok(None) };
        match self.in_flight.begin(session, &id) {
            Some(guard) => Ok(Some(guard)),
            None => Err(HttpRejection::invalid_message(duplicate_id(), Some(id))),
        }
    }

    /// Handles a request of the protocol.
    pub(super) async fn handle(&self, parts: Parts, body: Bytes) -> Response<Body> {
        self.service.handle(Request::from_parts(parts, Full::new(body))).await.map(Body::new)
    }

    /// Waits until every call was answered.
    pub(super) async fn wait_idle(&self) {
        self.server.wait_idle().await;
    }
}

/// Cancels the calls of a session and waits until they have ended, together for at most this time.
async fn cancel_calls_of(
    session: &str,
    sessions: &LocalSessionManager,
    in_flight: &RequestsInFlight,
    at_most: Duration,
) {
    let id = SessionId::from(session);
    let cancel_and_wait = async {
        for request in in_flight.ids(session) {
            let cancelled = CancelledNotification::new(CancelledNotificationParam::new(Some(request), None));
            let cancelled = ClientNotification::CancelledNotification(cancelled);
            // A session that is busy does not take the message at once.
            let sent = sessions.accept_message(&id, ClientJsonRpcMessage::notification(cancelled)).await;
            if let Err(error) = sent {
                tracing::debug!(%error, "a call of a session could not be cancelled");
            }
        }
        in_flight.wait_none(session).await;
    };
    drop(timeout(at_most, cancel_and_wait).await);
}

/// Returns the session that a request names.
fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok())
}

/// True if a request has no protocol version, or a known one with sessions. The library refuses any other, and the session
/// continues.
fn may_end_session(headers: &HeaderMap) -> bool {
    let mut with_sessions = ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.has_initialize());
    headers
        .get(HEADER_MCP_PROTOCOL_VERSION)
        .is_none_or(|named| with_sessions.any(|version| named == version.as_str()))
}

fn acquire(semaphore: &Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, HttpRejection> {
    let busy = |_| HttpRejection::busy(StatusCode::TOO_MANY_REQUESTS, "requests", format!("too many {what}"));
    Arc::clone(semaphore).try_acquire_owned().map_err(busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::transport::streamable_http_server::session::local::create_local_session;

    #[tokio::test]
    async fn a_session_that_takes_no_messages_does_not_delay_its_end() {
        let (sessions, in_flight) = (LocalSessionManager::default(), RequestsInFlight::default());
        let mut config = sessions.session_config.clone();
        config.channel_capacity = 1;
        // The worker does not run, so the second message has no room.
        let (handle, _worker) = create_local_session("a", config);
        sessions.sessions.write().await.insert("a".into(), handle);
        let _guards = [1, 2, 3].map(|id| in_flight.begin("a", &RequestId::Number(id)).unwrap());
        let end = cancel_calls_of("a", &sessions, &in_flight, Duration::from_millis(50));
        timeout(Duration::from_secs(20), end).await.unwrap();
    }
}
