//! How long a search may go on, and who hears how far it is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Files between two reports.
const STEP: usize = 1000;

/// Whoever waits for a search.
pub trait SearchClock: Sync {
    /// Whether nobody waits any more.
    fn has_left(&self) -> bool;

    /// Hears how many files are done, of those that were found so far.
    fn hears(&self, done: usize, of: usize);
}

/// How long a search may go on.
pub struct Clock<'a> {
    end: Instant,
    waiting: &'a dyn SearchClock,
    found: AtomicUsize,
    done: AtomicUsize,
    told: Mutex<usize>,
    stopped: AtomicBool,
}

impl<'a> Clock<'a> {
    /// Gives a search until this moment, or until nobody waits for it.
    pub fn new(end: Instant, waiting: &'a dyn SearchClock) -> Clock<'a> {
        let (found, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Clock { end, waiting, found, done, told: Mutex::new(0), stopped: AtomicBool::new(false) }
    }

    /// Whether the search may go on; once it may not, it never may.
    pub fn goes_on(&self) -> bool {
        if self.is_stopped() {
            return false;
        }
        let goes_on = Instant::now() < self.end && !self.waiting.has_left();
        if !goes_on {
            self.stopped.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    /// How much time is left.
    pub(super) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Whether the search was ended before its work was.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts files that were found.
    pub(in crate::store) fn finds(&self, files: usize) {
        self.found.fetch_add(files, Ordering::Relaxed);
    }

    /// Counts files that are done, and tells of it now and then.
    pub(in crate::store) fn does(&self, files: usize) {
        let before = self.done.fetch_add(files, Ordering::Relaxed);
        let done = before + files;
        if before / STEP == done / STEP {
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread that was faster may have told more.
        if done > *told {
            *told = done;
            self.waiting.hears(done, self.found.load(Ordering::Relaxed));
        }
    }
}
