//! The permissions of one token: its own MCP server over its workspace.
//!
//! Invariant: sessions, questions to a person and limits belong to one token.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use rmcp::model::RequestId;
use rmcp::transport::common::http_header::HEADER_SESSION_ID;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{Mutex, MutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::rejection::HttpRejection;
use super::{BearerToken, Grants, Principal};
use crate::rpc::{Caller, MetricsSink, RequestGuard, RequestsInFlight, Server, ServerOptions, duplicate_id};
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
        let caller = Caller { name: principal.name };
        let seal = common.seal.map(|token| token.key(SEAL, &principal.hash));
        let tools = principal.grants.map(|grants| TokenServer::new(grants, caller, seal, common));
        TokenScope { hash: principal.hash, metrics: principal.metrics, tools }
    }
}

impl TokenServer {
    fn new(
        grants: Grants,
        caller: Caller,
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

/// Returns the session that a request names.
fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok())
}

fn acquire(semaphore: &Arc<Semaphore>, what: &str) -> Result<OwnedSemaphorePermit, HttpRejection> {
    let busy = |_| HttpRejection::busy(StatusCode::TOO_MANY_REQUESTS, "requests", format!("too many {what}"));
    Arc::clone(semaphore).try_acquire_owned().map_err(busy)
}
