//! How much work one call may do, counted in steps and never by the clock, so that answers do not depend on load.
//!
//! Invariant: what has been spent is never given back.

use crate::error::{Code, Error};

/// The steps of one call where nobody says how many, about 300 ms of a release build.
const STEPS: u64 = 40_000_000;

/// The steps that are left to one call, whatever patterns and texts it looks at.
#[derive(Debug)]
pub struct StepBudget {
    left: u64,
}

impl StepBudget {
    /// The budget of one call where nobody says which.
    pub fn per_call() -> StepBudget {
        StepBudget { left: STEPS }
    }

    /// A budget of so many steps.
    pub fn new(steps: u64) -> StepBudget {
        StepBudget { left: steps }
    }

    /// How many steps are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes steps off; `REGEX_BUDGET` when there are not enough.
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

    /// Refuses the rest of the call.
    #[cold]
    pub(super) fn exhausted(&mut self) -> Error {
        self.left = 0;
        Error::new(Code::RegexBudget, "the pattern needs more steps on this text than one call may take")
    }
}
