//! Repetitions, look-around and atomic groups of the backtracking engine: their start, and their continuation after a
//! part has matched or failed.
//!
//! Invariant: the function that pushes marks pops them again, whatever the result.

use super::ast::{ENDLESS, Polarity};
use super::error::Error;
use super::frames::ActiveRepeat;
use super::machine::{EmptyMatch, Flow, Frame, Machine, NOWHERE, PartResult, Point, RepeatState, Wait};
use super::program::Op;

impl Machine<'_> {
    /// Resumes a step after the part that it waited for.
    pub(super) fn resume(&mut self, frame: Frame, result: PartResult) -> Result<Flow, Error> {
        match frame.wait {
            Wait::Branch => self.after_branch(frame, result),
            Wait::UnitTail => self.after_unit_tail(frame, result),
            Wait::LazyUnitTail => self.after_lazy_unit_tail(frame, result),
            Wait::Repeat => {
                self.current = self.repeats.get(frame.repeat).and_then(|repeat| repeat.outer);
                self.repeats.truncate(frame.repeat);
                Ok(Flow::Done(result))
            }
            Wait::RequiredBody => {
                if result == PartResult::Failed {
                    self.set_count(frame.repeat, i64::from(frame.count) - 1);
                }
                Ok(Flow::Done(result))
            }
            Wait::GreedyBody => self.after_greedy_body(frame, result),
            Wait::LazyBody => {
                self.set_last(frame.repeat, frame.last_at);
                if result == PartResult::Failed {
                    self.set_count(frame.repeat, i64::from(frame.count) - 1);
                }
                Ok(Flow::Done(result))
            }
            Wait::GreedyTail => {
                self.current = Some(frame.repeat);
                Ok(Flow::Done(result))
            }
            Wait::LazyTail => self.after_lazy_tail(frame, result),
            Wait::PossessiveRequired if result == PartResult::Failed => Ok(Flow::Done(PartResult::Failed)),
            Wait::PossessiveRequired => self.possessive_again(Frame { count: frame.count + 1, ..frame }),
            Wait::PossessiveMore => self.after_possessive(frame, result),
            Wait::Atomic | Wait::Look => Ok(self.after_part(frame, result)),
        }
    }

    pub(super) fn repeat(
        &mut self,
        (min, max): (u32, u32),
        until: usize,
        point: Point,
    ) -> Result<Flow, Error> {
        let index = self.repeats.len();
        let body = point.pc + 1;
        self.repeats.push(RepeatState { body, min, max, count: -1, outer: self.current, last_at: NOWHERE });
        self.current = Some(index);
        self.wait(self.repeat_frame(Wait::Repeat, point, index))?;
        Ok(Flow::Run(Point { pc: until, ..point }))
    }

    pub(super) fn until_greedy(&mut self, point: Point) -> Result<Flow, Error> {
        let Some(ActiveRepeat { index, state: repeat, count }) = self.active_repeat() else {
            return Ok(Flow::Done(PartResult::Failed));
        };
        if count < repeat.min {
            return self.required_body(index, repeat, count, point);
        }
        if (count < repeat.max || repeat.max == ENDLESS) && point.at != repeat.last_at {
            self.set_count(index, i64::from(count));
            let frame = self.repeat_frame(Wait::GreedyBody, point, index);
            self.save(frame.last_mark)?;
            self.set_last(index, point.at);
            self.wait(Frame { count, last_at: repeat.last_at, ..frame })?;
            return Ok(Flow::Run(Point { pc: repeat.body, ..point }));
        }
        self.greedy_tail(index, repeat, point)
    }

    fn after_greedy_body(&mut self, frame: Frame, result: PartResult) -> Result<Flow, Error> {
        self.set_last(frame.repeat, frame.last_at);
        if result == PartResult::Matched {
            self.drop_saved(frame.last_mark);
            return Ok(Flow::Done(PartResult::Matched));
        }
        self.restore_and_drop(frame.last_mark);
        self.last_mark = frame.last_mark;
        self.set_count(frame.repeat, i64::from(frame.count) - 1);
        match self.repeats.get(frame.repeat).copied() {
            Some(repeat) => self.greedy_tail(frame.repeat, repeat, frame.from),
            None => Ok(Flow::Done(PartResult::Failed)),
        }
    }

    fn greedy_tail(&mut self, index: usize, repeat: RepeatState, point: Point) -> Result<Flow, Error> {
        self.current = repeat.outer;
        self.wait(self.repeat_frame(Wait::GreedyTail, point, index))?;
        Ok(Flow::Run(Point { pc: point.pc + 1, ..point }))
    }

    fn required_body(
        &mut self,
        index: usize,
        repeat: RepeatState,
        count: u32,
        point: Point,
    ) -> Result<Flow, Error> {
        self.set_count(index, i64::from(count));
        self.wait(Frame { count, ..self.repeat_frame(Wait::RequiredBody, point, index) })?;
        Ok(Flow::Run(Point { pc: repeat.body, ..point }))
    }

    pub(super) fn until_lazy(&mut self, point: Point) -> Result<Flow, Error> {
        let Some(ActiveRepeat { index, state: repeat, count }) = self.active_repeat() else {
            return Ok(Flow::Done(PartResult::Failed));
        };
        if count < repeat.min {
            return self.required_body(index, repeat, count, point);
        }
        self.current = repeat.outer;
        let frame = self.repeat_frame(Wait::LazyTail, point, index);
        self.save_if_repeating(frame.last_mark)?;
        self.wait(Frame { count, ..frame })?;
        Ok(Flow::Run(Point { pc: point.pc + 1, ..point }))
    }

    fn after_lazy_tail(&mut self, frame: Frame, result: PartResult) -> Result<Flow, Error> {
        let marks_are_saved = self.current.is_some();
        self.current = Some(frame.repeat);
        if marks_are_saved && result == PartResult::Matched {
            self.drop_saved(frame.last_mark);
        }
        if result == PartResult::Matched {
            return Ok(Flow::Done(PartResult::Matched));
        }
        if marks_are_saved {
            self.restore_and_drop(frame.last_mark);
        }
        self.last_mark = frame.last_mark;
        let Some(repeat) = self.repeats.get(frame.repeat).copied() else {
            return Ok(Flow::Done(PartResult::Failed));
        };
        let enough = frame.count >= repeat.max && repeat.max != ENDLESS;
        if enough || frame.from.at == repeat.last_at {
            return Ok(Flow::Done(PartResult::Failed));
        }
        self.set_count(frame.repeat, i64::from(frame.count));
        self.set_last(frame.repeat, frame.from.at);
        self.wait(Frame { wait: Wait::LazyBody, last_at: repeat.last_at, ..frame })?;
        Ok(Flow::Run(Point { pc: repeat.body, ..frame.from }))
    }

    pub(super) fn possessive(&mut self, point: Point) -> Result<Flow, Error> {
        self.part_end = point.at;
        let frame = self.frame(Wait::PossessiveRequired, point);
        self.possessive_again(frame)
    }

    /// Matches the body of a possessive repetition once more, or continues behind it.
    fn possessive_again(&mut self, frame: Frame) -> Result<Flow, Error> {
        let Some(Op::Possessive { min, max, next }) = self.program.ops.get(frame.from.pc).copied() else {
            return Ok(Flow::Done(PartResult::Failed));
        };
        let body = Point { pc: frame.from.pc + 1, at: self.part_end, empty_match: EmptyMatch::Accepted };
        if frame.count < min {
            self.wait(frame)?;
            return Ok(Flow::Run(body));
        }
        if (frame.count < max || max == ENDLESS) && self.part_end != frame.last_at {
            let (last_mark, last_at) = (self.last_mark, self.part_end);
            self.save(last_mark)?;
            self.wait(Frame { wait: Wait::PossessiveMore, last_mark, last_at, ..frame })?;
            return Ok(Flow::Run(body));
        }
        Ok(Flow::Run(Point { pc: next, at: self.part_end, ..frame.from }))
    }

    fn after_possessive(&mut self, frame: Frame, result: PartResult) -> Result<Flow, Error> {
        if result == PartResult::Matched {
            self.drop_saved(frame.last_mark);
            return self.possessive_again(Frame { count: frame.count.saturating_add(1), ..frame });
        }
        self.restore_and_drop(frame.last_mark);
        (self.last_mark, self.part_end) = (frame.last_mark, frame.last_at);
        match self.program.ops.get(frame.from.pc) {
            Some(Op::Possessive { next, .. }) => {
                Ok(Flow::Run(Point { pc: *next, at: frame.last_at, ..frame.from }))
            }
            Some(_) | None => Ok(Flow::Done(PartResult::Failed)),
        }
    }

    pub(super) fn look(
        &mut self,
        back: usize,
        wanted: Polarity,
        next: usize,
        point: Point,
    ) -> Result<Flow, Error> {
        self.budget.spend(back.min(point.at))?;
        let mut at = Some(point.at);
        for _ in 0..back.min(point.at + 1) {
            at = at.and_then(|at| self.before(at));
        }
        match (at, wanted) {
            (Some(at), Polarity::Yes) => self.match_part(Wait::Look, point, at),
            (Some(at), Polarity::No) => {
                self.save_if_repeating(self.last_mark)?;
                self.match_part(Wait::Look, point, at)
            }
            (None, Polarity::Yes) => Ok(Flow::Done(PartResult::Failed)),
            (None, Polarity::No) => Ok(Flow::Run(Point { pc: next, ..point })),
        }
    }

    /// Matches a part on its own.
    pub(super) fn match_part(&mut self, wait: Wait, point: Point, at: usize) -> Result<Flow, Error> {
        self.wait(self.frame(wait, point))?;
        Ok(Flow::Run(Point { pc: point.pc + 1, at, empty_match: EmptyMatch::Accepted }))
    }

    fn after_part(&mut self, frame: Frame, result: PartResult) -> Flow {
        match (self.program.ops.get(frame.from.pc), result) {
            (Some(Op::Atomic { next }), PartResult::Matched) => {
                Flow::Run(Point { pc: *next, at: self.part_end, ..frame.from })
            }
            (Some(Op::Look { wanted: Polarity::Yes, next, .. }), PartResult::Matched) => {
                Flow::Run(Point { pc: *next, ..frame.from })
            }
            (Some(Op::Look { wanted: Polarity::No, .. }), PartResult::Matched) => {
                self.drop_saved_if_repeating(frame.last_mark);
                Flow::Done(PartResult::Failed)
            }
            (Some(Op::Look { wanted: Polarity::No, next, .. }), PartResult::Failed) => {
                let next = *next;
                if self.current.is_some() {
                    self.restore_and_drop(frame.last_mark);
                }
                self.last_mark = frame.last_mark;
                Flow::Run(Point { pc: next, ..frame.from })
            }
            (Some(_) | None, _) => Flow::Done(PartResult::Failed),
        }
    }
}
