//! The SQLite database behind one root's journal.
//!
//! The journal defines the edits and the location of their files. This module stores rows and texts by
//! their versions, and manages SQLite's files on the disk.
//!
//! Invariant: whatever fails, the database holds all of an edit or none of it.

mod aside;
mod begin;
mod connection;
mod database;
mod open;
mod pack;
mod queries;
pub(super) mod rows;
mod schema;
mod texts;
mod tidy;
mod unsettled;

pub(super) use database::Database;

use super::inode::Inodes;
use super::publish::Content;
use super::system_error::FILE_SIZE_HINT;
use lockgate_error::{Code, Error};
use lockgate_text::Version;

/// A file of an edit to be recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct JournalRow<'a> {
    /// Its path relative to the root.
    pub path: &'a str,
    /// The name of its staged copy.
    pub staged: &'a str,
    /// The text before; `None` if there was no file.
    pub before: Option<Content<'a>>,
    /// The text after; `None` if the file is to be removed.
    pub after: Option<Content<'a>>,
    /// The number of lines added.
    pub added: usize,
    /// The number of lines removed.
    pub removed: usize,
    /// The permission bits of a file to be removed.
    pub mode: Option<u32>,
    /// The number of folders to be created.
    pub folders: usize,
    /// True if the journal may store both texts.
    pub keep: bool,
}

/// A filter for edits by their state.
#[derive(Debug, Clone, Copy)]
pub(super) enum EditFilter {
    /// All settled edits, undone or not.
    Settled,
    /// Edits that can be undone: neither an undo nor a redo, and not undone yet.
    ToUndo,
    /// Edits that are currently undone; the most recently undone comes first.
    ToRedo,
}

/// An edit that was begun and not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnsettledEdit {
    pub number: u64,
    /// Its files in the recorded order.
    pub files: Vec<UnsettledFile>,
}

/// A file of an unsettled edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnsettledFile {
    /// Its path relative to the root.
    pub path: String,
    /// The name of its staged copy.
    pub staged: String,
    /// The version before the edit; `None` if there was no file.
    pub before: Option<Version>,
    /// The version after the edit; `None` if it removes the file.
    pub after: Option<Version>,
    /// The number of folders that were to be created.
    pub folders: usize,
    /// The inodes of its staged copy and of the file before; `None` if they were not recorded.
    pub inodes: Option<Inodes>,
}

/// An error of the journal's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DatabaseError {
    Full(String),
    /// A file has reached the file size limit of this process, which the text names.
    FileTooLarge(String),
    /// The file is not a database, or it is corrupt.
    Corrupt(String),
    /// An error that may be temporary.
    Other(String),
    /// The journal must not be used; the text is the reason.
    Unusable(String),
}

impl DatabaseError {
    /// Returns the error code and the reason.
    pub fn code_and_reason(&self) -> (Code, &str) {
        match self {
            DatabaseError::Full(reason) | DatabaseError::FileTooLarge(reason) => (Code::NoSpace, reason),
            DatabaseError::Corrupt(reason)
            | DatabaseError::Other(reason)
            | DatabaseError::Unusable(reason) => (Code::StoreUnavailable, reason),
        }
    }

    /// Converts this into the error of a caller; `problem` says what cannot be done.
    pub fn to_error(&self, problem: &str) -> Error {
        let (code, why) = self.code_and_reason();
        let error = Error::new(code, format!("{problem}: {why}"));
        match self {
            DatabaseError::FileTooLarge(_) => error.hint(FILE_SIZE_HINT),
            DatabaseError::Full(_)
            | DatabaseError::Corrupt(_)
            | DatabaseError::Other(_)
            | DatabaseError::Unusable(_) => error,
        }
    }
}

#[cfg(test)]
mod tests;
