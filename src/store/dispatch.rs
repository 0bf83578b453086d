//! All that a workspace keeps: files and rows behind one door, each with what it was.
//!
//! Invariant: a place is handed to the store that admitted it, and all of one edit goes to one store.

use super::document_path::DocumentPath;
use super::files::Files;
use super::journal::{EditId, EditMeta, Entry, Journal, RetentionLimits};
use super::publish::{Content, FileWrite, JournalRecord, PublishedBatch};
use super::rows::{EntityStore, RowWrite};
use super::snapshot::Snapshot;
use crate::error::{Code, Error};
use crate::policy::Publishing;
use crate::text::Hints;

/// The files and the rows of a workspace, and what was done to both.
#[derive(Debug)]
pub struct Store {
    /// The files beneath the roots.
    pub files: Files,
    /// What was done to them.
    pub journal: Journal,
    /// What is kept in a database, and what was done to it.
    pub rows: EntityStore,
}

/// One text that is to become another, to be made or to be removed.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// Where it is.
    pub place: &'a DocumentPath,
    /// What was read there; absent when there was nothing.
    pub before: Option<(&'a Snapshot, Content<'a>)>,
    /// What is to stand there; absent when it is to be removed.
    pub after: Option<Content<'a>>,
    /// The permission bits of a new file, where they are not those of any new file.
    pub mode: Option<u32>,
    /// How many of the folders above a removed file go with it, where they are empty then.
    pub folders: usize,
    /// What the journal is told of it.
    pub told: JournalRecord,
}

/// What became of the writes of one edit.
#[derive(Debug)]
pub enum WriteOutcome {
    /// All of it is there.
    All(PublishedBatch),
    /// A row is no longer what was read: somebody else was faster, and nothing was written.
    Overtaken,
}

impl Store {
    /// Reads what stands there, at most `limit` bytes; `None` when there is nothing.
    pub fn read(&self, place: &DocumentPath, limit: u64) -> Result<Option<Snapshot>, Error> {
        Ok(match place {
            DocumentPath::File(place) => self.files.read(place, limit)?.map(Snapshot::File),
            DocumentPath::Row(place) => self.rows.read(place, limit)?.map(Snapshot::Row),
        })
    }

    /// Reads a place, and its last change: in one go where both lie in a database, while a file can be edited without a
    /// journal.
    ///
    /// Errors: those of [`Store::read`], and for a row those of its past.
    pub fn read_and_last(
        &self,
        place: &DocumentPath,
        limit: u64,
    ) -> Result<(Option<Snapshot>, Option<Entry>), Error> {
        match place {
            DocumentPath::File(file) => {
                let last = self.journal.latest(file).unwrap_or_default();
                Ok((self.read(place, limit)?, last))
            }
            DocumentPath::Row(row) => {
                let (snapshot, last) = self.rows.read_and_last(row, limit)?;
                Ok((snapshot.map(Snapshot::Row), last))
            }
        }
    }

    /// What is said of a place's encoding and line ends.
    pub fn hints(&self, place: &DocumentPath) -> Hints {
        match place {
            DocumentPath::File(place) => self.files.hints(place),
            DocumentPath::Row(_) => Hints::default(),
        }
    }

    /// Whether something stands at a path as [`Place::in_root`] spells it, in the same root or among the entities of the
    /// same sort.
    pub fn exists(&self, place: &DocumentPath, path: &str) -> bool {
        match place {
            DocumentPath::File(place) => self.files.exists(place, path),
            DocumentPath::Row(place) => self.rows.exists(place, path),
        }
    }

    /// Publishes all writes of one edit, or none, and remembers it where it can be.
    ///
    /// Errors: `EDIT_CONFLICT` when a file is no longer what was read, `INVALID_INPUT` for files and rows in one edit.
    pub fn publish(
        &self,
        writes: &[Write<'_>],
        how: Publishing,
        deed: &EditMeta,
    ) -> Result<WriteOutcome, Error> {
        let files: Option<Vec<FileWrite<'_>>> = writes.iter().map(Write::of_file).collect();
        if let Some(files) = files {
            let remembers = writes.first().is_some_and(|write| self.forgets(write.place).is_none());
            let record = remembers.then_some((&self.journal, deed));
            return self.files.publish(&files, how, record).map(WriteOutcome::All);
        }
        let rows: Option<Vec<RowWrite<'_>>> = writes.iter().map(Write::of_row).collect();
        let rows = rows.ok_or_else(|| {
            let seen = "one edit cannot be about files and about what lies in a database";
            Error::new(Code::InvalidInput, seen).hint("make one edit of each")
        })?;
        self.rows.publish(&rows, deed)
    }

    /// Why edits of a place are not remembered, where they are not.
    pub fn forgets(&self, place: &DocumentPath) -> Option<String> {
        match place {
            DocumentPath::File(place) => self.journal.trouble(place),
            DocumentPath::Row(_) => None,
        }
    }

    /// What the past was asked, where an edit can do without the answer: files can be edited without a journal. Of rows the
    /// past is a part, and what is not known of it is not taken for nothing.
    ///
    /// Errors: those of asking, for a row.
    pub fn at_hand<T: Default>(&self, place: &DocumentPath, asked: Result<T, Error>) -> Result<T, Error> {
        match place {
            DocumentPath::File(_) => Ok(asked.unwrap_or_default()),
            DocumentPath::Row(_) => asked,
        }
    }

    /// The last change of a place.
    pub fn latest(&self, place: &DocumentPath) -> Result<Option<Entry>, Error> {
        match place {
            DocumentPath::File(place) => self.journal.latest(place),
            DocumentPath::Row(place) => self.rows.latest(place),
        }
    }

    /// Whether an edit of this place was begun by a process that has ended; to be asked only while its lock is held.
    pub fn stale(&self, place: &DocumentPath) -> bool {
        match place {
            DocumentPath::File(place) => self.journal.stale(place).unwrap_or(false),
            // What a database was told in one transaction is there or is not.
            DocumentPath::Row(_) => false,
        }
    }

    /// The text of a version of what stands there, whole stamp or a prefix of at least 12 hex digits; `None` where it was
    /// never kept, or is no longer.
    pub fn text(&self, place: &DocumentPath, version: &str) -> Result<Option<Vec<u8>>, Error> {
        match place {
            DocumentPath::File(place) => self.journal.text(place, version),
            DocumentPath::Row(place) => self.rows.text(place, version),
        }
    }

    /// The entry of that name.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        match self.journal.entry(id)? {
            Some(entry) => Ok(Some(entry)),
            None => self.rows.entry(id),
        }
    }

    /// The last entries, the newest first; those of one place, or of all that the caller reaches.
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

    /// The newest edit that has not been taken back; of one place, or of the files of all roots.
    pub fn to_undo(&self, of: Option<&DocumentPath>) -> Result<Option<Entry>, Error> {
        match of {
            None => self.journal.to_undo(None),
            Some(DocumentPath::File(place)) => self.journal.to_undo(Some(place)),
            Some(DocumentPath::Row(place)) => self.rows.to_undo(place),
        }
    }

    /// The edit that was taken back last and still is; of one place, or of the files of all roots.
    pub fn to_redo(&self, of: Option<&DocumentPath>) -> Result<Option<Entry>, Error> {
        match of {
            None => self.journal.to_redo(None),
            Some(DocumentPath::File(place)) => self.journal.to_redo(Some(place)),
            Some(DocumentPath::Row(place)) => self.rows.to_redo(place),
        }
    }

    /// Whether an edit leaves something to tidy: of files each does, of entities some do.
    pub fn is_due(&self, of_files: bool) -> bool {
        of_files || self.rows.is_due()
    }

    /// Forgets the oldest until all is within its bounds; to be called after each edit where it [is due](Store::is_due).
    ///
    /// Errors: why it could not be done.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), Error> {
        self.journal.tidy(bounds)?;
        self.rows.tidy(bounds)
    }
}

impl<'a> Write<'a> {
    fn of_file(&self) -> Option<FileWrite<'a>> {
        let Write { place, before, after, mode, folders, told } = *self;
        let DocumentPath::File(place) = place else { return None };
        let before = match before {
            None => None,
            Some((Snapshot::File(snapshot), content)) => Some(snapshot.held(content)),
            Some((Snapshot::Row(_), _)) => return None,
        };
        Some(FileWrite { place, before, after, mode, folders, told })
    }

    fn of_row(&self) -> Option<RowWrite<'a>> {
        let Write { place, before, after, told, .. } = *self;
        let DocumentPath::Row(place) = place else { return None };
        let before = match before {
            None => None,
            Some((Snapshot::Row(snapshot), content)) => Some((snapshot, content)),
            Some((Snapshot::File(_), _)) => return None,
        };
        Some(RowWrite { place, before, after, told })
    }
}
