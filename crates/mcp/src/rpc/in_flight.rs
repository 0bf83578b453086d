//! The ids of the requests in flight: those that are not yet answered.
//!
//! Two requests in flight with one id could not be told apart: each could get the other's answer.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use tokio::sync::Notify;

use crate::wait::wait_for;

/// JSON-RPC 2.0: an error code that a server may define.
pub(crate) const SERVER_ERROR: ErrorCode = ErrorCode(-32000);

/// The time at which a request arrived; one of its extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival(pub(crate) Instant);

/// The requests in flight by session and id; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestsInFlight {
    keys: Arc<Mutex<HashSet<(String, RequestId)>>>,
    ended: Arc<Notify>,
}

/// A request in flight. Its id is free again when the guard is dropped.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    requests: RequestsInFlight,
    key: (String, RequestId),
}

impl RequestsInFlight {
    /// Adds a request of a session; `None` if one with the same id is in flight.
    pub(crate) fn begin(&self, session: &str, id: &RequestId) -> Option<Arc<RequestGuard>> {
        let key = (session.to_owned(), id.clone());
        let is_new = self.keys.lock().insert(key.clone());
        is_new.then(|| Arc::new(RequestGuard { requests: self.clone(), key }))
    }

    /// Returns the ids of a session.
    pub(crate) fn ids(&self, session: &str) -> Vec<RequestId> {
        let keys = self.keys.lock();
        keys.iter().filter(|(of, _)| of == session).map(|(_, id)| id.clone()).collect()
    }

    /// Waits until a session has none.
    pub(crate) async fn wait_none(&self, session: &str) {
        wait_for(&self.ended, || self.ids(session).is_empty().then_some(())).await;
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.requests.keys.lock().remove(&self.key);
        self.requests.ended.notify_waiters();
    }
}

/// Returns the error for a request whose id is in flight.
pub(crate) fn duplicate_id() -> ErrorData {
    ErrorData::invalid_request("a request with this id is in progress: each request needs its own id", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_when_the_last_guard_is_dropped() {
        let requests = RequestsInFlight::default();
        let (number, text) = (RequestId::Number(1), RequestId::String("1".into()));
        let guard = requests.begin("a", &number).unwrap();
        assert!(requests.begin("a", &number).is_none());
        assert!(requests.begin("a", &text).is_some() && requests.begin("b", &number).is_some());
        let handler = Arc::clone(&guard);
        drop(guard);
        assert!(requests.begin("a", &number).is_none());
        drop(handler);
        assert!(requests.begin("a", &number).is_some());
    }

    #[tokio::test]
    async fn the_last_request_of_a_session_ends_the_wait() {
        let requests = RequestsInFlight::default();
        let guards = ["a", "b"].map(|session| requests.begin(session, &RequestId::Number(1)).unwrap());
        assert_eq!(requests.ids("a"), [RequestId::Number(1)]);
        let waiting = tokio::spawn({
            let requests = requests.clone();
            async move { requests.wait_none("a").await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        let [of_session, _other] = guards;
        drop(of_session);
        waiting.await.unwrap();
    }
}
