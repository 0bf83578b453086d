//! An entity as a document: a row of a database, which also has its history.

use super::document::{Document, DocumentPath, Snapshot, Write};
use super::history::{EditMeta, Entry};
use super::lock_key::LockKey;
use super::outcome::{WriteOutcome, mixed_batch};
use super::paths::spelling;
use super::row_location::{RowLocation, RowWrite};
use super::store::Store;
use lockgate_edit::request::Entity;
use lockgate_error::Error;
use lockgate_policy::Publishing;

impl Document for RowLocation {
    fn key(&self) -> LockKey {
        self.key()
    }

    fn noun(&self) -> &str {
        self.entity().kind.name()
    }

    fn shown(&self) -> &str {
        self.path()
    }

    fn in_root(&self) -> &str {
        self.path()
    }

    fn check_new_name(&self) -> Result<(), Error> {
        spelling::check_new(self.path())
    }

    fn row(&self) -> Option<&RowLocation> {
        Some(self)
    }

    fn entity(&self) -> Option<&Entity> {
        Some(self.entity())
    }

    fn read(&self, store: &Store, limit: u64, _: Option<&[u8]>) -> Result<Option<Snapshot>, Error> {
        Ok(store.rows.read(self, limit)?.map(Snapshot::Row))
    }

    fn read_and_last(
        &self,
        store: &Store,
        limit: u64,
        _: Option<&[u8]>,
        _: Option<Entry>,
    ) -> Result<(Option<Snapshot>, Option<Entry>), Error> {
        let (snapshot, last) = store.rows.read_and_last(self, limit)?;
        Ok((snapshot.map(Snapshot::Row), last))
    }

    fn exists(&self, store: &Store, path: &str) -> bool {
        store.rows.exists(self, path)
    }

    fn publish(
        &self,
        store: &Store,
        writes: &[Write<'_>],
        _: Publishing,
        meta: &EditMeta,
    ) -> Result<WriteOutcome, Error> {
        let rows: Option<Vec<RowWrite<'_>>> = writes.iter().map(row_write).collect();
        store.rows.publish(&rows.ok_or_else(mixed_batch)?, meta)
    }

    fn is_history_optional(&self) -> bool {
        false
    }

    fn latest(&self, store: &Store) -> Result<Option<Entry>, Error> {
        store.rows.latest(self)
    }

    /// A database transaction is complete or absent.
    fn interrupted_and_last(&self, _: &Store) -> Result<(bool, Option<Entry>), Error> {
        Ok((false, None))
    }

    fn text(&self, store: &Store, version: &str) -> Result<Option<Vec<u8>>, Error> {
        store.rows.text(self, version)
    }

    fn entries(&self, store: &Store, most: usize) -> Result<Vec<Entry>, Error> {
        store.rows.entries(Some(self), most)
    }

    fn to_undo(&self, store: &Store) -> Result<Option<Entry>, Error> {
        store.rows.to_undo(self)
    }

    fn to_redo(&self, store: &Store) -> Result<Option<Entry>, Error> {
        store.rows.to_redo(self)
    }
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
