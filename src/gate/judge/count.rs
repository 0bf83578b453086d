//! How far a judgement has come, for whoever watches.
//!
//! Invariant: what is reported never goes back, and no number of gates that are done is reported twice.

use std::sync::{Mutex, PoisonError};

use crate::gate::watch::Watch;

/// Counts the gates that are done.
pub(super) struct GateCounter<'a> {
    watch: &'a Watch,
    total: usize,
    steps: Mutex<CountedSteps>,
}

#[derive(Default)]
struct CountedSteps {
    done: usize,
    /// The number that was reported last, and one.
    reported: usize,
}

impl<'a> GateCounter<'a> {
    pub(super) fn new(watch: &'a Watch, total: usize) -> GateCounter<'a> {
        GateCounter { watch, total, steps: Mutex::default() }
    }

    /// Notes that a gate starts.
    pub(super) fn start(&self, gate: &str) {
        self.step(gate, 0);
    }

    /// Notes that a gate has ended.
    pub(super) fn end(&self) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).done += 1;
    }

    /// Notes that a gate has ended, beside others that still run.
    pub(super) fn end_concurrent(&self, gate: &str) {
        self.step(gate, 1);
    }

    fn step(&self, gate: &str, ended: usize) {
        // Held while it is told, so that the numbers arrive in their order.
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.done += ended;
        if steps.done >= steps.reported {
            steps.reported = steps.done + 1;
            self.watch.report(gate, steps.done, self.total);
        }
    }
}
