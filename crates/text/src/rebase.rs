//! Rebases a plan onto another version of the file, in which other lines have changed.
//!
//! A plan is rebased only if its position is proved. Each splice must lie in lines that both versions have, in one
//! run without a change inside, and the run must be unambiguous. A run is proved if it begins or ends both versions,
//! or if it contains a line that each version has exactly once. A change that could equally have been made some lines
//! higher or lower counts as a change of all of those lines, in the plan and in the other version. Lines next to an
//! insertion are never changed: the insertion may be the plan's own, applied before. A splice at the end of a text is
//! not moved into the middle. Lines that the plan replaces by themselves must be the same in both versions as well.
//! A step count bounds the work. Once the steps are used up, a change could have been made anywhere, which is a conflict.
//!
//! Invariant: a rebased plan replaces the same bytes as the original plan.

use std::collections::HashMap;
use std::ops::Range;

use super::align::{AlignBudget, DifferingLines, differing};
use super::buffer::Buffer;
use super::change::Splice;
use super::lines::{self, Lines};
use super::plan::Plan;
use super::region::Region;
use lockgate_error::Error;

/// The reason why a plan cannot be rebased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebaseConflict {
    /// The first and last line that the plan touches, by their numbers in its own version. An insertion ends before
    /// it begins.
    pub lines: (usize, usize),
    /// The conflicting change between the two versions. `None` if the lines are the same but could be in more than
    /// one position.
    pub change: Option<Region>,
}

/// The result of rebasing a plan.
#[derive(Debug, Clone)]
pub enum Rebased {
    /// The plan for the other version.
    Plan(Plan),
    /// The plan does not fit onto the other version.
    Conflict(RebaseConflict),
}

impl Plan {
    /// Rebases a plan from version `from` onto version `to`.
    ///
    /// Errors: `INTERNAL` for a plan that does not belong to `from`.
    pub fn rebase(&self, from: &Buffer, to: &Buffer) -> Result<Rebased, Error> {
        self.rebase_within(from, to, &mut AlignBudget::of_one_plan())
    }

    /// Rebases a plan; `steps` is the budget for how far changes slide.
    fn rebase_within(&self, from: &Buffer, to: &Buffer, steps: &mut AlignBudget) -> Result<Rebased, Error> {
        if from.version() == to.version() {
            return Ok(Rebased::Plan(self.clone()));
        }
        let texts = [from.text(), to.text()];
        let starts = [lines::starts(&texts[0]), lines::starts(&texts[1])];
        let versions =
            TextVersions { old: Lines::new(&texts[0], &starts[0]), new: Lines::new(&texts[1], &starts[1]) };
        let is_comparable = from.has_same_encoding(to)
            || from.encoding() == to.encoding() && !from.view().is_empty() && !to.view().is_empty();
        let changes = if is_comparable {
            versions.changes([from, to].map(Buffer::has_byte_order_mark))
        } else {
            vec![versions.all_lines()]
        };
        let runs = CommonRuns(versions.runs(changes, steps));
        let after = from.apply(self)?;
        let spans: Vec<_> =
            self.splices().iter().map(|splice| splice.span.clone()).zip(self.new_spans()).collect();
        let mut effect = PlanEffect::new(from, &after, &spans);
        for span in self.unchanged() {
            let touched = TouchedLines::from_unchanged(from, span);
            if runs.containing(&touched).is_none() {
                return Ok(Rebased::Conflict(touched.conflict(&runs)));
            }
        }
        let mut splices = Vec::with_capacity(self.splices().len());
        for (splice, span) in self.splices().iter().zip(&spans) {
            let touched = TouchedLines::from_splice(&mut effect, span, steps);
            match runs.containing(&touched).and_then(|run| run.shift(splice, from, to)) {
                Some(shifted) => splices.push(shifted),
                None => return Ok(Rebased::Conflict(touched.conflict(&runs))),
            }
        }
        Plan::new(to, splices).map(Rebased::Plan)
    }
}

/// A plan's effect on the version that it was made for.
struct PlanEffect<'a> {
    from: &'a Buffer,
    after: &'a Buffer,
    /// The bytes of each splice before and after, in order.
    spans: &'a [(Range<usize>, Range<usize>)],
    from_slides: Slides<'a>,
    after_slides: Slides<'a>,
}

impl<'a> PlanEffect<'a> {
    fn new(from: &'a Buffer, after: &'a Buffer, spans: &'a [(Range<usize>, Range<usize>)]) -> PlanEffect<'a> {
        let [from_slides, after_slides] = [from, after].map(|buffer| Slides::new(buffer.lines()));
        PlanEffect { from, after, spans, from_slides, after_slides }
    }

    /// Returns the lines of the old version between which new lines, inserted before line `at`, could equally have
    /// been inserted.
    ///
    /// The new version decides how far they slide, because it has the plan's other new lines too.
    fn insertable_range(&mut self, at: usize, new: &Range<usize>, steps: &mut AlignBudget) -> Range<usize> {
        let (lines, before) = (self.after.lines(), self.from.lines());
        let [first, end] = [new.start, new.end].map(|byte| lines.line_at(self.after.offset(byte)) - 1);
        let (up, down) = self.after_slides.reach(&(first..end), steps);
        let start_of = |line: usize| self.after.byte(lines.span(line + 1).start);
        let [high, low] = [(first - up, Side::Before), (end + down, Side::After)]
            .map(|(line, side)| self.from.offset(self.origin(start_of(line), side)));
        let start = if up > 0 { before.line_at(high) - 1 } else { at };
        let end = if down > 0 { before.line_at(low) - usize::from(before.starts_at(low)) } else { at };
        start..end
    }

    /// Maps a byte of the new version to the old one; for a new byte, the end of the replaced range on that side.
    fn origin(&self, byte: usize, side: Side) -> usize {
        let reaches = |(_, new): &(Range<usize>, Range<usize>)| match side {
            Side::Before => new.start <= byte,
            Side::After => new.start < byte,
        };
        let count = self.spans.partition_point(reaches);
        match (count.checked_sub(1).and_then(|last| self.spans.get(last)), side) {
            (None, _) => byte,
            (Some((old, new)), Side::Before) if byte < new.end => old.start,
            (Some((old, new)), Side::After) if byte < new.end => old.end,
            (Some((old, new)), _) => old.end + (byte - new.end),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Before,
    After,
}

/// The lines that a splice changes, or between which it inserts, counted from 0.
struct TouchedLines {
    lines: Range<usize>,
    /// Set for an insertion, which may be made at either end of the lines.
    inserts: bool,
    /// Set if the splice leaves the text without a final line end.
    ends: bool,
}

impl TouchedLines {
    fn from_unchanged(from: &Buffer, span: &Range<usize>) -> TouchedLines {
        let lines = from.lines();
        let [first, last] = [span.start, span.end - 1].map(|byte| lines.line_at(from.offset(byte)));
        TouchedLines { lines: first - 1..last, inserts: false, ends: false }
    }

    fn from_splice(
        effect: &mut PlanEffect<'_>,
        (old, new): &(Range<usize>, Range<usize>),
        steps: &mut AlignBudget,
    ) -> TouchedLines {
        let (from, after) = (effect.from, effect.after);
        let [start, end] =
            [old.start, old.end.saturating_sub(1).max(old.start)].map(|byte| from.offset(byte));
        let lines = from.lines();
        let first = lines.line_at(start) - 1;
        let is_last = old.end == from.bytes().len();
        let is_open = !after.lines().starts_at(after.offset(new.end));
        let inserts = old.is_empty() && lines.starts_at(start) && (is_last || !is_open);
        let touched = if inserts { first..first } else { first..lines.line_at(end).max(first + 1) };
        let ends_text = is_last && !new.is_empty() && is_open;
        let reached = match (inserts, new.is_empty()) {
            (true, _) => effect.insertable_range(first, new, steps),
            (false, true) => {
                let (up, down) = effect.from_slides.reach(&touched, steps);
                touched.start - up..touched.end + down
            }
            (false, false) => touched,
        };
        TouchedLines { lines: reached, inserts, ends: ends_text }
    }

    /// Returns the conflict with the change that is nearest to these lines.
    fn conflict(&self, CommonRuns(runs): &CommonRuns) -> RebaseConflict {
        let changes = runs.iter().zip(runs.iter().skip(1)).map(|(one, other)| DifferingLines {
            old: one.old.end..other.old.start,
            new: one.new.end..other.new.start,
        });
        let distance = |piece: &DifferingLines| {
            let before = piece.old.start.saturating_sub(self.lines.end);
            before.max(self.lines.start.saturating_sub(piece.old.end))
        };
        let touching = changes.min_by_key(distance).filter(|piece| distance(piece) == 0);
        RebaseConflict {
            lines: (self.lines.start + 1, self.lines.end),
            change: touching.as_ref().map(Region::from),
        }
    }
}

/// The lines of both versions, with the line ends of the files.
struct TextVersions<'a> {
    old: Lines<'a>,
    new: Lines<'a>,
}

/// Lines that both versions have, counted from 0.
struct CommonLines {
    old: Range<usize>,
    new: Range<usize>,
    /// The old lines whose position is proved.
    proved: Range<usize>,
    /// Both versions begin with the run, and both end with it.
    text_ends: RunEdges,
    /// Lines were inserted directly before the run, and directly behind it.
    inserted: RunEdges,
}

/// A property that each edge of a run has or has not.
#[derive(Debug, Clone, Copy)]
struct RunEdges {
    start: bool,
    end: bool,
}

impl TextVersions<'_> {
    fn all_lines(&self) -> DifferingLines {
        DifferingLines { old: 0..self.old.count(), new: 0..self.new.count() }
    }

    /// Returns the changes between the versions, which have the same encoding. If only one of them has a byte order mark,
    /// their first lines differ.
    fn changes(&self, [old_mark, new_mark]: [bool; 2]) -> Vec<DifferingLines> {
        let steps = &mut AlignBudget::of_one_plan();
        let all = self.all_lines();
        // No line is equal to this text.
        let first = (old_mark != new_mark).then_some("\n\n");
        let old = |i| first.filter(|_| i == 0).unwrap_or_else(|| self.old.with_line_end(i + 1));
        differing(&all, old, |j| self.new.with_line_end(j + 1), steps)
    }

    /// Returns the runs between the changes, one more than there are changes; any may be empty.
    fn runs(&self, changes: Vec<DifferingLines>, steps: &mut AlignBudget) -> Vec<CommonLines> {
        let all = self.all_lines();
        let start = std::iter::once(DifferingLines { old: 0..0, new: 0..0 });
        let end = DifferingLines { old: all.old.end..all.old.end, new: all.new.end..all.new.end };
        let mut slides = [self.old, self.new].map(Slides::new);
        let borders: Vec<RunBorder> = start
            .chain(changes)
            .chain([end])
            .map(|piece| RunBorder::new(piece, &mut slides, steps))
            .collect();
        let once = self.lines_found_once();
        let between = borders.iter().zip(borders.iter().skip(1)).enumerate();
        let last = borders.len().saturating_sub(2);
        let run = |(at, (before, behind)): (usize, (&RunBorder, &RunBorder))| {
            self.run(before, behind, RunEdges { start: at == 0, end: at == last }, &once)
        };
        between.map(run).collect()
    }

    fn run(
        &self,
        before: &RunBorder,
        behind: &RunBorder,
        text_ends: RunEdges,
        once: &LineCounts<'_>,
    ) -> CommonLines {
        let old = before.lines.old.end..behind.lines.old.start;
        let new = before.lines.new.end..behind.lines.new.start;
        let is_proved = text_ends.start
            || text_ends.end
            || old.clone().any(|line| once.has(self.old.with_line_end(line + 1)));
        let start = (old.start + before.down).min(old.end);
        let proved =
            if is_proved { start..old.end.saturating_sub(behind.up).max(start) } else { start..start };
        let inserted = RunEdges { start: before.is_insertion(), end: behind.is_insertion() };
        CommonLines { old, new, proved, text_ends, inserted }
    }

    fn lines_found_once(&self) -> LineCounts<'_> {
        let mut counts: HashMap<&str, (u32, u32)> = HashMap::with_capacity(self.old.count());
        for line in 1..=self.old.count() {
            counts.entry(self.old.with_line_end(line)).or_default().0 += 1;
        }
        for line in 1..=self.new.count() {
            counts.entry(self.new.with_line_end(line)).or_default().1 += 1;
        }
        LineCounts(counts)
    }
}

/// A change between the versions, and the number of lines before and behind it that count as changed with it.
struct RunBorder {
    lines: DifferingLines,
    up: usize,
    down: usize,
}

impl RunBorder {
    fn new(lines: DifferingLines, [old, new]: &mut [Slides<'_>; 2], steps: &mut AlignBudget) -> RunBorder {
        let (up, down) = match (lines.old.is_empty(), lines.new.is_empty()) {
            (true, false) => new.reach(&lines.new, steps),
            (false, true) => old.reach(&lines.old, steps),
            (true, true) | (false, false) => (0, 0),
        };
        RunBorder { lines, up, down }
    }

    fn is_insertion(&self) -> bool {
        self.lines.old.is_empty() && !self.lines.new.is_empty()
    }
}

/// Finds out how far blocks of lines could move with the same result.
///
/// A block of `n` lines slides over lines that equal the ones `n` lines further. Many blocks of one plan slide over the
/// same lines, so these are compared once.
struct Slides<'a> {
    lines: Lines<'a>,
    /// By the length of the block: the last range of lines that equal the ones so much further.
    repeated: HashMap<usize, Range<usize>>,
}

impl<'a> Slides<'a> {
    fn new(lines: Lines<'a>) -> Slides<'a> {
        Slides { lines, repeated: HashMap::new() }
    }

    /// Returns the number of lines by which the block could move up, and down; without steps, all lines above and below.
    fn reach(&mut self, block: &Range<usize>, steps: &mut AlignBudget) -> (usize, usize) {
        let length = block.len();
        if length == 0 {
            return (0, 0);
        }
        if let Some(known) = self.repeated.get(&length)
            && known.start <= block.start
            && block.start <= known.end
        {
            return (block.start - known.start, known.end - block.start);
        }
        let lines = self.lines;
        let below = lines.count().saturating_sub(block.end);
        let mut repeats = |line: &usize| {
            steps.take(1) && lines.with_line_end(line + 1) == lines.with_line_end(line + 1 + length)
        };
        let up = (0..block.start).rev().take_while(&mut repeats).count();
        let down = (block.start..block.start + below).take_while(repeats).count();
        if !steps.take(1) {
            return (block.start, below);
        }
        self.repeated.insert(length, block.start - up..block.start + down);
        (up, down)
    }
}

/// The number of occurrences of each line in either version.
struct LineCounts<'a>(HashMap<&'a str, (u32, u32)>);

impl LineCounts<'_> {
    fn has(&self, line: &str) -> bool {
        self.0.get(line) == Some(&(1, 1))
    }
}

/// The runs of two versions, in order.
struct CommonRuns(Vec<CommonLines>);

impl CommonRuns {
    /// Returns the run that contains these lines in its proved part.
    fn containing(&self, touched: &TouchedLines) -> Option<&CommonLines> {
        let CommonRuns(runs) = self;
        let first = runs.partition_point(|run| run.old.end < touched.lines.start);
        let mut near = runs.iter().skip(first).take_while(|run| run.old.start <= touched.lines.start);
        near.find(|run| run.contains(touched))
    }
}

impl CommonLines {
    /// Returns true if these lines are in the proved part. An insertion needs its neighbours there, and the end of a
    /// text its end.
    fn contains(&self, touched: &TouchedLines) -> bool {
        let (start, end) = (touched.lines.start, touched.lines.end);
        let is_last = self.text_ends.end && end == self.old.end;
        if touched.ends && !is_last {
            return false;
        }
        if !touched.inserts {
            let (before, behind) = (usize::from(self.inserted.start), usize::from(self.inserted.end));
            return self.proved.start + before <= start && end + behind <= self.proved.end;
        }
        let at_start = self.text_ends.start && start == 0 && self.proved.start == 0;
        let at_end = is_last && self.proved.end == self.old.end;
        (self.proved.start < start || at_start) && (end < self.proved.end || at_end)
    }

    /// Returns the splice at the position of the run in the other version.
    fn shift(&self, splice: &Splice, from: &Buffer, to: &Buffer) -> Option<Splice> {
        let [old, new] = [(from, self.old.start), (to, self.new.start)]
            .map(|(buffer, line)| buffer.byte(buffer.lines().span(line + 1).start));
        let moved = |byte: usize| (byte + new).checked_sub(old);
        let span = moved(splice.span.start)?..moved(splice.span.end)?;
        let same = from.bytes().get(splice.span.clone())? == to.bytes().get(span.clone())?;
        same.then(|| Splice { span, bytes: splice.bytes.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Hints};
    use proptest::prelude::*;

    fn read(text: &str) -> Buffer {
        Buffer::read(text.into(), Hints::default()).unwrap()
    }

    fn rebased_plan(plan: &Plan, from: &Buffer, to: &Buffer) -> Result<Plan, RebaseConflict> {
        match plan.rebase(from, to).unwrap() {
            Rebased::Plan(plan) => Ok(plan),
            Rebased::Conflict(conflict) => Err(conflict),
        }
    }

    /// Rebases an edit onto another version, and returns the result or the conflict.
    fn rebased(from: &str, edited: &str, to: &str) -> Result<String, RebaseConflict> {
        let [from, edited, to] = [from, edited, to].map(read);
        let plan = from.plan_to(&edited).unwrap();
        rebased_plan(&plan, &from, &to).map(|plan| to.apply(&plan).unwrap().view().to_owned())
    }

    #[test]
    fn an_edit_of_other_lines_is_rebased() {
        for (from, edited, to, both) in [
            ("a\nb\nc\nd\n", "a\nb\nc\nD\n", "new\na\nb\nc\nd\n", "new\na\nb\nc\nD\n"),
            ("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n"),
            ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nC\nd\n", "a\nB\nC\nd\n"),
            ("a\nb\nc\nd\n", "a\nb\nd\n", "a\nx\nb\nc\nd\n", "a\nx\nb\nd\n"),
            ("a\nb\nc\nd\n", "a\nb\nnew\nc\nd\n", "A\nb\nc\nd\n", "A\nb\nnew\nc\nd\n"),
            ("a\r\nb\nc\r\n", "a\r\nB\nc\r\n", "0\r\na\r\nb\nc\r\n", "0\na\nB\nc\n"),
            ("a\nb\nc", "a\nb\nc\nd", "A\nb\nc", "A\nb\nc\nd"),
            ("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
            // An insertion slides over lines that are in part the plan's own.
            (
                "a\nb\n\nc\n}\n}\n\nd\n",
                "a\nb\nx\n\n\n\n\n\nc\nd\n",
                "new\na\nb\n\nc\n}\n}\n\nd\n",
                "new\na\nb\nx\n\n\n\n\n\nc\nd\n",
            ),
        ] {
            assert_eq!(rebased(from, edited, to).as_deref(), Ok(both), "{from:?} {edited:?} {to:?}");
        }
    }

    #[test]
    fn lines_that_are_replaced_by_themselves_must_be_the_same() {
        let from = read("a\nb\nc\nd\n");
        let change = |span, text: &str| Change { span, text: text.to_owned() };
        let (same, other) = (change(2..4, "b\n"), change(6..8, "D\n"));
        for (to, plan, expected) in [
            ("a\nX\nc\nd\n", vec![same.clone()], None),
            ("a\nX\nc\nd\n", vec![same.clone(), other.clone()], None),
            ("", vec![same.clone()], None),
            // The controls: another line changed, and the line is not part of the edit.
            ("A\nb\nc\nd\n", vec![same.clone()], Some("A\nb\nc\nd\n")),
            ("A\nb\nc\nd\n", vec![same, other.clone()], Some("A\nb\nc\nD\n")),
            ("a\nX\nc\nd\n", vec![other], Some("a\nX\nc\nD\n")),
        ] {
            let (plan, to) = (from.plan(plan).unwrap(), read(to));
            let joined = Plan::join(&from, std::iter::once(plan.clone())).unwrap();
            for plan in [plan, joined] {
                let result = rebased_plan(&plan, &from, &to);
                let result = result.map(|plan| to.apply(&plan).unwrap().view().to_owned());
                assert_eq!(result.as_deref().ok(), expected, "{to:?}");
            }
        }
    }

    #[test]
    fn an_edit_of_the_same_lines_meets_the_change() {
        let from = "a\nb\nc\nd\ne\n";
        for (edited, to, lines, expected) in [
            ("a\nB\nc\nd\ne\n", "a\nx\nc\nd\ne\n", (2, 2), [2, 2, 2, 2]),
            ("a\nB\nc\nd\ne\n", "a\nc\nd\ne\n", (2, 2), [2, 2, 2, 1]),
            ("a\nb\nnew\nc\nd\ne\n", "a\nb\nother\nc\nd\ne\n", (3, 2), [3, 2, 3, 3]),
            ("a\nb\nnew\nc\nd\ne\n", "a\nb\nC\nd\ne\n", (3, 2), [3, 3, 3, 3]),
            ("a\nx\ny\nd\ne\n", "a\nb\nmid\nc\nd\ne\n", (2, 3), [3, 2, 3, 3]),
            ("0\na\nb\nc\nd\ne\n", "1\na\nb\nc\nd\ne\n", (1, 0), [1, 0, 1, 1]),
            ("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\ng\n", (6, 5), [6, 5, 6, 6]),
        ] {
            let expected = Region {
                start_line: expected[0],
                end_line: expected[1],
                new_start_line: expected[2],
                new_end_line: expected[3],
            };
            assert_eq!(
                rebased(from, edited, to),
                Err(RebaseConflict { lines, change: Some(expected) }),
                "{edited:?} {to:?}"
            );
        }
    }

    #[test]
    fn ambiguous_lines_are_not_touched() {
        // It is unknown which of the copies was inserted or removed.
        for (from, edited, to) in [
            ("x\na\na\ny\n", "x\nA\na\ny\n", "x\na\na\na\ny\n"),
            ("x\na\na\ny\n", "x\na\nA\ny\n", "x\na\ny\n"),
            ("x\n}\n\ny\n}\n\nz\n", "x\n}!\n\ny\n}\n\nz\n", "x\n}\n\nnew\n}\n\ny\n}\n\nz\n"),
            ("a\n}\nb\n}\nc\n}\nd\n", "a\n}\nb\n}!\nc\n}\nd\n", "A\n}\nB\n}\nC\n}\nD\n"),
            // The plan's own.
            ("f() {\n}\n}\nz\n", "f() {\n}\nz\n", "f() {\n}\ng() {\n}\nz\n"),
            ("x\nx\nb\n", "x\nb\n", "x\nM\nx\nb\n"),
        ] {
            assert!(rebased(from, edited, to).is_err(), "{from:?} {edited:?} {to:?}");
        }
    }

    #[test]
    fn the_end_of_a_text_is_not_rebased_into_the_middle() {
        for (from, edited, to) in [
            ("one\nthree\nfour\n", "one\nthree", "one\nthree\nfour\nfive\n"),
            ("x = 2\n", "x = 1", "x = 2\ny = 3\n"),
            ("a\nb\nc\n", "a\nb", "a\nb\nc\n\nd\n"),
            ("a\nb\n", "a\nB", "a\nb\nc\n"),
        ] {
            assert!(rebased(from, edited, to).is_err(), "{from:?} {edited:?} {to:?}");
        }
    }

    /// Lines next to an insertion are not changed: it may be the same edit, applied before.
    #[test]
    fn an_edit_that_was_made_before_meets_itself() {
        for (from, edited) in [
            ("a\nb\nc\nd\n", "a\nb\nnew\nc\nd\n"),
            ("a\nb\nc\nd\n", "a\nnew\nb\nc\nd\n"),
            ("a\nb\nc\n", "a\nb\nc\nnew\n"),
            ("a\nb\nc\n", "new\na\nb\nc\n"),
        ] {
            assert!(rebased(from, edited, edited).is_err(), "{from:?} {edited:?}");
            // The same, as a replacement of the lines around.
            let [base, now] = [from, edited].map(read);
            for line in 1..=base.lines().count() {
                let span = base.lines().span(line);
                let line_text = base.lines().with_line_end(line).to_owned();
                for text in [format!("new\n{line_text}"), format!("{line_text}new\n")] {
                    let plan = base.plan(vec![Change { span: span.clone(), text }]).unwrap();
                    if base.apply(&plan).unwrap().view() == now.view() {
                        assert!(rebased_plan(&plan, &base, &now).is_err(), "{from:?} {edited:?} {line}");
                    }
                }
            }
        }
    }

    #[test]
    fn another_encoding_is_another_text() {
        let [from, edited] = ["a\nb\nc\n", "A\nb\nc\n"].map(read);
        let plan = from.plan_to(&edited).unwrap();
        for (bytes, is_conflict) in [(&b"\xEF\xBB\xBFa\nb\nc\nd\n"[..], true), (b"a\nb\nc\nd\n", false)] {
            let to = Buffer::read(bytes.to_vec(), Hints::default()).unwrap();
            assert_eq!(rebased_plan(&plan, &from, &to).is_err(), is_conflict, "{bytes:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_belongs_to_the_first_line() {
        let read = |text: &str| Buffer::read(text.into(), Hints::default()).unwrap();
        let change = |span, text: &str| Change { span, text: text.to_owned() };
        for [from_mark, to_mark] in [["", "\u{feff}"], ["\u{feff}", ""]] {
            let (from, to) =
                (read(&format!("{from_mark}x\ny\nz\n")), read(&format!("{to_mark}x\ny\nz\nnew\n")));
            let plan = from.plan(vec![change(2..3, "Y")]).unwrap();
            let after = to.apply(&rebased_plan(&plan, &from, &to).unwrap()).unwrap();
            assert_eq!(String::from_utf8_lossy(after.bytes()), format!("{to_mark}x\nY\nz\nnew\n"));
            for first in [change(0..1, "X"), change(0..0, "new\n"), change(2..2, "new\n")] {
                let plan = from.plan(vec![first]).unwrap();
                assert!(rebased_plan(&plan, &from, &to).is_err(), "{plan:?}");
            }
            // Of a text without lines, there is only the mark.
            let (from, to) = (read(from_mark), read(to_mark));
            assert!(rebased_plan(&from.replace_all(b"\xEF\xBB\xBFa\n").unwrap(), &from, &to).is_err());
        }
    }

    #[test]
    fn deleted_and_inserted_lines_of_one_run_are_compared_once() {
        let rebase = |count: usize, every: usize, new: &str, steps: usize| {
            let text = |head: &str| read(&format!("{head}\nsep\n{}foot\n", "a\n".repeat(count)));
            let (from, to) = (text("head"), text("heat"));
            let (start, is_deletion) = ("head\nsep\n".len(), new.is_empty());
            let change = |line: usize| {
                let at = start + 2 * line;
                Change { span: if is_deletion { at..at + 2 } else { at..at }, text: new.to_owned() }
            };
            let plan = from.plan((0..count).step_by(every).map(change).collect()).unwrap();
            match plan.rebase_within(&from, &to, &mut AlignBudget::with_steps(steps)).unwrap() {
                Rebased::Plan(plan) => Some(to.apply(&plan).unwrap().view().to_owned()),
                Rebased::Conflict(_) => None,
            }
        };
        for (count, every, new, left) in
            [(4_000, 1, "", 0), (4_000, 2, "", 2_000), (8_000, 2, "", 4_000), (4_000, 2, "a\n", 6_000)]
        {
            let expected = format!("heat\nsep\n{}foot\n", "a\n".repeat(left));
            assert_eq!(
                rebase(count, every, new, 4 * count).as_ref(),
                Some(&expected),
                "{count} {every} {new:?}"
            );
            assert_eq!(rebase(count, every, new, count / 2), None, "too few steps: {count} {every} {new:?}");
        }
    }

    /// The same as [`Slides::reach`], without what it remembers.
    fn reach(lines: &Lines<'_>, block: &Range<usize>) -> (usize, usize) {
        let is_same = |one: usize, other: usize| lines.with_line_end(one) == lines.with_line_end(other);
        let below = lines.count() - block.end;
        let up = (0..block.start).take_while(|k| is_same(block.start - k, block.end - k)).count();
        (up, (0..below).take_while(|k| is_same(block.start + k + 1, block.end + k + 1)).count())
    }

    fn block() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[abc}]?", 0..9)
    }

    fn text(lines: &[String]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    proptest! {
        #[test]
        fn a_remembered_slide_is_the_compared_one(
            text in "([ab]\n){1,24}[ab]?", blocks in proptest::collection::vec((0..24_usize, 1..5_usize), 1..20),
        ) {
            let buffer = read(&text);
            let lines = buffer.lines();
            let (mut slides, mut steps) = (Slides::new(lines), AlignBudget::of_one_plan());
            for (start, length) in blocks {
                let block = start.min(lines.count() - 1)..(start + length).min(lines.count());
                if !block.is_empty() {
                    prop_assert_eq!(slides.reach(&block, &mut steps), reach(&lines, &block));
                }
            }
        }

        /// Two edits that can both be rebased give the same result in either order.
        #[test]
        fn the_order_of_two_edits_does_not_matter(
            before in block(), first in block(), between in block(), second in block(), behind in block(),
            one in block(), other in block(), line_end in "(\r\n|\n)",
        ) {
            let whole = |a: &[String], b: &[String]| {
                read(&text(&[&before, a, &between, b, &behind].map(<[String]>::to_vec).concat()).replace('\n', &line_end))
            };
            let (base, left, right) = (whole(&first, &second), whole(&one, &second), whole(&first, &other));
            let (to_left, to_right) = (base.plan_to(&left).unwrap(), base.plan_to(&right).unwrap());
            let [onto_left, onto_right] =
                [(&to_right, &left), (&to_left, &right)].map(|(plan, to)| rebased_plan(plan, &base, to));
            if let (Ok(onto_left), Ok(onto_right)) = (onto_left, onto_right) {
                let (one, other) = (left.apply(&onto_left).unwrap(), right.apply(&onto_right).unwrap());
                prop_assert_eq!(one.view(), other.view());
            }
        }

        /// An edit between unique lines can be rebased, whatever changes elsewhere.
        #[test]
        fn text_between_proved_lines_is_rebased(
            first in block(), second in block(), one in block(), other in block(),
        ) {
            let whole = |a: &[String], b: &[String]| {
                read(&format!("top\n{}middle one\nmiddle two\nmiddle three\n{}end\n", text(a), text(b)))
            };
            let (base, left, right) = (whole(&first, &second), whole(&one, &second), whole(&first, &other));
            let plan = base.plan_to(&right).unwrap();
            let onto = rebased_plan(&plan, &base, &left);
            let onto = onto.map_err(|conflict| TestCaseError::fail(format!("{conflict:?}")))?;
            let (merged, both) = (left.apply(&onto).unwrap(), whole(&one, &other));
            prop_assert_eq!(merged.view(), both.view());
        }
    }
}
