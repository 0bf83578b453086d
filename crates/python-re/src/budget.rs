//! The work limit of one call, counted in steps and not in time, so that results do not depend on load.
//!
//! Invariant: spent steps are never refunded.

use super::error::Error;

/// The default number of steps of one call, about 300 ms of a release build.
const STEPS: u64 = 40_000_000;

/// The remaining steps of one call, for all its patterns and texts.
#[derive(Debug)]
pub struct StepBudget {
    remaining: u64,
}

impl StepBudget {
    /// Returns the default budget of one call.
    pub fn per_call() -> StepBudget {
        StepBudget { remaining: STEPS }
    }

    /// Creates a budget of `steps` steps.
    pub fn new(steps: u64) -> StepBudget {
        StepBudget { remaining: steps }
    }

    /// Returns the number of remaining steps.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Spends steps. Errors: [`Error::OutOfSteps`] if not enough are left.
    #[inline]
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Error> {
        match self.remaining.checked_sub(steps as u64) {
            Some(remaining) => {
                self.remaining = remaining;
                Ok(())
            }
            None => Err(self.exhausted()),
        }
    }

    /// Empties the budget and returns the error.
    #[cold]
    pub(super) fn exhausted(&mut self) -> Error {
        self.remaining = 0;
        Error::OutOfSteps
    }
}
