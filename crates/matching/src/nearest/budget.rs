//! The cost limit of a search, counted in steps and not in time, so that results do not depend on load.

/// The remaining work. One step is about one block of 64 rows of an alignment, or one byte of a linear pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearestBudget {
    remaining: u64,
}

/// The error for a used-up budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfSteps;

impl NearestBudget {
    /// The budget of one search for the nearest block: under about 100 ms.
    pub const SEARCH: u64 = 25_000_000;

    /// Creates a budget of `remaining` steps.
    pub const fn new(remaining: u64) -> NearestBudget {
        NearestBudget { remaining }
    }

    /// Returns the number of remaining steps.
    pub const fn remaining(self) -> u64 {
        self.remaining
    }

    /// Takes steps. Takes nothing and fails if not enough are left.
    pub(super) fn take(&mut self, steps: usize) -> Result<(), OutOfSteps> {
        self.remaining = self.remaining.checked_sub(steps as u64).ok_or(OutOfSteps)?;
        Ok(())
    }

    /// Reserves an eighth plus `least` steps, for work that must still be possible when all others are taken.
    pub(super) fn reserve(&mut self, least: usize) -> NearestBudget {
        let aside = NearestBudget { remaining: self.remaining.min(self.remaining / 8 + least as u64) };
        self.remaining -= aside.remaining;
        aside
    }

    /// Returns reserved steps to the budget.
    pub(super) fn give_back(&mut self, aside: NearestBudget) {
        self.remaining += aside.remaining;
    }
}
