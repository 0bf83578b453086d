//! The deadline of a search, its cancellation and its progress reports.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The number of files between two progress reports.
const STEP: usize = 1000;

/// The caller of a search: it can cancel and receives progress.
pub trait SearchClock: Sync {
    /// True if the caller no longer waits.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Receives the number of files that are done, and of those found so far.
    fn report(&self, _done: usize, _of: usize) {}
}

/// A caller that waits for the end.
impl SearchClock for () {}

/// A caller that no longer waits once the function returns true.
impl<F: Fn() -> bool + Sync> SearchClock for F {
    fn is_cancelled(&self) -> bool {
        self()
    }
}

/// The deadline and the progress of a search.
pub struct Clock<'a> {
    end: Instant,
    waiting: &'a dyn SearchClock,
    found: AtomicUsize,
    done: AtomicUsize,
    reported: Mutex<usize>,
    stopped: AtomicBool,
}

impl<'a> Clock<'a> {
    /// A clock that ends a search at this time, or when the caller no longer waits.
    pub fn new(end: Instant, waiting: &'a dyn SearchClock) -> Clock<'a> {
        let (found, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Clock { end, waiting, found, done, reported: Mutex::new(0), stopped: AtomicBool::new(false) }
    }

    /// True if the search may continue; once false, it stays false.
    pub fn may_continue(&self) -> bool {
        if self.is_stopped() {
            return false;
        }
        let goes_on = Instant::now() < self.end && !self.waiting.is_cancelled();
        if !goes_on {
            self.stopped.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    /// The time that is left.
    pub(super) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// True if the search was stopped before it was complete.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts files that were found.
    pub(crate) fn add_found(&self, files: usize) {
        self.found.fetch_add(files, Ordering::Relaxed);
    }

    /// Counts files that are done, and reports progress at intervals.
    pub(crate) fn add_done(&self, files: usize) {
        let before = self.done.fetch_add(files, Ordering::Relaxed);
        let done = before + files;
        if before / STEP == done / STEP {
            return;
        }
        let mut reported = self.reported.lock();
        // Another thread may have reported a greater number.
        if done > *reported {
            *reported = done;
            self.waiting.report(done, self.found.load(Ordering::Relaxed));
        }
    }
}
