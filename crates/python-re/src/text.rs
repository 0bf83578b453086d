//! Access of the backtracking engine to the text.
//!
//! Invariant: every position is a boundary between two characters.

use super::ast::{Category, Polarity};
use super::charset::members;
use super::error::Error;
use super::fold::Fold;
use super::machine::{Flow, Machine, PartResult, Point};
use super::program::Anchor;

impl Machine<'_> {
    /// Returns the character at a position, and the position behind it.
    #[inline]
    pub(super) fn char_at(&self, at: usize) -> Option<(u32, usize)> {
        match self.text.as_bytes().get(at)? {
            byte @ 0..=0x7F => Some((u32::from(*byte), at + 1)),
            _ => {
                let char = self.text.get(at..)?.chars().next()?;
                Some((u32::from(char), at + char.len_utf8()))
            }
        }
    }

    /// Returns the start of the character that ends at a position.
    pub(super) fn before(&self, at: usize) -> Option<usize> {
        let char = self.text.get(..at)?.chars().next_back()?;
        Some(at - char.len_utf8())
    }

    pub(super) fn accepts(&self, unit: usize, char: u32) -> bool {
        self.program.units.get(unit).is_some_and(|unit| unit.accepts(char))
    }

    /// Returns the number of times that a unit matches in a row, at most `max`.
    pub(super) fn count(&mut self, unit: usize, from: usize, max: u32) -> Result<(u32, usize), Error> {
        let (mut count, mut at) = (0, from);
        while count < max {
            let Some((_, next)) = self.char_at(at).filter(|(char, _)| self.accepts(unit, *char)) else {
                break;
            };
            (count, at) = (count + 1, next);
            self.budget.spend(1)?;
        }
        Ok((count, at))
    }

    /// Returns true if an anchor matches at a position.
    pub(super) fn holds(&self, anchor: Anchor, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        let newline_at = |at: usize| bytes.get(at) == Some(&b'\n');
        match anchor {
            Anchor::TextStart => at == 0,
            Anchor::LineStart => at == 0 || newline_at(at - 1),
            Anchor::LastLineEnd => at == bytes.len() || (at + 1 == bytes.len() && newline_at(at)),
            Anchor::LineEnd => at == bytes.len() || newline_at(at),
            Anchor::TextEnd => at == bytes.len(),
            Anchor::Boundary(..) if bytes.is_empty() => false,
            Anchor::Boundary(scope, wanted) => {
                let word = members(Category::WordChar, scope);
                let is_word = |char: Option<(u32, usize)>| char.is_some_and(|(char, _)| word.contains(char));
                let before = is_word(self.before(at).and_then(|at| self.char_at(at)));
                (before != is_word(self.char_at(at))) == (wanted == Polarity::Yes)
            }
        }
    }

    pub(super) fn reference(&mut self, group: usize, fold: Fold, point: Point) -> Result<Flow, Error> {
        let Some((mut from, to)) = self.group(group).filter(|(from, to)| from <= to) else {
            return Ok(Flow::Done(PartResult::Failed));
        };
        let mut at = point.at;
        while from < to {
            self.budget.spend(1)?;
            let (Some((wanted, next)), Some((found, after))) = (self.char_at(from), self.char_at(at)) else {
                return Ok(Flow::Done(PartResult::Failed));
            };
            if fold.lower(wanted) != fold.lower(found) {
                return Ok(Flow::Done(PartResult::Failed));
            }
            (from, at) = (next, after);
        }
        Ok(Flow::Run(Point { pc: point.pc + 1, at, ..point }))
    }
}
