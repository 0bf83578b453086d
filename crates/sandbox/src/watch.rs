//! Progress, cancellation and time limits of gates, for their caller.
//!
//! Invariant: nothing here blocks a thread.

use std::fmt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

/// A callback with the gate that starts, the number of gates done, and the total.
pub type ProgressFn = Box<dyn Fn(&str, usize, usize) + Send + Sync>;

/// A callback with the time that a call waited for its locks.
pub type LockWaitFn = Box<dyn Fn(Duration) + Send + Sync>;

/// A caller's handle on running gates: it receives their progress, and can cancel the rest.
pub struct Watch {
    token: CancellationToken,
    /// Cancelled when the server stops, which cancels `token` some time later.
    stop: Option<CancellationToken>,
    progress: Option<ProgressFn>,
    on_lock_wait: Option<LockWaitFn>,
    /// The moment at which all gates must end.
    end: Option<Instant>,
    /// The moment at which the call arrived.
    arrival: Instant,
}

impl Watch {
    /// Creates a watch with a cancellation token and an optional progress callback, for a call that arrives now.
    pub fn new(token: CancellationToken, progress: Option<ProgressFn>) -> Watch {
        Watch { token, stop: None, progress, on_lock_wait: None, end: None, arrival: Instant::now() }
    }

    /// Creates a watch that is never cancelled and reports nothing.
    pub fn idle() -> Watch {
        Watch::new(CancellationToken::new(), None)
    }

    /// Returns the watch with a progress callback.
    #[must_use]
    pub fn with_progress(self, progress: ProgressFn) -> Watch {
        Watch { progress: Some(progress), ..self }
    }

    /// Returns the watch with the token that is cancelled when the server stops.
    #[must_use]
    pub fn with_stop(self, stop: CancellationToken) -> Watch {
        Watch { stop: Some(stop), ..self }
    }

    /// Returns the watch of a call that arrived at this moment.
    #[must_use]
    pub fn with_arrival(self, arrival: Instant) -> Watch {
        Watch { arrival, ..self }
    }

    /// Returns the watch with a callback for the time that locks were waited for.
    #[must_use]
    pub fn with_lock_waits(self, waits: LockWaitFn) -> Watch {
        Watch { on_lock_wait: Some(waits), ..self }
    }

    /// Returns a watch without callbacks whose gates end at this moment at the latest.
    #[must_use]
    pub fn with_end(&self, end: Instant) -> Watch {
        Watch { end: Some(self.earlier_end(end)), ..self.without_progress() }
    }

    /// Returns a watch with the same cancellation, end and arrival, but without callbacks.
    pub fn without_progress(&self) -> Watch {
        let Watch { token, stop, progress: _, on_lock_wait: _, end, arrival } = self;
        Watch { stop: stop.clone(), end: *end, arrival: *arrival, ..Watch::new(token.clone(), None) }
    }

    /// Returns the moment at which the call arrived.
    pub fn arrival(&self) -> Instant {
        self.arrival
    }

    /// True if the caller cancelled the call.
    pub fn cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// True if the server stops, so that the caller did not cancel the call.
    pub fn is_stopping(&self) -> bool {
        self.stop.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Waits until the caller cancels the call.
    pub async fn ended(&self) {
        self.token.cancelled().await;
    }

    /// Reports that a gate starts.
    pub fn report(&self, gate: &str, done: usize, total: usize) {
        if let Some(progress) = &self.progress {
            progress(gate, done, total);
        }
    }

    /// Reports the time that a call waited for its locks.
    pub fn report_lock_wait(&self, time: Duration) {
        if let Some(waits) = &self.on_lock_wait {
            waits(time);
        }
    }

    /// Returns a limit that ends at this moment, or at the end of the watch if that is earlier.
    pub fn until(&self, end: Instant) -> Limit<'_> {
        Limit { watch: self, end: self.earlier_end(end), work: None }
    }

    fn earlier_end(&self, end: Instant) -> Instant {
        self.end.map_or(end, |own| own.min(end))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("cancelled", &self.cancelled()).finish_non_exhaustive()
    }
}

/// The reason that a gate must stop early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// The caller cancelled the call.
    Cancelled,
    /// The time limit was reached.
    TimedOut,
}

/// The time limit of a gate.
#[derive(Debug, Clone, Copy)]
pub struct Limit<'w> {
    watch: &'w Watch,
    end: Instant,
    work: Option<Work>,
}

/// The processor time that a thread has left.
#[derive(Debug, Clone, Copy)]
struct Work {
    /// The earliest moment at which it can be used up: before that, the thread's clock is not read, as that
    /// takes a system call.
    soonest: Instant,
    /// The reading of the thread's clock at which it is used up.
    end: Duration,
}

impl Work {
    fn is_done(self) -> bool {
        Instant::now() >= self.soonest && processor_time() >= self.end
    }
}

/// Returns the processor time of this thread.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

impl Limit<'_> {
    /// Returns the reason that the gate must end now, if any.
    pub fn reached(self) -> Option<Halt> {
        if self.watch.cancelled() {
            return Some(Halt::Cancelled);
        }
        let is_done = Instant::now() >= self.end || self.work.is_some_and(Work::is_done);
        is_done.then_some(Halt::TimedOut)
    }

    /// Returns the limit with at most this much processor time for the current thread. On a busy machine the
    /// work takes longer, but it still gives its answer.
    pub fn with_processor_time(self, time: Duration) -> Self {
        Limit { work: Some(Work { soonest: Instant::now() + time, end: processor_time() + time }), ..self }
    }

    /// Returns the limit, but no later than `time` from now.
    pub fn with_timeout(self, time: Duration) -> Self {
        Limit { end: self.end.min(Instant::now() + time), ..self }
    }

    /// Returns the moment at which the time is up.
    pub fn end(self) -> Instant {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_limit_tells_why() {
        let token = CancellationToken::new();
        let watch = Watch::new(token.clone(), None);
        let later = Instant::now() + Duration::from_secs(60);
        assert_eq!(watch.until(later).reached(), None);
        assert_eq!(watch.until(Instant::now()).reached(), Some(Halt::TimedOut));
        token.cancel();
        assert_eq!(watch.until(later).reached(), Some(Halt::Cancelled));
    }

    /// The control is the same limit in wall-clock time, which a waiting thread reaches.
    #[test]
    fn waiting_for_the_processor_is_no_work() {
        let watch = Watch::idle();
        let limit = watch.until(Instant::now() + Duration::from_secs(600));
        let (work, wall) = (
            limit.with_processor_time(Duration::from_millis(200)),
            limit.with_timeout(Duration::from_millis(200)),
        );
        std::thread::sleep(Duration::from_millis(210));
        assert_eq!((work.reached(), wall.reached()), (None, Some(Halt::TimedOut)));
        while processor_time() < Duration::from_millis(900) {
            std::hint::black_box(0);
        }
        assert_eq!(work.reached(), Some(Halt::TimedOut));
        assert_eq!(
            watch.until(Instant::now()).with_processor_time(Duration::from_secs(60)).reached(),
            Some(Halt::TimedOut)
        );
    }

    #[test]
    fn progress_is_heard() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let reports = Arc::clone(&reported);
        let listen: ProgressFn = Box::new(move |gate, done, total| {
            reports.lock().push((gate.to_owned(), done, total));
        });
        Watch::new(CancellationToken::new(), Some(listen)).report("syntax", 0, 2);
        Watch::idle().report("syntax", 1, 2);
        assert_eq!(*reported.lock(), [("syntax".to_owned(), 0, 2)]);
    }
}
