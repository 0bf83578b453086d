//! The entity database as its callers use it. It connects on first use, and again after a failure or
//! when its address leads to another database.

use super::connection::{Address, Connected, EntityTransaction};
use super::dialect::{SqlDialect, TransactionMode};
use super::metrics::StoreMetrics;
use super::statement::Statement;
use super::value::Row;
use super::{EntityStoreError, StoreListener};
use crate::state::StateFolder;
use crate::tenant::Tenant;
use lockgate_error::Error;
use parking_lot::{Mutex, RwLock};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// An entity database, shared by all workspaces that use it. It connects on first use.
pub struct EntityDatabase {
    address: Address,
    connected: RwLock<Option<Arc<Connected>>>,
    /// The time and error of the last failed connection attempt.
    last_failure: Mutex<Option<(Instant, EntityStoreError)>>,
    metrics: StoreMetrics,
}

/// Shows nothing of a connection.
impl fmt::Debug for EntityDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EntityDatabase").field(&self.address).finish()
    }
}

impl EntityDatabase {
    /// Returns the database at this URL: `sqlite:PATH` or `postgres://...`. Does not connect.
    ///
    /// Errors: `INVALID_INPUT` for any other kind of URL; the message does not quote it.
    pub fn from_url(url: &str) -> Result<EntityDatabase, Error> {
        Address::parse(url).map(EntityDatabase::new)
    }

    /// Returns this user's database in lockgate's state folder. If the folder is unusable, every call
    /// fails.
    pub fn in_state_folder(state: &StateFolder) -> EntityDatabase {
        EntityDatabase::new(Address::InStateFolder(state.clone()))
    }

    fn new(address: Address) -> EntityDatabase {
        EntityDatabase {
            address,
            connected: RwLock::default(),
            last_failure: Mutex::default(),
            metrics: StoreMetrics::default(),
        }
    }

    /// Returns the file named in the configuration; `None` for a server and for the file in lockgate's
    /// state folder.
    pub fn file(&self) -> Option<&Path> {
        self.address.file()
    }

    /// True if the database was configured by a URL.
    pub fn is_configured(&self) -> bool {
        !matches!(self.address, Address::InStateFolder(_))
    }

    /// Reports each call to this function from now on. Only the first listener is kept.
    pub fn set_listener(&self, listener: StoreListener) {
        self.metrics.set_listener(listener);
    }

    /// A number that identifies the database, the same in all processes.
    pub(crate) fn number(&self) -> u64 {
        self.address.number()
    }

    /// True if the database may hold content. Does not create it.
    pub(crate) fn may_have_content(&self) -> bool {
        self.current().is_some() || self.address.may_have_content()
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Uses this connected database unless one is in use already.
    pub(super) fn use_connected(&self, connected: Connected) {
        let mut current = self.connected.write();
        current.get_or_insert(Arc::new(connected));
    }

    /// The database system in use.
    pub(super) fn dialect(&self) -> SqlDialect {
        self.address.dialect()
    }

    /// Returns the rows that a statement finds within a tenant's scope.
    pub(super) fn read(&self, tenant: &Tenant, statement: Statement) -> Result<Vec<Row>, EntityStoreError> {
        Ok(self.read_all(tenant, &[statement])?.into_iter().flatten().collect())
    }

    /// Returns what `parse` makes of the first row that a statement finds.
    pub(super) fn read_first<T>(
        &self,
        tenant: &Tenant,
        statement: Statement,
        parse: impl FnOnce(&Row) -> Result<T, EntityStoreError>,
    ) -> Result<Option<T>, EntityStoreError> {
        self.read(tenant, statement)?.first().map(parse).transpose()
    }

    /// Returns the rows that each statement finds, all from one snapshot.
    pub(super) fn read_all(
        &self,
        tenant: &Tenant,
        statements: &[Statement],
    ) -> Result<Vec<Vec<Row>>, EntityStoreError> {
        self.with("read", |connected| connected.read(tenant, TransactionMode::Read, statements))
    }

    /// Returns the rows that a statement finds in texts like this `LIKE` pattern. PostgreSQL hides all
    /// other rows meanwhile.
    pub(super) fn search(
        &self,
        tenant: &Tenant,
        like: &str,
        statement: Statement,
    ) -> Result<Vec<Row>, EntityStoreError> {
        let found = self.with("search", |connected| {
            connected.read(tenant, TransactionMode::Search(like), &[statement])
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Writes one edit in one transaction, within a tenant's scope, and returns the name of its
    /// journal. `work` may run twice.
    pub(super) fn write(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: impl Fn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync,
    ) -> Result<u16, EntityStoreError> {
        self.with("write", |connected| connected.write(tenant, edit, work).map(|()| connected.journal()))
    }

    /// Runs `work` on the connected database. After an error the next call connects anew, because the
    /// tables may be gone.
    fn with<T>(
        &self,
        call: &'static str,
        work: impl FnOnce(&Connected) -> Result<T, EntityStoreError>,
    ) -> Result<T, EntityStoreError> {
        self.metrics.measure(call, || {
            let connected = self.connected()?;
            let result = work(&connected);
            if let Err(
                EntityStoreError::Unusable(_) | EntityStoreError::Other(_) | EntityStoreError::Logged(_),
            ) = &result
            {
                self.forget(&connected);
            }
            result
        })
    }

    /// Returns the connected database if its address still leads to it.
    fn current(&self) -> Option<Arc<Connected>> {
        let connected = self.connected.read().clone()?;
        if connected.is_current() {
            return Some(connected);
        }
        self.forget(&connected);
        None
    }

    fn forget(&self, connected: &Arc<Connected>) {
        let mut current = self.connected.write();
        drop(current.take_if(|current| Arc::ptr_eq(current, connected)));
    }

    /// Returns the connected database. Callers that wait for another caller's attempt get that
    /// attempt's result.
    pub(super) fn connected(&self) -> Result<Arc<Connected>, EntityStoreError> {
        if let Some(connected) = self.current() {
            return Ok(connected);
        }
        let since = Instant::now();
        let mut last_failure = self.last_failure.lock();
        match (self.current(), &*last_failure) {
            (Some(connected), _) => return Ok(connected),
            (None, Some((when, error))) if *when >= since => return Err(error.clone()),
            (None, _) => {}
        }
        match Connected::connect(&self.address) {
            Ok(connected) => {
                let connected = Arc::new(connected);
                *self.connected.write() = Some(Arc::clone(&connected));
                Ok(connected)
            }
            Err(error) => {
                *last_failure = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }
}
