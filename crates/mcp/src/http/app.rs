//! Authenticates requests and routes them to the tools of their token.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::body::{self, BodyKind};
use super::held_response::HeldResponse;
use super::metrics::HttpMetrics;
use super::rejection::HttpRejection;
use super::token_scope::{SharedSettings, TokenScope, TokenServer};
use super::{Setup, bearer_token, guard};
use crate::rpc::Arrival;
use lockgate_policy::{Host, Readers, ServerLimits, WebOrigin};

/// The shared state of an HTTP server.
pub(super) struct HttpApp {
    hosts: Vec<Host>,
    origins: Vec<WebOrigin>,
    readers: Readers,
    limits: ServerLimits,
    scopes: Vec<TokenScope>,
    pub(super) counts: Arc<HttpMetrics>,
    stop: CancellationToken,
    /// The answers that are still being sent.
    answers: TaskTracker,
}

impl HttpApp {
    pub(super) fn new(
        setup: Setup,
        counts: Arc<HttpMetrics>,
        stop: CancellationToken,
        ended: &CancellationToken,
    ) -> HttpApp {
        for grants in setup.principals.iter().filter_map(|principal| principal.grants.as_ref()) {
            let counts = Arc::clone(&counts);
            let observer = move |operation, became, time| counts.record_store(operation, became, time);
            grants.workspace.set_store_observer(Box::new(observer));
        }
        let Setup { listen: _, hosts, origins, metrics, limits, options, seal, principals } = setup;
        let common = SharedSettings {
            limits,
            options,
            seal: seal.as_ref(),
            sink: Arc::clone(&counts) as _,
            stop: &stop,
            ended,
        };
        let scopes = principals.into_iter().map(|principal| TokenScope::new(principal, &common)).collect();
        HttpApp {
            hosts,
            origins,
            readers: metrics,
            limits,
            scopes,
            counts,
            stop,
            answers: TaskTracker::new(),
        }
    }

    /// Checks the host and origin of a request; returns its `Origin` header.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<HeaderValue>, HttpRejection> {
        guard::check(uri, headers, &self.hosts, &self.origins)
    }

    /// True if the server accepts requests.
    pub(super) fn is_open(&self) -> bool {
        !self.stop.is_cancelled()
    }

    /// Waits until every call has ended and every answer was sent.
    pub(super) async fn wait_idle(&self) {
        for tools in self.tools() {
            tools.wait_idle().await;
        }
        self.answers.close();
        self.answers.wait().await;
    }

    /// Returns the number of sessions.
    pub(super) fn sessions(&self) -> usize {
        self.tools().map(TokenServer::sessions).sum()
    }

    /// Rejects a client that may not read the metrics.
    pub(super) fn check_reader(&self, headers: &HeaderMap) -> Result<(), HttpRejection> {
        match self.readers {
            Readers::All => Ok(()),
            Readers::Token if self.scope(headers)?.metrics => Ok(()),
            Readers::Token => {
                Err(HttpRejection::new(StatusCode::FORBIDDEN, "token", "this token may not read the metrics"))
            }
        }
    }

    /// Handles a request of the protocol.
    pub(super) async fn handle(&self, request: Request) -> Result<Response<Body>, HttpRejection> {
        let scope = self.scope(request.headers())?;
        let tools = scope
            .tools
            .as_ref()
            .ok_or_else(|| HttpRejection::new(StatusCode::FORBIDDEN, "token", "this token has no tools"))?;
        if !self.is_open() {
            let message = "the server is stopping";
            return Err(HttpRejection::busy(StatusCode::SERVICE_UNAVAILABLE, "stopping", message));
        }
        let (mut parts, body) = request.into_parts();
        // The header is not needed beyond this point.
        parts.headers.remove(AUTHORIZATION);
        match parts.method {
            Method::POST => self.post(tools, parts, body).await,
            Method::GET => {
                let guard = tools.stream()?;
                let answer = tools.handle(parts, Bytes::new()).await;
                Ok(answer.map(|body| Body::new(HeldResponse { body, _guard: guard })))
            }
            Method::DELETE => Ok(end_session(tools, parts).await),
            _ => Err(HttpRejection::method_not_allowed("POST, GET, DELETE")),
        }
    }

    async fn post(
        &self,
        tools: &TokenServer,
        mut parts: Parts,
        body: Body,
    ) -> Result<Response<Body>, HttpRejection> {
        guard::check_encoding(&parts.headers)?;
        parts.extensions.insert(Arrival(Instant::now()));
        let permit = (tools.request()?, self.answers.token());
        let body = body::read(body, self.limits.body, self.limits.body_timeout).await?;
        let (id, _beginning) = match body::parse_kind(&body).await? {
            BodyKind::Initialize(id) => (Some(id), Some(tools.begin_session().await?)),
            BodyKind::Request(id) => (Some(id), None),
            BodyKind::Message => (None, None),
            BodyKind::UnknownNotification => {
                let mut answer = Response::new(Body::empty());
                *answer.status_mut() = StatusCode::ACCEPTED;
                return Ok(answer);
            }
        };
        let request = match id {
            Some(id) => tools.begin_request(&parts.headers, id)?,
            None => None,
        };
        // The call of a client that has disconnected still runs, and holds these parts.
        parts.extensions.insert(request.clone());
        let answer = tools.handle(parts, body).await;
        Ok(answer.map(|body| Body::new(HeldResponse { body, _guard: (permit, request) })))
    }

    /// Returns the scope of a request's token. All tokens are compared, so that the time does not depend on the
    /// match.
    fn scope(&self, headers: &HeaderMap) -> Result<&TokenScope, HttpRejection> {
        let shown = guard::token_hash(headers)?;
        let mut known = None;
        for scope in &self.scopes {
            if bearer_token::matches(&scope.hash, &shown) {
                known = Some(scope);
            }
        }
        known.ok_or_else(guard::unknown_token)
    }

    fn tools(&self) -> impl Iterator<Item = &TokenServer> {
        self.scopes.iter().filter_map(|scope| scope.tools.as_ref())
    }
}

/// Ends the session that a request names, after its calls.
async fn end_session(tools: &TokenServer, parts: Parts) -> Response<Body> {
    let is_known = tools.has_session(&parts.headers).await;
    tools.cancel_calls(&parts.headers).await;
    let mut answer = tools.handle(parts, Bytes::new()).await;
    // The library accepts every id. A known session has ended at this point, so the status is not 202.
    if answer.status() == StatusCode::ACCEPTED {
        *answer.status_mut() = if is_known { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND };
    }
    answer
}
