//! Slots that limit the number of programs that run at one time, in the whole process.
//!
//! Invariant: a slot is free again when its guard is dropped, however its gate ended.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::parallel::CORES;
use lockgate_sandbox::{Halt, Limit};

/// The longest wait before the limit is checked again, if no slot becomes free.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A fixed number of slots for programs.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A slot for one program, free again when this is dropped.
#[derive(Debug)]
#[must_use = "the slot is free again when this is dropped"]
pub(crate) struct RunSlot<'a>(&'a Slots);

impl Default for Slots {
    /// Creates a slot for each core of this process.
    fn default() -> Slots {
        Slots::new(*CORES)
    }
}

impl Slots {
    /// Creates a set of `count` slots.
    pub(crate) fn new(count: usize) -> Slots {
        Slots { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a free slot, until the limit.
    pub(crate) fn take(&self, limit: Limit<'_>) -> Result<RunSlot<'_>, Halt> {
        let mut free = self.free.lock();
        loop {
            if let Some(halt) = limit.reached() {
                return Err(halt);
            }
            if let Some(left) = free.checked_sub(1) {
                *free = left;
                return Ok(RunSlot(self));
            }
            let turn = limit.end().saturating_duration_since(Instant::now()).min(POLL_INTERVAL);
            self.freed.wait_for(&mut free, turn);
        }
    }
}

impl Drop for RunSlot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Watch;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn the_number_of_slots_is_a_limit() {
        let (slots, watch) = (Slots::new(2), Watch::idle());
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _slot = slots.take(watch.until(later())).unwrap();
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        running.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
        assert_eq!(*slots.free.lock(), 2, "all are free again");
    }

    #[test]
    fn waiting_for_a_slot_ends_with_the_limit_or_the_caller() {
        let (slots, token) = (Slots::new(1), CancellationToken::new());
        let watch = Watch::new(token.clone(), None);
        let slot = slots.take(watch.until(later())).unwrap();
        let soon = watch.until(Instant::now() + Duration::from_millis(5));
        assert_eq!(slots.take(soon).unwrap_err(), Halt::TimedOut);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| slots.take(watch.until(later())).map(drop));
            token.cancel();
            assert_eq!(waiting.join().unwrap(), Err(Halt::Cancelled));
        });
        drop(slot);
        assert!(slots.take(Watch::idle().until(later())).is_ok());
    }

    #[test]
    fn a_gate_that_panics_gives_its_place_back() {
        let (slots, watch) = (Slots::new(1), Watch::idle());
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _slot = slots.take(watch.until(later())).unwrap();
            panic!("on purpose");
        }));
        assert!(panics.is_err());
        assert!(slots.take(watch.until(later())).is_ok());
    }
}
