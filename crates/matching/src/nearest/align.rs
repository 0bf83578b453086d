//! Aligns the needle with the lines from one start on, for all block heights in one pass.
//!
//! Invariant: a value is the cost of a real alignment, and the minimum wherever it is at most the width.

use std::ops::Range;

use super::alphabet::CharNumber;
use super::budget::{NearestBudget, OutOfSteps};
use super::rows::{BitBlock, Carry, ROWS, SymbolRows};
use super::symbol_text::SymbolText;

/// The number of columns between two checks that an alignment can still succeed.
const LOOK: usize = 32;

/// The end of a block of lines, with its distance from the needle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Height {
    /// The line after the last one.
    pub(super) end: usize,
    pub(super) distance: usize,
    /// The difference in length from the needle.
    pub(super) gap: usize,
}

/// The point at which an alignment stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// As soon as no result within the width is possible.
    Exact,
    /// At the end of the band: a distance beyond the width may be too high.
    Rough,
}

/// The blocks of the column inside the band.
struct Band<'a> {
    rows: &'a SymbolRows,
    width: usize,
    column: Vec<BitBlock>,
    first: usize,
    last: usize,
    bottom: usize,
}

impl<'a> Band<'a> {
    fn new(rows: &'a SymbolRows, width: usize) -> Band<'a> {
        let last = (width.saturating_sub(1) / ROWS).min(rows.blocks() - 1);
        let column = vec![BitBlock::STEEP; last + 1];
        Band { rows, width, column, first: 0, last, bottom: (last + 1) * ROWS }
    }

    fn step<S: CharNumber>(&mut self, read: usize, symbol: S) {
        self.first = read.saturating_sub(self.width + 1) / ROWS;
        if (read + self.width - 1) / ROWS > self.last && self.last + 1 < self.rows.blocks() {
            self.last += 1;
            self.bottom += ROWS;
            self.column.push(BitBlock::STEEP);
        }
        let blocks = self.column.get_mut(self.first..).unwrap_or_default();
        let equals = self.rows.of_symbol(symbol).get(self.first..).unwrap_or_default();
        let mut carry = Carry { rise: 1, fall: 0 };
        for (block, equal) in blocks.iter_mut().zip(equals) {
            carry = block.advance(*equal, carry);
        }
        self.bottom = self.bottom + carry.rise as usize - carry.fall as usize;
    }

    fn blocks(&self) -> usize {
        self.last + 1 - self.first
    }

    fn floor(&self) -> usize {
        let blocks = self.column.get(self.first..).unwrap_or_default();
        let (mut low, mut floor) = (self.bottom, self.bottom);
        for block in blocks.iter().rev() {
            floor = floor.min(block.floor(low));
            low = block.above(low);
        }
        floor
    }

    fn distance(&self) -> Option<usize> {
        let last = self.column.get(self.rows.blocks() - 1)?;
        Some(last.at_end(self.rows, self.bottom))
    }
}

/// Returns the best height of the blocks that start with the first of the lines and end at one of them.
pub(super) fn align<S: CharNumber>(
    rows: &SymbolRows,
    symbol_text: &SymbolText<S>,
    lines: Range<usize>,
    width: usize,
    effort: Effort,
    steps: &mut NearestBudget,
) -> Result<Option<Height>, OutOfSteps> {
    let mut band = Band::new(rows, width);
    let (mut read, mut most) = (0, width);
    let mut best: Option<Height> = None;
    for line in lines {
        let symbols = symbol_text.span(&(line..line + 1));
        if read + symbols.len() > rows.length() + width {
            break;
        }
        for chunk in symbols.chunks(LOOK) {
            steps.take((band.blocks() + 1) * chunk.len())?;
            for symbol in chunk {
                read += 1;
                band.step(read, *symbol);
            }
            if effort == Effort::Exact && band.floor() > most {
                return Ok(best);
            }
        }
        let Some(distance) = band.distance().filter(|d| effort == Effort::Rough || *d <= most) else {
            continue;
        };
        let found = Height { end: line + 1, distance, gap: rows.length().abs_diff(read) };
        if best.is_none_or(|best| (found.distance, found.gap) < (best.distance, best.gap)) {
            best = Some(found);
            most = most.min(distance);
        }
    }
    Ok(best)
}
