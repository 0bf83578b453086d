//! A document: a file below a root, or a row of a database. Its path, and its content as it was read.
//!
//! Invariant: a path holds no descriptor, no connection and no right; every call goes through its store again
//! and finds the same document, or fails.

use super::content::Content;
use super::history::{EditMeta, Entry, JournalRecord};
use super::lock_key::LockKey;
use super::outcome::WriteOutcome;
use super::paths::file_location::FileLocation;
use super::row_location::{RowLocation, RowSnapshot};
use super::snapshot::FileSnapshot;
use super::store::Store;
use lockgate_edit::request::Entity;
use lockgate_error::Error;
use lockgate_policy::Publishing;
use lockgate_text::Hints;
use std::ops::Deref;

/// A file below a root, or an entity in a database: its identity, its content and its history.
///
/// A file is implemented by [`FileLocation`], an entity by [`RowLocation`].
pub trait Document {
    /// The lock key; two spellings of one path have the same key.
    fn key(&self) -> LockKey;

    /// False if this document has another key since it was resolved.
    fn has_same_key(&self, _: &Store) -> bool {
        true
    }

    /// A word for the target: `file`, or the type of the entity.
    fn noun(&self) -> &str;

    /// The path as the caller named it.
    fn shown(&self) -> &str;

    /// The path for policies, gates and diffs: relative to the root that contains the file, with `/`.
    fn in_root(&self) -> &str;

    /// Fails for a misleading path of a document that does not exist: one with characters that are invisible or reorder
    /// others.
    ///
    /// Errors: `INVALID_INPUT`.
    fn check_new_name(&self) -> Result<(), Error>;

    /// The location, if this is a file.
    fn file(&self) -> Option<&FileLocation> {
        None
    }

    /// The location, if this is a row of a database.
    fn row(&self) -> Option<&RowLocation> {
        None
    }

    /// The key of an entity in a database.
    fn entity(&self) -> Option<&Entity> {
        None
    }

    /// The built-in rule by which a file starts a program, as in [`FileLocation::runnable`].
    fn runnable(&self) -> Option<&'static str> {
        None
    }

    /// The occasion, such as `in CI`, on which a file that is to be written runs under any of its names, for a person's
    /// review.
    fn occasion(&self) -> Option<&'static str> {
        None
    }

    /// The path of the file that is really edited, if a symlink was followed.
    fn resolved(&self) -> Option<&str> {
        None
    }

    /// All names of a hard-linked file.
    fn names(&self) -> &[String] {
        &[]
    }

    /// Reads the content, at most `limit` bytes; `None` if there is none. The `known` content of a file is only compared;
    /// see [`Snapshot::is_known`].
    fn read(&self, store: &Store, limit: u64, known: Option<&[u8]>) -> Result<Option<Snapshot>, Error>;

    /// Reads the content and its last change: in one query for a row, while a file can be edited without a
    /// journal.
    ///
    /// Errors: those of [`Document::read`], and for a row those of its history.
    fn read_and_last(
        &self,
        store: &Store,
        limit: u64,
        known: Option<&[u8]>,
        last_of_file: Option<Entry>,
    ) -> Result<(Option<Snapshot>, Option<Entry>), Error>;

    /// The encoding and line ends that are configured for the path.
    fn hints(&self, _: &Store) -> Hints {
        Hints::default()
    }

    /// True if an entry exists at a path, spelled as in [`Document::in_root`], in the same root or among the
    /// entities of the same type.
    fn exists(&self, store: &Store, path: &str) -> bool;

    /// Publishes all writes of one edit, or none, and records it if possible. This document is the first of them.
    ///
    /// Errors: `EDIT_CONFLICT` if a document has changed since it was read, `INVALID_INPUT` for files and rows in
    /// one edit.
    fn publish(
        &self,
        store: &Store,
        writes: &[Write<'_>],
        publishing: Publishing,
        meta: &EditMeta,
    ) -> Result<WriteOutcome, Error>;

    /// The reason why edits of this document are not recorded, if they are not.
    fn disabled_reason(&self, _: &Store) -> Option<String> {
        None
    }

    /// True if the document can be edited when its history cannot be read. For a row the history is part of
    /// the data.
    fn is_history_optional(&self) -> bool;

    /// Returns the last change.
    fn latest(&self, store: &Store) -> Result<Option<Entry>, Error>;

    /// True if a process that has ended began an edit of this document; also returns the last entry of a file. Call it
    /// only while the document's lock is held.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    fn interrupted_and_last(&self, store: &Store) -> Result<(bool, Option<Entry>), Error>;

    /// Returns the text of a version, by the whole hash or a prefix of at least 12 hex digits; `None` if it
    /// was never kept, or was pruned.
    fn text(&self, store: &Store, version: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Returns the last entries, the newest first.
    fn entries(&self, store: &Store, most: usize) -> Result<Vec<Entry>, Error>;

    /// Returns the newest edit that is not undone.
    fn to_undo(&self, store: &Store) -> Result<Option<Entry>, Error>;

    /// Returns the edit that was undone last and is not redone.
    fn to_redo(&self, store: &Store) -> Result<Option<Entry>, Error>;
}

/// An admitted target: a file or a database row. It has the functions of a [`Document`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentPath {
    /// A file in one of the roots.
    File(FileLocation),
    /// A row in a database.
    Row(RowLocation),
}

impl DocumentPath {
    /// Replaces an error of the history by a default if the document can be edited without it.
    ///
    /// Errors: that of the query, for a row.
    pub fn or_default<T: Default>(&self, history: Result<T, Error>) -> Result<T, Error> {
        if self.is_history_optional() { Ok(history.unwrap_or_default()) } else { history }
    }
}

impl Deref for DocumentPath {
    type Target = dyn Document;

    fn deref(&self) -> &(dyn Document + 'static) {
        match self {
            DocumentPath::File(place) => place,
            DocumentPath::Row(place) => place,
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

    /// Fails for a mount point, as in [`FileSnapshot::check_mount`].
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_mount(&self, place: &DocumentPath) -> Result<(), Error> {
        self.file().zip(place.file()).map_or(Ok(()), |(snapshot, place)| snapshot.check_mount(place))
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
