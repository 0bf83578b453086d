//! Reads and writes the entities that a tenant can access, and queries their history.

use lru::LruCache;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::history::{EditFilter, EditId, EditMeta, Entry, RetentionLimits};
use crate::outcome::{GuardLevel, PublishedBatch, PublishedFile, WriteOutcome};
use crate::row_location::{RowKey, RowLocation, RowSnapshot, RowWrite};
use crate::sql::rows::{EntityDatabase, EntityStoreError, RowRead, StoreListener};
use crate::tenant::Tenant;
use lockgate_error::{Code, Error};

/// The average number of edits between two checks of the journal's limits. Edit numbers are random.
const EVERY: u64 = 1024;

/// The maximum number of cached apps.
const MOST_OWNERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// The entities that a tenant can access.
#[derive(Debug)]
pub struct EntityStore {
    pub(super) database: Arc<EntityDatabase>,
    pub(super) tenant: Tenant,
    /// The organisation of each cached app, which never changes. Only apps in scope are cached: the database is asked about
    /// all others each time.
    pub(super) app_owners: Mutex<LruCache<String, Option<String>>>,
    /// Set when the journal's limits should be checked.
    pub(super) due: AtomicBool,
}

impl EntityStore {
    /// Gives this tenant access to its rows of a database.
    pub fn new(database: Arc<EntityDatabase>, tenant: Tenant) -> EntityStore {
        let app_owners = Mutex::new(LruCache::new(MOST_OWNERS));
        EntityStore { database, tenant, app_owners, due: AtomicBool::new(false) }
    }

    /// Reports each database call to this function.
    pub fn set_listener(&self, listener: StoreListener) {
        self.database.set_listener(listener);
    }

    /// True if a database or an organisation was configured, instead of the user's own database.
    pub fn is_configured(&self) -> bool {
        self.database.is_configured() || self.tenant != Tenant::Global
    }

    /// Reads the row, at most `limit` bytes; `None` if it does not exist.
    ///
    /// Errors: `TOO_LARGE`, `STORE_UNAVAILABLE`.
    pub fn read(&self, place: &RowLocation, limit: u64) -> Result<Option<RowSnapshot>, Error> {
        let read = self.database.row(&self.tenant, place.row_key(), limit)?;
        read.map(|read| snapshot(place, read, limit)).transpose()
    }

    /// Reads the row and its last journal entry.
    ///
    /// Errors: those of [`EntityStore::read`].
    pub fn read_and_last(
        &self,
        place: &RowLocation,
        limit: u64,
    ) -> Result<(Option<RowSnapshot>, Option<Entry>), Error> {
        let (read, last) = self.database.row_and_last(&self.tenant, place.row_key(), limit)?;
        Ok((read.map(|read| snapshot(place, read, limit)).transpose()?, last))
    }

    /// True if an entity of the same type, app and organisation exists at another path.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn exists(&self, place: &RowLocation, path: &str) -> Result<bool, Error> {
        Ok(self.database.has_row(&self.tenant, RowKey { path, ..place.row_key() })?)
    }

    /// Writes and journals all rows of one edit, or none, in one transaction.
    ///
    /// Errors: `NO_SPACE`, `STORE_UNAVAILABLE`. If the connection is lost during the commit, the
    /// message says that the edit may or may not have been written.
    pub fn publish(&self, writes: &[RowWrite<'_>], meta: &EditMeta) -> Result<WriteOutcome, Error> {
        if writes.is_empty() {
            return Err(Error::new(Code::Internal, "an edit has no rows"));
        }
        let Some(edit) = self.database.publish(&self.tenant, writes, meta)? else {
            return Ok(WriteOutcome::Overtaken);
        };
        if edit.number().is_multiple_of(EVERY) {
            self.due.store(true, Ordering::Relaxed);
        }
        let time = Instant::now();
        let published_file = |write: &RowWrite<'_>| PublishedFile {
            created: write.before.is_none(),
            level: GuardLevel::Transaction,
            time,
            notes: Vec::new(),
        };
        Ok(WriteOutcome::All(PublishedBatch {
            files: writes.iter().map(published_file).collect(),
            edit: Some(edit),
        }))
    }

    /// Returns the text of a version of this row, by the whole version or a prefix of at least 12 hex
    /// digits.
    pub fn text(&self, place: &RowLocation, version: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.database.text(&self.tenant, place.row_key(), version)?)
    }

    /// Returns the entry with this id if everything it changed is in scope.
    pub fn entry(&self, id: EditId) -> Result<Option<Entry>, Error> {
        self.when_used(|database| database.entry(&self.tenant, id))
    }

    /// Returns the newest undo or redo of the edit with this id.
    pub fn last_reversal(&self, id: EditId) -> Result<Option<Entry>, Error> {
        self.when_used(|database| database.last_reversal(&self.tenant, id))
    }

    /// Returns the last entries in scope, newest first; those of one row, or all.
    pub fn entries(&self, of: Option<&RowLocation>, most: usize) -> Result<Vec<Entry>, Error> {
        self.when_used(|database| database.entries(&self.tenant, of.map(RowLocation::row_key), most))
    }

    /// Runs a query of the history; one of a database that was never used finds nothing.
    fn when_used<T: Default>(
        &self,
        query: impl FnOnce(&EntityDatabase) -> Result<T, EntityStoreError>,
    ) -> Result<T, Error> {
        if self.database.may_have_content() { Ok(query(&self.database)?) } else { Ok(T::default()) }
    }

    /// Returns the first edit of a row that passes the filter.
    pub fn newest(&self, filter: EditFilter, place: &RowLocation) -> Result<Option<Entry>, Error> {
        Ok(self.database.newest(&self.tenant, place.row_key(), filter)?)
    }

    /// True if old edits should be removed.
    pub fn is_due(&self) -> bool {
        self.due.load(Ordering::Relaxed)
    }

    /// Removes the oldest edits in this tenant's scope until the journal is within its limits. Call it
    /// now and then only.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), Error> {
        if self.due.swap(false, Ordering::Relaxed) {
            self.database.tidy(&self.tenant, bounds)?;
        }
        Ok(())
    }
}

fn snapshot(place: &RowLocation, read: RowRead, limit: u64) -> Result<RowSnapshot, Error> {
    let RowRead { bytes, size, version, changed } = read;
    let bytes = bytes.ok_or_else(|| {
        let path = place.path();
        Error::new(Code::TooLarge, format!("{path} is too large: {size} bytes, limit {limit} bytes"))
    })?;
    Ok(RowSnapshot::new(bytes, version, changed))
}
