//! What a search may cost: steps instead of a clock, so that an answer does not depend on the load.

/// The work that is left; one step is about one block of 64 rows of an alignment, or one byte of a linear pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearestBudget {
    left: u64,
}

/// The steps are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spent;

impl NearestBudget {
    /// What one search for the nearest block may take: under about 100 ms.
    pub const SEARCH: u64 = 25_000_000;

    /// Allows so many steps.
    pub const fn new(left: u64) -> NearestBudget {
        NearestBudget { left }
    }

    /// How many steps are left.
    pub const fn left(self) -> u64 {
        self.left
    }

    /// Takes steps; what is too much is not taken.
    pub(super) fn take(&mut self, steps: usize) -> Result<(), Spent> {
        self.left = self.left.checked_sub(steps as u64).ok_or(Spent)?;
        Ok(())
    }

    /// Sets an eighth and so many steps aside, for work that must be left when all others are taken.
    pub(super) fn aside(&mut self, least: usize) -> NearestBudget {
        let aside = NearestBudget { left: self.left.min(self.left / 8 + least as u64) };
        self.left -= aside.left;
        aside
    }

    /// Returns back what was set aside.
    pub(super) fn give(&mut self, aside: NearestBudget) {
        self.left += aside.left;
    }
}
