//! A connected database. Each read and each write is one transaction, with retries after a lost
//! connection.
//!
//! Invariant: a transaction lost before its commit is retried once on a new connection. After a loss
//! during the commit, the edit is looked up. It is never reported as written, or as not written, if
//! that is unknown.

use super::super::statement::{OWNER_BY_NUMBER, Statement, UnboundStatement};
use super::super::{EntityStoreError, Migrated};
use super::address::Address;
use super::dialect::{SqlDialect, TransactionMode};
use super::pool::{Pool, connect_with_retry};
use super::session::EntityTransaction;
use super::{DatabaseConnection, migrate};
use crate::disk::folder::Identity;
use crate::tenant::Tenant;
use sqlx::any::{AnyRow, install_default_drivers};
use sqlx::{AnyConnection, AssertSqlSafe, ConnectOptions, Connection};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The time limit of a transaction, for databases without a limit of their own.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(15);
/// The time limit of the search for an edit whose commit got no response.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between attempts of that search.
const PAUSE: Duration = Duration::from_millis(100);

/// A connected database whose tables exist.
#[derive(Debug)]
pub struct Connected {
    pool: Pool,
    dialect: SqlDialect,
    journal: u16,
    /// The path and identity of its file; `None` for a server.
    file: Option<(PathBuf, Identity)>,
    /// SQLite allows one writer at a time. Waiting here is no longer than needed.
    write_lock: Mutex<()>,
}

impl Connected {
    /// Connects and creates missing tables.
    pub fn connect(address: &Address) -> Result<Connected, EntityStoreError> {
        let (connected, ()) = Connected::connect_and(address, async |connection, dialect| {
            migrate::ensure(connection, dialect).await
        })?;
        Ok(connected)
    }

    /// Connects, creates missing tables and indexes, and returns the versions.
    pub fn migrate(address: &Address) -> Result<(Connected, Migrated), EntityStoreError> {
        Connected::connect_and(address, async |connection, dialect| {
            migrate::migrate(connection, dialect).await
        })
    }

    fn connect_and<T: Send>(
        address: &Address,
        prepare: impl AsyncFn(&mut AnyConnection, SqlDialect) -> Result<T, EntityStoreError> + Sync,
    ) -> Result<(Connected, T), EntityStoreError> {
        install_default_drivers();
        let dialect = address.dialect();
        let options = address.options()?.disable_statement_logging();
        // Before the file is opened: if it is replaced meanwhile, the next caller detects it.
        let file = address.path()?.and_then(|path| Some((path.clone(), identity(&path)?)));
        // Not from the pool: its session settings may differ, and a failure may leave a lock on it.
        let mut pooled = connect_with_retry(&options, dialect)?;
        let (prepared, journal) = pooled.run(async |DatabaseConnection { connection, .. }| {
            let prepared = prepare(connection, dialect).await?;
            Ok::<_, EntityStoreError>((prepared, migrate::journal(connection).await?))
        })?;
        pooled.close();
        let pool = Pool::new(options, dialect);
        Ok((Connected { pool, dialect, journal, file, write_lock: Mutex::default() }, prepared))
    }

    /// True if the address still leads to this database; its file may have been removed or replaced.
    pub fn is_current(&self) -> bool {
        self.file.as_ref().is_none_or(|(path, known)| identity(path) == Some(*known))
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
    ) -> Result<Vec<Vec<AnyRow>>, EntityStoreError> {
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
    ) -> Result<Vec<Vec<AnyRow>>, EntityStoreError> {
        self.pool.with(async |connection| {
            with_timeout(async {
                if self.dialect == SqlDialect::Postgres {
                    return connection.query(self.dialect.begin(tenant, purpose), statements).await;
                }
                let mut session = self.begin(connection, tenant, purpose).await?;
                let mut found = Vec::with_capacity(statements.len());
                for statement in statements {
                    found.push(session.all(statement.clone()).await?);
                }
                session.rollback().await?;
                Ok(found)
            })
            .await
        })
    }

    /// Writes one edit in one transaction. Retries once if the connection is lost before anything is
    /// written.
    pub fn write(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: impl AsyncFn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync,
    ) -> Result<(), EntityStoreError> {
        match self.write_and_verify(tenant, edit, &work) {
            Err(EntityStoreError::ConnectionLost(_)) => self.write_and_verify(tenant, edit, &work),
            result => result,
        }
    }

    /// Writes once. If the connection is lost during the commit, looks the edit up.
    fn write_and_verify(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: &(impl AsyncFn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync),
    ) -> Result<(), EntityStoreError> {
        let _guard = match self.dialect {
            SqlDialect::Sqlite => Some(self.write_lock.lock().unwrap_or_else(PoisonError::into_inner)),
            SqlDialect::Postgres => None,
        };
        let is_sent = AtomicBool::new(false);
        match self.write_once(tenant, edit, work, &is_sent) {
            Err(
                error @ (EntityStoreError::ConnectionLost(_)
                | EntityStoreError::Unreachable(_)
                | EntityStoreError::Other(_)),
            ) if is_sent.load(Ordering::Relaxed) => {
                tracing::warn!("the connection to the database of stored content was lost during a commit");
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
        work: &(impl AsyncFn(&mut EntityTransaction<'_>) -> Result<(), EntityStoreError> + Sync),
        is_sent: &AtomicBool,
    ) -> Result<(), EntityStoreError> {
        self.pool.with(async |connection| {
            with_timeout(async {
                let mut session = self.begin(connection, tenant, TransactionMode::Write(edit)).await?;
                match work(&mut session).await {
                    Ok(()) => {}
                    Err(EntityStoreError::Conflict) => {
                        return session.rollback().await.and(Err(EntityStoreError::Conflict));
                    }
                    Err(error) => return Err(error),
                }
                is_sent.store(true, Ordering::Relaxed);
                session.commit().await
            })
            .await
        })
    }

    /// True if an edit was written whose commit got no response; `None` if that cannot be determined.
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

    async fn begin<'c>(
        &self,
        connection: &'c mut DatabaseConnection,
        tenant: &Tenant,
        purpose: TransactionMode<'_>,
    ) -> Result<EntityTransaction<'c>, EntityStoreError> {
        let begin = AssertSqlSafe(self.dialect.begin(tenant, purpose));
        Ok(EntityTransaction::new(connection.connection.begin_with(begin).await?, self.dialect))
    }
}

/// The identity of a file.
fn identity(path: &Path) -> Option<Identity> {
    rustix::fs::stat(path).ok().map(|stat| Identity::from_stat(&stat))
}

/// Aborts work that takes too long, for example when a network drops packets.
async fn with_timeout<T>(
    work: impl Future<Output = Result<T, EntityStoreError>>,
) -> Result<T, EntityStoreError> {
    match timeout(TRANSACTION_TIMEOUT, work).await {
        Ok(result) => result,
        Err(_) => Err(EntityStoreError::ConnectionLost(format!(
            "it did not respond within {} s",
            TRANSACTION_TIMEOUT.as_secs()
        ))),
    }
}
