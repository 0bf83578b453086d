//! A database of stored content as its users see it: connected to when it is first needed, and again where that failed or
//! where it is another one by now.

use super::connection::{Address, Connected, EntityTransaction, SqlDialect, TransactionMode};
use super::metrics::StoreMetrics;
use super::statement::Statement;
use super::{EntityStoreError, StoreTold};
use crate::error::Error;
use crate::store::rows::Tenant;
use crate::store::state::StateFolder;
use sqlx::any::AnyRow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;

/// A database of stored content, shared by all who reach rows of it; connected to when it is first needed.
#[derive(Debug)]
pub struct EntityDatabase {
    address: Address,
    live: RwLock<Option<Arc<Connected>>>,
    /// When it could not be connected to the last time, and why.
    failed: Mutex<Option<(Instant, EntityStoreError)>>,
    tally: StoreMetrics,
}

impl EntityDatabase {
    /// The database of this URL: `sqlite:PATH`, or `postgres://...`. Nothing is connected to yet.
    ///
    /// Errors: `INVALID_INPUT` for another sort of URL, which does not quote it.
    pub fn at(url: &str) -> Result<EntityDatabase, Error> {
        Address::parse(url).map(EntityDatabase::new)
    }

    /// The one of this user, in lockgate's own folder; where that cannot be used, what is asked of it is refused.
    pub fn beside(state: &StateFolder) -> EntityDatabase {
        EntityDatabase::new(Address::Beside(state.clone()))
    }

    fn new(address: Address) -> EntityDatabase {
        EntityDatabase {
            address,
            live: RwLock::default(),
            failed: Mutex::default(),
            tally: StoreMetrics::default(),
        }
    }

    /// The file that a person named for it; nothing for a server, and for the one in lockgate's own folder.
    pub fn file(&self) -> Option<&Path> {
        self.address.file()
    }

    /// Tells of each thing that it is asked from now on; the first who wants to hear of it does.
    pub fn tell(&self, told: StoreTold) {
        self.tally.tell(told);
    }

    /// A number for it that is the same in all processes.
    pub(in crate::store) fn number(&self) -> u64 {
        self.address.number()
    }

    /// Whether there may be something in it; asking makes nothing.
    pub(in crate::store) fn is_there(&self) -> bool {
        self.in_use().is_some() || self.address.is_there()
    }

    /// Where it is.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Uses what was connected to, unless something is in use already.
    pub(super) fn use_live(&self, live: Connected) {
        let mut there = self.live.write().unwrap_or_else(PoisonError::into_inner);
        there.get_or_insert(Arc::new(live));
    }

    /// Which database it is.
    pub(super) fn dialect(&self) -> SqlDialect {
        self.address.dialect()
    }

    /// The rows that a statement finds, within a tenant's reach.
    pub(super) fn read(
        &self,
        tenant: &Tenant,
        statement: Statement,
    ) -> Result<Vec<AnyRow>, EntityStoreError> {
        Ok(self.read_all(tenant, &[statement])?.into_iter().flatten().collect())
    }

    /// The rows that each of several statements finds, all as of one moment.
    pub(super) fn read_all(
        &self,
        tenant: &Tenant,
        statements: &[Statement],
    ) -> Result<Vec<Vec<AnyRow>>, EntityStoreError> {
        self.with("read", |live| live.read(tenant, TransactionMode::Read, statements))
    }

    /// The rows that a statement finds where texts are looked for that are like this pattern of `LIKE`: PostgreSQL shows no
    /// others then.
    pub(super) fn search(
        &self,
        tenant: &Tenant,
        like: &str,
        statement: Statement,
    ) -> Result<Vec<AnyRow>, EntityStoreError> {
        let found =
            self.with("search", |live| live.read(tenant, TransactionMode::Search(like), &[statement]))?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Writes one edit in one transaction, within a tenant's reach; the work may be done twice. Gives the name of the
    /// journal that has it.
    pub(super) fn write(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: impl AsyncFn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync,
    ) -> Result<u16, EntityStoreError> {
        self.with("write", |live| live.write(tenant, edit, work).map(|()| live.journal()))
    }

    /// Uses the connected database. One that does not do what it is asked is connected to anew by whoever comes next: its
    /// tables may be gone.
    fn with<T>(
        &self,
        asked: &'static str,
        work: impl FnOnce(&Connected) -> Result<T, EntityStoreError>,
    ) -> Result<T, EntityStoreError> {
        self.tally.measure(asked, || {
            let live = self.live()?;
            let done = work(&live);
            if let Err(EntityStoreError::Closed(_) | EntityStoreError::Other(_)) = &done {
                self.forget(&live);
            }
            done
        })
    }

    /// What was connected to, as long as it is what its address leads to.
    fn in_use(&self) -> Option<Arc<Connected>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        if live.is_there() {
            return Some(live);
        }
        self.forget(&live);
        None
    }

    fn forget(&self, live: &Arc<Connected>) {
        let mut there = self.live.write().unwrap_or_else(PoisonError::into_inner);
        drop(there.take_if(|there| Arc::ptr_eq(there, live)));
    }

    /// The connected database. Those who wait while another tries are told what came of that.
    pub(super) fn live(&self) -> Result<Arc<Connected>, EntityStoreError> {
        if let Some(live) = self.in_use() {
            return Ok(live);
        }
        let since = Instant::now();
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.in_use(), &*failed) {
            (Some(live), _) => return Ok(live),
            (None, Some((when, failure))) if *when >= since => return Err(failure.clone()),
            (None, _) => {}
        }
        match Connected::connect(&self.address) {
            Ok(live) => {
                let live = Arc::new(live);
                *self.live.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&live));
                Ok(live)
            }
            Err(failure) => {
                *failed = Some((Instant::now(), failure.clone()));
                Err(failure)
            }
        }
    }
}
