//! The store of a workspace: combines files and database rows, each with its history.
//!
//! Invariant: a path is handed to the store that admitted it, and all writes of one edit go to one store.

use super::content::Content;
use super::document::{DocumentPath, Snapshot};
use super::file_write::FileWrite;
use super::files::Files;
use super::history::{EditId, EditMeta, Entry, JournalRecord};
use super::journal::Journal;
use super::outcome::WriteOutcome;
use super::row_location::RowWrite;
use super::rows::EntityStore;
use lockgate_error::{Code, Error};
use lockgate_policy::Publishing;
use lockgate_text::Hints;

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

/// One text to replace, create or remove.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// The path of the document.
    pub place: &'a DocumentPath,
    /// The content that was read; absent if there was none.
    pub before: Option<(&'a Snapshot, Content<'a>)>,
    /// The new content; absent if it is to be removed.
    pub after: Option<Content<'a>>,
    /// The permission bits of a new file, if they differ from the default.
    pub mode: Option<u32>,
    /// The number of folders above a removed file that are removed too, if they are empty then.
    pub folders: usize,
    /// The facts that the journal records besides the texts.
    pub record: JournalRecord,
}

impl Store {
    /// Reads the content, at most `limit` bytes; `None` if there is none.
    pub fn read(&self, place: &DocumentPath, limit: u64) -> Result<Option<Snapshot>, Error> {
        Ok(match place {
            DocumentPath::File(place) => self.files.read(place, limit)?.map(Snapshot::File),
            DocumentPath::Row(place) => self.rows.read(place, limit)?.map(Snapshot::Row),
        })
    }

    /// Reads the content and its last change: in one query for a row, while a file can be edited without a
    /// journal.
    ///
    /// Errors: those of [`Store::read`], and for a row those of its history.
    pub fn read_and_last(
        &self,
        place: &DocumentPath,
        limit: u64,
        last_of_file: Option<Entry>,
    ) -> Result<(Option<Snapshot>, Option<Entry>), Error> {
        match place {
            DocumentPath::File(_) => Ok((self.read(place, limit)?, last_of_file)),
            DocumentPath::Row(row) => {
                let (snapshot, last) = self.rows.read_and_last(row, limit)?;
                Ok((snapshot.map(Snapshot::Row), last))
            }
        }
    }

    /// The encoding and line ends that are configured for a path.
    pub fn hints(&self, place: &DocumentPath) -> Hints {
        match place {
            DocumentPath::File(place) => self.files.hints(place),
            DocumentPath::Row(_) => Hints::default(),
        }
    }

    /// True if an entry exists at a path, spelled as in [`DocumentPath::in_root`], in the same root or among
    /// the entities of the same type.
    pub fn exists(&self, place: &DocumentPath, path: &str) -> bool {
        match place {
            DocumentPath::File(place) => self.files.exists(place, path),
            DocumentPath::Row(place) => self.rows.exists(place, path),
        }
    }

    /// Publishes all writes of one edit, or none, and records it if possible.
    ///
    /// Errors: `EDIT_CONFLICT` if a file has changed since it was read, `INVALID_INPUT` for files and rows in
    /// one edit.
    pub fn publish(
        &self,
        writes: &[Write<'_>],
        publishing: Publishing,
        meta: &EditMeta,
    ) -> Result<WriteOutcome, Error> {
        let files: Option<Vec<FileWrite<'_>>> = writes.iter().map(Write::of_file).collect();
        if let Some(files) = files {
            let remembers = writes.first().is_some_and(|write| self.disabled_reason(write.place).is_none());
            let record = remembers.then_some((&self.journal, meta));
            return self.files.publish(&files, publishing, record).map(WriteOutcome::All);
        }
        let rows: Option<Vec<RowWrite<'_>>> = writes.iter().map(Write::of_row).collect();
        let rows = rows.ok_or_else(|| {
            let message = "one edit cannot change both files and database entities";
            Error::new(Code::InvalidInput, message).hint("make one edit of each")
        })?;
        self.rows.publish(&rows, meta)
    }

    /// The reason why edits of a path are not recorded, if they are not.
    pub fn disabled_reason(&self, place: &DocumentPath) -> Option<String> {
        match place {
            DocumentPath::File(place) => self.journal.disabled_reason(place),
            DocumentPath::Row(_) => None,
        }
    }

    /// Replaces an error of the journal by a default for files, which can be edited without a journal. For
    /// rows the history is part of the data, so the error stays.
    ///
    /// Errors: that of the query, for a row.
    pub fn or_default_for_files<T: Default>(
        &self,
        place: &DocumentPath,
        result: Result<T, Error>,
    ) -> Result<T, Error> {
        match place {
            DocumentPath::File(_) => Ok(result.unwrap_or_default()),
            DocumentPath::Row(_) => result,
        }
    }

    /// Returns the last change of a path.
    pub fn latest(&self, place: &DocumentPath) -> Result<Option<Entry>, Error> {
        match place {
            DocumentPath::File(place) => self.journal.latest(place),
            DocumentPath::Row(place) => self.rows.latest(place),
        }
    }

    /// True if a process that has ended began an edit of this path; also returns the last entry of a file. Call it only
    /// while the path's lock is held.
    pub fn interrupted_and_last(&self, place: &DocumentPath) -> (bool, Option<Entry>) {
        match place {
            DocumentPath::File(place) => self.journal.interrupted_and_last(place).unwrap_or_default(),
            // A database transaction is complete or absent.
            DocumentPath::Row(_) => (false, None),
        }
    }

    /// Returns the text of a version, by the whole hash or a prefix of at least 12 hex digits; `None` if it
    /// was never kept, or was pruned.
    pub fn text(&self, place: &DocumentPath, version: &str) -> Result<Option<Vec<u8>>, Error> {
        match place {
            DocumentPath::File(place) => self.journal.text(place, version),
            DocumentPath::Row(place) => self.rows.text(place, version),
        }
    }

    /// Returns the entry with that id.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        match self.journal.entry(id)? {
            Some(entry) => Ok(Some(entry)),
            None => self.rows.entry(id),
        }
    }

    /// Returns the last entries, the newest first, of one path or of all that the caller may access.
    pub fn entries(&self, of: Option<&DocumentPath>, most: usize) -> Result<Vec<Entry>, Error> {
        match of {
            Some(DocumentPath::File(place)) => self.journal.entries(Some(place), most),
            Some(DocumentPath::Row(place)) => self.rows.entries(Some(place), most),
            None => {
                let mut all = self.journal.entries(None, most)?;
                let rows = self.rows.entries(None, most)?;
                if !rows.is_empty() {
                    all.extend(rows);
                    all.sort_by_key(|entry| std::cmp::Reverse(entry.at));
                    all.truncate(most);
                }
                Ok(all)
            }
        }
    }

    /// Returns the last edits of files in all roots, the newest first.
    pub fn file_entries(&self, most: usize) -> Result<Vec<Entry>, Error> {
        self.journal.entries(None, most)
    }

    /// Returns the newest edit that is not undone, of one path or of the files of all roots.
    pub fn to_undo(&self, of: Option<&DocumentPath>) -> Result<Option<Entry>, Error> {
        match of {
            None => self.journal.to_undo(None),
            Some(DocumentPath::File(place)) => self.journal.to_undo(Some(place)),
            Some(DocumentPath::Row(place)) => self.rows.to_undo(place),
        }
    }

    /// Returns the edit that was undone last and is not redone, of one path or of the files of all roots.
    pub fn to_redo(&self, of: Option<&DocumentPath>) -> Result<Option<Entry>, Error> {
        match of {
            None => self.journal.to_redo(None),
            Some(DocumentPath::File(place)) => self.journal.to_redo(Some(place)),
            Some(DocumentPath::Row(place)) => self.rows.to_redo(place),
        }
    }
}

impl<'a> Write<'a> {
    fn of_file(&self) -> Option<FileWrite<'a>> {
        let Write { place, before, after, mode, folders, record } = *self;
        let DocumentPath::File(place) = place else { return None };
        let before = match before {
            None => None,
            Some((Snapshot::File(snapshot), content)) => Some(snapshot.expected(content)),
            Some((Snapshot::Row(_), _)) => return None,
        };
        Some(FileWrite { place, before, after, mode, folders, record })
    }

    fn of_row(&self) -> Option<RowWrite<'a>> {
        let Write { place, before, after, record, .. } = *self;
        let DocumentPath::Row(place) = place else { return None };
        let before = match before {
            None => None,
            Some((Snapshot::Row(snapshot), content)) => Some((snapshot, content)),
            Some((Snapshot::File(_), _)) => return None,
        };
        Some(RowWrite { location: place, before, after, record })
    }
}
