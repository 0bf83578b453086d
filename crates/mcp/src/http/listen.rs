//! Accepts and serves connections.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1::Builder;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::connections::{ConnectionSlot, Connections};
use super::heads::{CheckedHeads, Framing, KeepAlive};
use super::held_response::HeldResponse;
use super::tracked_stream::TrackedStream;

/// Pause after a failed `accept`.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// Maximum size of a request head, in bytes.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Accepts connections until `closing` is cancelled.
pub(super) async fn listen(
    listener: TcpListener,
    connections: Arc<Connections>,
    router: Router,
    closing: CancellationToken,
) {
    let service = TowerToHyperService::new(router);
    loop {
        // Without a free slot, an accepted connection waits here, and others wait in the backlog.
        let next = async { (listener.accept().await, connections.acquire().await) };
        let (accepted, slot) = tokio::select! {
            next = next => next,
            () = closing.cancelled() => return,
        };
        match accepted {
            Ok((stream, from)) => {
                tracing::debug!(%from, "a client connected");
                drop(stream.set_nodelay(true));
                tokio::spawn(serve_connection(stream, slot, service.clone(), closing.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(RETRY_PAUSE).await;
            }
        }
    }
}

async fn serve_connection(
    stream: TcpStream,
    slot: ConnectionSlot,
    service: TowerToHyperService<Router>,
    closing: CancellationToken,
) {
    let (state, framing) = (Arc::clone(&slot.state), Framing::new());
    let answering = service_fn(|request: Request<Incoming>| {
        let (state, busy, bodied) = (&state, state.begin_request(), !request.body().is_end_stream());
        let next = framing.begin_body(request.body());
        let answer = service.call(request);
        async move {
            let mut answer = answer.await?;
            if next == KeepAlive::No {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            if bodied && answer.status().as_u16() >= 400 {
                state.mark_unread();
            }
            Ok::<Response<_>, Infallible>(answer.map(|body| HeldResponse { body, _guard: busy }))
        }
    });
    let (input, output) = tokio::io::split(TrackedStream::new(stream, Arc::clone(&state)));
    let input = CheckedHeads::new(input, Arc::clone(&framing), Arc::clone(&state));
    let stream = TokioIo::new(tokio::io::join(input, output));
    let mut builder = Builder::new();
    // The connection state has its own timeout for each phase.
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(Option::<Duration>::None)
        .max_header_size(MAX_HEAD_BYTES);
    let mut connection = std::pin::pin!(builder.serve_connection(stream, answering));
    let mut is_notified = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection has ended");
                }
                return;
            }
            () = state.overdue() => return,
            () = state.ended.cancelled() => return,
            () = closing.cancelled(), if !is_notified => {
                is_notified = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
