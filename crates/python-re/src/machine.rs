//! The backtracking engine: one match attempt at one position, with every step counted.
//!
//! It saves and restores exactly what CPython does, because the spans of groups after an abandoned alternative, or in
//! a repeated group, depend on it. Its stack is a vector, so no text can overflow the thread's stack.
//!
//! Invariant: `saved` holds exactly the marks that the frames on the stack have pushed.

use super::ast::Greediness;
use super::budget::StepBudget;
use super::error::Error;
use super::program::{Op, Program};

pub(super) const NOWHERE: usize = usize::MAX;
/// The maximum number of frames, and of saved marks.
const TALLEST: usize = 1_000_000;
/// The cost of a frame besides its step, in steps.
const FRAME: usize = 2;

/// A step of the program with a position in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) pc: usize,
    pub(super) at: usize,
    pub(super) empty_match: EmptyMatch,
}

/// Decides if a match that ends where it starts is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmptyMatch {
    /// It is rejected: there was already an empty match at this position.
    Rejected,
    /// It is accepted, as always inside parts that are matched on their own.
    Accepted,
}

/// The result of a step.
pub(super) enum Flow {
    Run(Point),
    Done(PartResult),
}

/// The result of matching a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartResult {
    Matched,
    Failed,
}

/// A step that waits for the result of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) wait: Wait,
    /// The step that waits, and its position.
    pub(super) from: Point,
    pub(super) count: u32,
    pub(super) last_mark: isize,
    /// The index of the repetition that the step belongs to.
    pub(super) repeat: usize,
    pub(super) last_at: usize,
}

/// The part that a frame waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    Branch,
    UnitTail,
    LazyUnitTail,
    Repeat,
    RequiredBody,
    GreedyBody,
    LazyBody,
    GreedyTail,
    LazyTail,
    PossessiveRequired,
    PossessiveMore,
    Atomic,
    Look,
}

/// The state of a repetition in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepeatState {
    pub(super) body: usize,
    pub(super) min: u32,
    pub(super) max: u32,
    /// The number of times that the body has begun, minus one.
    pub(super) count: i64,
    pub(super) outer: Option<usize>,
    pub(super) last_at: usize,
}

/// The state of a search over one text.
pub(super) struct Machine<'s> {
    pub(super) program: &'s Program,
    pub(super) text: &'s str,
    pub(super) budget: &'s mut StepBudget,
    pub(super) marks: Vec<usize>,
    pub(super) last_mark: isize,
    pub(super) repeats: Vec<RepeatState>,
    pub(super) current: Option<usize>,
    pub(super) frames: Vec<Frame>,
    pub(super) saved: Vec<usize>,
    /// The end of the last matched part.
    pub(super) part_end: usize,
    start: usize,
}

impl<'s> Machine<'s> {
    pub(super) fn new(
        program: &'s Program,
        groups: usize,
        text: &'s str,
        budget: &'s mut StepBudget,
    ) -> Machine<'s> {
        Machine {
            program,
            text,
            budget,
            marks: vec![NOWHERE; groups * 2],
            last_mark: -1,
            repeats: Vec::new(),
            current: None,
            frames: Vec::new(),
            saved: Vec::new(),
            part_end: 0,
            start: 0,
        }
    }

    /// Tries to match at one position; returns the end of the match.
    pub(super) fn attempt(&mut self, at: usize, empty_match: EmptyMatch) -> Result<Option<usize>, Error> {
        (self.last_mark, self.current, self.start) = (-1, None, at);
        self.repeats.clear();
        self.frames.clear();
        self.saved.clear();
        let mut point = Point { pc: 0, at, empty_match };
        loop {
            let mut result = self.advance(point)?;
            point = loop {
                let Some(frame) = self.frames.pop() else {
                    return Ok((result == PartResult::Matched).then_some(self.part_end));
                };
                self.budget.spend(1)?;
                match self.resume(frame, result)? {
                    Flow::Run(next) => break next,
                    Flow::Done(part) => result = part,
                }
            };
        }
    }

    /// Returns the span of a group after a match, if the group took part in it.
    pub(super) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let index = group.checked_sub(1)? * 2;
        let (from, to) = (*self.marks.get(index)?, *self.marks.get(index + 1)?);
        let set = self.last_mark > index as isize && from != NOWHERE && to != NOWHERE;
        set.then_some((from, to))
    }

    /// Pushes a frame that waits while a part is tried.
    pub(super) fn wait(&mut self, frame: Frame) -> Result<(), Error> {
        if self.frames.len() >= TALLEST || self.saved.len() >= TALLEST * 4 {
            return Err(self.budget.exhausted());
        }
        self.frames.push(frame);
        self.budget.spend(FRAME)
    }

    /// Runs until the current part matches or fails.
    fn advance(&mut self, from: Point) -> Result<PartResult, Error> {
        let mut point = from;
        loop {
            self.budget.spend(1)?;
            let Some(op) = self.program.ops.get(point.pc).copied() else { return Ok(PartResult::Failed) };
            let taken = match op {
                Op::Char(wanted) => self.char_at(point.at).filter(|(char, _)| *char == wanted),
                Op::Set(unit) => self.char_at(point.at).filter(|(char, _)| self.accepts(unit, *char)),
                Op::Jump(target) => {
                    point.pc = target;
                    continue;
                }
                Op::Success => {
                    self.part_end = point.at;
                    let counts = point.empty_match == EmptyMatch::Accepted || point.at != self.start;
                    return Ok(if counts { PartResult::Matched } else { PartResult::Failed });
                }
                _ => match self.control(op, point)? {
                    Flow::Run(next) => {
                        point = next;
                        continue;
                    }
                    Flow::Done(result) => return Ok(result),
                },
            };
            let Some((_, next)) = taken else { return Ok(PartResult::Failed) };
            point = Point { pc: point.pc + 1, at: next, ..point };
        }
    }

    /// Executes a step that is not a single character.
    fn control(&mut self, op: Op, point: Point) -> Result<Flow, Error> {
        let next = Point { pc: point.pc + 1, ..point };
        match op {
            Op::Mark(mark) => self.mark(mark, point.at),
            Op::At(anchor) if !self.holds(anchor, point.at) => return Ok(Flow::Done(PartResult::Failed)),
            Op::At(_) | Op::Char(_) | Op::Set(_) | Op::Jump(_) | Op::Success => {}
            Op::Branch(_) => return self.branch(point),
            Op::RepeatUnit { greediness: Greediness::Greedy, min, max, unit } => {
                return self.greedy_unit((min, max), unit, point);
            }
            Op::RepeatUnit { greediness: Greediness::Lazy, min, unit, .. } => {
                return self.lazy_unit(min, unit, point);
            }
            Op::RepeatUnit { greediness: Greediness::Possessive, min, max, unit } => {
                let (count, at) = self.count(unit, point.at, max)?;
                return Ok(if count < min {
                    Flow::Done(PartResult::Failed)
                } else {
                    Flow::Run(Point { at, ..next })
                });
            }
            Op::Repeat { min, max, until } => return self.repeat((min, max), until, point),
            Op::Until(Greediness::Lazy) => return self.until_lazy(point),
            Op::Until(Greediness::Greedy | Greediness::Possessive) => {
                return self.until_greedy(point);
            }
            Op::Possessive { .. } => return self.possessive(point),
            Op::Atomic { .. } => return self.match_part(Wait::Atomic, point, point.at),
            Op::Look { back, wanted, next } => return self.look(back, wanted, next, point),
            Op::Reference { group, fold } => return self.reference(group, fold, point),
            Op::Condition { group, otherwise } => {
                let holds = self.group(group).is_some_and(|(from, to)| from <= to);
                return Ok(Flow::Run(if holds { next } else { Point { pc: otherwise, ..point } }));
            }
        }
        Ok(Flow::Run(next))
    }

    fn mark(&mut self, mark: usize, at: usize) {
        let index = mark as isize;
        if index > self.last_mark {
            let from = usize::try_from(self.last_mark + 1).unwrap_or_default();
            self.marks.iter_mut().take(mark).skip(from).for_each(|skipped| *skipped = NOWHERE);
            self.last_mark = index;
        }
        if let Some(slot) = self.marks.get_mut(mark) {
            *slot = at;
        }
    }
}
