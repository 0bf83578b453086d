//! An edit to undo or to redo.

use lockgate_edit::request::Direction;
use lockgate_store::{EditId, Entry, EntryKind, FileChange};
use lockgate_text::Version;

/// An entry with the direction in which to apply it: undo or redo.
pub(super) struct Reversal {
    pub(super) entry: Entry,
    pub(super) direction: Direction,
    /// The undo of the edit, for a redo, or its redo, for an undo. Reverting it is exact, even if the edit itself was
    /// rebased when it was undone. `None` if the edit was never undone, if the texts of that entry are not kept, or if the
    /// files are as the edit itself left or found them.
    pub(super) last: Option<Entry>,
}

impl Reversal {
    /// Returns the changes that are reverted, or made again.
    pub(super) fn changes(&self) -> &[FileChange] {
        &self.last.as_ref().unwrap_or(&self.entry).changes
    }

    /// Returns the versions of a file before and after the reversal, for one of its changes.
    pub(super) fn versions(&self, changed: &FileChange) -> (Option<Version>, Option<Version>) {
        match (&self.last, self.direction) {
            (Some(_), _) | (None, Direction::Undo) => (changed.after, changed.before),
            (None, Direction::Redo) => (changed.before, changed.after),
        }
    }

    /// Returns the kind of the entry that records the reversal.
    pub(super) const fn kind(&self) -> EntryKind {
        entry_kind(self.direction, self.entry.id)
    }

    /// True if the edit already is in the requested state.
    pub(super) fn is_done(&self) -> bool {
        is_in_state(&self.entry, self.direction)
    }
}

/// Returns the kind of the entry that records the undo or redo of an edit.
pub(super) const fn entry_kind(direction: Direction, of: EditId) -> EntryKind {
    match direction {
        Direction::Undo => EntryKind::Undo(of),
        Direction::Redo => EntryKind::Redo(of),
    }
}

/// Returns redo for an undo, and undo for a redo.
pub(super) const fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Undo => Direction::Redo,
        Direction::Redo => Direction::Undo,
    }
}

/// True if an edit is undone, for an undo, or is not, for a redo.
pub(super) fn is_in_state(entry: &Entry, direction: Direction) -> bool {
    entry.undone == (direction == Direction::Undo)
}

pub(super) const fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Undo => "undone",
        Direction::Redo => "redone",
    }
}
