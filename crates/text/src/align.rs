//! Compares two blocks of lines.
//!
//! A small block goes to the diff of `similar` unchanged. A large block is first cut at the lines that occur once on
//! each side, in their longest common order. A step count bounds the work. A block that would exceed the bound counts
//! as changed from end to end, so no pair of texts is slow.
//!
//! Invariant: pieces are sorted and never touch; between two pieces both sides have the same lines.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

use similar::algorithms::{DiffHook, myers};

use super::lines::Lines;

/// The maximum number of lines, of both sides together, in a block that is diffed. A larger block only loses its
/// common ends.
const MAX_LINES: usize = 1 << 20;
/// The step limit of all diffs of one plan: 50,000 repeated lines against as many.
const ALL_STEPS: usize = 1 << 25;
/// The step limit of a block that is diffed without being cut first.
const UNCUT_STEPS: usize = 1 << 20;

/// A range of differing lines on both sides, counted from 0, ends excluded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DifferingLines {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl DifferingLines {
    /// Returns true if both sides are empty.
    pub(super) fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

/// The remaining steps, and the size of the largest block that may use them.
#[derive(Debug)]
pub(super) struct AlignBudget {
    left: usize,
    most_lines: usize,
}

impl AlignBudget {
    /// Returns the budget of one plan.
    pub(super) fn of_one_plan() -> AlignBudget {
        AlignBudget { left: ALL_STEPS, most_lines: MAX_LINES }
    }

    /// Returns a budget of so many steps.
    #[cfg(test)]
    pub(super) fn with_steps(left: usize) -> AlignBudget {
        AlignBudget { left, most_lines: MAX_LINES }
    }

    /// Takes steps. Takes nothing and returns false if not enough are left.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        let enough = steps <= self.left;
        if enough {
            self.left -= steps;
        }
        enough
    }
}

/// Returns the differing parts of two lists of lines, counted from 0: sorted pieces that never touch, with equal
/// lines between them.
///
/// The work is bounded: lists that would exceed the bound are one piece from their first difference to their last.
pub fn differing_lines(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let whole = DifferingLines { old: 0..old.len(), new: 0..new.len() };
    let (old, new) =
        (|at| old.get(at).copied().unwrap_or_default(), |at| new.get(at).copied().unwrap_or_default());
    let pieces = differing(&whole, old, new, &mut AlignBudget::of_one_plan());
    pieces.into_iter().map(|piece| (piece.old, piece.new)).collect()
}

/// Returns the differing lines of two texts, with their line ends.
pub(super) fn differing_texts(old: Lines<'_>, new: Lines<'_>) -> Vec<DifferingLines> {
    let whole = DifferingLines { old: 0..old.count(), new: 0..new.count() };
    let steps = &mut AlignBudget::of_one_plan();
    differing(&whole, |i| old.with_line_end(i + 1), |j| new.with_line_end(j + 1), steps)
}

/// Returns the differing lines of a block.
pub(super) fn differing<'a>(
    block: &DifferingLines,
    old: impl Fn(usize) -> &'a str,
    new: impl Fn(usize) -> &'a str,
    steps: &mut AlignBudget,
) -> Vec<DifferingLines> {
    let rest = trimmed(block.clone(), |i, j| old(i) == new(j));
    if rest.is_empty() {
        return Vec::new();
    }
    let plain = rest.old.is_empty() || rest.new.is_empty() || rest.old.len() + rest.new.len() == 2;
    if plain || rest.old.len() + rest.new.len() > steps.most_lines {
        return vec![rest];
    }
    let mut names = HashMap::with_capacity(rest.old.len());
    let mut name = |line| {
        let next = u32::try_from(names.len()).unwrap_or(u32::MAX);
        *names.entry(line).or_insert(next)
    };
    let old_names: Vec<u32> = rest.old.clone().map(|line| name(old(line))).collect();
    let new_names: Vec<u32> = rest.new.clone().map(|line| name(new(line))).collect();
    let count = names.len();
    drop(names);
    let same = Aligner { old: &old_names, new: &new_names, line_kinds: count, steps }.run();
    let moved =
        |run: EqualLines| EqualLines { old: run.old + rest.old.start, new: run.new + rest.new.start, ..run };
    between(&rest, same.into_iter().map(moved))
}

/// Appends a piece, and joins it to the last one if they touch.
pub(super) fn push(pieces: &mut Vec<DifferingLines>, piece: DifferingLines) {
    match pieces.last_mut() {
        Some(last) if last.old.end == piece.old.start && last.new.end == piece.new.start => {
            (last.old.end, last.new.end) = (piece.old.end, piece.new.end);
        }
        Some(_) | None => pieces.push(piece),
    }
}

#[derive(Debug, Clone, Copy)]
struct EqualLines {
    old: usize,
    new: usize,
    len: usize,
}

struct Aligner<'a> {
    old: &'a [u32],
    new: &'a [u32],
    line_kinds: usize,
    steps: &'a mut AlignBudget,
}

impl Aligner<'_> {
    fn run(&mut self) -> Vec<EqualLines> {
        let whole = DifferingLines { old: 0..self.old.len(), new: 0..self.new.len() };
        let mut same = Vec::new();
        if cost(&whole) <= UNCUT_STEPS {
            self.diff(whole, &mut same);
            return same;
        }
        let end = EqualLines { old: whole.old.end, new: whole.new.end, len: 0 };
        let (mut old, mut new) = (0, 0);
        for anchor in self.anchors().into_iter().chain([end]) {
            let gap = DifferingLines { old: old..anchor.old, new: new..anchor.new };
            let inner = trimmed(gap.clone(), |i, j| self.old.get(i) == self.new.get(j));
            same.push(EqualLines {
                old: gap.old.start,
                new: gap.new.start,
                len: inner.old.start - gap.old.start,
            });
            self.diff(inner.clone(), &mut same);
            same.push(EqualLines { old: inner.old.end, new: inner.new.end, len: anchor.old - inner.old.end });
            same.push(anchor);
            (old, new) = (anchor.old + anchor.len, anchor.new + anchor.len);
        }
        same
    }

    fn diff(&mut self, gap: DifferingLines, same: &mut Vec<EqualLines>) {
        if gap.old.is_empty() || gap.new.is_empty() || !self.steps.take(cost(&gap)) {
            return;
        }
        let Ok(()) = myers::diff(&mut Equal(same), self.old, gap.old, self.new, gap.new);
    }

    /// Returns the longest list of lines that are unique on both sides and in the same order on both.
    fn anchors(&self) -> Vec<EqualLines> {
        let [old, new] = [self.old, self.new].map(|side| occurrences(side, self.line_kinds));
        let unique = old.into_iter().zip(new).filter_map(|pair| match pair {
            (LineOccurrence::Once(i), LineOccurrence::Once(j)) => {
                Some(EqualLines { old: i as usize, new: j as usize, len: 1 })
            }
            (LineOccurrence::Never | LineOccurrence::Often | LineOccurrence::Once(_), _) => None,
        });
        let mut unique: Vec<EqualLines> = unique.collect();
        unique.sort_unstable_by_key(|run| run.old);
        longest_rise(&unique)
    }
}

/// The occurrences of a line on one side.
#[derive(Debug, Clone, Copy)]
enum LineOccurrence {
    Never,
    Once(u32),
    Often,
}

fn occurrences(side: &[u32], names: usize) -> Vec<LineOccurrence> {
    let mut places = vec![LineOccurrence::Never; names];
    for (at, &name) in (0..).zip(side) {
        if let Some(occurrence) = places.get_mut(name as usize) {
            *occurrence = match occurrence {
                LineOccurrence::Never => LineOccurrence::Once(at),
                LineOccurrence::Once(_) | LineOccurrence::Often => LineOccurrence::Often,
            };
        }
    }
    places
}

/// Returns the longest subsequence whose positions on the new side rise too.
fn longest_rise(runs: &[EqualLines]) -> Vec<EqualLines> {
    let mut tops: Vec<usize> = Vec::new();
    let mut below: Vec<Option<usize>> = Vec::with_capacity(runs.len());
    let new = |index: usize| runs.get(index).map_or(0, |run| run.new);
    for (index, run) in runs.iter().enumerate() {
        let pile = tops.partition_point(|&top| new(top) < run.new);
        below.push(pile.checked_sub(1).and_then(|under| tops.get(under).copied()));
        match tops.get_mut(pile) {
            Some(top) => *top = index,
            None => tops.push(index),
        }
    }
    let down = |&index: &usize| below.get(index).copied().flatten();
    let mut rise: Vec<EqualLines> = std::iter::successors(tops.last().copied(), down)
        .filter_map(|index| runs.get(index).copied())
        .collect();
    rise.reverse();
    rise
}

/// Returns an upper bound of the steps of a diff: `similar` never searches further than this from a diagonal.
fn cost(piece: &DifferingLines) -> usize {
    let (old, new) = (piece.old.len(), piece.new.len());
    let width = (old + new).isqrt().max(256);
    old.saturating_mul(new).min((old + new).saturating_mul(width))
}

/// Removes the equal lines from both ends of a piece.
fn trimmed(piece: DifferingLines, same: impl Fn(usize, usize) -> bool) -> DifferingLines {
    let DifferingLines { mut old, mut new } = piece;
    while !old.is_empty() && !new.is_empty() && same(old.start, new.start) {
        (old.start, new.start) = (old.start + 1, new.start + 1);
    }
    while !old.is_empty() && !new.is_empty() && same(old.end - 1, new.end - 1) {
        (old.end, new.end) = (old.end - 1, new.end - 1);
    }
    DifferingLines { old, new }
}

/// Returns the ranges between the equal lines.
fn between(whole: &DifferingLines, same: impl Iterator<Item = EqualLines>) -> Vec<DifferingLines> {
    let mut pieces = Vec::new();
    let (mut old, mut new) = (whole.old.start, whole.new.start);
    let end = EqualLines { old: whole.old.end, new: whole.new.end, len: 0 };
    for run in same.filter(|run| run.len > 0).chain([end]) {
        let piece = DifferingLines { old: old..run.old, new: new..run.new };
        if !piece.is_empty() {
            pieces.push(piece);
        }
        (old, new) = (run.old + run.len, run.new + run.len);
    }
    pieces
}

/// Collects the equal ranges of a diff.
struct Equal<'a>(&'a mut Vec<EqualLines>);

impl DiffHook for Equal<'_> {
    type Error = Infallible;

    fn equal(&mut self, old: usize, new: usize, len: usize) -> Result<(), Infallible> {
        self.0.push(EqualLines { old, new, len });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(old: &[&str], new: &[&str], mut steps: AlignBudget) -> Vec<(Range<usize>, Range<usize>)> {
        let all = DifferingLines { old: 0..old.len(), new: 0..new.len() };
        let found = differing(&all, |i| old[i], |j| new[j], &mut steps);
        found.into_iter().map(|piece| (piece.old, piece.new)).collect()
    }

    /// Checks the invariant of this module for two lists of lines, and returns the number of differing lines.
    fn check(old: &[String], new: &[String], mut steps: AlignBudget) -> usize {
        let all = DifferingLines { old: 0..old.len(), new: 0..new.len() };
        let pieces = differing(&all, |i| old[i].as_str(), |j| new[j].as_str(), &mut steps);
        let (mut i, mut j) = (0, 0);
        for piece in &pieces {
            assert_eq!(old[i..piece.old.start], new[j..piece.new.start]);
            assert!(!piece.is_empty() && (i == 0 || piece.old.start > i || piece.new.start > j));
            (i, j) = (piece.old.end, piece.new.end);
        }
        assert_eq!(old[i..], new[j..]);
        pieces.iter().map(|piece| piece.old.len() + piece.new.len()).sum()
    }

    fn numbered(numbers: impl Iterator<Item = usize>) -> Vec<String> {
        numbers.map(|number| number.to_string()).collect()
    }

    #[test]
    fn finds_what_differs_between_lines_that_stay() {
        let steps = AlignBudget::of_one_plan;
        assert_eq!(pieces(&["a", "b", "c"], &["a", "b", "c"], steps()), []);
        assert_eq!(pieces(&["a", "b", "c"], &["a", "x", "c"], steps()), [(1..2, 1..2)]);
        assert_eq!(pieces(&["a", "b"], &["x", "a", "b", "y"], steps()), [(0..0, 0..1), (2..2, 3..4)]);
        assert_eq!(pieces(&["x", "a", "y"], &["a"], steps()), [(0..1, 0..0), (2..3, 1..1)]);
        assert_eq!(pieces(&[], &["a"], steps()), [(0..0, 0..1)]);
    }

    #[test]
    fn without_steps_everything_between_the_common_ends_differs() {
        let (old, new) = (["a", "x", "b", "y", "c"], ["a", "1", "b", "2", "c"]);
        assert_eq!(pieces(&old, &new, AlignBudget::with_steps(0)), [(1..4, 1..4)]);
        assert_eq!(pieces(&old, &new, AlignBudget::of_one_plan()), [(1..2, 1..2), (3..4, 3..4)]);
    }

    #[test]
    fn cuts_a_large_block_at_its_unique_lines() {
        let old = numbered((0..20_000).map(|n| if n % 3 == 0 { 0 } else { n }));
        let mut new = old.clone();
        new[17] = "first".into();
        new.remove(9_000);
        new.insert(15_000, "middle".into());
        new[19_990] = "last".into();
        assert!(cost(&DifferingLines { old: 0..old.len(), new: 0..new.len() }) > UNCUT_STEPS);
        assert_eq!(check(&old, &new, AlignBudget::of_one_plan()), 6);
    }

    #[test]
    fn a_large_block_without_steps_still_keeps_its_unique_lines() {
        let old = numbered(0..3_000);
        let new = numbered((0..3_000).map(|n| if n % 100 == 50 { n + 10_000 } else { n }));
        assert_eq!(check(&old, &new, AlignBudget::with_steps(0)), 60);
    }

    #[test]
    fn more_lines_than_are_compared_still_lose_their_common_ends() {
        let (old, new) = (["a", "x", "b", "y", "c"], ["a", "1", "b", "2", "c"]);
        let bound = |most_lines| AlignBudget { left: ALL_STEPS, most_lines };
        assert_eq!(pieces(&old, &new, bound(5)), [(1..4, 1..4)]);
        assert_eq!(pieces(&old, &new, bound(6)), [(1..2, 1..2), (3..4, 3..4)]);
    }

    #[test]
    fn shuffled_and_repeated_lines_are_bounded() {
        let shuffled = |count: usize, kinds: usize| (0..count).map(move |n| n * 7_919 % count % kinds);
        for kinds in [1, 2, 7, 30_000] {
            let old = numbered(shuffled(30_000, kinds));
            let new = numbered(shuffled(30_001, kinds));
            check(&old, &new, AlignBudget::with_steps(1 << 20));
        }
    }
}
