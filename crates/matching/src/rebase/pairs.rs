//! Maps the lines of the replacement to lines of the search.

use std::ops::{Range, RangeInclusive};

use super::belonging::Neighbours;
use super::block::Block;
use lockgate_text::differing_lines;

/// The maximum number of line pairs compared in one changed hunk. The lines of a larger hunk are paired in order, or
/// not at all.
const MAX_PAIRS: usize = 2_500;
/// The maximum number of character pairs compared for one block. Lines beyond it are not paired.
const MAX_CELLS: usize = 1 << 25;
/// The maximum number of compared characters of a line.
const MAX_CHARS: usize = 400;
/// The minimum similarity of two lines that count as versions of one line.
pub(super) const ALIKE: f64 = 0.5;

/// Returns, for each line of the replacement, the line of the search that it keeps or changes; `None` for an added
/// line.
pub(super) fn origins(block: &Block<'_>) -> Vec<Option<usize>> {
    let (old, new) = (&block.search.lines, &block.replace.lines);
    let mut origins = Vec::with_capacity(new.len());
    let (mut from, mut cells) = (0, MAX_CELLS);
    for (removed, added) in differing_lines(old, new) {
        let unchanged = added.start - origins.len();
        origins.extend((from..from + unchanged).map(Some));
        let pairs = paired(
            old.get(removed.clone()).unwrap_or_default(),
            new.get(added.clone()).unwrap_or_default(),
            &mut cells,
        );
        origins.extend(pairs.into_iter().map(|pair| pair.map(|index| removed.start + index)));
        from = removed.end;
    }
    let unchanged = new.len() - origins.len();
    origins.extend((from..from + unchanged).map(Some));
    origins
}

/// Pairs the lines of a hunk in order, with the maximum sum of similarities.
fn paired(old: &[&str], new: &[&str], cells: &mut usize) -> Vec<Option<usize>> {
    let all = |lines: &[&str]| lines.iter().map(|line| weight(line)).sum::<usize>();
    if old.len() * new.len() > MAX_PAIRS || !take(cells, all(old) * all(new)) {
        let same = old.len() == new.len();
        let pair = |(index, (old, new)): (usize, (&&str, &&str))| {
            (same && take(cells, weight(old) * weight(new)) && similarity(old, new) >= ALIKE).then_some(index)
        };
        let mut pairs: Vec<_> = old.iter().zip(new).enumerate().map(pair).collect();
        pairs.resize(new.len(), None);
        return pairs;
    }
    // best[i][j]: the maximum sum for the lines from i and from j on.
    let mut best = vec![vec![0.0_f64; new.len() + 1]; old.len() + 1];
    let sum = |best: &[Vec<f64>], i: usize, j: usize| {
        best.get(i).and_then(|row| row.get(j)).copied().unwrap_or_default()
    };
    let score = |i: usize, j: usize| match (old.get(i), new.get(j)) {
        (Some(old), Some(new)) => Some(similarity(old, new)).filter(|score| *score >= ALIKE),
        (None, _) | (_, None) => None,
    };
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let skipped = sum(&best, i + 1, j).max(sum(&best, i, j + 1));
            let taken = score(i, j).map_or(0.0, |score| score + sum(&best, i + 1, j + 1));
            if let Some(cell) = best.get_mut(i).and_then(|row| row.get_mut(j)) {
                *cell = skipped.max(taken);
            }
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, vec![None; new.len()]);
    while i < old.len() && j < new.len() {
        let best_sum = sum(&best, i, j);
        if best_sum <= sum(&best, i + 1, j) {
            i += 1;
        } else if best_sum <= sum(&best, i, j + 1) {
            j += 1;
        } else {
            if let Some(pair) = pairs.get_mut(j) {
                *pair = Some(i);
            }
            (i, j) = (i + 1, j + 1);
        }
    }
    pairs
}

/// Returns the number of compared characters of a line.
pub(super) fn weight(line: &str) -> usize {
    line.len().clamp(1, MAX_CHARS)
}

fn take(cells: &mut usize, some: usize) -> bool {
    let remaining = cells.checked_sub(some);
    *cells = remaining.unwrap_or(*cells);
    remaining.is_some()
}

/// Returns the similarity of two lines, from 0 to 1, without their indentation.
pub(super) fn similarity(old: &str, new: &str) -> f64 {
    let start = |line: &str| line.trim().chars().take(MAX_CHARS).collect::<String>();
    strsim::normalized_levenshtein(&start(old), &start(new))
}

/// A range from one unchanged line to the next: the lines between them are removed or added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// The removed lines of the search.
    removed: Range<usize>,
    /// The added lines of the replacement.
    added: Range<usize>,
    /// Set if the segment begins behind an unchanged line.
    anchored: bool,
}

/// Returns the segments of a block; the last one ends with the block.
pub(super) fn segments(origins: &[Option<usize>], search: usize) -> Vec<Segment> {
    let (mut segments, mut base, mut row) = (Vec::new(), 0, 0);
    let end = (origins.len(), search);
    let anchors = origins.iter().enumerate().filter_map(|(row, origin)| Some((row, (*origin)?)));
    for (next_row, next_base) in anchors.chain([end]) {
        segments.push(Segment {
            removed: base..next_base,
            added: row..next_row,
            anchored: row > 0 || base > 0,
        });
        (row, base) = (next_row + 1, next_base + 1);
    }
    segments
}

impl Segment {
    /// Returns the rows of the replacement to write: the added ones, and the unchanged line behind them.
    pub(super) fn rows(&self) -> RangeInclusive<usize> {
        self.added.start..=self.added.end
    }

    /// Returns the row of the unchanged line behind them.
    pub(super) fn last_row(&self) -> usize {
        self.added.end
    }

    /// Returns the gaps before these rows, without the two edges of the block.
    pub(super) fn gaps(&self, rows: usize) -> impl Iterator<Item = usize> {
        self.rows().filter(move |row| *row > 0 && *row < rows)
    }

    /// Returns the gaps before the segment's lines of the search, without the two edges of the block.
    pub(super) fn base_gaps(&self, lines: usize) -> impl Iterator<Item = usize> + Clone {
        (self.removed.start..=self.removed.end).filter(move |line| *line > 0 && *line < lines)
    }

    /// Returns true if it removes this line of the search.
    pub(super) fn deletes(&self, line: usize) -> bool {
        self.removed.contains(&line)
    }

    /// Returns true if the gap before this line of the search belongs to it.
    pub(super) fn spans(&self, line: usize) -> bool {
        self.removed.start <= line && line <= self.removed.end
    }

    /// Returns true if the blank lines that the file has above it stay above its added lines: these replace the lines
    /// below, or belong to the line below.
    pub(super) fn keeps_blanks_above(&self, block: &Block<'_>, origins: &[Option<usize>]) -> bool {
        let Block { search, replace } = block;
        let Some(row) = self.added.start.checked_sub(1).filter(|_| !self.added.is_empty()) else {
            return false;
        };
        if !self.removed.is_empty() {
            return self.anchored;
        }
        let unchanged = |row: usize| {
            let base = origins.get(row).copied().flatten();
            base.is_some_and(|base| search.line(base) == replace.line(row))
        };
        let added = replace.lines.get(self.added.clone()).unwrap_or_default();
        let neighbours = Neighbours { above: replace.line(row), below: search.line(self.removed.end) };
        let adjoins = replace.gap(self.added.end) == 0;
        match (unchanged(row), unchanged(self.added.end)) {
            (true, true) => adjoins && neighbours.added_belong_below(added),
            (true, false) => {
                neighbours.added_begin_as_below(added) || adjoins && !neighbours.added_begin_as_above(added)
            }
            (false, _) => false,
        }
    }

    /// Returns true if it only removes lines.
    pub(super) fn is_removal(&self) -> bool {
        !self.removed.is_empty() && self.added.is_empty()
    }

    /// Returns true if it is between two unchanged lines and neither removes nor adds any.
    pub(super) fn is_plain(&self) -> bool {
        self.anchored && self.removed.is_empty() && self.added.is_empty()
    }
}

impl Block<'_> {
    /// Returns true if the replacement adds or changes a line, and does not only remove lines.
    pub(crate) fn adds(&self) -> bool {
        origins(self)
            .iter()
            .enumerate()
            .any(|(row, origin)| origin.is_none_or(|base| self.search.line(base) != self.replace.line(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(search: &str, replace: &str) -> Vec<Option<usize>> {
        origins(&Block::new(search, replace))
    }

    #[test]
    fn unchanged_changed_and_added_lines_are_distinguished() {
        assert_eq!(from("a\nb\nc", "a\nx\nc"), [Some(0), None, Some(2)]);
        assert_eq!(from("a\nvalue = 1\nc", "a\nvalue = 2\nc"), [Some(0), Some(1), Some(2)]);
        assert_eq!(from("a\nb", "a\nnew\nb"), [Some(0), None, Some(1)]);
        assert_eq!(from("a\nb\nc", "a\nc"), [Some(0), Some(2)]);
        assert_eq!(from("a", ""), []);
    }

    #[test]
    fn lines_of_a_hunk_are_paired_in_order_by_similarity() {
        assert_eq!(from("first = 1\nsecond = 2", "other()\nfirst = 3\nsecond = 4"), [None, Some(0), Some(1)]);
        assert_eq!(from("alpha(1)\nbeta(2)", "beta(3)"), [Some(1)]);
    }

    #[test]
    fn a_large_hunk_is_paired_line_by_line() {
        let lines = |tail: &str| (0..100).map(|n| format!("line number {n} {tail}\n")).collect::<String>();
        let pairs = from(&lines("a"), &lines("b"));
        assert!(pairs.iter().enumerate().all(|(row, pair)| *pair == Some(row)));
    }

    #[test]
    fn segments_lie_between_lines_that_stay() {
        let segments = segments(&[None, Some(1), Some(2), None], 4);
        let parts: Vec<_> = segments.iter().map(|one| (one.removed.clone(), one.added.clone())).collect();
        assert_eq!(parts, [(0..1, 0..1), (2..2, 2..2), (3..4, 3..4)]);
        assert_eq!(segments.iter().map(Segment::is_plain).collect::<Vec<_>>(), [false, true, false]);
    }
}
