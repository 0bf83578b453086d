//! The activity of one connection and its deadlines.
//!
//! Invariant: a connection without a request, with an incomplete head, or with an answer that the client does not
//! read ends by itself.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use lockgate_policy::ServerLimits;

/// Minimum time between two checks of the deadline.
const LEAST_TICK: Duration = Duration::from_millis(20);

/// The state of one connection.
#[derive(Debug)]
pub(super) struct ConnState {
    state: Mutex<ConnActivity>,
    limits: ServerLimits,
    /// Notified when the connection may have become idle.
    changed: Arc<Notify>,
    /// Cancelled to free the slot for another connection.
    pub(super) ended: CancellationToken,
}

#[derive(Debug, Clone, Copy)]
struct ConnActivity {
    phase: ConnPhase,
    /// Start of the time in which the client has not read.
    blocked_since: Option<Instant>,
    /// Set while the end of an answer may not be written yet.
    has_unsent: bool,
    /// Set when an unread body may still arrive.
    has_unread: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnPhase {
    /// Waiting for the next request since this time: the accept, or the end of the last answer.
    Idle(Instant),
    /// Receiving the head of a request since this time.
    Head(Instant),
    /// Handling a request or sending its answer.
    Busy,
}

/// Keeps a connection busy until it is dropped.
pub(super) struct BusyGuard(Arc<ConnState>);

impl ConnState {
    pub(super) fn new(limits: ServerLimits, changed: Arc<Notify>) -> ConnState {
        let state = ConnActivity {
            phase: ConnPhase::Idle(Instant::now()),
            blocked_since: None,
            has_unsent: false,
            has_unread: false,
        };
        ConnState { state: Mutex::new(state), limits, changed, ended: CancellationToken::new() }
    }

    pub(super) fn received(&self) {
        let mut state = self.state.lock();
        if let ConnPhase::Idle(_) = state.phase {
            state.phase = ConnPhase::Head(Instant::now());
        }
    }

    /// Records a write that the client accepted.
    pub(super) fn sent(&self) {
        self.state.lock().blocked_since = None;
    }

    /// Records that everything was written.
    pub(super) fn flushed(&self) {
        if std::mem::take(&mut self.state.lock().has_unsent) {
            self.changed.notify_waiters();
        }
    }

    /// Records a write that the client does not accept yet.
    pub(super) fn blocked(&self) {
        self.state.lock().blocked_since.get_or_insert_with(Instant::now);
    }

    /// Records that the body of an answered request may be unread.
    pub(super) fn mark_unread(&self) {
        self.state.lock().has_unread = true;
    }

    /// True if an unread body may still arrive.
    pub(super) fn has_unread(&self) -> bool {
        self.state.lock().has_unread
    }

    /// Records the complete head of a request.
    pub(super) fn begin_request(self: &Arc<Self>) -> BusyGuard {
        self.state.lock().phase = ConnPhase::Busy;
        BusyGuard(Arc::clone(self))
    }

    /// Returns the time since which no complete request has arrived; `None` while a request is handled or its answer
    /// written.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let ConnActivity { phase, blocked_since, has_unsent, .. } = *self.state.lock();
        match phase {
            ConnPhase::Idle(since) | ConnPhase::Head(since) => {
                (blocked_since.is_none() && !has_unsent).then_some(since)
            }
            ConnPhase::Busy => None,
        }
    }

    /// Waits until the connection exceeds its limits.
    pub(super) async fn overdue(&self) {
        let tick = self.limits.headers_timeout.min(self.limits.read_timeout).div_f32(4.0).max(LEAST_TICK);
        loop {
            let now = Instant::now();
            let deadline = self.due();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return;
            }
            sleep_until(deadline.map_or(now + tick, |deadline| deadline.min(now + tick))).await;
        }
    }

    fn due(&self) -> Option<Instant> {
        let ConnActivity { phase, blocked_since: blocked, .. } = *self.state.lock();
        let blocked = blocked.map(|since| since + self.limits.read_timeout);
        let phase = match phase {
            ConnPhase::Idle(since) => Some(since + self.limits.idle),
            ConnPhase::Head(since) => Some(since + self.limits.headers_timeout),
            ConnPhase::Busy => None,
        };
        blocked.into_iter().chain(phase).min()
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.phase = ConnPhase::Idle(Instant::now());
        // The body ends before its last bytes are written.
        state.has_unsent = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_state() -> Arc<ConnState> {
        let seconds = Duration::from_secs;
        let limits = ServerLimits {
            idle: seconds(90),
            headers_timeout: seconds(10),
            read_timeout: seconds(30),
            ..ServerLimits::default()
        };
        Arc::new(ConnState::new(limits, Arc::default()))
    }

    /// Returns the seconds until a connection is overdue.
    fn left(state: &ConnState) -> Option<u64> {
        let remaining = state.due()?.duration_since(Instant::now());
        Some(remaining.as_secs_f64().round() as u64)
    }

    #[tokio::test]
    async fn each_phase_has_its_own_bound() {
        assert_eq!(left(&new_state()), Some(90), "idle");
        let partial = new_state();
        partial.received();
        partial.received();
        assert_eq!(left(&partial), Some(10), "half a head");
        let busy = new_state();
        let request = busy.begin_request();
        busy.received();
        assert_eq!((left(&busy), busy.idle_since()), (None, None), "busy");
        busy.blocked();
        busy.blocked();
        assert_eq!(left(&busy), Some(30), "an answer that nobody reads");
        drop(request);
        assert_eq!((left(&busy), busy.idle_since()), (Some(30), None), "nor its end");
        busy.sent();
        assert_eq!((left(&busy), busy.idle_since()), (Some(90), None), "a part of it");
        busy.flushed();
        assert_eq!(left(&busy), Some(90), "idle again");
        assert!(busy.idle_since().is_some());
    }

    #[tokio::test]
    async fn a_connection_is_overdue_although_its_phase_changed() {
        let short = Duration::from_millis(50);
        let bounds = ServerLimits { headers_timeout: short, read_timeout: short, ..ServerLimits::default() };
        let state = Arc::new(ConnState::new(bounds, Arc::default()));
        let other = Arc::clone(&state);
        let watch = tokio::spawn(async move { other.overdue().await });
        tokio::time::sleep(short * 3).await;
        assert!(!watch.is_finished(), "it was idle");
        state.received();
        tokio::time::timeout(Duration::from_secs(20), watch).await.unwrap().unwrap();
    }
}
