//! The most similar block of lines, exactly and fast.
//!
//! White space is left aside. The runs of four characters that a block shares with the needle bound its distance from
//! below; what the bounds leave is aligned, best bound first, and each better block lowers the limit for the rest.
//!
//! Invariant: an answer that says it is proved was compared, by bound or by alignment, with every other block of whole
//! lines; what the steps do not reach is said not to be proved.

use std::ops::Range;

mod align;
mod alphabet;
mod grams;
#[cfg(test)]
mod hostile;
mod rows;
mod search;
mod seen;
mod sheet;
mod starts;
mod steps;
mod sweep;
#[cfg(test)]
mod tests;

use alphabet::{Alphabet, CharNumber};
use grams::Fours;
use rows::SymbolRows;
use search::{Candidate, NearestSearch, Tuning};
use sheet::Sheet;
pub use steps::NearestBudget;

/// A needle with fewer non-blank bytes is too short to be told from others.
const SHORT: usize = 10;

/// No distance of interest is beyond this.
const FAR: usize = 1 << 30;

/// What is searched, among which lines.
#[derive(Debug, Clone)]
pub struct NearestQuery<'a> {
    /// The text, with plain line ends.
    pub view: &'a str,
    /// The bytes of the view to search in: whole lines.
    pub window: Range<usize>,
    /// What is searched.
    pub needle: &'a str,
}

/// A block of whole lines and how far from the needle it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Bytes of the view, without the last line's end; the first and the last line are not blank.
    pub span: Range<usize>,
    /// How many characters must be inserted, deleted or replaced, white space left aside: the least number; where
    /// nothing is proved, perhaps a larger one.
    pub distance: usize,
    /// Characters of the longer of block and needle, white space left aside.
    pub longer: usize,
}

/// The block nearest to a needle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nearest {
    /// The nearest block; one that is farther than the cut is a hint.
    pub best: Option<Hit>,
    /// The nearest of the blocks that share no line with the best, where it is not farther than the margin allows.
    pub runner_up: Option<Hit>,
    /// Whether both are proved: no block of whole lines is nearer than the best, which is within the cut, and none
    /// apart from it is nearer than the runner-up, or within the margin where there is none.
    pub proved: bool,
    /// Whether it is proved that no block is within the cut.
    pub absent: bool,
}

/// Finds the block nearest to the needle and the one that comes next.
///
/// `cut` is the largest distance that is of interest; `margin`, how much farther than the best one a runner-up is. Of
/// blocks as near, the one whose length is nearer to the needle's is taken, and of those the first.
pub fn nearest(quest: &NearestQuery<'_>, cut: usize, margin: usize, steps: &mut NearestBudget) -> Nearest {
    tuned(quest, (cut.min(FAR), margin.min(FAR)), Tuning::USUAL, steps)
}

fn tuned(
    quest: &NearestQuery<'_>,
    reach: (usize, usize),
    tuning: Tuning,
    steps: &mut NearestBudget,
) -> Nearest {
    if steps.take(quest.needle.len()).is_err() {
        return Nearest::default();
    }
    match Alphabet::new(quest.needle) {
        Some(alphabet) if alphabet.is_narrow() => find::<u8>(quest, &alphabet, reach, tuning, steps),
        Some(alphabet) => find::<u16>(quest, &alphabet, reach, tuning, steps),
        None => Nearest::default(),
    }
}

fn find<S: CharNumber>(
    quest: &NearestQuery<'_>,
    alphabet: &Alphabet,
    (cut, margin): (usize, usize),
    tuning: Tuning,
    steps: &mut NearestBudget,
) -> Nearest {
    let needle: Vec<S> = quest.needle.chars().filter_map(|c| alphabet.symbol(c)).collect();
    let sheet = Sheet::read(quest.view, quest.window.clone(), alphabet, &mut Fours::new(&needle), steps);
    let rows = SymbolRows::new(needle.iter().copied(), alphabet.count());
    let back = SymbolRows::new(needle.iter().copied().rev(), alphabet.count());
    let (Some(rows), Some(back)) = (rows, back) else { return Nearest::default() };
    let search = NearestSearch { needle: &needle, rows: &rows, back: &back, sheet: &sheet, tuning };
    let hit = |found: Candidate| Hit {
        span: sheet.place(quest.view, &found.lines),
        distance: found.distance,
        longer: sheet.length(&found.lines).max(needle.len()),
    };
    if quest.needle.split_whitespace().map(str::len).sum::<usize>() < SHORT {
        return Nearest { best: search.line(steps).map(hit), ..Nearest::default() };
    }
    let all = 0..sheet.lines();
    // Enough to look once at every line for a hint, or for a runner-up.
    let reserve = steps.aside(2 * all.len());
    let (best, proved) = search.nearest(std::slice::from_ref(&all), cut, steps);
    steps.give(reserve);
    let Some(best) = best else {
        let hint = search.hint(&all, steps);
        return Nearest { best: hint.map(hit), absent: proved && sheet.whole, ..Nearest::default() };
    };
    let apart = [0..best.lines.start, best.lines.end..all.end];
    let (next, alone) = search.nearest(&apart, best.distance + margin, steps);
    let proved = proved && alone && sheet.whole;
    Nearest { best: Some(hit(best)), runner_up: next.map(hit), proved, absent: false }
}
