//! The stores of a workspace, and the edits of all their documents.

use super::files::Files;
use super::history::{EditId, Entry};
use super::journal::Journal;
use super::rows::EntityStore;
use lockgate_error::Error;

/// The files and the rows of a workspace, with their journals.
#[derive(Debug)]
pub struct Store {
    /// The files below the roots.
    pub files: Files,
    /// The journal of the files.
    pub journal: Journal,
    /// The entities in a database, with their history.
    pub rows: EntityStore,
}

impl Store {
    /// Returns the entry with that id.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        match self.journal.entry(id) {
            Ok(Some(entry)) => Ok(Some(entry)),
            of_no_file => match self.rows.entry(id)? {
                Some(entry) => Ok(Some(entry)),
                None => of_no_file,
            },
        }
    }

    /// Returns the newest undo or redo of the edit with this id.
    pub fn last_reversal(&self, id: EditId) -> Result<Option<Entry>, Error> {
        match self.journal.last_reversal(id) {
            Ok(Some(entry)) => Ok(Some(entry)),
            of_no_file => self.rows.last_reversal(id)?.map_or(of_no_file, |entry| Ok(Some(entry))),
        }
    }

    /// Returns the last entries of all documents that the caller may access, the newest first.
    pub fn entries(&self, most: usize) -> Result<Vec<Entry>, Error> {
        let mut all = self.journal.entries(None, most)?;
        let rows = self.rows.entries(None, most)?;
        if !rows.is_empty() {
            all.extend(rows);
            all.sort_by_key(|entry| std::cmp::Reverse(entry.at));
            all.truncate(most);
        }
        Ok(all)
    }

    /// Returns the last edits of files in all roots, the newest first.
    pub fn file_entries(&self, most: usize) -> Result<Vec<Entry>, Error> {
        self.journal.entries(None, most)
    }

    /// Returns the newest edit of the files of all roots that is not undone.
    pub fn to_undo(&self) -> Result<Option<Entry>, Error> {
        self.journal.to_undo(None)
    }

    /// Returns the edit of the files of all roots that was undone last and is not redone.
    pub fn to_redo(&self) -> Result<Option<Entry>, Error> {
        self.journal.to_redo(None)
    }
}
