//! A database that is connected to: what is read and written in one transaction each, whatever becomes of the connection.
//!
//! Invariant: what was lost before it was committed is tried once more, on a new connection; what was lost while it was
//! committed is looked for, and is never told as written, or as not written, where that is not known.

use super::address::Address;
use super::dialect::{Dialect, Purpose};
use super::migrate;
use super::pool::{Lost, first, pool};
use super::reactor::Reactor;
use super::session::Session;
use super::statement::{Draft, OF_NUMBER};
use super::{Failure, Migrated};
use crate::store::folder::Identity;
use crate::store::rows::Tenant;
use sqlx::any::install_default_drivers;
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Connection};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a transaction may take, where the database itself does not say so.
const TRANSACTION: Duration = Duration::from_secs(15);
/// How long it is looked for an edit whose commit was not answered, and how often.
const LOOKING: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// A database that was connected to, and whose tables are there.
#[derive(Debug)]
pub(super) struct Live {
    // Before the thread, which closes them.
    pool: AnyPool,
    reactor: Reactor,
    dialect: Dialect,
    journal: u16,
    /// Its file, where it is one, and which it was.
    file: Option<(PathBuf, Identity)>,
    lost: Arc<Lost>,
    /// SQLite lets one write at a time; whoever waits here waits no longer than needed.
    turn: tokio::sync::Mutex<()>,
}

impl Live {
    /// Connects, and makes the tables where they are not there.
    pub fn connect(address: &Address) -> Result<Live, Failure> {
        let (live, _) = Live::connect_and(address, async |connection, dialect| {
            migrate::ensure(connection, dialect).await
        })?;
        Ok(live)
    }

    /// Connects, and makes the tables and indexes where they are not there; tells what was done.
    pub fn migrate(address: &Address) -> Result<(Live, Migrated), Failure> {
        Live::connect_and(address, async |connection, dialect| migrate::migrate(connection, dialect).await)
    }

    fn connect_and<T>(
        address: &Address,
        prepare: impl AsyncFn(&mut AnyConnection, Dialect) -> Result<T, Failure>,
    ) -> Result<(Live, T), Failure> {
        install_default_drivers();
        let (reactor, dialect, lost) = (Reactor::start()?, address.dialect(), Arc::<Lost>::default());
        let options = address.options()?.disable_statement_logging();
        // Before it is opened: where it is another by then, whoever comes next sees that it is.
        let file = address.path()?.and_then(|path| Some((path.clone(), identity(&path)?)));
        let (prepared, journal) = reactor.wait(async {
            // Not one of the pool: it may be told what the others are not, and a lock may be left on it where something fails.
            let mut connection = first(&options, dialect).await?;
            let prepared = prepare(&mut connection, dialect).await?;
            let journal = migrate::journal(&mut connection).await?;
            drop(connection.close().await);
            Ok::<_, Failure>((prepared, journal))
        })?;
        let pool = reactor.within(|| pool(options, dialect, &lost));
        let turn = tokio::sync::Mutex::default();
        Ok((Live { pool, reactor, dialect, journal, file, lost, turn }, prepared))
    }

    /// Whether its address leads to it still: a file may have been removed, or another put in its place.
    pub fn is_there(&self) -> bool {
        self.file.as_ref().is_none_or(|(path, known)| identity(path) == Some(*known))
    }

    /// The name of its journal.
    pub fn journal(&self) -> u16 {
        self.journal
    }

    /// Reads in one transaction; once more, where the connection was lost.
    pub fn read<T>(
        &self,
        tenant: &Tenant,
        purpose: Purpose<'_>,
        work: impl AsyncFn(&mut Session<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.reactor.wait(async {
            match self.read_once(tenant, purpose, &work).await {
                Err(Failure::Lost(_)) => self.read_once(tenant, purpose, &work).await,
                done => done,
            }
        })
    }

    async fn read_once<T>(
        &self,
        tenant: &Tenant,
        purpose: Purpose<'_>,
        work: &impl AsyncFn(&mut Session<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut connection = self.pool.acquire().await?;
        let done = in_time(async {
            let mut session = self.begin(&mut connection, tenant, purpose).await?;
            work(&mut session).await
        });
        let done = done.await;
        self.give_up_where_lost(&done, &mut connection);
        done
    }

    /// Writes one edit in one transaction; once more, where the connection was lost and nothing was written.
    pub fn write(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: impl AsyncFn(&mut Session<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.reactor.wait(async {
            match self.write_surely(tenant, edit, &work).await {
                Err(Failure::Lost(_)) => self.write_surely(tenant, edit, &work).await,
                done => done,
            }
        })
    }

    /// Writes once; what was lost while it was committed is looked for.
    async fn write_surely(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: &impl AsyncFn(&mut Session<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let _turn = match self.dialect {
            Dialect::Sqlite => Some(self.turn.lock().await),
            Dialect::Postgres => None,
        };
        let mut is_sent = false;
        let done = self.write_once(tenant, edit, work, &mut is_sent).await;
        match done {
            Err(failure @ (Failure::Lost(_) | Failure::Away(_) | Failure::Other(_))) if is_sent => {
                tracing::warn!("the database of stored content was lost while an edit was committed");
                match self.is_written(tenant, edit).await {
                    Some(true) => Ok(()),
                    Some(false) => Err(failure),
                    None => Err(Failure::Unknown),
                }
            }
            done => done,
        }
    }

    async fn write_once(
        &self,
        tenant: &Tenant,
        edit: i64,
        work: &impl AsyncFn(&mut Session<'_>) -> Result<(), Failure>,
        is_sent: &mut bool,
    ) -> Result<(), Failure> {
        let mut connection = self.pool.acquire().await?;
        let done = in_time(async {
            let mut session = self.begin(&mut connection, tenant, Purpose::Write(edit)).await?;
            work(&mut session).await?;
            *is_sent = true;
            session.commit().await
        });
        let done = done.await;
        self.give_up_where_lost(&done, &mut connection);
        done
    }

    /// Whether an edit is there whose commit was not answered; nothing, where that cannot be known.
    async fn is_written(&self, tenant: &Tenant, edit: i64) -> Option<bool> {
        let since = Instant::now();
        while since.elapsed() < LOOKING {
            let looked = async {
                let mut connection = self.pool.acquire().await?;
                // It waits for the lock: where the old connection still has it, the server is not done with it.
                let mut session = self.begin(&mut connection, tenant, Purpose::Write(edit)).await?;
                let edits = Draft::new("SELECT 1 FROM edits").within(tenant, OF_NUMBER);
                session.first(edits.push(" AND id = ").bind(edit)).await.map(|row| row.is_some())
            };
            match in_time(looked).await {
                Ok(is_there) => return Some(is_there),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        None
    }

    async fn begin<'c>(
        &self,
        connection: &'c mut PoolConnection<Any>,
        tenant: &Tenant,
        purpose: Purpose<'_>,
    ) -> Result<Session<'c>, Failure> {
        let begin = AssertSqlSafe(self.dialect.begin(tenant, purpose));
        Ok(Session::new(connection.begin_with(begin).await?, self.dialect, self.journal))
    }

    /// Sees to it that what was lost is not used again, nor what failed: SQLite takes a transaction back by itself where it
    /// has no room, and the driver does not know.
    fn give_up_where_lost<T>(&self, done: &Result<T, Failure>, connection: &mut PoolConnection<Any>) {
        match done {
            Ok(_) | Err(Failure::Overtaken) => {}
            Err(Failure::Lost(_)) => {
                connection.close_on_drop();
                self.lost.note();
            }
            Err(_) => connection.close_on_drop(),
        }
    }
}

/// Which file it is.
fn identity(path: &Path) -> Option<Identity> {
    rustix::fs::stat(path).ok().map(|stat| Identity::of(&stat))
}

/// Ends what takes too long, as where a network swallows what it is given.
async fn in_time<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    match timeout(TRANSACTION, work).await {
        Ok(done) => done,
        Err(_) => Err(Failure::Lost(format!("it gave no answer within {} s", TRANSACTION.as_secs()))),
    }
}
