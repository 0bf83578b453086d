//! A database of stored content as its users see it: connected to when it is first needed, and again where that failed.

use super::Failure;
use super::address::Address;
use super::dialect::Purpose;
use super::live::Live;
use super::session::Session;
use crate::error::Error;
use crate::store::rows::Tenant;
use crate::store::state::State;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// A database of stored content, shared by all who reach rows of it; connected to when it is first needed.
#[derive(Debug)]
pub struct Depot {
    address: Address,
    live: OnceLock<Live>,
    /// When it could not be connected to the last time, and why.
    failed: Mutex<Option<(Instant, Failure)>>,
}

impl Depot {
    /// The database of this URL: `sqlite:PATH`, or `postgres://...`. Nothing is connected to yet.
    ///
    /// Errors: `INVALID_INPUT` for another sort of URL, which does not quote it.
    pub fn at(url: &str) -> Result<Depot, Error> {
        Address::of(url).map(Depot::of)
    }

    /// The one of this user, in lockgate's own folder; where that cannot be used, what is asked of it is refused.
    pub fn beside(state: &State) -> Depot {
        Depot::of(Address::Beside(state.clone()))
    }

    fn of(address: Address) -> Depot {
        Depot { address, live: OnceLock::new(), failed: Mutex::default() }
    }

    /// The file that a person named for it; nothing for a server, and for the one in lockgate's own folder.
    pub fn file(&self) -> Option<&Path> {
        self.address.file()
    }

    /// A number for it that is the same in all processes.
    pub(in crate::store) fn number(&self) -> u64 {
        self.address.number()
    }

    /// Whether there may be something in it; asking makes nothing.
    pub(in crate::store) fn is_there(&self) -> bool {
        self.live.get().is_some() || self.address.is_there()
    }

    /// Where it is.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Uses what was connected to, unless something is in use already.
    pub(super) fn use_live(&self, live: Live) {
        drop(self.live.set(live));
    }

    /// Reads in one transaction, within a tenant's reach; the work may be done twice.
    pub(super) fn read<T>(
        &self,
        tenant: &Tenant,
        work: impl AsyncFn(&mut Session<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.live()?.read(tenant, Purpose::Read, work)
    }

    /// The same where texts are looked for that are like this pattern of `LIKE`: PostgreSQL shows no others then.
    pub(super) fn search<T>(
        &self,
        tenant: &Tenant,
        like: &str,
        work: impl AsyncFn(&mut Session<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.live()?.read(tenant, Purpose::Search(like), work)
    }

    /// The connected database. Those who wait while another tries are told what came of that.
    pub(super) fn live(&self) -> Result<&Live, Failure> {
        if let Some(live) = self.live.get() {
            return Ok(live);
        }
        let since = Instant::now();
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.live.get(), &*failed) {
            (Some(live), _) => return Ok(live),
            (None, Some((when, failure))) if *when >= since => return Err(failure.clone()),
            (None, _) => {}
        }
        match Live::connect(&self.address) {
            Ok(live) => Ok(self.live.get_or_init(|| live)),
            Err(failure) => {
                *failed = Some((Instant::now(), failure.clone()));
                Err(failure)
            }
        }
    }
}
