//! The requests of a client over two streams that wait for an answer.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, GetExtensions, JsonRpcMessage, RequestId};
use tokio::sync::Notify;

use super::in_flight::{RequestGuard, RequestsInFlight};

/// The requests that are neither answered nor cancelled.
#[derive(Default)]
pub(super) struct PendingRequests {
    in_flight: RequestsInFlight,
    guards: Mutex<HashMap<RequestId, Arc<RequestGuard>>>,
    closed: Notify,
}

impl PendingRequests {
    /// Records a message before it is passed on.
    ///
    /// Errors: the id of a request that is in flight already.
    pub(super) fn record(&self, message: &mut ClientJsonRpcMessage) -> Result<(), RequestId> {
        match message {
            JsonRpcMessage::Request(request) => {
                let id = request.id.clone();
                let Some(guard) = self.in_flight.begin("", &id) else { return Err(id) };
                // The handler of a cancelled request still runs for a while, and its answer has the id.
                request.request.extensions_mut().insert(Arc::clone(&guard));
                self.guards.lock().insert(id, guard);
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

    /// Removes a request that was answered or cancelled.
    pub(super) fn close(&self, id: &RequestId) {
        self.guards.lock().remove(id);
        self.closed.notify_waiters();
    }

    /// Waits until there is none.
    pub(super) async fn wait_empty(&self) {
        loop {
            let closed = self.closed.notified();
            if self.guards.lock().is_empty() {
                return;
            }
            closed.await;
        }
    }
}
