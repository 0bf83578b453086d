//! A connected database. Each read and each write is one transaction, with retries after a lost
//! connection.
//!
//! Invariant: a transaction lost before its commit is retried once on a new connection. After a loss
//! or an error during the commit, the edit is looked up. It is never reported as written, or as not written, if
//! that is unknown.

use super::super::dialect::{SqlDialect, TransactionMode};
use super::super::statement::{OWNER_BY_NUMBER, Statement, UnboundStatement};
use super::super::value::Row;
use super::super::{EntityStoreError, Migrated};
use super::address::Address;
use super::blocking::block;
use super::pool::{Pool, connect_with_retry};
use super::{EntityTransaction, SqlConnection, migrate};
use crate::disk::folder::Identity;
use crate::tenant::Tenant;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of the search for an edit whose commit got no response.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between attempts of that search.
const PAUSE: Duration = Duration::from_millis(100);

/// A connected database whose tables exist.
pub struct Connected {
    pool: Pool,
    journal: u16,
    /// The path and identity of its file; `None` for a server.
    file: Option<(PathBuf, Identity)>,
    /// SQLite allows one writer at a time. Waiting here is no longer than needed.
    write_lock: Option<Mutex<()>>,
}

impl Connected {
    /// Connects and creates missing tables.
    pub fn connect(address: &Address) -> Result<Connected, EntityStoreError> {
        let (connected, ()) = Connected::connect_and(address, migrate::ensure)?;
        Ok(connected)
    }

    /// Connects, creates missing tables and indexes, and returns the versions.
    pub fn migrate(address: &Address) -> Result<(Connected, Migrated), EntityStoreError> {
        Connected::connect_and(address, migrate::migrate)
    }

    fn connect_and<T: Send>(
        address: &Address,
        prepare: impl Fn(&mut dyn SqlConnection, SqlDialect) -> Result<T, EntityStoreError> + Sync,
    ) -> Result<(Connected, T), EntityStoreError> {
        let (options, dialect) = (address.options()?, address.dialect());
        // Before the file is opened: if it is replaced meanwhile, the next caller detects it.
        let file = address.path()?.and_then(|path| Some((path.clone(), Identity::at(&path).ok()?)));
        let (prepared, journal) = block(|| {
            // Not from the pool: its session settings may differ, and a failure may leave a lock on it.
            let mut connection = connect_with_retry(&options)?.connection;
            let prepared = prepare(&mut *connection, dialect)?;
            let journal = migrate::journal(&mut *connection)?;
            connection.close();
            Ok((prepared, journal))
        })?;
        let pool = Pool::new(options);
        let write_lock = (dialect == SqlDialect::Sqlite).then(Mutex::default);
        Ok((Connected { pool, journal, file, write_lock }, prepared))
    }

    /// True if the address still leads to this database; its file may have been removed or replaced.
    pub fn is_current(&self) -> bool {
        self.file
            .as_ref()
            .is_none_or(|(path, known)| Identity::at(path).is_ok_and(|current| current == *known))
    }

    pub fn journal(&self) -> u16 {
        self.journal
    }

    /// Returns the rows that each statement finds, all from one snapshot. Retries once if the
    /// connection is lost.
    pub fn read(
        &self,
        tenant: &Tenant,
        purpose: TransactionMode<'_>,
        statements: &[Statement],
    ) -> Result<Vec<Vec<Row>>, EntityStoreError> {
        match self.read_once(tenant, purpose, statements) {
            Err(EntityStoreError::ConnectionLost(_)) => self.read_once(tenant, purpose, statements),
            result => result,
        }
    }

    fn read_once(
        &self,
        tenant: &Tenant,
        purpose: TransactionMode<'_>,
        statements: &[Statement],
    ) -> Result<Vec<Vec<Row>>, EntityStoreError> {
        self.pool.with(|connection| {
            connection.begin(tenant, purpose)?;
            connection.run(statements, "ROLLBACK")
        })
    }

    /// Writes one edit in one transaction. Retries once if the connection is lost before anything is
    /// written.
    pub fn write(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: impl Fn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync,
    ) -> Result<(), EntityStoreError> {
        match self.write_and_verify(tenant, edit, &work) {
            Err(EntityStoreError::ConnectionLost(_)) => self.write_and_verify(tenant, edit, &work),
            result => result,
        }
    }

    /// Writes once. If the connection is lost during the commit, or the commit fails, looks the edit up: neither a full disk
    /// nor an error of the disk shows that nothing was written. A conflict does.
    fn write_and_verify(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: &(impl Fn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync),
    ) -> Result<(), EntityStoreError> {
        let _guard = self.write_lock.as_ref().map(Mutex::lock);
        let mut is_sent = false;
        match self.write_once(tenant, edit, work, &mut is_sent) {
            Err(error) if is_sent && error != EntityStoreError::Conflict => {
                tracing::warn!("a commit to the database of stored content failed: {error:?}");
                match self.is_written(tenant, edit) {
                    Some(true) => Ok(()),
                    Some(false) => Err(error),
                    None => Err(EntityStoreError::Unknown),
                }
            }
            result => result,
        }
    }

    fn write_once(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: &(impl Fn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync),
        is_sent: &mut bool,
    ) -> Result<(), EntityStoreError> {
        self.pool.with(|connection| {
            connection.begin(tenant, TransactionMode::Write(edit))?;
            match work(&mut EntityTransaction::new(connection)) {
                Ok(()) => {}
                Err(EntityStoreError::Conflict) => {
                    return connection.run(&[], "ROLLBACK").and(Err(EntityStoreError::Conflict));
                }
                Err(error) => return Err(error),
            }
            *is_sent = true;
            connection.run(&[], "COMMIT").map(drop)
        })
    }

    /// True if an edit was written whose commit failed or got no response; `None` if that cannot be determined.
    fn is_written(&self, tenant: &Tenant, edit: i64) -> Option<bool> {
        let edits = UnboundStatement::new("SELECT 1 FROM edits").in_scope(tenant, OWNER_BY_NUMBER);
        let statements = [edits.push(" AND id = ").bind(edit)];
        let since = Instant::now();
        while since.elapsed() < LOOKUP_TIMEOUT {
            // This waits for the lock: if the old connection still has it, the server has not finished
            // the commit.
            match self.read_once(tenant, TransactionMode::Write(edit), &statements) {
                Ok(found) => return Some(found.iter().any(|rows| !rows.is_empty())),
                Err(_) => thread::sleep(PAUSE),
            }
        }
        None
    }
}
