//! Counts finished gates and reports the progress.
//!
//! Invariant: the reported number never decreases, and no number of finished gates is reported twice.

use parking_lot::Mutex;

use lockgate_sandbox::Watch;

/// Counts the gates that have ended.
pub(super) struct GateCounter<'a> {
    watch: &'a Watch,
    total: usize,
    steps: Mutex<CountedSteps>,
}

#[derive(Default)]
struct CountedSteps {
    done: usize,
    /// The number that was reported last, plus one.
    reported: usize,
}

impl<'a> GateCounter<'a> {
    pub(super) fn new(watch: &'a Watch, total: usize) -> GateCounter<'a> {
        GateCounter { watch, total, steps: Mutex::default() }
    }

    /// Records that a gate starts.
    pub(super) fn start(&self, gate: &str) {
        self.step(gate, 0);
    }

    /// Records that a gate has ended.
    pub(super) fn end(&self) {
        self.steps.lock().done += 1;
    }

    /// Records that a gate has ended while others still run.
    pub(super) fn end_concurrent(&self, gate: &str) {
        self.step(gate, 1);
    }

    fn step(&self, gate: &str, ended: usize) {
        // The lock is held during the report, so that the numbers arrive in order.
        let mut steps = self.steps.lock();
        steps.done += ended;
        if steps.done >= steps.reported {
            steps.reported = steps.done + 1;
            self.watch.report(gate, steps.done, self.total);
        }
    }
}
