//! How a caller follows the gates, and stops them.
//!
//! Invariant: nothing here waits.

use std::fmt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::CancellationToken;

/// Takes the gate that starts, how many are done, and how many there are.
pub type ProgressFn = Box<dyn Fn(&str, usize, usize) + Send + Sync>;

/// Takes how long a call waited for its locks.
pub type LockWaitFn = Box<dyn Fn(Duration) + Send + Sync>;

/// A caller's view of a judgement: it hears of each gate, and can cancel the rest.
pub struct Watch {
    token: CancellationToken,
    progress: Option<ProgressFn>,
    on_lock_wait: Option<LockWaitFn>,
    /// No gate goes on longer than until this moment.
    end: Option<Instant>,
}

impl Watch {
    /// Watches with a token that cancels, and a callback that hears of each gate.
    pub fn new(token: CancellationToken, progress: Option<ProgressFn>) -> Watch {
        Watch { token, progress, on_lock_wait: None, end: None }
    }

    /// Watches for nobody: never cancelled, nothing reported.
    pub fn idle() -> Watch {
        Watch::new(CancellationToken::new(), None)
    }

    /// The same, for a caller who wants to hear how far the work is.
    #[must_use]
    pub fn with_progress(self, progress: ProgressFn) -> Watch {
        Watch { progress: Some(progress), ..self }
    }

    /// The same, for a caller who wants to hear how long locks were waited for.
    #[must_use]
    pub fn with_lock_waits(self, waits: LockWaitFn) -> Watch {
        Watch { on_lock_wait: Some(waits), ..self }
    }

    /// The same, but no gate goes on longer than until this moment.
    #[must_use]
    pub fn with_end(&self, end: Instant) -> Watch {
        Watch { end: Some(self.end.map_or(end, |own| own.min(end))), ..self.without_progress() }
    }

    /// Tells how long the locks of a call were waited for.
    pub fn report_lock_wait(&self, time: Duration) {
        if let Some(waits) = &self.on_lock_wait {
            waits(time);
        }
    }

    /// Watches for the same caller, who is told nothing.
    pub fn without_progress(&self) -> Watch {
        Watch { end: self.end, ..Watch::new(self.token.clone(), None) }
    }

    /// Tells whether the caller has gone.
    pub fn cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until the caller has gone.
    pub async fn ended(&self) {
        self.token.cancelled().await;
    }

    /// Reports that a gate starts.
    pub fn report(&self, gate: &str, done: usize, total: usize) {
        if let Some(progress) = &self.progress {
            progress(gate, done, total);
        }
    }

    /// Gives a gate until this moment.
    pub(super) fn until(&self, end: Instant) -> Limit<'_> {
        Limit { watch: self, end: self.end.map_or(end, |own| own.min(end)), work: None }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("cancelled", &self.cancelled()).finish_non_exhaustive()
    }
}

/// The reason that a gate must stop early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// The caller has gone.
    Cancelled,
    /// The gate's time is up.
    TimedOut,
}

/// The time limit of a gate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit<'w> {
    watch: &'w Watch,
    end: Instant,
    work: Option<Work>,
}

/// How much work the thread may still do.
#[derive(Debug, Clone, Copy)]
struct Work {
    /// When it may be done at the earliest: before that the thread's clock, which takes a system call, is not read.
    soonest: Instant,
    /// What the thread's clock says when it is done.
    end: Duration,
}

impl Work {
    fn is_done(self) -> bool {
        Instant::now() >= self.soonest && processor_time() >= self.end
    }
}

/// Returns the processor time of this thread.
pub(super) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

impl Limit<'_> {
    /// Tells whether the gate must end now, and why.
    pub(super) fn reached(self) -> Option<Halt> {
        if self.watch.cancelled() {
            return Some(Halt::Cancelled);
        }
        let is_done = Instant::now() >= self.end || self.work.is_some_and(Work::is_done);
        is_done.then_some(Halt::TimedOut)
    }

    /// Returns the same limit for work of this thread, of which there may be no more than so much processor time: a busy machine
    /// makes it longer and takes no answer away.
    pub(super) fn with_processor_time(self, time: Duration) -> Self {
        Limit { work: Some(Work { soonest: Instant::now() + time, end: processor_time() + time }), ..self }
    }

    /// The same limit, but no later than so long from now.
    pub(super) fn with_timeout(self, time: Duration) -> Self {
        Limit { end: self.end.min(Instant::now() + time), ..self }
    }

    /// Gives the moment at which the time is up.
    pub(super) fn end(self) -> Instant {
        self.end
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

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

    /// The control is the same limit in time on the wall, which a thread that only waits reaches.
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
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let listen: ProgressFn = Box::new(move |gate, done, total| {
            ear.lock().unwrap().push((gate.to_owned(), done, total));
        });
        Watch::new(CancellationToken::new(), Some(listen)).report("syntax", 0, 2);
        Watch::idle().report("syntax", 1, 2);
        assert_eq!(*heard.lock().unwrap(), [("syntax".to_owned(), 0, 2)]);
    }
}
