//! The pool of connections to a database.
//!
//! Invariant: the pool never exceeds its maximum. After a connection is lost, no connection of the same
//! age or older is reused.

use super::super::EntityStoreError;
use super::DatabaseConnection;
use super::dialect::SqlDialect;
use super::pooled::{PooledConnection, Reactor};
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, AssertSqlSafe, ConnectOptions, Executor};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The maximum number of connections per process and database. PostgreSQL's default limit is 100.
const MOST: usize = 8;
/// The time limit of waiting for a connection, and the pause before a retry.
const ACQUIRE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);
/// The maximum age of a connection, and its maximum idle time.
const AGE: Duration = Duration::from_secs(30 * 60);
const IDLE: Duration = Duration::from_secs(10 * 60);

#[derive(Debug)]
pub(super) struct Pool {
    options: AnyConnectOptions,
    dialect: SqlDialect,
    seats: Mutex<ConnectionSlots>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct ConnectionSlots {
    /// The idle connections; the last one was used most recently.
    free: Vec<PooledConnection>,
    /// The number of connections in use.
    taken: usize,
    /// The time when a connection was last lost.
    lost: Option<Instant>,
}

impl Pool {
    /// Returns an empty pool.
    pub fn new(options: AnyConnectOptions, dialect: SqlDialect) -> Pool {
        Pool { options, dialect, seats: Mutex::default(), left: Condvar::new() }
    }

    /// Runs `work` on a connection. A connection that was lost or failed is not reused: SQLite rolls a
    /// transaction back by itself when the disk is full, and the driver does not notice.
    pub fn with<T: Send>(
        &self,
        work: impl AsyncFnOnce(&mut DatabaseConnection) -> Result<T, EntityStoreError> + Send,
    ) -> Result<T, EntityStoreError> {
        let place = self.place()?;
        let mut seat = place.seat()?;
        let done = seat.wait(work);
        match &done {
            Ok(_) | Err(EntityStoreError::Overtaken) => place.leave(seat),
            Err(EntityStoreError::Lost(_)) => self.seats().lost = Some(Instant::now()),
            Err(_) => {}
        }
        done
    }

    /// Waits until fewer than the maximum number of connections are in use.
    fn place(&self) -> Result<ConnectionPermit<'_>, EntityStoreError> {
        let is_full = |seats: &mut ConnectionSlots| seats.taken >= MOST;
        let waited = self.left.wait_timeout_while(self.seats(), ACQUIRE, is_full);
        let (mut seats, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(EntityStoreError::Away("timed out waiting for a database connection".to_owned()));
        }
        seats.taken += 1;
        Ok(ConnectionPermit(self))
    }

    fn seats(&self) -> MutexGuard<'_, ConnectionSlots> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        std::mem::take(&mut self.seats().free).into_iter().for_each(PooledConnection::close);
    }
}

/// The right to use one connection.
struct ConnectionPermit<'p>(&'p Pool);

impl ConnectionPermit<'_> {
    /// Returns an idle connection, or a new one.
    fn seat(&self) -> Result<PooledConnection, EntityStoreError> {
        let (seat, old) = {
            let mut seats = self.0.seats();
            let lost = seats.lost;
            let is_of_use = |seat: &PooledConnection| {
                seat.made.elapsed() < AGE
                    && seat.left.elapsed() < IDLE
                    && lost.is_none_or(|lost| seat.made > lost)
            };
            let (mut free, old): (Vec<PooledConnection>, Vec<PooledConnection>) =
                seats.free.drain(..).partition(is_of_use);
            let seat = free.pop();
            seats.free = free;
            (seat, old)
        };
        old.into_iter().for_each(PooledConnection::close);
        seat.map_or_else(|| first(&self.0.options, self.0.dialect), Ok)
    }

    /// Returns a connection to the pool.
    fn leave(&self, mut seat: PooledConnection) {
        seat.left = Instant::now();
        self.0.seats().free.push(seat);
    }
}

impl Drop for ConnectionPermit<'_> {
    fn drop(&mut self) {
        self.0.seats().taken -= 1;
        self.0.left.notify_one();
    }
}

/// Opens a connection. Waits for a server that is starting, and for another process that creates the
/// same file.
pub(super) fn first(
    options: &AnyConnectOptions,
    dialect: SqlDialect,
) -> Result<PooledConnection, EntityStoreError> {
    let reactor = Reactor::new()?;
    let connection = reactor.wait(|| connected(options, dialect))?;
    Ok(PooledConnection::new(DatabaseConnection::new(connection), reactor))
}

async fn connected(
    options: &AnyConnectOptions,
    dialect: SqlDialect,
) -> Result<AnyConnection, EntityStoreError> {
    let since = Instant::now();
    let connect = async || {
        let mut connection = options.connect().await?;
        connection.execute(AssertSqlSafe(dialect.greeting())).await?;
        Ok(connection)
    };
    loop {
        let left = ACQUIRE.saturating_sub(since.elapsed());
        match timeout(left, connect()).await {
            Ok(Err(EntityStoreError::Lost(_))) if left > PAUSE => tokio::time::sleep(PAUSE).await,
            // SQLite does not wait for a lock while another process switches a new file to its
            // write-ahead log.
            Ok(Err(EntityStoreError::Away(_))) if left > PAUSE && dialect == SqlDialect::Sqlite => {
                tokio::time::sleep(PAUSE).await;
            }
            Ok(Err(EntityStoreError::Lost(why))) => return Err(EntityStoreError::Away(why)),
            Ok(done) => return done,
            Err(_) => {
                return Err(EntityStoreError::Away("timed out waiting for a database connection".to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn pool() -> Pool {
        sqlx::any::install_default_drivers();
        Pool::new("sqlite::memory:".parse().unwrap(), SqlDialect::Sqlite)
    }

    #[test]
    fn there_are_never_more_than_there_may_be() {
        let (pool, now, most) = (pool(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 * MOST {
                scope.spawn(|| {
                    let used = pool.with(async |_| {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        tokio::time::sleep(Duration::from_millis(30)).await;
                        now.fetch_sub(1, Ordering::SeqCst);
                        Ok(())
                    });
                    assert_eq!(used, Ok(()));
                });
            }
        });
        let most = most.into_inner();
        assert!((2..=MOST).contains(&most), "{most}");
        let seats = pool.seats();
        assert!(seats.taken == 0 && (1..=MOST).contains(&seats.free.len()), "{seats:?}");
    }

    #[test]
    fn one_as_old_as_one_that_was_lost_is_not_used_again() {
        let pool = pool();
        let used = || {
            let place = pool.place().unwrap();
            let seat = place.seat().unwrap();
            let made = seat.made;
            place.leave(seat);
            made
        };
        let first = used();
        assert_eq!(used(), first, "the control: it is used as long as none was lost");
        let (one, other) = (pool.place().unwrap(), pool.place().unwrap());
        let (old, new) = (one.seat().unwrap(), other.seat().unwrap());
        let newer = new.made;
        other.leave(new);
        one.leave(old);
        drop((one, other));
        let lost = pool.with(async |_| Err::<(), _>(EntityStoreError::Lost("cut".to_owned())));
        assert!(lost.is_err() && newer > first);
        assert!(used() > newer, "neither of both is left");
    }

    #[test]
    fn one_on_which_something_failed_is_not_used_again() {
        let pool = pool();
        let free = || pool.seats().free.len();
        assert_eq!((pool.with(async |_| Ok(1)), free()), (Ok(1), 1));
        pool.with(async |_| Err::<(), _>(EntityStoreError::Overtaken)).unwrap_err();
        assert_eq!(free(), 1);
        pool.with(async |_| Err::<(), _>(EntityStoreError::Full)).unwrap_err();
        assert_eq!(free(), 0);
    }
}
