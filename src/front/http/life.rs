//! What one connection is doing, and since when.
//!
//! Invariant: a connection without a request, with half a head, or with an answer that nobody reads, ends by itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::policy::ServingBounds;

/// The least time between two looks at the clock.
const LEAST_TICK: Duration = Duration::from_millis(20);

/// The life of one connection.
#[derive(Debug)]
pub(super) struct Life {
    state: Mutex<State>,
    bounds: ServingBounds,
    /// Cancelled to make room.
    pub(super) ended: CancellationToken,
}

#[derive(Debug, Clone, Copy)]
struct State {
    phase: Phase,
    /// Since when the client takes nothing of what is sent.
    stuck: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No request since then.
    Idle(Instant),
    /// The head of a request began to come then.
    Head(Instant),
    /// A request is worked on, or its answer is being sent.
    Busy,
}

/// Keeps a connection busy until it is dropped.
pub(super) struct Busy(Arc<Life>);

impl Life {
    pub(super) fn new(bounds: ServingBounds) -> Life {
        let state = State { phase: Phase::Idle(Instant::now()), stuck: None };
        Life { state: Mutex::new(state), bounds, ended: CancellationToken::new() }
    }

    /// Something came from the client.
    pub(super) fn received(&self) {
        let mut state = self.state();
        if let Phase::Idle(_) = state.phase {
            state.phase = Phase::Head(Instant::now());
        }
    }

    /// Something was to be sent, and the client took it or not.
    pub(super) fn sent(&self, taken: bool) {
        let mut state = self.state();
        state.stuck = if taken { None } else { state.stuck.or_else(|| Some(Instant::now())) };
    }

    /// The head of a request has come.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.state().phase = Phase::Busy;
        Busy(Arc::clone(self))
    }

    /// Since when there is no whole request; `None` while there is one, or while its answer has not gone.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        match *self.state() {
            State { phase: Phase::Idle(since) | Phase::Head(since), stuck: None } => Some(since),
            State { phase: Phase::Idle(_) | Phase::Head(_) | Phase::Busy, stuck: _ } => None,
        }
    }

    /// Waits until the connection has outlived its bounds.
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
        let State { phase, stuck } = *self.state();
        let stuck = stuck.map(|since| since + self.bounds.read_within);
        let phase = match phase {
            Phase::Idle(since) => Some(since + self.bounds.idle),
            Phase::Head(since) => Some(since + self.bounds.headers_within),
            Phase::Busy => None,
        };
        stuck.into_iter().chain(phase).min()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.state().phase = Phase::Idle(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life() -> Arc<Life> {
        let seconds = Duration::from_secs;
        Arc::new(Life::new(ServingBounds {
            idle: seconds(90),
            headers_within: seconds(10),
            read_within: seconds(30),
            ..ServingBounds::default()
        }))
    }

    async fn took(life: &Life) -> u64 {
        let begun = Instant::now();
        life.overdue().await;
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn each_phase_has_its_own_bound() {
        assert_eq!(took(&life()).await, 90, "idle");
        let half = life();
        half.received();
        assert_eq!(took(&half).await, 10, "half a head");
        let busy = life();
        let request = busy.begin();
        busy.received();
        assert!(tokio::time::timeout(Duration::from_secs(10_000), busy.overdue()).await.is_err(), "busy");
        busy.sent(false);
        busy.sent(false);
        assert_eq!(took(&busy).await, 30, "an answer that nobody reads");
        busy.sent(true);
        drop(request);
        assert_eq!(took(&busy).await, 90, "idle again");
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_begins_late_has_its_whole_time() {
        let life = life();
        tokio::time::sleep(Duration::from_secs(80)).await;
        life.received();
        tokio::time::sleep(Duration::from_secs(5)).await;
        life.received();
        assert_eq!(took(&life).await, 5);
    }
}
