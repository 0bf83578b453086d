//! The work limit of one call, counted in steps and not in time, so that results do not depend on load.
//!
//! Invariant: spent steps are never refunded.

use super::error::Error;

/// The remaining steps of one call, for all its patterns and texts.
#[derive(Debug)]
pub struct StepBudget {
    remaining: u64,
    /// The most characters that all replacements of one call may have.
    max_chars: u64,
}

impl StepBudget {
    /// Creates a budget of `steps` steps; a release build takes about 300 ms for 40 million.
    pub fn new(steps: u64) -> StepBudget {
        StepBudget { remaining: steps, max_chars: u64::MAX }
    }

    /// Limits the characters that all replacements of one call of [`Pattern::replace`](crate::Pattern::replace) may have.
    pub fn with_max_chars(self, max_chars: u64) -> StepBudget {
        StepBudget { max_chars, ..self }
    }

    /// Returns the most characters that all replacements of one call may have.
    pub(super) fn max_chars(&self) -> u64 {
        self.max_chars
    }

    /// Returns the number of remaining steps.
    #[cfg(test)]
    pub(super) fn remaining(&self) -> u64 {
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
