//! The work limit of one search, counted in steps and not in time, so that results do not depend on load.

/// The remaining steps; one step is about a compared byte.
#[derive(Debug)]
pub(super) struct MatchBudget(usize);

/// The budget of one search through the match levels; about a tenth of a second.
const OF_ONE_SEARCH: usize = 50_000_000;

impl MatchBudget {
    /// Returns the budget of one search.
    pub(super) fn of_one_search() -> MatchBudget {
        MatchBudget(OF_ONE_SEARCH)
    }

    /// Takes steps. Returns false, and empties the budget, if fewer are left.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        let enough = steps <= self.0;
        self.0 = if enough { self.0 - steps } else { 0 };
        enough
    }
}
