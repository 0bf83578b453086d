//! One backward pass over a range of text that bounds the distance of the blocks that start at each of its lines.
//!
//! The needle is aligned with a free end. The value at a start is the minimum distance of any text from there on, of
//! whole lines or not. This bound is rarely below the distance of the best block.

use super::alphabet::CharNumber;
use super::budget::{NearestBudget, OutOfSteps};
use super::rows::{BitBlock, Carry, ROWS, SymbolRows};

/// The column of the reversed needle, down to the last row that can be within the limit.
pub(super) struct Sweep<'a> {
    rows: &'a SymbolRows,
    limit: usize,
    column: Vec<BitBlock>,
    bottom: usize,
}

impl<'a> Sweep<'a> {
    /// Creates a sweep with the rows of the reversed needle, for distances up to the limit.
    pub(super) fn new(rows: &'a SymbolRows, limit: usize) -> Sweep<'a> {
        let deep = (limit / ROWS + 1).min(rows.blocks());
        Sweep { rows, limit: limit.max(1), column: vec![BitBlock::STEEP; deep], bottom: deep * ROWS }
    }

    /// Reads the symbols, from the last to the first.
    pub(super) fn read<S: CharNumber>(
        &mut self,
        symbols: &[S],
        steps: &mut NearestBudget,
    ) -> Result<(), OutOfSteps> {
        for symbol in symbols.iter().rev() {
            steps.take(self.column.len() + 1)?;
            self.step(self.rows.of_symbol(*symbol));
        }
        Ok(())
    }

    /// Returns the minimum distance of a text that starts at the last symbol read; `None` beyond the limit.
    pub(super) fn distance(&self) -> Option<usize> {
        let last = self.column.get(self.rows.blocks() - 1)?;
        Some(last.at_end(self.rows, self.bottom)).filter(|distance| *distance <= self.limit)
    }

    fn step(&mut self, equals: &[u64]) {
        let mut carry = Carry { rise: 0, fall: 0 };
        for (block, equal) in self.column.iter_mut().zip(equals) {
            carry = block.advance(*equal, carry);
        }
        let before = self.bottom;
        self.bottom = before + carry.rise as usize - carry.fall as usize;
        match equals.get(self.column.len()) {
            // All rows below are beyond the limit. Only a diagonal step, or a fall, brings the next one within.
            Some(equal) if before <= self.limit && (equal & 1 == 1 || carry.fall == 1) => {
                let mut block = BitBlock::STEEP;
                let carry = block.advance(*equal, carry);
                self.column.push(block);
                self.bottom = before + ROWS + carry.rise as usize - carry.fall as usize;
            }
            Some(_) | None => self.shrink(),
        }
    }

    fn shrink(&mut self) {
        while self.bottom >= self.limit + ROWS
            && let Some(block) = self.column.pop()
        {
            self.bottom = block.above(self.bottom);
        }
    }
}
