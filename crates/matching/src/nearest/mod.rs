//! The most similar block of lines, exactly and fast.
//!
//! White space is ignored. The runs of four characters that a block shares with the needle give a lower bound of its
//! distance. The remaining blocks are aligned, best bound first, and each better block lowers the limit for the rest.
//!
//! Invariant: a result that is marked as proved was compared, by bound or by alignment, with every other block of
//! whole lines. A result that exceeds the step budget is not marked as proved.

use std::ops::Range;

mod align;
mod alphabet;
mod budget;
mod grams;
#[cfg(test)]
mod hostile;
mod needle;
mod rows;
mod search;
mod span_cache;
mod starts;
mod sweep;
mod symbol_text;
#[cfg(test)]
mod tests;

use alphabet::{Alphabet, CharNumber};
pub use budget::NearestBudget;
use grams::Fours;
use needle::{NearestSearch, Tuning};
use rows::SymbolRows;
use search::Candidate;
use symbol_text::SymbolText;

/// The minimum number of non-blank bytes in a needle; a shorter one is too ambiguous.
const SHORT: usize = 10;

/// The maximum distance of interest.
const FAR: usize = 1 << 30;

/// A search text, and the lines to search.
#[derive(Debug, Clone)]
pub struct NearestQuery<'a> {
    /// The text, with `\n` line ends.
    pub view: &'a str,
    /// The searched bytes of the view: whole lines.
    pub window: Range<usize>,
    /// The text to search for.
    pub needle: &'a str,
}

/// A block of whole lines, with its distance from the needle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The bytes of the view, without the last line's end; the first and the last line are not blank.
    pub span: Range<usize>,
    /// The minimum number of inserted, deleted or replaced characters, without white space. If it is not proved, it
    /// may be too large.
    pub distance: usize,
    /// The number of characters of the longer of block and needle, without white space.
    pub longer: usize,
}

/// The block nearest to a needle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nearest {
    /// The nearest block; a hint if it is farther than the cut.
    pub best: Option<Hit>,
    /// The nearest of the blocks that share no line with the best one, if it is within the margin.
    pub runner_up: Option<Hit>,
    /// Set if both are proved: no block of whole lines is nearer than the best, which is within the cut. No block
    /// apart from it is nearer than the runner-up, or within the margin if there is none.
    pub proved: bool,
    /// Set if it is proved that no block is within the cut.
    pub absent: bool,
}

/// Finds the block nearest to the needle, and the second nearest.
///
/// `cut` is the largest distance of interest; `margin` is the largest extra distance of a runner-up. Of equally near
/// blocks, the one closest in length to the needle wins, then the first.
pub fn nearest(query: &NearestQuery<'_>, cut: usize, margin: usize, steps: &mut NearestBudget) -> Nearest {
    nearest_with(query, (cut.min(FAR), margin.min(FAR)), Tuning::USUAL, steps)
}

fn nearest_with(
    query: &NearestQuery<'_>,
    limits: (usize, usize),
    tuning: Tuning,
    steps: &mut NearestBudget,
) -> Nearest {
    if steps.take(query.needle.len()).is_err() {
        return Nearest::default();
    }
    match Alphabet::new(query.needle) {
        Some(alphabet) if alphabet.is_narrow() => find::<u8>(query, &alphabet, limits, tuning, steps),
        Some(alphabet) => find::<u16>(query, &alphabet, limits, tuning, steps),
        None => Nearest::default(),
    }
}

fn find<S: CharNumber>(
    query: &NearestQuery<'_>,
    alphabet: &Alphabet,
    (cut, margin): (usize, usize),
    tuning: Tuning,
    steps: &mut NearestBudget,
) -> Nearest {
    let needle: Vec<S> = query.needle.chars().filter_map(|c| alphabet.symbol(c)).collect();
    let symbol_text =
        SymbolText::read(query.view, query.window.clone(), alphabet, &mut Fours::new(&needle), steps);
    let rows = SymbolRows::new(needle.iter().copied(), alphabet.count());
    let back = SymbolRows::new(needle.iter().copied().rev(), alphabet.count());
    let (Some(rows), Some(back)) = (rows, back) else { return Nearest::default() };
    let search =
        NearestSearch { needle: &needle, rows: &rows, back: &back, symbol_text: &symbol_text, tuning };
    let hit = |found: Candidate| Hit {
        span: symbol_text.view_range(query.view, &found.lines),
        distance: found.distance,
        longer: symbol_text.length(&found.lines).max(needle.len()),
    };
    if query.needle.split_whitespace().map(str::len).sum::<usize>() < SHORT {
        return Nearest { best: search.line(steps).map(hit), ..Nearest::default() };
    }
    let all = 0..symbol_text.lines();
    // Enough steps to visit every line once for a hint, or for a runner-up.
    let reserve = steps.reserve(2 * all.len());
    let (best, proved) = search.nearest(std::slice::from_ref(&all), cut, steps);
    steps.give_back(reserve);
    let Some(best) = best else {
        let hint = search.hint(&all, steps);
        return Nearest { best: hint.map(hit), absent: proved && symbol_text.whole, ..Nearest::default() };
    };
    let apart = [0..best.lines.start, best.lines.end..all.end];
    let (next, alone) = search.nearest(&apart, best.distance + margin, steps);
    let proved = proved && alone && symbol_text.whole;
    Nearest { best: Some(hit(best)), runner_up: next.map(hit), proved, absent: false }
}
