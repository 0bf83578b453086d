//! A file as a document: it is read and published by [`Files`](super::files::Files), and remembered by the journal of
//! its root.

use super::document::{Document, DocumentPath, Snapshot, Write};
use super::file_write::FileWrite;
use super::history::{EditMeta, Entry};
use super::lock_key::LockKey;
use super::outcome::{WriteOutcome, mixed_batch};
use super::paths::file_location::{FileLocation, join};
use super::store::Store;
use lockgate_edit::request::EntityKind;
use lockgate_error::Error;
use lockgate_policy::Publishing;
use lockgate_text::Hints;

impl Document for FileLocation {
    fn key(&self) -> LockKey {
        self.key()
    }

    /// A missing folder that exists by now names the file instead.
    fn has_same_key(&self, store: &Store) -> bool {
        let missing = self.missing.first();
        missing.is_none_or(|name| !store.files.exists(self, &join(&self.folder, name)))
    }

    fn noun(&self) -> &str {
        EntityKind::FILE
    }

    fn shown(&self) -> &str {
        self.shown()
    }

    fn in_root(&self) -> &str {
        self.in_root()
    }

    fn check_new_name(&self) -> Result<(), Error> {
        self.check_new_name()
    }

    fn file(&self) -> Option<&FileLocation> {
        Some(self)
    }

    fn runnable(&self) -> Option<&'static str> {
        self.runnable()
    }

    fn occasion(&self) -> Option<&'static str> {
        self.occasion
    }

    fn resolved(&self) -> Option<&str> {
        self.resolved()
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn read(&self, store: &Store, limit: u64, known: Option<&[u8]>) -> Result<Option<Snapshot>, Error> {
        Ok(store.files.read_unless_known(self, limit, known)?.map(Snapshot::File))
    }

    fn read_and_last(
        &self,
        store: &Store,
        limit: u64,
        known: Option<&[u8]>,
        last_of_file: Option<Entry>,
    ) -> Result<(Option<Snapshot>, Option<Entry>), Error> {
        Ok((Document::read(self, store, limit, known)?, last_of_file))
    }

    fn hints(&self, store: &Store) -> Hints {
        store.files.hints(self)
    }

    fn exists(&self, store: &Store, path: &str) -> bool {
        store.files.exists(self, path)
    }

    fn publish(
        &self,
        store: &Store,
        writes: &[Write<'_>],
        publishing: Publishing,
        meta: &EditMeta,
    ) -> Result<WriteOutcome, Error> {
        let files: Option<Vec<FileWrite<'_>>> = writes.iter().map(file_write).collect();
        let files = files.ok_or_else(mixed_batch)?;
        let record = self.disabled_reason(store).is_none().then_some((&store.journal, meta));
        store.files.publish(&files, publishing, record).map(WriteOutcome::All)
    }

    fn disabled_reason(&self, store: &Store) -> Option<String> {
        store.journal.disabled_reason(self)
    }

    fn is_history_optional(&self) -> bool {
        true
    }

    fn latest(&self, store: &Store) -> Result<Option<Entry>, Error> {
        store.journal.latest(self)
    }

    fn interrupted_and_last(&self, store: &Store) -> Result<(bool, Option<Entry>), Error> {
        store.journal.interrupted_and_last(self)
    }

    fn text(&self, store: &Store, version: &str) -> Result<Option<Vec<u8>>, Error> {
        store.journal.text(self, version)
    }

    fn entries(&self, store: &Store, most: usize) -> Result<Vec<Entry>, Error> {
        store.journal.entries(Some(self), most)
    }

    fn to_undo(&self, store: &Store) -> Result<Option<Entry>, Error> {
        store.journal.to_undo(Some(self))
    }

    fn to_redo(&self, store: &Store) -> Result<Option<Entry>, Error> {
        store.journal.to_redo(Some(self))
    }
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
