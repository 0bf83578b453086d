//! Requests to undo or redo an edit, and to list the history.

use super::{Author, Target};

/// The direction of a request: undo or redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Undo an edit: restore the text before it.
    Undo,
    /// Redo an edit that was undone.
    Redo,
}

/// A request to undo or redo an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRequest {
    /// The direction: undo or redo.
    pub direction: Direction,
    /// The id of the edit; without it, the last one.
    pub edit_id: Option<String>,
    /// The file or entity whose last edit is reverted; without it, the last edit of a file in any root.
    pub target: Option<Target>,
    /// Whose edits count if neither an id nor a target is given.
    pub whose: Whose,
    /// The author of the request.
    pub author: Author,
}

/// Whose edits an undo or redo without an id concerns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Whose {
    /// All edits of files, for the owner of the journal.
    #[default]
    Everyone,
    /// The edits of the author of the request.
    Author,
}

/// A request for the edit history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The file or entity; all if absent.
    pub target: Option<Target>,
    /// The most entries, newest first; 1 to [`HistoryRequest::MAX_ENTRIES`].
    pub max_entries: usize,
}

impl HistoryRequest {
    /// The most entries in one answer.
    pub const MAX_ENTRIES: usize = 1000;
}
