//! How much work one search may come to, in steps rather than by the clock, so that an answer does not depend on the
//! machine's load.

/// The steps that are left; one of them is about a byte that is compared.
#[derive(Debug)]
pub(super) struct MatchBudget(usize);

/// The steps of one search along the rungs; about a tenth of a second.
const OF_ONE_SEARCH: usize = 50_000_000;

impl MatchBudget {
    /// Returns the steps of one search.
    pub(super) fn of_one_search() -> MatchBudget {
        MatchBudget(OF_ONE_SEARCH)
    }

    /// Takes steps; false, and none are left, where there are fewer.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        let enough = steps <= self.0;
        self.0 = if enough { self.0 - steps } else { 0 };
        enough
    }
}
