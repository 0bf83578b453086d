//! The requests of a client over two streams that wait for an answer.
//!
//! Their number and their bytes are limited, because each takes memory until it is answered. A request beyond the limits is
//! answered at once with the code of a busy server over HTTP, and the client can repeat it. Reading continues, so a
//! cancellation still arrives.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions, JsonRpcError,
    JsonRpcMessage, RequestId,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::in_flight::{RequestGuard, RequestsInFlight, SERVER_ERROR, duplicate_id};
use crate::wait::wait_for;

/// The most requests in progress, pings aside: ten times as many as agents send at once, and some 30 MB.
const MAX_REQUESTS: usize = 1000;

/// The most pings in progress. They do not count as requests, so that a busy server answers them, too.
const MAX_PINGS: usize = 100;

/// The most bytes of large messages in progress: four of the longest.
const MAX_LARGE_BYTES: usize = 256 << 20;

/// The requests that are neither answered nor cancelled.
pub(super) struct PendingRequests {
    in_flight: RequestsInFlight,
    requests: Arc<Semaphore>,
    pings: Arc<Semaphore>,
    large_bytes: Arc<Semaphore>,
    pending: Mutex<HashMap<RequestId, Arc<PendingRequest>>>,
    closed: Notify,
}

/// The id of a request, and its share of the limits. All are free again when its handler has ended.
struct PendingRequest {
    _guard: Arc<RequestGuard>,
    _request: OwnedSemaphorePermit,
    _large_bytes: OwnedSemaphorePermit,
}

impl Default for PendingRequests {
    fn default() -> PendingRequests {
        PendingRequests {
            in_flight: RequestsInFlight::default(),
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
            pings: Arc::new(Semaphore::new(MAX_PINGS)),
            large_bytes: Arc::new(Semaphore::new(MAX_LARGE_BYTES)),
            pending: Mutex::default(),
            closed: Notify::new(),
        }
    }
}

impl PendingRequests {
    /// Records a message before it is passed on. `large_bytes` is the length of a large message, and 0 for any other.
    ///
    /// Errors: the answer to a request that is not accepted, because its id is in flight or the limits are reached.
    pub(super) fn record(
        &self,
        message: &mut ClientJsonRpcMessage,
        large_bytes: usize,
    ) -> Result<(), Box<JsonRpcError>> {
        match message {
            JsonRpcMessage::Request(request) => {
                let id = request.id.clone();
                let begun = match self.begin(&id, &request.request, large_bytes) {
                    Ok(begun) => Arc::new(begun),
                    Err(error) => return Err(Box::new(JsonRpcError::new(Some(id), error))),
                };
                // The handler of a cancelled request still runs for a while, and its answer has the id.
                request.request.extensions_mut().insert(Arc::clone(&begun));
                self.pending.lock().insert(id, begun);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    cancelled.params.request_id.iter().for_each(|id| self.close(id));
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Ok(())
    }

    /// Takes the id of a request and its share of the limits.
    fn begin(
        &self,
        id: &RequestId,
        request: &ClientRequest,
        large_bytes: usize,
    ) -> Result<PendingRequest, ErrorData> {
        let guard = self.in_flight.begin("", id).ok_or_else(duplicate_id)?;
        let requests = match request {
            ClientRequest::PingRequest(_) => &self.pings,
            _ => &self.requests,
        };
        let large_bytes = u32::try_from(large_bytes).unwrap_or(u32::MAX);
        Ok(PendingRequest {
            _guard: guard,
            _request: acquire(requests, 1)?,
            _large_bytes: acquire(&self.large_bytes, large_bytes)?,
        })
    }

    /// Removes a request that was answered or cancelled.
    pub(super) fn close(&self, id: &RequestId) {
        self.pending.lock().remove(id);
        self.closed.notify_waiters();
    }

    /// Waits until there is none.
    pub(super) async fn wait_empty(&self) {
        wait_for(&self.closed, || self.pending.lock().is_empty().then_some(())).await;
    }
}

fn acquire(semaphore: &Arc<Semaphore>, permits: u32) -> Result<OwnedSemaphorePermit, ErrorData> {
    let busy = |_| ErrorData::new(SERVER_ERROR, "too many concurrent requests; retry", None);
    Arc::clone(semaphore).try_acquire_many_owned(permits).map_err(busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(id: usize, method: &str) -> ClientJsonRpcMessage {
        let params = json!({"name": "read_content_lines", "arguments": {}});
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap()
    }

    fn cancellation(id: usize) -> ClientJsonRpcMessage {
        let params = json!({"requestId": id});
        let method = "notifications/cancelled";
        serde_json::from_value(json!({"jsonrpc": "2.0", "method": method, "params": params})).unwrap()
    }

    /// Records a message; returns the code of the refusal.
    fn record(pending: &PendingRequests, message: &mut ClientJsonRpcMessage, bytes: usize) -> Option<i32> {
        pending.record(message, bytes).err().map(|refusal| refusal.error.code.0)
    }

    #[test]
    fn requests_beyond_the_limit_are_refused_until_a_handler_ends() {
        let pending = PendingRequests::default();
        let mut calls: Vec<_> = (0..=MAX_REQUESTS).map(|id| message(id, "tools/call")).collect();
        let mut last = calls.pop().unwrap();
        assert!(calls.iter_mut().all(|call| record(&pending, call, 0).is_none()));
        assert_eq!(record(&pending, &mut last, 0), Some(-32000));
        assert_eq!(record(&pending, &mut message(9999, "ping"), 0), None, "pings have a limit of their own");
        assert_eq!(record(&pending, &mut cancellation(7), 0), None);
        assert_eq!(record(&pending, &mut last, 0), Some(-32000), "the cancelled call still runs");
        calls.remove(7);
        assert_eq!(record(&pending, &mut last, 0), None);
    }

    #[test]
    fn large_messages_are_limited_together() {
        let pending = PendingRequests::default();
        let half = MAX_LARGE_BYTES / 2;
        let mut calls: Vec<_> = (0..2).map(|id| message(id, "tools/call")).collect();
        assert!(calls.iter_mut().all(|call| record(&pending, call, half).is_none()));
        let mut large = message(2, "tools/call");
        assert_eq!(record(&pending, &mut large, 1), Some(-32000));
        assert_eq!(record(&pending, &mut message(3, "tools/call"), 0), None, "a small one");
        calls.remove(0);
        pending.close(&RequestId::Number(0));
        assert_eq!(record(&pending, &mut large, half), None);
    }
}
