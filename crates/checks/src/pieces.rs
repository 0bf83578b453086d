//! The pieces of a text that an edit replaced.

use std::ops::RangeInclusive;

use lockgate_text::LineMap;

/// The lines that an edit replaced and their replacement; an empty range ends before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplacedLines {
    /// The first and last line before the edit, 1-based.
    pub(super) old: (usize, usize),
    /// The first and last line after the edit, 1-based.
    pub(super) new: (usize, usize),
}

impl ReplacedLines {
    /// Returns the lines before the edit.
    pub(super) fn old_lines(&self) -> RangeInclusive<usize> {
        self.old.0..=self.old.1
    }

    /// Returns the lines after the edit.
    pub(super) fn new_lines(&self) -> RangeInclusive<usize> {
        self.new.0..=self.new.1
    }

    /// True for a piece that replaces no lines.
    pub(super) fn is_insertion(&self) -> bool {
        self.old_lines().is_empty()
    }
}

/// Returns the pieces that the edit changed: everything between two lines that stayed.
pub(super) fn pieces(map: &LineMap, old_count: usize, new_count: usize) -> Vec<ReplacedLines> {
    let mut pieces = Vec::new();
    let (mut old_start, mut new_start) = (1, 1);
    let stayed = (1..=old_count).filter_map(|old| Some((old, map.new_line_of(old)?)));
    for (old, new) in stayed.chain([(old_count + 1, new_count + 1)]) {
        if old > old_start || new > new_start {
            pieces.push(ReplacedLines { old: (old_start, old - 1), new: (new_start, new.saturating_sub(1)) });
        }
        (old_start, new_start) = (old + 1, new + 1);
    }
    pieces
}

/// A side of a piece: its first and last line there.
pub(super) type PieceSide = fn(&ReplacedLines) -> (usize, usize);

/// Returns the piece that has this line on one side; the pieces are in text order.
pub(super) fn piece_at(pieces: &[ReplacedLines], side: PieceSide, line: usize) -> Option<&ReplacedLines> {
    pieces.get(piece_index(pieces, side, line)?)
}

/// Returns the index of the piece that has this line on one side.
pub(super) fn piece_index(pieces: &[ReplacedLines], side: PieceSide, line: usize) -> Option<usize> {
    let index = pieces.partition_point(|piece| side(piece).1 < line);
    pieces.get(index).filter(|piece| side(piece).0 <= line).map(|_| index)
}
