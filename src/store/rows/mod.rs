//! The rows: the entities that are kept in a database, admitted, read, replaced, looked through, and what was done to them.
//!
//! Invariant: no row is seen, changed or told of but within the tenant's reach; what is out of reach is answered as what is
//! not there.

mod admit;
mod app_owners;
mod look;
mod place;
mod selector;
mod tenant;

pub use look::{EntityFilter, RowListed, RowText};
pub use place::{RowPlace, RowSnapshot, RowWrite};
pub use selector::EntitySelector;
pub use tenant::Tenant;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dispatch::WriteOutcome;
use super::journal::{EditId, EditMeta, Entry, RetentionLimits};
use super::publish::{GuardLevel, PublishedBatch, PublishedFile};
use super::sql::EditFilter;
use super::sql::rows::{EntityDatabase, EntityStoreError, RowKey, RowRead, StoreTold};
use crate::error::{Code, Error};
use app_owners::AppOwners;

/// Edits between two looks at the journal's bounds: their numbers are random, so it is one of so many on the average.
const EVERY: u64 = 1024;

/// The entities that a caller reaches.
#[derive(Debug, Clone)]
pub struct EntityStore {
    depot: Arc<EntityDatabase>,
    tenant: Tenant,
    homes: AppOwners,
    /// Whether the journal is to be looked at.
    due: Arc<AtomicBool>,
}

impl EntityStore {
    /// The rows of a database that this tenant reaches.
    pub fn new(depot: Arc<EntityDatabase>, tenant: Tenant) -> EntityStore {
        EntityStore { depot, tenant, homes: AppOwners::default(), due: Arc::default() }
    }

    /// Tells of what the database is asked.
    pub fn tell(&self, told: StoreTold) {
        self.depot.tell(told);
    }

    /// Reads the row, at most `limit` bytes; `None` when there is none.
    ///
    /// Errors: `TOO_LARGE`, `STORE_UNAVAILABLE`.
    pub fn read(&self, place: &RowPlace, limit: u64) -> Result<Option<RowSnapshot>, Error> {
        let read = self.depot.row(&self.tenant, place.row_key(), limit).map_err(EntityStoreError::told)?;
        read.map(|read| snapshot(place, read, limit)).transpose()
    }

    /// Reads the row, and what was done to it last.
    ///
    /// Errors: those of [`Rows::read`].
    pub fn read_and_last(
        &self,
        place: &RowPlace,
        limit: u64,
    ) -> Result<(Option<RowSnapshot>, Option<Entry>), Error> {
        let both = self.depot.row_and_last(&self.tenant, place.row_key(), limit);
        let (read, last) = both.map_err(EntityStoreError::told)?;
        Ok((read.map(|read| snapshot(place, read, limit)).transpose()?, last))
    }

    /// Whether there is an entity of the same sort, app and organisation at another path.
    pub fn exists(&self, place: &RowPlace, path: &str) -> bool {
        self.depot.is_row(&self.tenant, RowKey { path, ..place.row_key() }).unwrap_or(false)
    }

    /// Writes all rows of one edit, or none, and remembers the edit, in one transaction.
    ///
    /// Errors: `NO_SPACE`, `STORE_UNAVAILABLE`; where the database was lost so late that nobody knows whether it was written,
    /// the refusal says so.
    pub fn publish(&self, writes: &[RowWrite<'_>], deed: &EditMeta) -> Result<WriteOutcome, Error> {
        if writes.is_empty() {
            return Err(Error::new(Code::Internal, "an edit without a row was to be written"));
        }
        let Some(edit) = self.depot.publish(&self.tenant, writes, deed).map_err(EntityStoreError::told)?
        else {
            return Ok(WriteOutcome::Overtaken);
        };
        if edit.number().is_multiple_of(EVERY) {
            self.due.store(true, Ordering::Relaxed);
        }
        let done = |write: &RowWrite<'_>| PublishedFile {
            created: write.before.is_none(),
            level: GuardLevel::Transaction,
            notes: Vec::new(),
        };
        Ok(WriteOutcome::All(PublishedBatch { files: writes.iter().map(done).collect(), edit: Some(edit) }))
    }

    /// The last change of the row.
    pub fn latest(&self, place: &RowPlace) -> Result<Option<Entry>, Error> {
        self.newest(place, EditFilter::Settled)
    }

    /// The text of a version of this row, whole stamp or a prefix of at least 12 hex digits.
    pub fn text(&self, place: &RowPlace, version: &str) -> Result<Option<Vec<u8>>, Error> {
        self.depot.text(&self.tenant, place.row_key(), version).map_err(EntityStoreError::told)
    }

    /// The entry of that name, where all that it changed is within reach.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        if !self.depot.is_there() {
            return Ok(None);
        }
        self.depot.entry(&self.tenant, id).map_err(EntityStoreError::told)
    }

    /// The last entries within reach, the newest first; those of one row, or of all.
    ///
    /// Where nobody has used the database yet, there is none.
    pub fn entries(&self, of: Option<&RowPlace>, most: usize) -> Result<Vec<Entry>, Error> {
        if !self.depot.is_there() {
            return Ok(Vec::new());
        }
        self.depot.entries(&self.tenant, of.map(RowPlace::row_key), most).map_err(EntityStoreError::told)
    }

    /// The newest edit of a row that has not been taken back.
    pub fn to_undo(&self, place: &RowPlace) -> Result<Option<Entry>, Error> {
        self.newest(place, EditFilter::ToUndo)
    }

    /// The edit of a row that was taken back last and still is.
    pub fn to_redo(&self, place: &RowPlace) -> Result<Option<Entry>, Error> {
        self.newest(place, EditFilter::ToRedo)
    }

    fn newest(&self, place: &RowPlace, wanted: EditFilter) -> Result<Option<Entry>, Error> {
        self.depot.newest(&self.tenant, place.row_key(), wanted).map_err(EntityStoreError::told)
    }

    /// Whether it is to be tidied.
    pub fn is_due(&self) -> bool {
        self.due.load(Ordering::Relaxed)
    }

    /// Forgets the oldest until what this caller reaches of the journal is within its bounds; now and then only.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), Error> {
        if self.due.swap(false, Ordering::Relaxed) {
            self.depot.tidy(&self.tenant, bounds).map_err(EntityStoreError::told)
        } else {
            Ok(())
        }
    }
}

fn snapshot(place: &RowPlace, read: RowRead, limit: u64) -> Result<RowSnapshot, Error> {
    let RowRead { bytes, size, stamp, changed } = read;
    let bytes = bytes.ok_or_else(|| {
        let path = place.path();
        Error::new(Code::TooLarge, format!("{path} is too large: {size} bytes, limit {limit} bytes"))
    })?;
    Ok(RowSnapshot::new(bytes, stamp, changed))
}

#[cfg(all(feature = "content", feature = "journal"))]
#[cfg(test)]
mod tests;
