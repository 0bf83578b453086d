//! A plan for one version of a file, carried over to another version in which somebody changed other lines.
//!
//! It is carried only where the place is proved: each splice lies in lines that both versions have, in one run without a
//! change inside, and that run can be no other. A run is proved by where it stands, at the beginning or the end of both
//! versions, or by a line that each version has once. A change that could as well have been made some lines higher or
//! lower takes all of those lines.
//!
//! Invariant: the bytes that a carried plan replaces are those that it replaced in its own version.

use std::collections::HashMap;
use std::ops::Range;

use super::align::{Piece, Steps, differing};
use super::buffer::Buffer;
use super::change::{Plan, Splice};
use super::line_map::Region;
use super::lines::{self, Lines};
use crate::error::Error;

/// Why a plan cannot be carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clash {
    /// The lines that the plan touches, by their numbers in its own version: the first, and the last; an insertion
    /// ends before it begins.
    pub asked: (usize, usize),
    /// The change that it meets, from the plan's version to the other; absent where the lines are the same but could
    /// stand in more than one place.
    pub met: Option<Region>,
}

impl Plan {
    /// Carries a plan that was made for `from` over to `to`.
    ///
    /// Errors: the place where it meets what changed between the two.
    pub fn carried(&self, from: &Buffer, to: &Buffer) -> Result<Result<Plan, Clash>, Error> {
        if from.stamp() == to.stamp() {
            return Ok(Ok(self.clone()));
        }
        let texts = [from.text(), to.text()];
        let starts = [lines::starts(&texts[0]), lines::starts(&texts[1])];
        let sides = Sides { old: Lines::new(&texts[0], &starts[0]), new: Lines::new(&texts[1], &starts[1]) };
        let runs = sides.runs(from.is_alike(to));
        let mut splices = Vec::with_capacity(self.splices().len());
        for splice in self.splices() {
            let asked = Asked::of(from, &splice.span);
            match runs.iter().find(|run| run.holds(&asked)).and_then(|run| run.shift(splice, from, to)) {
                Some(shifted) => splices.push(shifted),
                None => return Ok(Err(asked.clash(&runs))),
            }
        }
        Plan::new(to, splices).map(Ok)
    }
}

/// The lines that a splice touches, counted from 0: those that it changes, or the two that it comes between.
struct Asked {
    lines: Range<usize>,
}

impl Asked {
    fn of(buffer: &Buffer, bytes: &Range<usize>) -> Asked {
        let lines = buffer.lines();
        let start = buffer.offset(bytes.start);
        let first = lines.at(start) - 1;
        if bytes.is_empty() && lines.starts_at(start) {
            return Asked { lines: first..first };
        }
        let last = buffer.offset(bytes.end.saturating_sub(1).max(bytes.start));
        Asked { lines: first..lines.at(last).max(first + 1) }
    }

    /// The change that is nearest to these lines.
    fn clash(&self, runs: &[Run]) -> Clash {
        let changes = runs.iter().zip(runs.iter().skip(1)).map(|(one, other)| Piece {
            old: one.old.end..other.old.start,
            new: one.new.end..other.new.start,
        });
        let distance = |piece: &Piece| {
            let before = piece.old.start.saturating_sub(self.lines.end);
            before.max(self.lines.start.saturating_sub(piece.old.end))
        };
        let met = changes.min_by_key(distance).filter(|piece| distance(piece) == 0);
        Clash { asked: (self.lines.start + 1, self.lines.end), met: met.as_ref().map(Region::from) }
    }
}

/// The lines of both versions, their line ends as they stand in the files.
struct Sides<'a> {
    old: Lines<'a>,
    new: Lines<'a>,
}

/// Lines that both versions have, counted from 0.
struct Run {
    old: Range<usize>,
    new: Range<usize>,
    /// Of the old ones, those whose place is proved.
    proved: Range<usize>,
    /// Whether the run begins with both versions, and whether it ends with both.
    ends: (bool, bool),
}

impl Sides<'_> {
    /// The runs between the changes, one more than there are changes; any may be empty.
    fn runs(&self, alike: bool) -> Vec<Run> {
        let all = Piece { old: 0..self.old.count(), new: 0..self.new.count() };
        let pieces = match alike {
            true => {
                let steps = &mut Steps::of_one_plan();
                differing(&all, |i| self.old.whole(i + 1), |j| self.new.whole(j + 1), steps)
            }
            false => vec![all.clone()],
        };
        let ends = std::iter::once(Piece { old: 0..0, new: 0..0 });
        let end = Piece { old: all.old.end..all.old.end, new: all.new.end..all.new.end };
        let borders: Vec<Piece> = ends.chain(pieces).chain([end]).collect();
        let once = self.lines_found_once();
        let between = borders.iter().zip(borders.iter().skip(1)).enumerate();
        let last = borders.len().saturating_sub(2);
        between.map(|(at, (before, behind))| self.run(before, behind, (at == 0, at == last), &once)).collect()
    }

    fn run(&self, before: &Piece, behind: &Piece, ends: (bool, bool), once: &Once<'_>) -> Run {
        let old = before.old.end..behind.old.start;
        let new = before.new.end..behind.new.start;
        let proved = ends.0 || ends.1 || old.clone().any(|line| once.has(self.old.whole(line + 1)));
        let (down, up) = (self.slides_down(before, old.len()), self.slides_up(behind, old.len()));
        let start = old.start + down;
        let proved = if proved { start..old.end.saturating_sub(up).max(start) } else { start..start };
        Run { old, new, proved, ends }
    }

    /// How many lines behind a change could as well have been its own.
    fn slides_down(&self, piece: &Piece, most: usize) -> usize {
        let same = |lines: &Lines<'_>, range: &Range<usize>| {
            (0..most)
                .take_while(|k| lines.whole(range.start + k + 1) == lines.whole(range.end + k + 1))
                .count()
        };
        match (piece.old.is_empty(), piece.new.is_empty()) {
            (true, false) => same(&self.new, &piece.new),
            (false, true) => same(&self.old, &piece.old),
            (true, true) | (false, false) => 0,
        }
    }

    /// How many lines before a change could as well have been its own.
    fn slides_up(&self, piece: &Piece, most: usize) -> usize {
        let same = |lines: &Lines<'_>, range: &Range<usize>| {
            let most = most.min(range.start);
            (0..most).take_while(|k| lines.whole(range.start - k) == lines.whole(range.end - k)).count()
        };
        match (piece.old.is_empty(), piece.new.is_empty()) {
            (true, false) => same(&self.new, &piece.new),
            (false, true) => same(&self.old, &piece.old),
            (true, true) | (false, false) => 0,
        }
    }

    fn lines_found_once(&self) -> Once<'_> {
        let mut counts: HashMap<&str, (u32, u32)> = HashMap::with_capacity(self.old.count());
        for line in 1..=self.old.count() {
            counts.entry(self.old.whole(line)).or_default().0 += 1;
        }
        for line in 1..=self.new.count() {
            counts.entry(self.new.whole(line)).or_default().1 += 1;
        }
        Once(counts)
    }
}

/// How often each line stands in either version.
struct Once<'a>(HashMap<&'a str, (u32, u32)>);

impl Once<'_> {
    fn has(&self, line: &str) -> bool {
        self.0.get(line) == Some(&(1, 1))
    }
}

impl Run {
    /// Whether these lines lie in the proved part; an insertion needs both of its neighbours there.
    fn holds(&self, asked: &Asked) -> bool {
        let (start, end) = (asked.lines.start, asked.lines.end);
        if start < end {
            return self.proved.start <= start && end <= self.proved.end;
        }
        let at_start = self.ends.0 && start == 0 && self.proved.start == 0;
        let at_end = self.ends.1 && end == self.old.end && self.proved.end == self.old.end;
        (self.proved.start < start || at_start) && (end < self.proved.end || at_end)
    }

    /// The splice where the run stands in the other version.
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
    use crate::text::Hints;
    use proptest::prelude::*;

    fn read(text: &str) -> Buffer {
        Buffer::read(text.into(), Hints::default()).unwrap()
    }

    /// What an edit of one version comes to on another; or where the two meet.
    fn carried(from: &str, edited: &str, to: &str) -> Result<String, Clash> {
        let [from, edited, to] = [from, edited, to].map(read);
        let plan = from.toward(&edited).unwrap();
        plan.carried(&from, &to).unwrap().map(|plan| to.apply(&plan).unwrap().view().to_owned())
    }

    #[test]
    fn an_edit_of_other_lines_is_carried() {
        for (from, edited, to, both) in [
            ("a\nb\nc\nd\n", "a\nb\nc\nD\n", "new\na\nb\nc\nd\n", "new\na\nb\nc\nD\n"),
            ("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n"),
            ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nC\nd\n", "a\nB\nC\nd\n"),
            ("a\nb\nc\nd\n", "a\nb\nd\n", "a\nx\nb\nc\nd\n", "a\nx\nb\nd\n"),
            ("a\nb\nc\nd\n", "a\nb\nnew\nc\nd\n", "A\nb\nc\nd\n", "A\nb\nnew\nc\nd\n"),
            ("a\r\nb\nc\r\n", "a\r\nB\nc\r\n", "0\r\na\r\nb\nc\r\n", "0\na\nB\nc\n"),
            ("a\nb\nc", "a\nb\nc\nd", "A\nb\nc", "A\nb\nc\nd"),
        ] {
            assert_eq!(carried(from, edited, to).as_deref(), Ok(both), "{from:?} {edited:?} {to:?}");
        }
    }

    #[test]
    fn an_edit_of_the_same_lines_meets_the_change() {
        let from = "a\nb\nc\nd\ne\n";
        for (edited, to, asked, met) in [
            ("a\nB\nc\nd\ne\n", "a\nx\nc\nd\ne\n", (2, 2), [2, 2, 2, 2]),
            ("a\nB\nc\nd\ne\n", "a\nc\nd\ne\n", (2, 2), [2, 2, 2, 1]),
            ("a\nb\nnew\nc\nd\ne\n", "a\nb\nother\nc\nd\ne\n", (3, 2), [3, 2, 3, 3]),
            ("a\nb\nnew\nc\nd\ne\n", "a\nb\nC\nd\ne\n", (3, 2), [3, 3, 3, 3]),
            ("a\nx\ny\nd\ne\n", "a\nb\nmid\nc\nd\ne\n", (2, 3), [3, 2, 3, 3]),
            ("0\na\nb\nc\nd\ne\n", "1\na\nb\nc\nd\ne\n", (1, 0), [1, 0, 1, 1]),
            ("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\ng\n", (6, 5), [6, 5, 6, 6]),
        ] {
            let met =
                Region { start_line: met[0], end_line: met[1], new_start_line: met[2], new_end_line: met[3] };
            assert_eq!(carried(from, edited, to), Err(Clash { asked, met: Some(met) }), "{edited:?} {to:?}");
        }
    }

    #[test]
    fn lines_that_could_be_others_are_not_touched() {
        // Which of the copies was inserted, or taken away, cannot be told.
        for (from, edited, to) in [
            ("x\na\na\ny\n", "x\nA\na\ny\n", "x\na\na\na\ny\n"),
            ("x\na\na\ny\n", "x\na\nA\ny\n", "x\na\ny\n"),
            ("x\n}\n\ny\n}\n\nz\n", "x\n}!\n\ny\n}\n\nz\n", "x\n}\n\nnew\n}\n\ny\n}\n\nz\n"),
            ("a\n}\nb\n}\nc\n}\nd\n", "a\n}\nb\n}!\nc\n}\nd\n", "A\n}\nB\n}\nC\n}\nD\n"),
        ] {
            assert!(carried(from, edited, to).is_err(), "{from:?} {edited:?} {to:?}");
        }
    }

    #[test]
    fn another_encoding_is_another_text() {
        let [from, edited] = ["a\nb\nc\n", "A\nb\nc\n"].map(read);
        let plan = from.toward(&edited).unwrap();
        for (bytes, clashes) in [(&b"\xEF\xBB\xBFa\nb\nc\nd\n"[..], true), (b"a\nb\nc\nd\n", false)] {
            let to = Buffer::read(bytes.to_vec(), Hints::default()).unwrap();
            assert_eq!(plan.carried(&from, &to).unwrap().is_err(), clashes, "{bytes:?}");
        }
    }

    fn block() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[abc}]?", 0..9)
    }

    fn text(lines: &[String]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    proptest! {
        /// Two edits that are both carried come to the same, whichever was first.
        #[test]
        fn the_order_of_two_edits_does_not_matter(
            before in block(), first in block(), between in block(), second in block(), behind in block(),
            one in block(), other in block(), ends in "(\r\n|\n)",
        ) {
            let whole = |a: &[String], b: &[String]| {
                read(&text(&[&before, a, &between, b, &behind].map(<[String]>::to_vec).concat()).replace('\n', &ends))
            };
            let (base, left, right) = (whole(&first, &second), whole(&one, &second), whole(&first, &other));
            let (to_left, to_right) = (base.toward(&left).unwrap(), base.toward(&right).unwrap());
            let [onto_left, onto_right] =
                [(&to_right, &left), (&to_left, &right)].map(|(plan, to)| plan.carried(&base, to).unwrap());
            if let (Ok(onto_left), Ok(onto_right)) = (onto_left, onto_right) {
                let (one, other) = (left.apply(&onto_left).unwrap(), right.apply(&onto_right).unwrap());
                prop_assert_eq!(one.view(), other.view());
            }
        }

        /// What is edited between unmistakable lines is carried, whatever happens elsewhere.
        #[test]
        fn what_stands_between_proved_lines_is_carried(
            first in block(), second in block(), one in block(), other in block(),
        ) {
            let whole = |a: &[String], b: &[String]| {
                read(&format!("top\n{}middle one\nmiddle two\nmiddle three\n{}end\n", text(a), text(b)))
            };
            let (base, left, right) = (whole(&first, &second), whole(&one, &second), whole(&first, &other));
            let plan = base.toward(&right).unwrap();
            let onto = plan.carried(&base, &left).unwrap();
            let onto = onto.map_err(|clash| TestCaseError::fail(format!("{clash:?}")))?;
            let (made, both) = (left.apply(&onto).unwrap(), whole(&one, &other));
            prop_assert_eq!(made.view(), both.view());
        }
    }
}
