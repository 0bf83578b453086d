//! Searches a whole text with the backtracking engine: the leftmost match at or after a position.
//!
//! Invariant: after a match the machine holds its groups.

use super::budget::StepBudget;
use super::charset::CharSet;
use super::compiled::Pattern;
use super::error::Error;
use super::machine::{EmptyMatch, Machine};
use super::program::{Anchor, Op};

pub(super) struct BacktrackingSearch<'s> {
    pub(super) machine: Machine<'s>,
    first: Option<&'s CharSet>,
    start_only: bool,
}

impl<'s> BacktrackingSearch<'s> {
    pub(super) fn new(
        pattern: &'s Pattern,
        text: &'s str,
        budget: &'s mut StepBudget,
    ) -> BacktrackingSearch<'s> {
        let program = &pattern.program;
        let machine = Machine::new(program, pattern.groups, text, budget);
        let start_only = matches!(program.ops.first(), Some(Op::At(Anchor::TextStart)));
        BacktrackingSearch { machine, first: pattern.first.as_ref(), start_only }
    }

    /// Returns the leftmost match at or after a position. At that position itself it must not be empty if `empty_match`
    /// says so.
    pub(super) fn find(
        &mut self,
        mut at: usize,
        mut empty_match: EmptyMatch,
    ) -> Result<Option<(usize, usize)>, Error> {
        loop {
            let next = self.machine.char_at(at);
            let possible = self.first.is_none_or(|first| next.is_some_and(|(char, _)| first.contains(char)));
            if possible {
                if let Some(end) = self.machine.attempt(at, empty_match)? {
                    return Ok(Some((at, end)));
                }
            } else {
                self.machine.budget.spend(1)?;
            }
            let Some((_, next)) = next.filter(|_| !self.start_only) else { return Ok(None) };
            (at, empty_match) = (next, EmptyMatch::Accepted);
        }
    }
}
