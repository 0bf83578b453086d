//! Authenticates requests and routes them to the tools of their token.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::body::{self, BodyKind};
use super::counts::Counts;
use super::held_response::HeldResponse;
use super::refused::Refused;
use super::scope::{Common, TokenScope, ToolFilter};
use super::{Setup, guard, secret};
use crate::policy::{Host, Readers, ServingBounds, WebOrigin};

/// The shared state of an HTTP server.
pub(super) struct HttpApp {
    hosts: Vec<Host>,
    sites: Vec<WebOrigin>,
    readers: Readers,
    bounds: ServingBounds,
    scopes: Vec<TokenScope>,
    pub(super) counts: Arc<Counts>,
    stop: CancellationToken,
    /// The answers that are still being sent.
    answers: TaskTracker,
}

impl HttpApp {
    pub(super) fn new(
        setup: Setup,
        counts: Arc<Counts>,
        stop: CancellationToken,
        ended: &CancellationToken,
    ) -> HttpApp {
        for reach in setup.parties.iter().filter_map(|party| party.reach.as_ref()) {
            let counts = Arc::clone(&counts);
            let told = move |asked, became, time| counts.stored(asked, became, time);
            reach.workspace.tell_of_store(Box::new(told));
        }
        let Setup { listen: _, hosts, sites, metrics, bounds, manners, seal, parties } = setup;
        let common = Common {
            bounds,
            manners,
            seal: seal.as_ref(),
            ear: Arc::clone(&counts) as _,
            stop: &stop,
            ended,
        };
        let scopes = parties.into_iter().map(|party| TokenScope::new(party, &common)).collect();
        HttpApp { hosts, sites, readers: metrics, bounds, scopes, counts, stop, answers: TaskTracker::new() }
    }

    /// Checks the host and origin of a request; returns its `Origin` header.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<HeaderValue>, Refused> {
        guard::check(uri, headers, &self.hosts, &self.sites)
    }

    /// True if the server accepts requests.
    pub(super) fn is_open(&self) -> bool {
        !self.stop.is_cancelled()
    }

    /// Waits until every call has ended and every answer was sent.
    pub(super) async fn idle(&self) {
        for tools in self.tools() {
            tools.idle().await;
        }
        self.answers.close();
        self.answers.wait().await;
    }

    /// Returns the number of sessions.
    pub(super) fn sessions(&self) -> usize {
        self.tools().map(ToolFilter::sessions).sum()
    }

    /// Rejects a client that may not read the metrics.
    pub(super) fn check_reader(&self, headers: &HeaderMap) -> Result<(), Refused> {
        match self.readers {
            Readers::All => Ok(()),
            Readers::Token if self.scope(headers)?.metrics => Ok(()),
            Readers::Token => {
                Err(Refused::new(StatusCode::FORBIDDEN, "token", "this token may not read the metrics"))
            }
        }
    }

    /// Handles a request of the protocol.
    pub(super) async fn enter(&self, request: Request) -> Result<Response<Body>, Refused> {
        let scope = self.scope(request.headers())?;
        let tools = scope
            .tools
            .as_ref()
            .ok_or_else(|| Refused::new(StatusCode::FORBIDDEN, "token", "this token has no tools"))?;
        if !self.is_open() {
            let message = "the server is stopping";
            return Err(Refused::busy(StatusCode::SERVICE_UNAVAILABLE, "stopping", message));
        }
        let (mut parts, body) = request.into_parts();
        // The header is not needed beyond this point.
        parts.headers.remove(AUTHORIZATION);
        match parts.method {
            Method::POST => self.post(tools, parts, body).await,
            Method::GET => {
                let kept = tools.stream()?;
                let answer = tools.carry_out(parts, Bytes::new()).await;
                Ok(answer.map(|body| Body::new(HeldResponse { body, _kept: kept })))
            }
            Method::DELETE => {
                let mut answer = tools.carry_out(parts, Bytes::new()).await;
                // The session has ended at this point, so the status is not 202.
                if answer.status() == StatusCode::ACCEPTED {
                    *answer.status_mut() = StatusCode::NO_CONTENT;
                }
                Ok(answer)
            }
            _ => Err(Refused::method("POST, GET, DELETE")),
        }
    }

    async fn post(&self, tools: &ToolFilter, parts: Parts, body: Body) -> Result<Response<Body>, Refused> {
        guard::check_encoding(&parts.headers)?;
        let kept = (tools.request()?, self.answers.token());
        let body = body::read(body, self.bounds.body, self.bounds.body_within).await?;
        match body::understand(&body).await? {
            BodyKind::Greeting => tools.check_sessions().await?,
            BodyKind::Message => {}
            BodyKind::Aside => {
                let mut answer = Response::new(Body::empty());
                *answer.status_mut() = StatusCode::ACCEPTED;
                return Ok(answer);
            }
        }
        let answer = tools.carry_out(parts, body).await;
        Ok(answer.map(|body| Body::new(HeldResponse { body, _kept: kept })))
    }

    /// Returns the scope of a request's token. All tokens are compared, so that the time does not depend on the
    /// match.
    fn scope(&self, headers: &HeaderMap) -> Result<&TokenScope, Refused> {
        let shown = guard::shown(headers)?;
        let mut known = None;
        for scope in &self.scopes {
            if secret::is(&scope.hash, &shown) {
                known = Some(scope);
            }
        }
        known.ok_or_else(guard::unknown)
    }

    fn tools(&self) -> impl Iterator<Item = &ToolFilter> {
        self.scopes.iter().filter_map(|scope| scope.tools.as_ref())
    }
}
