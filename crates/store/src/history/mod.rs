//! The edits of files and of rows, as their history records them.
//!
//! Invariant: plain data; the journals of the roots and the database of the rows store it.

mod entry;
mod id;

pub(crate) use entry::UNKNOWN_VERSION;
pub use entry::{EditMeta, Entry, EntryKind, FileChange, JournalRecord};
pub use id::EditId;

use std::time::Duration;

/// The size and age limits of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// The most bytes on the disk.
    pub size: u64,
    /// The greatest age of an entry.
    pub age: Duration,
}

/// A filter for edits by their state.
#[derive(Debug, Clone, Copy)]
pub enum EditFilter {
    /// All settled edits, undone or not.
    Settled,
    /// Edits that can be undone: neither an undo nor a redo, and not undone yet.
    ToUndo,
    /// Edits that are currently undone; the most recently undone comes first.
    ToRedo,
}
