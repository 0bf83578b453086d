//! The routes of the HTTP server.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{any, get};

use super::app::HttpApp;
use super::cors;
use super::rejection::HttpRejection;

type AppState = State<Arc<HttpApp>>;

/// Content type of OpenMetrics, which Prometheus reads.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns the router with all paths.
pub(super) fn router(app: Arc<HttpApp>) -> Router {
    let guarded = Router::new()
        .route("/mcp", any(protocol))
        .route("/metrics", get(metrics).fallback(only_get))
        .fallback(not_found)
        .layer(from_fn_with_state(Arc::clone(&app), guard));
    // Health checks accept any host name and reveal nothing else.
    Router::new()
        .route("/healthz", get(alive).fallback(only_get))
        .route("/readyz", get(ready).fallback(only_get))
        .merge(guarded)
        .layer(from_fn_with_state(Arc::clone(&app), count))
        .with_state(app)
}

async fn count(State(app): AppState, request: Request, next: Next) -> Response<Body> {
    let answer = next.run(request).await;
    app.counts.record_request(answer.status());
    answer
}

/// Checks the head of a request before anything else.
async fn guard(State(app): AppState, request: Request, next: Next) -> Response<Body> {
    let page = match app.check(request.uri(), request.headers()) {
        Ok(page) => page,
        Err(rejection) => return reject(&app, rejection),
    };
    let mut answer = match &page {
        Some(_) if cors::is_preflight(request.method(), request.headers()) => {
            cors::preflight(request.headers())
        }
        Some(_) | None => next.run(request).await,
    };
    if let Some(page) = page {
        cors::allow_origin(&mut answer, page);
    }
    answer
}

async fn protocol(State(app): AppState, request: Request) -> Response<Body> {
    app.handle(request).await.unwrap_or_else(|rejection| reject(&app, rejection))
}

async fn metrics(State(app): AppState, request: Request) -> Response<Body> {
    match app.check_reader(request.headers()) {
        Ok(()) => respond(StatusCode::OK, OPEN_METRICS, app.counts.text(app.sessions())),
        Err(rejection) => reject(&app, rejection),
    }
}

async fn alive() -> Response<Body> {
    plain(StatusCode::OK, "alive\n")
}

async fn ready(State(app): AppState) -> Response<Body> {
    if app.is_open() {
        plain(StatusCode::OK, "ready\n")
    } else {
        plain(StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
    }
}

async fn not_found(State(app): AppState) -> Response<Body> {
    reject(&app, HttpRejection::new(StatusCode::NOT_FOUND, "path", "not found: the protocol is at /mcp"))
}

async fn only_get(State(app): AppState) -> Response<Body> {
    reject(&app, HttpRejection::method_not_allowed("GET, HEAD"))
}

fn reject(app: &HttpApp, rejection: HttpRejection) -> Response<Body> {
    tracing::info!(status = rejection.status.as_u16(), reason = rejection.reason, "a request was refused");
    app.counts.record_rejection(rejection.reason);
    rejection.into_response()
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    respond(status, "text/plain; charset=utf-8", text.to_owned())
}

fn respond(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
