//! A pattern compiled to steps for the backtracking engine.
//!
//! The steps are those that CPython compiles to, because the group spans after a search depend on them.
//!
//! Invariant: every target is inside `ops`, and `ops` ends with `Success`.

use std::collections::HashMap;

use super::ast::{At, Greediness, LookDirection, Node, Polarity, Sequence, width};
use super::charset::ClassScope;
use super::error::Error;
use super::flags::Flags;
use super::fold::{Fold, SingleChar, scope, unit};
use super::parse::ParsedPattern;

/// A step of the engine.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    /// Stores the position as a group's start (even) or end (odd).
    Mark(usize),
    /// Matches one character, this one.
    Char(u32),
    /// Matches one character of a set.
    Set(usize),
    At(Anchor),
    /// Tries the alternatives of `branches` in order.
    Branch(usize),
    Jump(usize),
    /// Repeats a node that matches one character.
    RepeatUnit {
        greediness: Greediness,
        min: u32,
        max: u32,
        unit: usize,
    },
    /// Begins a repetition; its `Until` decides.
    Repeat {
        min: u32,
        max: u32,
        until: usize,
    },
    Until(Greediness),
    Possessive {
        min: u32,
        max: u32,
        next: usize,
    },
    Atomic {
        next: usize,
    },
    Look {
        back: usize,
        wanted: Polarity,
        next: usize,
    },
    Reference {
        group: usize,
        fold: Fold,
    },
    Condition {
        group: usize,
        otherwise: usize,
    },
    Success,
}

/// A zero-width position, with the flags applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    TextStart,
    LineStart,
    /// At the end, or before a newline that ends the text.
    LastLineEnd,
    LineEnd,
    TextEnd,
    Boundary(ClassScope, Polarity),
}

impl Anchor {
    pub(super) fn from_position(at: At, flags: Flags) -> Anchor {
        let lines = flags.has(Flags::MULTILINE);
        match at {
            At::Beginning if lines => Anchor::LineStart,
            At::Beginning | At::TextStart => Anchor::TextStart,
            At::End if lines => Anchor::LineEnd,
            At::End => Anchor::LastLineEnd,
            At::TextEnd => Anchor::TextEnd,
            At::Boundary(wanted) => Anchor::Boundary(scope(flags), wanted),
        }
    }
}

/// The steps, with the sets and the branches that they refer to.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) units: Vec<SingleChar>,
    pub(super) branches: Vec<Vec<usize>>,
    unit_indices: HashMap<SingleChar, usize>,
}

pub(super) fn compile(parsed: &ParsedPattern) -> Result<Program, Error> {
    let mut compiler = Compiler { program: Program::default(), parsed };
    compiler.sequence(&parsed.sequence, parsed.flags)?;
    compiler.push(Op::Success);
    compiler.program.unit_indices.clear();
    Ok(compiler.program)
}

struct Compiler<'p> {
    program: Program,
    parsed: &'p ParsedPattern,
}

impl Compiler<'_> {
    fn push(&mut self, op: Op) -> usize {
        self.program.ops.push(op);
        self.program.ops.len() - 1
    }

    fn next_index(&self) -> usize {
        self.program.ops.len()
    }

    /// Fills a reserved slot with a step.
    fn set(&mut self, at: usize, op: Op) {
        if let Some(slot) = self.program.ops.get_mut(at) {
            *slot = op;
        }
    }

    fn sequence(&mut self, sequence: &[Node], flags: Flags) -> Result<(), Error> {
        sequence.iter().try_for_each(|node| self.node(node, flags))
    }

    fn node(&mut self, node: &Node, flags: Flags) -> Result<(), Error> {
        if let Some(unit) = unit(node, flags) {
            let op = self.single(unit);
            self.push(op);
            return Ok(());
        }
        match node {
            Node::At(at) => {
                self.push(Op::At(Anchor::from_position(*at, flags)));
            }
            Node::Branch(alternatives) => self.branch(alternatives, flags)?,
            Node::Group { capture: Some(group), body, .. } => {
                self.push(Op::Mark((group - 1) * 2));
                self.sequence(body, flags)?;
                self.push(Op::Mark((group - 1) * 2 + 1));
            }
            Node::Group { capture: None, add, remove, body } => {
                self.sequence(body, flags.scoped(*add, *remove))?
            }
            Node::Repeat { greediness, min, max, body } => {
                self.repeat(*greediness, (*min, *max), body, flags)?
            }
            Node::Atomic(body) => {
                let start = self.push(Op::Success);
                let next = self.closed(body, flags)?;
                self.set(start, Op::Atomic { next });
            }
            Node::Look { side, wanted, body } => self.look(*side, *wanted, body, flags)?,
            Node::Reference(group) => {
                self.push(Op::Reference { group: *group, fold: Fold::from_flags(flags) });
            }
            Node::Condition { group, yes, no } => self.condition(*group, yes, no.as_deref(), flags)?,
            Node::Literal(_) | Node::NotLiteral(_) | Node::Any | Node::In(_) => {}
        }
        Ok(())
    }

    fn single(&mut self, unit: SingleChar) -> Op {
        match unit {
            SingleChar::Char(char) => Op::Char(char),
            SingleChar::Set(_) => Op::Set(self.intern(unit)),
        }
    }

    fn intern(&mut self, unit: SingleChar) -> usize {
        if let Some(at) = self.program.unit_indices.get(&unit) {
            return *at;
        }
        let at = self.program.units.len();
        self.program.units.push(unit.clone());
        self.program.unit_indices.insert(unit, at);
        at
    }

    /// Compiles a sequence with a `Success` behind it; returns the index of the following step.
    fn closed(&mut self, sequence: &[Node], flags: Flags) -> Result<usize, Error> {
        self.sequence(sequence, flags)?;
        self.push(Op::Success);
        Ok(self.next_index())
    }

    fn branch(&mut self, alternatives: &[Sequence], flags: Flags) -> Result<(), Error> {
        let index = self.program.branches.len();
        self.program.branches.push(Vec::new());
        self.push(Op::Branch(index));
        let (mut starts, mut jumps) = (Vec::new(), Vec::new());
        for sequence in alternatives {
            starts.push(self.next_index());
            self.sequence(sequence, flags)?;
            jumps.push(self.push(Op::Success));
        }
        let end = self.next_index();
        jumps.into_iter().for_each(|jump| self.set(jump, Op::Jump(end)));
        if let Some(slot) = self.program.branches.get_mut(index) {
            *slot = starts;
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        greediness: Greediness,
        (min, max): (u32, u32),
        body: &[Node],
        flags: Flags,
    ) -> Result<(), Error> {
        if let Some(unit) = repeated_unit(body, flags) {
            let unit = self.intern(unit);
            self.push(Op::RepeatUnit { greediness, min, max, unit });
            return Ok(());
        }
        let start = self.push(Op::Success);
        if greediness == Greediness::Possessive {
            let next = self.closed(body, flags)?;
            self.set(start, Op::Possessive { min, max, next });
            return Ok(());
        }
        self.sequence(body, flags)?;
        let until = self.push(Op::Until(greediness));
        self.set(start, Op::Repeat { min, max, until });
        Ok(())
    }

    fn look(
        &mut self,
        side: LookDirection,
        wanted: Polarity,
        body: &[Node],
        flags: Flags,
    ) -> Result<(), Error> {
        let back = match side {
            LookDirection::Ahead => 0,
            LookDirection::Behind => self.look_behind_width(body)?,
        };
        let start = self.push(Op::Success);
        let next = self.closed(body, flags)?;
        self.set(start, Op::Look { back, wanted, next });
        Ok(())
    }

    fn look_behind_width(&self, body: &[Node]) -> Result<usize, Error> {
        let (least, most) = width(body, &self.parsed.widths);
        let message = match u32::try_from(least) {
            Ok(back) if least == most => return Ok(back as usize),
            Ok(_) => "look-behind requires fixed-width pattern",
            Err(_) => "looks too much behind",
        };
        Err(Error::Pattern(message.to_owned()))
    }

    fn condition(
        &mut self,
        group: usize,
        yes: &[Node],
        no: Option<&[Node]>,
        flags: Flags,
    ) -> Result<(), Error> {
        let start = self.push(Op::Success);
        self.sequence(yes, flags)?;
        let mut otherwise = self.next_index();
        if let Some(no) = no {
            let jump = self.push(Op::Success);
            otherwise = self.next_index();
            self.sequence(no, flags)?;
            self.set(jump, Op::Jump(self.next_index()));
        }
        self.set(start, Op::Condition { group, otherwise });
        Ok(())
    }
}

/// Returns the single character of a body that consists of nothing else.
pub(super) fn repeated_unit(body: &[Node], flags: Flags) -> Option<SingleChar> {
    match body {
        [Node::Group { capture: None, add, remove, body }] => {
            repeated_unit(body, flags.scoped(*add, *remove))
        }
        [node] => unit(node, flags),
        _ => None,
    }
}
