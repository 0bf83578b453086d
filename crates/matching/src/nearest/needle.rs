//! The needle, the text to search, and the constants of the search.

use std::ops::Range;

use super::rows::SymbolRows;
use super::symbol_text::SymbolText;

/// The constants of the search; tests change them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tuning {
    /// The maximum number of runs of four that one edit destroys.
    pub(super) lost_fours: usize,
    /// The maximum number of runs of two that one edit destroys.
    pub(super) lost_twos: usize,
    /// The maximum number of starts that are aligned without a second bound.
    pub(super) few_starts: usize,
    /// The factor by which the alignments must be more expensive than the sweep.
    pub(super) cost_ratio: usize,
}

impl Tuning {
    /// The values that are used outside tests.
    pub(super) const USUAL: Tuning = Tuning { lost_fours: 4, lost_twos: 2, few_starts: 8, cost_ratio: 1 };
}

/// The needle, and the text to search.
pub(super) struct NearestSearch<'a, S> {
    pub(super) needle: &'a [S],
    pub(super) rows: &'a SymbolRows,
    /// The rows of the reversed needle.
    pub(super) back: &'a SymbolRows,
    pub(super) symbol_text: &'a SymbolText<S>,
    pub(super) tuning: Tuning,
}

/// Returns the end of the area that contains the line.
pub(super) fn area_end(areas: &[Range<usize>], line: usize) -> usize {
    areas.iter().find(|area| area.contains(&line)).map_or(line, |area| area.end)
}
