//! Line numbers before and after an edit.
//!
//! Invariant: every line outside the pieces has the same text before and after.

use std::ops::Range;

use super::align::{AlignBudget, DifferingLines, differing};
use super::buffer::Buffer;
use super::change::Splice;
use super::plan::Plan;
use super::region::Region;

/// The distance that all lines from one on have moved, up to the next shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineShift {
    /// The first moved line, by its number before the edit.
    pub from: usize,
    /// The distance in lines; positive is down, negative is up.
    pub by: isize,
}

/// A map from line numbers before an edit to those after it. The default maps each line to itself.
#[derive(Debug, Clone, Default)]
pub struct LineMap {
    /// The lines that the plan touched, including those that stay the same.
    blocks: Vec<DifferingLines>,
    /// The lines within the blocks whose text differs, sorted and disjoint.
    pieces: Vec<DifferingLines>,
    /// The number of lines before the edit.
    old_count: usize,
}

impl LineMap {
    /// Builds the map. Only the lines that the plan touches are compared.
    pub(super) fn new(plan: &Plan, before: &Buffer, after: &Buffer) -> LineMap {
        let blocks = touched(plan, before, after);
        let (old, new) = (before.lines(), after.lines());
        let mut steps = AlignBudget::of_one_plan();
        let inside = |block| differing(block, |i| old.text(i + 1), |j| new.text(j + 1), &mut steps);
        let pieces = blocks.iter().flat_map(inside).collect();
        LineMap { blocks, pieces, old_count: old.count() }
    }

    /// Returns the new number of an old line; `None` if the edit replaced or removed it.
    pub fn new_line_of(&self, old_line: usize) -> Option<usize> {
        let index = old_line.checked_sub(1)?;
        let next = self.pieces.partition_point(|piece| piece.old.end <= index);
        if self.pieces.get(next).is_some_and(|piece| piece.old.contains(&index)) {
            return None;
        }
        let last = next.checked_sub(1).and_then(|last| self.pieces.get(last));
        Some(last.map_or(old_line, |piece| old_line - piece.old.end + piece.new.end))
    }

    /// Returns true if the edit wrote this line of the new version.
    pub fn touched(&self, new_line: usize) -> bool {
        let Some(index) = new_line.checked_sub(1) else { return false };
        let next = self.pieces.partition_point(|piece| piece.new.end <= index);
        self.pieces.get(next).is_some_and(|piece| piece.new.contains(&index))
    }

    /// Returns the first line and the distance of each move.
    pub fn shifts(&self) -> Vec<LineShift> {
        let mut shifts: Vec<LineShift> = Vec::new();
        for piece in self.pieces.iter().filter(|piece| piece.old.end < self.old_count) {
            let by = piece.new.end.cast_signed() - piece.old.end.cast_signed();
            // The next piece begins at the line where the last shift does.
            shifts.pop_if(|shift| shift.from == piece.old.end + 1);
            if by != shifts.last().map_or(0, |shift| shift.by) {
                shifts.push(LineShift { from: piece.old.end + 1, by });
            }
        }
        shifts
    }

    /// Returns the map of this edit and the next one of the same text together.
    #[must_use]
    pub fn then(&self, next: &LineMap) -> LineMap {
        let (mut pieces, mut shift) =
            (Vec::with_capacity(self.pieces.len() + next.pieces.len()), Shift::default());
        let (mut ours, mut theirs) = (self.pieces.iter().peekable(), next.pieces.iter().peekable());
        // Both have pieces of the text in between. Those that overlap or touch become one.
        while let Some(start) = ours
            .peek()
            .map(|piece| piece.new.start)
            .into_iter()
            .chain(theirs.peek().map(|piece| piece.old.start))
            .min()
        {
            let (before, mut end) = (shift, start);
            loop {
                if let Some(piece) = ours.next_if(|piece| piece.new.start <= end) {
                    end = end.max(piece.new.end);
                    shift.old = piece.old.end.cast_signed() - piece.new.end.cast_signed();
                } else if let Some(piece) = theirs.next_if(|piece| piece.old.start <= end) {
                    end = end.max(piece.old.end);
                    shift.new = piece.new.end.cast_signed() - piece.old.end.cast_signed();
                } else {
                    break;
                }
            }
            let moved = |line: usize, by: isize| line.saturating_add_signed(by);
            let old = moved(start, before.old)..moved(end, shift.old);
            let new = moved(start, before.new)..moved(end, shift.new);
            if !old.is_empty() || !new.is_empty() {
                pieces.push(DifferingLines { old, new });
            }
        }
        LineMap { blocks: pieces.clone(), pieces, old_count: self.old_count }
    }

    /// Returns the lines that the plan touched, including those that stay the same.
    pub(super) fn blocks(&self) -> &[DifferingLines] {
        &self.blocks
    }

    /// Returns the lines whose text differs: the blocks without the lines that stay the same.
    pub(super) fn pieces(&self) -> &[DifferingLines] {
        &self.pieces
    }
}

/// The distances of a line between two edits to its line before the first and to that after the second.
#[derive(Debug, Clone, Copy, Default)]
struct Shift {
    old: isize,
    new: isize,
}

impl Plan {
    /// Returns the lines that each edit removes and adds. Edits that share a line are one region.
    pub fn regions(&self, before: &Buffer, after: &Buffer) -> Vec<Region> {
        touched(self, before, after).iter().map(Region::from).collect()
    }

    /// Returns the map from line numbers of `before` to line numbers of `after`.
    pub fn line_map(&self, before: &Buffer, after: &Buffer) -> LineMap {
        LineMap::new(self, before, after)
    }
}

/// Widens the splices of a plan to whole lines. Splices that share a line become one.
pub(super) fn touched(plan: &Plan, before: &Buffer, after: &Buffer) -> Vec<DifferingLines> {
    let (old_count, new_count) = (before.lines().count(), after.lines().count());
    let mut blocks: Vec<DifferingLines> = Vec::with_capacity(plan.splices().len());
    for group in group_splices(plan, before, after) {
        let behind = usize::from(group.is_open());
        let block = DifferingLines {
            old: group.old.lines(behind, old_count),
            new: group.new.lines(behind, new_count),
        };
        match blocks.last_mut() {
            Some(last) if block.old.start < last.old.end || block.new.start < last.new.end => {
                last.old.end = last.old.end.max(block.old.end);
                last.new.end = last.new.end.max(block.new.end);
            }
            Some(_) | None => blocks.push(block),
        }
    }
    blocks
}

/// One splice, or several that share a line.
struct SpliceGroup {
    /// The end in the bytes before the edit.
    end: usize,
    old: LineSpan,
    new: LineSpan,
}

impl SpliceGroup {
    /// Returns true if the next line is touched too, because an end on either side is not between two lines.
    fn is_open(&self) -> bool {
        self.old.open || self.new.open
    }
}

/// The first and last line of a splice group on one side, counted from 0.
struct LineSpan {
    first: usize,
    last: usize,
    open: bool,
}

impl LineSpan {
    fn new(buffer: &Buffer, bytes: &Range<usize>) -> LineSpan {
        let lines = buffer.lines();
        let [start, end] = [bytes.start, bytes.end].map(|byte| buffer.offset(byte));
        // An offset inside `\r\n` maps to that of the newline: it starts no line.
        let open = !lines.starts_at(end) || buffer.byte(end) != bytes.end;
        LineSpan { first: lines.line_at(start) - 1, last: lines.line_at(end) - 1, open }
    }

    fn lines(&self, behind: usize, count: usize) -> Range<usize> {
        self.first.min(count)..(self.last + behind).min(count)
    }

    fn extend(&mut self, next: LineSpan) {
        (self.last, self.open) = (next.last, next.open);
    }
}

fn group_splices(plan: &Plan, before: &Buffer, after: &Buffer) -> Vec<SpliceGroup> {
    let mut groups: Vec<SpliceGroup> = Vec::with_capacity(plan.splices().len());
    for (Splice { span, .. }, landing) in plan.splices().iter().zip(plan.new_spans()) {
        let (old, new) = (LineSpan::new(before, span), LineSpan::new(after, &landing));
        match groups.last_mut() {
            Some(last) if last.end == span.start && last.is_open() => {
                last.end = span.end;
                last.old.extend(old);
                last.new.extend(new);
            }
            Some(_) | None => groups.push(SpliceGroup { end: span.end, old, new }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Hints};

    fn edited(before: &str, changes: &[(Range<usize>, &str)]) -> (Vec<Region>, LineMap) {
        let before = Buffer::read(before.into(), Hints::default()).unwrap();
        let change =
            |(span, text): &(Range<usize>, &str)| Change { span: span.clone(), text: (*text).into() };
        let plan = before.plan(changes.iter().map(change).collect()).unwrap();
        let after = before.apply(&plan).unwrap();
        (plan.regions(&before, &after), plan.line_map(&before, &after))
    }

    fn regions(before: &str, changes: &[(Range<usize>, &str)]) -> Vec<[usize; 4]> {
        let numbers = |region: &Region| {
            [region.start_line, region.end_line, region.new_start_line, region.new_end_line]
        };
        edited(before, changes).0.iter().map(numbers).collect()
    }

    #[test]
    fn regions_are_whole_lines() {
        let text = "a\nb\nc\nd\n";
        assert_eq!(regions(text, &[(2..6, "1\n2\n3\n")]), [[2, 3, 2, 4]], "replaced");
        assert_eq!(regions(text, &[(2..2, "1\n2\n")]), [[2, 1, 2, 3]], "inserted");
        assert_eq!(regions(text, &[(2..6, "")]), [[2, 3, 2, 1]], "deleted");
        assert_eq!(regions(text, &[(4..5, "cc")]), [[3, 3, 3, 3]], "inside a line");
        assert_eq!(regions(text, &[(3..4, "")]), [[2, 3, 2, 2]], "joined");
        assert_eq!(regions(text, &[(8..8, "e\n")]), [[5, 4, 5, 5]], "appended");
        assert_eq!(regions("a", &[(1..1, "\nb")]), [[1, 1, 1, 2]], "behind an open line");
        assert_eq!(regions("", &[(0..0, "a\n")]), [[1, 0, 1, 1]], "into nothing");
    }

    #[test]
    fn edits_of_one_line_are_one_region_and_neighbours_are_two() {
        let text = "abc\nd\ne\n";
        assert_eq!(regions(text, &[(0..1, "x"), (2..3, "y")]), [[1, 1, 1, 1]]);
        assert_eq!(regions(text, &[(0..4, "x\n"), (4..6, "y\nz\n")]), [[1, 1, 1, 1], [2, 2, 2, 3]]);
    }

    #[test]
    fn a_line_end_that_falls_apart_or_together_is_touched() {
        let before = Buffer::read(b"\rb\n\n".to_vec(), Hints::default()).unwrap();
        let plan = before.plan(vec![Change { span: 1..3, text: String::new() }]).unwrap();
        let after = before.apply(&plan).unwrap();
        assert_eq!((after.bytes(), after.view()), (b"\r\n".as_slice(), "\n"));
        let [two, one] = [(1, 2), (1, 1)];
        let region = |old: (usize, usize), new: (usize, usize)| Region {
            start_line: old.0,
            end_line: old.1,
            new_start_line: new.0,
            new_end_line: new.1,
        };
        assert_eq!(plan.regions(&before, &after), [region(two, one)]);
        assert_eq!(plan.inverse(&before, &after).regions(&after, &before), [region(one, two)]);
    }

    #[test]
    fn lines_that_a_replaced_block_keeps_are_mapped() {
        let (_, map) = edited("a\nb\nc\nd\ne\n", &[(0..8, "new\na\nb\nC\nd\n")]);
        assert_eq!(
            [1, 2, 3, 4, 5].map(|line| map.new_line_of(line)),
            [Some(2), Some(3), None, Some(5), Some(6)]
        );
        assert_eq!([1, 2, 3, 4, 5].map(|line| map.touched(line)), [true, false, false, true, false]);
        assert_eq!(map.shifts(), [LineShift { from: 1, by: 1 }]);
    }

    #[test]
    fn maps_of_two_edits_one_after_the_other_are_joined() {
        let (_, first) = edited("}\n}\n}\n\n", &[(4..5, "a")]);
        let (_, second) = edited("}\n}\na\n\n", &[(0..2, "E\n")]);
        let map = first.then(&second);
        assert_eq!([1, 2, 3, 4].map(|line| map.new_line_of(line)), [None, Some(2), None, Some(4)]);
        assert_eq!(map.shifts(), []);

        let (_, first) = edited("a\nb\nc\nd\ne\n", &[(0..0, "1\n2\n"), (4..6, "")]);
        let (_, second) = edited("1\n2\na\nb\nd\ne\n", &[(2..4, ""), (6..8, "B\nB\n"), (10..10, "x\n")]);
        let map = first.then(&second);
        let lines = [1, 2, 3, 4, 5].map(|line| map.new_line_of(line));
        assert_eq!(lines, [Some(2), None, None, Some(5), Some(7)]);
        assert_eq!(map.shifts(), [LineShift { from: 1, by: 1 }, LineShift { from: 5, by: 2 }]);

        let (_, first) = edited("a\nb\n", &[(2..2, "x\n")]);
        let (_, second) = edited("a\nx\nb\n", &[(2..4, "")]);
        let map = first.then(&second);
        assert_eq!((map.pieces(), map.new_line_of(2)), ([].as_slice(), Some(2)), "the line came and went");
    }

    #[test]
    fn shifts_are_given_where_they_change_and_lines_follow() {
        let (_, map) =
            edited("a\nb\nc\nd\ne\n", &[(0..2, "1\n2\n3\n"), (4..5, "C"), (6..8, ""), (10..10, "f\n")]);
        assert_eq!(map.shifts(), [LineShift { from: 2, by: 2 }, LineShift { from: 5, by: 1 }]);
        let (_, map) = edited("a\nb\nc\nd\n", &[(2..4, ""), (4..4, "B\n")]);
        assert_eq!(map.shifts(), [], "the two are one place");
    }
}
