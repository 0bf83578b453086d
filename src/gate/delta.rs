//! What an edit brought: findings after it that were not there before.
//!
//! Findings are compared as multisets by code, message without digits, and the text of the line they stand on. A
//! finding that moved with its line is the old one; a second copy of an old finding is new.
//!
//! Invariant: the number of old findings after an edit is never larger than the number of findings before it.

use std::collections::HashMap;

use crate::text::{LineMap, Lines};

/// Whether what was seen is surely wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Belief {
    /// It is.
    Certain,
    /// Good texts give it too.
    Doubtful,
}

/// A finding, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// First line of what was found, 1-based.
    pub(super) line: usize,
    /// Last line of it.
    pub(super) end_line: usize,
    /// 1-based column, in characters.
    pub(super) column: usize,
    /// The rule's name.
    pub(super) code: Option<String>,
    /// What was seen.
    pub(super) message: String,
    /// Whether whoever saw it can be believed.
    pub(super) belief: Belief,
    /// The text of the line around, without the space at its ends.
    pub(super) around: String,
}

impl Mark {
    /// Marks one place; a finding at the very start of a text speaks of the text as a whole, not of its first line.
    pub(super) fn new(lines: Lines<'_>, (line, column): (usize, usize), message: String) -> Mark {
        let around = if (line, column) == (1, 1) { "" } else { lines.text(line).trim() };
        Mark {
            line,
            end_line: line,
            column,
            code: None,
            message,
            belief: Belief::Certain,
            around: around.to_owned(),
        }
    }

    fn key(&self) -> (Option<&str>, String, &str) {
        let wordy = self.message.chars().filter(|character| !character.is_ascii_digit());
        (self.code.as_deref(), wordy.collect(), &self.around)
    }
}

/// Which findings have no partner on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unmatched {
    /// For each finding before: whether it is gone.
    pub(super) gone: Vec<bool>,
    /// For each finding after: whether it is new.
    pub(super) new: Vec<bool>,
}

/// Matches the findings of both sides; of several equal ones, those that stayed on their line are the old ones.
pub(super) fn unmatched(before: &[Mark], after: &[Mark], map: &LineMap) -> Unmatched {
    let mut open: HashMap<_, Pair> = HashMap::new();
    for (index, mark) in before.iter().enumerate() {
        open.entry(mark.key()).or_default().old.push(index);
    }
    for (index, mark) in after.iter().enumerate() {
        open.entry(mark.key()).or_default().new.push(index);
    }
    let mut result = Unmatched { gone: vec![false; before.len()], new: vec![false; after.len()] };
    for pair in open.into_values() {
        pair.settle(before, after, map, &mut result);
    }
    result
}

/// The equal findings of both sides, by their index, in the order of the text.
#[derive(Default)]
struct Pair {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Pair {
    /// Matches first what stayed on its line, then the rest in the order of the text.
    fn settle(mut self, before: &[Mark], after: &[Mark], map: &LineMap, result: &mut Unmatched) {
        let mut stay: HashMap<usize, usize> = HashMap::new();
        for line in self.old.iter().filter_map(|&index| map.carry(before.get(index)?.line)) {
            *stay.entry(line).or_default() += 1;
        }
        let mut stayed: HashMap<usize, usize> = HashMap::new();
        self.new.retain(|&index| {
            let line = after.get(index).map_or(0, |mark| mark.line);
            let stays = take(&mut stay, line);
            *stayed.entry(line).or_default() += usize::from(stays);
            !stays
        });
        self.old.retain(|&index| {
            let line = before.get(index).and_then(|mark| map.carry(mark.line));
            !line.is_some_and(|line| take(&mut stayed, line))
        });
        let moved = self.old.len().min(self.new.len());
        for &index in self.old.iter().skip(moved) {
            set(&mut result.gone, index);
        }
        for &index in self.new.iter().skip(moved) {
            set(&mut result.new, index);
        }
    }
}

/// Takes one of what is counted under this key, where there is one left.
fn take(counts: &mut HashMap<usize, usize>, key: usize) -> bool {
    let Some(count) = counts.get_mut(&key).filter(|count| **count > 0) else { return false };
    *count -= 1;
    true
}

fn set(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

/// Lines that the edit replaced, and the lines that stand there now; an empty range ends before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// First and last line before.
    pub(super) old: (usize, usize),
    /// First and last line after.
    pub(super) new: (usize, usize),
}

/// Finds the pieces that the edit changed: everything between two lines that stayed.
pub(super) fn pieces(map: &LineMap, old_count: usize, new_count: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut old_start, mut new_start) = (1, 1);
    let stayed = (1..=old_count).filter_map(|old| Some((old, map.carry(old)?)));
    for (old, new) in stayed.chain([(old_count + 1, new_count + 1)]) {
        if old > old_start || new > new_start {
            pieces.push(Piece { old: (old_start, old - 1), new: (new_start, new.saturating_sub(1)) });
        }
        (old_start, new_start) = (old + 1, new + 1);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Buffer, Hints};

    fn buffer(text: &str) -> Buffer {
        Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap()
    }

    /// One finding for each line that holds `bad`.
    fn marks(buffer: &Buffer) -> Vec<Mark> {
        let lines = buffer.lines();
        let bad = (1..=lines.count()).filter(|&line| lines.text(line).contains("bad"));
        bad.map(|line| Mark::new(lines, (line, 2), format!("bad at {line}"))).collect()
    }

    fn new_lines(before: &str, after: &str) -> Vec<usize> {
        let (old, new) = (buffer(before), buffer(after));
        let map = old.rewrite(after).unwrap().line_map(&old, &new);
        let marks_after = marks(&new);
        let flags = unmatched(&marks(&old), &marks_after, &map).new;
        marks_after.iter().zip(flags).filter(|(_, new)| *new).map(|(mark, _)| mark.line).collect()
    }

    #[test]
    fn only_what_is_new_counts() {
        let none: [usize; 0] = [];
        assert_eq!(new_lines(" bad\n", " bad\n"), none);
        assert_eq!(new_lines("", " bad\n"), [1]);
        assert_eq!(new_lines(" bad\nx\n", "y\nz\n bad\nx\n"), none, "moved down");
        assert_eq!(new_lines(" bad\na\nb\nc\n", "a\nb\nc\n bad\n"), none, "moved away");
        assert_eq!(new_lines(" bad\nx\n", "    bad\nx\n"), none, "indented");
        assert_eq!(new_lines(" bad\nx\n", " bad\nx\n bad\n"), [3], "a second copy below");
        assert_eq!(new_lines("x\n bad\n", " bad\nx\n bad\n"), [1], "a second copy above");
        assert_eq!(new_lines(" bad\nx\n bad\n", " bad\nx\n"), none, "one of two gone");
        assert_eq!(new_lines(" bad 1\n", " bad 2\n"), [1], "another line");
    }

    #[test]
    fn a_finding_about_the_whole_text_does_not_hang_on_its_first_line() {
        let (old, new) = (buffer("a\n"), buffer("b\n"));
        let map = old.rewrite("b\n").unwrap().line_map(&old, &new);
        let whole = |buffer: &Buffer| vec![Mark::new(buffer.lines(), (1, 1), "no title".to_owned())];
        assert_eq!(unmatched(&whole(&old), &whole(&new), &map).new, [false]);
    }

    #[test]
    fn codes_and_words_tell_findings_apart() {
        let text = buffer(" bad\n");
        let map = LineMap::default();
        let plain = marks(&text);
        let coded = vec![Mark { code: Some("E1".to_owned()), ..plain[0].clone() }];
        let worded = vec![Mark { message: "worse at 1".to_owned(), ..plain[0].clone() }];
        let counted = vec![Mark { message: "bad at 77".to_owned(), ..plain[0].clone() }];
        assert_eq!(unmatched(&plain, &coded, &map).new, [true]);
        assert_eq!(unmatched(&plain, &worded, &map).new, [true]);
        assert_eq!(unmatched(&plain, &counted, &map), Unmatched { gone: vec![false], new: vec![false] });
    }

    #[test]
    fn pieces_are_what_lies_between_the_lines_that_stayed() {
        let found = |before: &str, after: &str| {
            let (old, new) = (buffer(before), buffer(after));
            let map = old.rewrite(after).unwrap().line_map(&old, &new);
            let pieces = pieces(&map, old.lines().count(), new.lines().count());
            pieces.into_iter().map(|piece| (piece.old, piece.new)).collect::<Vec<_>>()
        };
        assert_eq!(found("a\nb\nc\n", "a\nx\nc\n"), [((2, 2), (2, 2))]);
        assert_eq!(found("a\nb\nc\n", "a\nc\n"), [((2, 2), (2, 1))]);
        assert_eq!(found("a\nc\n", "a\nb\nc\n"), [((2, 1), (2, 2))]);
        assert_eq!(found("a\n", "x\na\ny\n"), [((1, 0), (1, 1)), ((2, 1), (3, 3))]);
        assert_eq!(found("a\n", "a\n"), []);
        assert_eq!(found("a\n", ""), [((1, 1), (1, 0))]);
    }

    proptest::proptest! {
        #[test]
        fn as_many_are_new_as_the_multisets_differ_by(
            before in proptest::collection::vec(0..4_u8, 0..12),
            after in proptest::collection::vec(0..4_u8, 0..12),
        ) {
            let text = |lines: &[u8]| lines.iter().map(|n| format!(" bad {}\n", "x".repeat(*n as usize))).collect::<String>();
            let (old, new) = (buffer(&text(&before)), buffer(&text(&after)));
            let map = old.rewrite(new.view()).unwrap().line_map(&old, &new);
            let result = unmatched(&marks(&old), &marks(&new), &map);
            for kind in 0..4 {
                let count = |lines: &[u8]| lines.iter().filter(|n| **n == kind).count();
                let flagged = |lines: &[u8], flags: &[bool]| lines.iter().zip(flags).filter(|(n, flag)| **n == kind && **flag).count();
                proptest::prop_assert_eq!(flagged(&after, &result.new), count(&after).saturating_sub(count(&before)));
                proptest::prop_assert_eq!(flagged(&before, &result.gone), count(&before).saturating_sub(count(&after)));
            }
        }
    }
}
