//! The lines of one edit, before and after it.

use super::align::DifferingLines;

/// The lines that an edit removed and added, both inclusive. An empty range ends before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First line before the edit.
    pub start_line: usize,
    /// Last line before the edit.
    pub end_line: usize,
    /// First line after the edit.
    pub new_start_line: usize,
    /// Last line after the edit.
    pub new_end_line: usize,
}

impl From<&DifferingLines> for Region {
    fn from(piece: &DifferingLines) -> Region {
        Region {
            start_line: piece.old.start + 1,
            end_line: piece.old.end,
            new_start_line: piece.new.start + 1,
            new_end_line: piece.new.end,
        }
    }
}
