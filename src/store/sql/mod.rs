//! Where SQL is spoken: the database behind one root's journal.
//!
//! What an edit is and where its files lie is the journal's; here are rows, texts by their stamps, and the files on the disk
//! in which SQLite keeps them.
//!
//! Invariant: whatever fails, the database holds all of an edit or nothing of it.

#[cfg(not(feature = "journal"))]
mod absent;
#[cfg(feature = "journal")]
mod aside;
#[cfg(feature = "journal")]
mod begin;
#[cfg(feature = "journal")]
mod begun;
#[cfg(feature = "journal")]
mod connection;
#[cfg(feature = "journal")]
mod database;
#[cfg(feature = "journal")]
mod look;
#[cfg(feature = "journal")]
mod open;
#[cfg(any(feature = "journal", feature = "content"))]
mod pack;
pub(super) mod rows;
#[cfg(feature = "journal")]
mod schema;
#[cfg(feature = "journal")]
mod texts;
#[cfg(feature = "journal")]
mod tidy;

#[cfg(not(feature = "journal"))]
pub(super) use absent::Database;
#[cfg(feature = "journal")]
pub(super) use database::Database;

use super::inode::Inodes;
use super::publish::Content;
use crate::error::Code;
use crate::text::Version;

/// One file of an edit, as it is to be written down.
#[cfg_attr(not(feature = "journal"), expect(dead_code, reason = "nothing is written down"))]
#[derive(Debug, Clone, Copy)]
pub(super) struct JournalRow<'a> {
    /// Its path beneath the root.
    pub path: &'a str,
    /// The name of its staged copy.
    pub staged: &'a str,
    /// The text before; absent when there was no file.
    pub before: Option<Content<'a>>,
    /// The text after; absent when the file is to be removed.
    pub after: Option<Content<'a>>,
    /// How many lines are added.
    pub added: usize,
    /// How many lines are taken away.
    pub removed: usize,
    /// The permission bits of a file that is to be removed.
    pub mode: Option<u32>,
    /// How many folders are to be made.
    pub folders: usize,
    /// Whether both texts may be kept.
    pub keep: bool,
}

/// Which edits are looked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum EditFilter {
    /// All that were settled.
    Settled,
    /// Those that can be taken back: no undo, no redo, and not taken back yet.
    ToUndo,
    /// Those that were taken back and still are; the one that was taken back last comes first.
    ToRedo,
}

/// An edit that was begun and not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnsettledEdit {
    /// Its number.
    pub number: u64,
    /// Its files, in the order in which they were written down.
    pub files: Vec<BegunFile>,
}

/// One file of such an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BegunFile {
    /// Its path beneath the root.
    pub path: String,
    /// The name of its staged copy.
    pub staged: String,
    /// The version before.
    pub before: Option<Version>,
    /// The version after.
    pub after: Option<Version>,
    /// How many folders were to be made.
    pub folders: usize,
    /// Which files its staged copy and the file before are; absent where that was not written down.
    pub inodes: Option<Inodes>,
}

/// Why the database did not do what it was asked.
#[cfg_attr(not(feature = "journal"), expect(dead_code, reason = "there is one reason only"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DatabaseError {
    /// The disk is full.
    Full(String),
    /// What stands in its file is no database, or a broken one.
    Spoilt(String),
    /// Something that may be over the next time.
    Other(String),
    /// Nothing is to be remembered here, and why.
    Closed(String),
}

impl DatabaseError {
    /// The code of the refusal, and the reason for it.
    pub fn told(&self) -> (Code, &str) {
        match self {
            DatabaseError::Full(why) => (Code::NoSpace, why),
            DatabaseError::Spoilt(why) | DatabaseError::Other(why) | DatabaseError::Closed(why) => {
                (Code::StoreUnavailable, why)
            }
        }
    }
}

#[cfg(feature = "journal")]
#[cfg(test)]
mod tests;
