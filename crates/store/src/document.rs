//! A document: a file below a root, or a row of a database. Its path, and its content as it was read.
//!
//! [`Files`](super::files::Files) and [`Journal`](super::journal::Journal) implement a file,
//! [`EntityStore`](super::rows::EntityStore) implements a row, which also has its history.
//!
//! Invariant: a path holds no descriptor, no connection and no right; every call goes through its store again
//! and finds the same document, or fails.

use super::content::Content;
use super::file_write::FileWrite;
use super::files::OpenFolder;
use super::history::{EditFilter, EditMeta, Entry, JournalRecord};
use super::lock_key::LockKey;
use super::outcome::WriteOutcome;
use super::paths::file_location::{FileLocation, join};
use super::paths::spelling;
use super::row_location::{RowLocation, RowSnapshot, RowWrite};
use super::snapshot::FileSnapshot;
use super::store::Store;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_error::{Code, Error};
use lockgate_policy::Publishing;
use lockgate_text::Hints;

/// An admitted target: a file or a database row, with its identity, its content and its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentPath {
    /// A file in one of the roots.
    File(FileLocation),
    /// A row in a database.
    Row(RowLocation),
}

impl DocumentPath {
    /// The lock key; two spellings of one path have the same key.
    pub fn key(&self) -> LockKey {
        match self {
            DocumentPath::File(place) => place.key(),
            DocumentPath::Row(place) => place.key(),
        }
    }

    /// False if this document has another key since it was resolved: a missing folder that exists by now names the file
    /// instead.
    pub fn has_same_key(&self, store: &Store) -> bool {
        let missing = self.file().and_then(|place| Some((place, place.missing.first()?)));
        missing.is_none_or(|(place, name)| !store.files.exists(place, &join(&place.folder, name)))
    }

    /// A word for the target: `file`, or the type of the entity.
    pub fn noun(&self) -> &str {
        self.entity().map_or(EntityKind::FILE, |entity| entity.kind.name())
    }

    /// The path as the caller named it.
    pub fn shown(&self) -> &str {
        match self {
            DocumentPath::File(place) => place.shown(),
            DocumentPath::Row(place) => place.path(),
        }
    }

    /// The path for policies, gates and diffs: relative to the root that contains the file, with `/`.
    pub fn in_root(&self) -> &str {
        match self {
            DocumentPath::File(place) => place.in_root(),
            DocumentPath::Row(place) => place.path(),
        }
    }

    /// Fails for a misleading path of a document that does not exist: one with characters that are invisible or reorder
    /// others.
    ///
    /// Errors: `INVALID_INPUT`.
    pub fn check_new_name(&self) -> Result<(), Error> {
        match self {
            DocumentPath::File(place) => place.check_new_name(),
            DocumentPath::Row(place) => spelling::check_new(place.path()),
        }
    }

    /// The location, if this is a file.
    pub fn file(&self) -> Option<&FileLocation> {
        if let DocumentPath::File(place) = self { Some(place) } else { None }
    }

    /// The location, if this is a row of a database.
    pub fn row(&self) -> Option<&RowLocation> {
        if let DocumentPath::Row(place) = self { Some(place) } else { None }
    }

    /// The key of an entity in a database.
    pub fn entity(&self) -> Option<&Entity> {
        self.row().map(RowLocation::entity)
    }

    /// The built-in rule by which a file starts a program, as in [`FileLocation::runnable`].
    pub fn runnable(&self) -> Option<&'static str> {
        self.file()?.runnable()
    }

    /// The occasion, such as `in CI`, on which a file that is to be written runs under any of its names, for a person's
    /// review.
    pub fn occasion(&self) -> Option<&'static str> {
        self.file()?.occasion
    }

    /// The path of the file that is really edited, if a symlink was followed.
    pub fn resolved(&self) -> Option<&str> {
        self.file()?.resolved()
    }

    /// All names of a hard-linked file.
    pub fn names(&self) -> &[String] {
        self.file().map_or(&[], |place| &place.names)
    }

    /// Reads the content, at most `limit` bytes; `None` if there is none. The `known` content of a file is only compared;
    /// see [`Snapshot::is_known`].
    pub fn read(&self, store: &Store, limit: u64, known: Option<&[u8]>) -> Result<Option<Snapshot>, Error> {
        Ok(match self {
            DocumentPath::File(place) => {
                store.files.read_unless_known(place, limit, known)?.map(Snapshot::File)
            }
            DocumentPath::Row(place) => store.rows.read(place, limit)?.map(Snapshot::Row),
        })
    }

    /// Reads the content and its last change: in one query for a row, while a file can be edited without a
    /// journal. A file is read from the folder that was opened when its path was admitted, if that is given.
    ///
    /// Errors: those of [`DocumentPath::read`], and for a row those of its history.
    pub fn read_and_last(
        &self,
        store: &Store,
        limit: u64,
        known: Option<&[u8]>,
        folder: Option<OpenFolder>,
        last_of_file: Option<Entry>,
    ) -> Result<(Option<Snapshot>, Option<Entry>), Error> {
        match self {
            DocumentPath::File(place) => {
                let snapshot = match folder {
                    Some(folder) => store.files.read_in(folder, place, limit, known),
                    None => store.files.read_unless_known(place, limit, known),
                };
                Ok((snapshot?.map(Snapshot::File), last_of_file))
            }
            DocumentPath::Row(place) => {
                let (snapshot, last) = store.rows.read_and_last(place, limit)?;
                Ok((snapshot.map(Snapshot::Row), last))
            }
        }
    }

    /// The encoding and line ends that are configured for the path.
    pub fn hints(&self, store: &Store) -> Hints {
        self.file().map_or_else(Hints::default, |place| store.files.hints(place))
    }

    /// True if an entry exists at a path, spelled as in [`DocumentPath::in_root`], in the same root or among the
    /// entities of the same type.
    ///
    /// Errors: `STORE_UNAVAILABLE`, for an entity.
    pub fn exists(&self, store: &Store, path: &str) -> Result<bool, Error> {
        match self {
            DocumentPath::File(place) => Ok(store.files.exists(place, path)),
            DocumentPath::Row(place) => store.rows.exists(place, path),
        }
    }

    /// Publishes all writes of one edit, or none, and records it if possible. This document is the first of them.
    ///
    /// Errors: `EDIT_CONFLICT` if a document has changed since it was read, `INVALID_INPUT` for files and rows in
    /// one edit.
    pub fn publish(
        &self,
        store: &Store,
        writes: &[Write<'_>],
        publishing: Publishing,
        meta: &EditMeta,
    ) -> Result<WriteOutcome, Error> {
        match self {
            DocumentPath::File(place) => {
                let files: Option<Vec<FileWrite<'_>>> = writes.iter().map(file_write).collect();
                let files = files.ok_or_else(mixed_batch)?;
                let is_recorded = store.journal.disabled_reason(place).is_none();
                let record = is_recorded.then_some((&store.journal, meta));
                store.files.publish(&files, publishing, record).map(WriteOutcome::All)
            }
            DocumentPath::Row(_) => {
                let rows: Option<Vec<RowWrite<'_>>> = writes.iter().map(row_write).collect();
                store.rows.publish(&rows.ok_or_else(mixed_batch)?, meta)
            }
        }
    }

    /// The reason why edits of this document are not recorded, if they are not.
    pub fn disabled_reason(&self, store: &Store) -> Option<String> {
        store.journal.disabled_reason(self.file()?)
    }

    /// Replaces an error of the history by a default if the document can be edited without it. For a row the history is
    /// part of the data.
    ///
    /// Errors: that of the query, for a row.
    pub fn or_default<T: Default>(&self, history: Result<T, Error>) -> Result<T, Error> {
        match self {
            DocumentPath::File(_) => Ok(history.unwrap_or_default()),
            DocumentPath::Row(_) => history,
        }
    }

    /// True if a process that has ended began an edit of this document; also returns the last entry of a file. Call it
    /// only while the document's lock is held. A transaction of a database is complete or absent.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn interrupted_and_last(&self, store: &Store) -> Result<(bool, Option<Entry>), Error> {
        self.file().map_or(Ok((false, None)), |place| store.journal.interrupted_and_last(place))
    }

    /// Returns the text of a version, by the whole hash or a prefix of at least 12 hex digits; `None` if it
    /// was never kept, or was pruned.
    pub fn text(&self, store: &Store, version: &str) -> Result<Option<Vec<u8>>, Error> {
        match self {
            DocumentPath::File(place) => store.journal.text(place, version),
            DocumentPath::Row(place) => store.rows.text(place, version),
        }
    }

    /// Returns the last entries, the newest first.
    pub fn entries(&self, store: &Store, most: usize) -> Result<Vec<Entry>, Error> {
        match self {
            DocumentPath::File(place) => store.journal.entries(Some(place), most),
            DocumentPath::Row(place) => store.rows.entries(Some(place), most),
        }
    }

    /// Returns the first edit that passes the filter.
    pub fn newest(&self, store: &Store, filter: EditFilter) -> Result<Option<Entry>, Error> {
        match self {
            DocumentPath::File(place) => store.journal.newest(filter, Some(place)),
            DocumentPath::Row(place) => store.rows.newest(filter, place),
        }
    }
}

impl From<FileLocation> for DocumentPath {
    fn from(place: FileLocation) -> DocumentPath {
        DocumentPath::File(place)
    }
}

impl From<RowLocation> for DocumentPath {
    fn from(place: RowLocation) -> DocumentPath {
        DocumentPath::Row(place)
    }
}

/// The content that was read, of a file or a row.
#[derive(Debug)]
pub enum Snapshot {
    /// A file that is held open.
    File(FileSnapshot),
    /// A row of a database.
    Row(RowSnapshot),
}

impl Snapshot {
    /// True if the content is the one that the reader knew, as in [`FileSnapshot::is_known`].
    pub fn is_known(&self) -> bool {
        self.file().is_some_and(FileSnapshot::is_known)
    }

    /// Takes the content out, so that it need not be copied.
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        match self {
            Snapshot::File(snapshot) => snapshot.take_bytes(),
            Snapshot::Row(snapshot) => snapshot.take_bytes(),
        }
    }

    /// The permission bits of a file.
    pub fn mode(&self) -> Option<u32> {
        self.file().map(|snapshot| snapshot.mode)
    }

    /// The file, if this is the content of one.
    pub fn file(&self) -> Option<&FileSnapshot> {
        if let Snapshot::File(snapshot) = self { Some(snapshot) } else { None }
    }

    /// True if both are the same file, as in [`FileSnapshot::is_same_file`].
    pub fn is_same_file(&self, other: &Snapshot) -> bool {
        self.file().zip(other.file()).is_some_and(|(file, other)| file.is_same_file(other))
    }

    /// Fails if publishing would fail because of hard links, as in [`FileSnapshot::check_names`].
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_names(&self, place: &DocumentPath, publishing: Publishing) -> Result<(), Error> {
        let file = self.file().zip(place.file());
        file.map_or(Ok(()), |(snapshot, place)| snapshot.check_names(place, publishing))
    }

    /// Fails for a file that publishing could not replace, as in [`FileSnapshot::check_replaceable`].
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_replaceable(&self, place: &DocumentPath, publishing: Publishing) -> Result<(), Error> {
        let file = self.file().zip(place.file());
        file.map_or(Ok(()), |(snapshot, place)| snapshot.check_replaceable(place, publishing))
    }

    /// Fails for a file whose metadata a new file cannot get, as in [`Files::check_metadata`](crate::Files::check_metadata).
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_metadata(&self, store: &Store, place: &DocumentPath) -> Result<(), Error> {
        let file = self.file().zip(place.file());
        file.map_or(Ok(()), |(snapshot, place)| store.files.check_metadata(place, snapshot))
    }
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

/// Returns the write of a file; `None` for a row.
fn file_write<'a>(write: &Write<'a>) -> Option<FileWrite<'a>> {
    let Write { place, before, after, mode, folders, record } = *write;
    let DocumentPath::File(place) = place else { return None };
    let before = match before {
        None => None,
        Some((snapshot, content)) => Some(snapshot.file()?.expected(content)),
    };
    Some(FileWrite { place, before, after, mode, folders, record })
}

/// Returns the write of a row; `None` for a file.
fn row_write<'a>(write: &Write<'a>) -> Option<RowWrite<'a>> {
    let Write { place, before, after, record, .. } = *write;
    let DocumentPath::Row(location) = place else { return None };
    let before = match before {
        None => None,
        Some((Snapshot::Row(snapshot), content)) => Some((snapshot, content)),
        Some((Snapshot::File(_), _)) => return None,
    };
    Some(RowWrite { location, before, after, record })
}

/// The error for files and rows in one edit, which no store can write together.
fn mixed_batch() -> Error {
    let message = "one edit cannot change both files and database entities";
    Error::new(Code::InvalidInput, message).hint("make one edit of each")
}
