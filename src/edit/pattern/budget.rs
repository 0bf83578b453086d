//! The work limit of one call, counted in steps and not in time, so that results do not depend on load.
//!
//! Invariant: spent steps are never refunded.

use crate::error::{Code, Error};

/// The default number of steps of one call, about 300 ms of a release build.
const STEPS: u64 = 40_000_000;

/// The remaining steps of one call, for all its patterns and texts.
#[derive(Debug)]
pub struct StepBudget {
    left: u64,
}

impl StepBudget {
    /// Returns the default budget of one call.
    pub fn per_call() -> StepBudget {
        StepBudget { left: STEPS }
    }

    /// Creates a budget of `steps` steps.
    pub fn new(steps: u64) -> StepBudget {
        StepBudget { left: steps }
    }

    /// Returns the number of remaining steps.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Spends steps. Errors: `REGEX_BUDGET` if not enough are left.
    #[inline]
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Error> {
        match self.left.checked_sub(steps as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.exhausted()),
        }
    }

    /// Empties the budget and returns the error.
    #[cold]
    pub(super) fn exhausted(&mut self) -> Error {
        self.left = 0;
        Error::new(Code::RegexBudget, "the pattern needs more steps on this text than one call may take")
    }
}
