//! Computes the characters that can begin a match, so that a search can skip other positions.
//!
//! Invariant: if there is a set, every match begins with one of its characters and no match is empty.

use super::ast::{Greediness, Item, Node, width};
use super::charset::CharSet;
use super::error::Error;
use super::fold::scope;
use super::parse::ParsedPattern;
use super::program::{Op, Program};

/// The maximum number of steps to examine; beyond it the set is unknown.
const MOST: usize = 200;

/// Rejects a pattern that begins with a class whose scope differs from that of the whole pattern. CPython searches
/// for the start of a match with the other scope and misses matches.
pub(super) fn check_start(parsed: &ParsedPattern) -> Result<(), Error> {
    let (mut sequence, mut flags) = (&parsed.sequence, parsed.flags);
    while let Some(Node::Group { add, remove, body, .. }) = sequence.first() {
        (sequence, flags) = (body, flags.scoped(*add, *remove));
    }
    let Some(Node::In(set)) = sequence.first() else { return Ok(()) };
    let classes = set.items.iter().any(|item| matches!(item, Item::Category(..)));
    if !classes || scope(flags) == scope(parsed.flags) || width(&parsed.sequence, &parsed.widths).0 == 0 {
        return Ok(());
    }
    let what = "not supported: a class under (?a:...) or (?u:...) at the start, where CPython misses matches";
    Err(Error::Pattern(what.to_owned()))
}

/// Returns the characters that a match can begin with, if they are known.
pub(super) fn first(program: &Program) -> Option<CharSet> {
    let (mut ranges, mut remaining) = (Vec::new(), MOST);
    collect(program, 0, &mut ranges, &mut remaining)?;
    Some(CharSet::new(ranges))
}

fn collect(
    program: &Program,
    from: usize,
    ranges: &mut Vec<(u32, u32)>,
    remaining: &mut usize,
) -> Option<()> {
    let mut pc = from;
    loop {
        *remaining = remaining.checked_sub(1)?;
        match program.ops.get(pc)? {
            Op::Char(char) => {
                ranges.push((*char, *char));
                return Some(());
            }
            Op::Set(unit) => return add(program, *unit, ranges),
            Op::RepeatUnit { min, unit, .. } => {
                add(program, *unit, ranges)?;
                if *min > 0 {
                    return Some(());
                }
                pc += 1;
            }
            Op::Repeat { min: 1.., .. } | Op::Possessive { min: 1.., .. } => pc += 1,
            Op::Mark(_) | Op::At(_) | Op::Atomic { .. } => pc += 1,
            Op::Jump(target) => pc = *target,
            Op::Look { next, .. } => pc = *next,
            Op::Branch(index) => {
                let starts = program.branches.get(*index)?;
                return starts.iter().try_for_each(|start| collect(program, *start, ranges, remaining));
            }
            Op::Repeat { .. } | Op::Possessive { .. } => return None,
            Op::Until(Greediness::Greedy | Greediness::Lazy | Greediness::Possessive) => return None,
            Op::Reference { .. } | Op::Condition { .. } | Op::Success => return None,
        }
    }
}

fn add(program: &Program, unit: usize, ranges: &mut Vec<(u32, u32)>) -> Option<()> {
    ranges.extend_from_slice(program.units.get(unit)?.to_set().ranges());
    Some(())
}
