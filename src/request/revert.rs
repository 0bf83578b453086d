//! What is asked of the past: an edit taken back or made again, and what was edited.

use super::{Author, Target};

/// Which way an edit is to be turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It is taken back.
    Undo,
    /// It was taken back, and is made again.
    Redo,
}

/// An edit that is to be taken back, or made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    /// Which way.
    pub direction: Direction,
    /// The name of the edit; without it, the last one.
    pub edit_id: Option<String>,
    /// The file or entity whose last edit is meant; without it, the last edit of a file in any root.
    pub of: Option<Target>,
    /// Who asks.
    pub author: Author,
}

/// Which edits are to be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Those of one file or entity; without it, all.
    pub of: Option<Target>,
    /// At most so many, the newest first; 1 to [`History::MOST`].
    pub most: usize,
}

impl History {
    /// The most edits that are listed at once.
    pub const MOST: usize = 1000;
}
