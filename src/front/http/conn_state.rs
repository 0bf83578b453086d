//! The activity of one connection and its deadlines.
//!
//! Invariant: a connection without a request, with an incomplete head, or with an answer that the client does not
//! read ends by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::policy::ServingBounds;

/// Minimum time between two checks of the deadline.
const LEAST_TICK: Duration = Duration::from_millis(20);

/// The state of one connection.
#[derive(Debug)]
pub(super) struct ConnState {
    state: Mutex<ConnActivity>,
    bounds: ServingBounds,
    /// Cancelled to free the slot for another connection.
    pub(super) ended: CancellationToken,
}

#[derive(Debug, Clone, Copy)]
struct ConnActivity {
    phase: ConnPhase,
    /// Start of the time in which the client has not read.
    stuck: Option<Instant>,
    /// Set when an unread body may still arrive.
    unread: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnPhase {
    Idle(Instant),
    /// Receiving the head of a request since this time.
    Head(Instant),
    /// Handling a request or sending its answer.
    Busy,
}

/// Keeps a connection busy until it is dropped.
pub(super) struct BusyGuard(Arc<ConnState>);

impl ConnState {
    pub(super) fn new(bounds: ServingBounds) -> ConnState {
        let state = ConnActivity { phase: ConnPhase::Idle(Instant::now()), stuck: None, unread: false };
        ConnState { state: Mutex::new(state), bounds, ended: CancellationToken::new() }
    }

    pub(super) fn received(&self) {
        let mut state = self.state();
        if let ConnPhase::Idle(_) = state.phase {
            state.phase = ConnPhase::Head(Instant::now());
        }
    }

    /// Records a write; `taken` is true if the client accepted it.
    pub(super) fn sent(&self, taken: bool) {
        let mut state = self.state();
        state.stuck = if taken { None } else { state.stuck.or_else(|| Some(Instant::now())) };
    }

    /// Records that the body of an answered request may be unread.
    pub(super) fn leave_unread(&self) {
        self.state().unread = true;
    }

    /// True if an unread body may still arrive.
    pub(super) fn leaves_unread(&self) -> bool {
        self.state().unread
    }

    /// Records the complete head of a request.
    pub(super) fn begin(self: &Arc<Self>) -> BusyGuard {
        self.state().phase = ConnPhase::Busy;
        BusyGuard(Arc::clone(self))
    }

    /// Returns the start of the idle time; `None` during a request or while its answer is being sent.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        match *self.state() {
            ConnActivity { phase: ConnPhase::Idle(since) | ConnPhase::Head(since), stuck: None, .. } => {
                Some(since)
            }
            ConnActivity { phase: ConnPhase::Idle(_) | ConnPhase::Head(_) | ConnPhase::Busy, .. } => None,
        }
    }

    /// Waits until the connection exceeds its limits.
    pub(super) async fn overdue(&self) {
        let tick = self.bounds.headers_within.min(self.bounds.read_within).div_f32(4.0).max(LEAST_TICK);
        loop {
            let now = Instant::now();
            let due = self.due();
            if due.is_some_and(|due| due <= now) {
                return;
            }
            sleep_until(due.map_or(now + tick, |due| due.min(now + tick))).await;
        }
    }

    fn due(&self) -> Option<Instant> {
        let ConnActivity { phase, stuck, .. } = *self.state();
        let stuck = stuck.map(|since| since + self.bounds.read_within);
        let phase = match phase {
            ConnPhase::Idle(since) => Some(since + self.bounds.idle),
            ConnPhase::Head(since) => Some(since + self.bounds.headers_within),
            ConnPhase::Busy => None,
        };
        stuck.into_iter().chain(phase).min()
    }

    fn state(&self) -> MutexGuard<'_, ConnActivity> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.state().phase = ConnPhase::Idle(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life() -> Arc<ConnState> {
        let seconds = Duration::from_secs;
        Arc::new(ConnState::new(ServingBounds {
            idle: seconds(90),
            headers_within: seconds(10),
            read_within: seconds(30),
            ..ServingBounds::default()
        }))
    }

    /// Returns the seconds until a connection is overdue.
    fn left(life: &ConnState) -> Option<u64> {
        let left = life.due()?.duration_since(Instant::now());
        Some(left.as_secs_f64().round() as u64)
    }

    #[tokio::test]
    async fn each_phase_has_its_own_bound() {
        assert_eq!(left(&life()), Some(90), "idle");
        let half = life();
        half.received();
        half.received();
        assert_eq!(left(&half), Some(10), "half a head");
        let busy = life();
        let request = busy.begin();
        busy.received();
        assert_eq!((left(&busy), busy.idle_since()), (None, None), "busy");
        busy.sent(false);
        busy.sent(false);
        assert_eq!(left(&busy), Some(30), "an answer that nobody reads");
        drop(request);
        assert_eq!((left(&busy), busy.idle_since()), (Some(30), None), "nor its end");
        busy.sent(true);
        assert_eq!(left(&busy), Some(90), "idle again");
        assert!(busy.idle_since().is_some());
    }

    #[tokio::test]
    async fn who_is_overdue_is_told_although_the_phase_changed_meanwhile() {
        let short = Duration::from_millis(50);
        let bounds = ServingBounds { headers_within: short, read_within: short, ..ServingBounds::default() };
        let life = Arc::new(ConnState::new(bounds));
        let watched = Arc::clone(&life);
        let watch = tokio::spawn(async move { watched.overdue().await });
        tokio::time::sleep(short * 3).await;
        assert!(!watch.is_finished(), "it was idle");
        life.received();
        tokio::time::timeout(Duration::from_secs(20), watch).await.unwrap().unwrap();
    }
}
