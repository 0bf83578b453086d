//! Alternatives and single-character repetitions of the backtracking engine.
//!
//! Invariant: the function that saves marks pops them again, whatever the result.

use super::error::Error;
use super::machine::{Flow, Frame, Machine, PartResult, Point, Wait};
use super::program::Op;

impl Machine<'_> {
    pub(super) fn branch(&mut self, point: Point) -> Result<Flow, Error> {
        let frame = self.frame(Wait::Branch, point);
        self.save_if_repeating(frame.last_mark)?;
        self.next_branch(frame)
    }

    pub(super) fn next_branch(&mut self, frame: Frame) -> Result<Flow, Error> {
        let starts = match self.program.ops.get(frame.from.pc) {
            Some(Op::Branch(index)) => self.program.branches.get(*index).map_or(&[][..], Vec::as_slice),
            Some(_) | None => &[],
        };
        let tried = frame.count as usize;
        let next = starts.iter().skip(tried).position(|start| self.may_start(*start, frame.from.at));
        let found = next.and_then(|skipped| Some((tried + skipped, *starts.get(tried + skipped)?)));
        let Some((chosen, pc)) = found else {
            self.budget.spend(starts.len() - tried.min(starts.len()))?;
            self.drop_saved_if_repeating(frame.last_mark);
            return Ok(Flow::Done(PartResult::Failed));
        };
        self.budget.spend(chosen - tried)?;
        self.wait(Frame { count: chosen as u32 + 1, ..frame })?;
        Ok(Flow::Run(Point { pc, ..frame.from }))
    }

    /// Returns false if a single-character step cannot match at a position.
    fn may_start(&self, pc: usize, at: usize) -> bool {
        match self.program.ops.get(pc) {
            Some(Op::Char(wanted)) => self.char_at(at).is_some_and(|(char, _)| char == *wanted),
            Some(Op::Set(unit)) => self.char_at(at).is_some_and(|(char, _)| self.accepts(*unit, char)),
            Some(_) | None => true,
        }
    }

    pub(super) fn after_branch(&mut self, frame: Frame, result: PartResult) -> Result<Flow, Error> {
        if self.leave_tail(frame, result) == PartResult::Matched {
            return Ok(Flow::Done(PartResult::Matched));
        }
        self.next_branch(frame)
    }

    /// Ends a tail: drops the saved marks if it matched, otherwise restores them and keeps them.
    pub(super) fn leave_tail(&mut self, frame: Frame, result: PartResult) -> PartResult {
        match result {
            PartResult::Matched => self.drop_saved_if_repeating(frame.last_mark),
            PartResult::Failed => {
                if self.current.is_some() {
                    self.restore(frame.last_mark);
                }
                self.last_mark = frame.last_mark;
            }
        }
        result
    }

    pub(super) fn greedy_unit(
        &mut self,
        (min, max): (u32, u32),
        unit: usize,
        point: Point,
    ) -> Result<Flow, Error> {
        let (count, at) = self.count(unit, point.at, max)?;
        if count < min {
            return Ok(Flow::Done(PartResult::Failed));
        }
        let from = Point { at, ..point };
        let frame = Frame { count, ..self.frame(Wait::UnitTail, from) };
        self.save_if_repeating(frame.last_mark)?;
        self.unit_tail(frame)
    }

    /// Tries the steps behind a unit, from the longest remaining count to the shortest.
    pub(super) fn unit_tail(&mut self, mut frame: Frame) -> Result<Flow, Error> {
        let pc = frame.from.pc + 1;
        while let Some(Op::Char(_)) = self.program.ops.get(pc) {
            if self.may_start(pc, frame.from.at) {
                break;
            }
            self.budget.spend(1)?;
            if !self.step_back(&mut frame) {
                self.drop_saved_if_repeating(frame.last_mark);
                return Ok(Flow::Done(PartResult::Failed));
            }
        }
        self.wait(frame)?;
        Ok(Flow::Run(Point { pc, ..frame.from }))
    }

    /// Gives back one character of a repeated unit, unless the minimum count is reached.
    fn step_back(&self, frame: &mut Frame) -> bool {
        let Some(Op::RepeatUnit { min, .. }) = self.program.ops.get(frame.from.pc) else { return false };
        let Some(before) = self.before(frame.from.at).filter(|_| frame.count > *min) else { return false };
        frame.from.at = before;
        frame.count -= 1;
        true
    }

    pub(super) fn after_unit_tail(&mut self, mut frame: Frame, result: PartResult) -> Result<Flow, Error> {
        if self.leave_tail(frame, result) == PartResult::Matched {
            return Ok(Flow::Done(PartResult::Matched));
        }
        if self.step_back(&mut frame) {
            return self.unit_tail(frame);
        }
        self.drop_saved_if_repeating(frame.last_mark);
        Ok(Flow::Done(PartResult::Failed))
    }

    pub(super) fn lazy_unit(&mut self, min: u32, unit: usize, point: Point) -> Result<Flow, Error> {
        let (count, at) = self.count(unit, point.at, min)?;
        if count < min {
            return Ok(Flow::Done(PartResult::Failed));
        }
        let from = Point { at, ..point };
        let frame = Frame { count, ..self.frame(Wait::LazyUnitTail, from) };
        self.save_if_repeating(frame.last_mark)?;
        self.wait(frame)?;
        Ok(Flow::Run(Point { pc: point.pc + 1, ..from }))
    }

    pub(super) fn after_lazy_unit_tail(&mut self, frame: Frame, result: PartResult) -> Result<Flow, Error> {
        if self.leave_tail(frame, result) == PartResult::Matched {
            return Ok(Flow::Done(PartResult::Matched));
        }
        let more = match self.program.ops.get(frame.from.pc) {
            Some(Op::RepeatUnit { max, unit, .. }) if frame.count < *max => {
                self.count(*unit, frame.from.at, 1)?
            }
            Some(_) | None => (0, frame.from.at),
        };
        if more.0 == 0 {
            self.drop_saved_if_repeating(frame.last_mark);
            return Ok(Flow::Done(PartResult::Failed));
        }
        let from = Point { at: more.1, ..frame.from };
        self.wait(Frame { from, count: frame.count.saturating_add(1), ..frame })?;
        Ok(Flow::Run(Point { pc: from.pc + 1, ..from }))
    }
}
