//! The pool of connections to a database.
//!
//! Invariant: the pool never exceeds its maximum. After a connection is lost, no connection of the same
//! age or older is reused.

use super::super::EntityStoreError;
use super::blocking::block;
use super::{ConnectOptions, SqlConnection};
use parking_lot::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum number of connections per process and database. PostgreSQL's default limit is 100.
const MAX_CONNECTIONS: usize = 8;
/// The time limit of waiting for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);
/// The pause before another attempt to connect.
const PAUSE: Duration = Duration::from_millis(100);
/// The maximum age of a connection that is reused.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);
/// The maximum idle time of a connection that is reused.
const MAX_IDLE: Duration = Duration::from_secs(10 * 60);

pub(super) struct Pool {
    options: ConnectOptions,
    slots: Mutex<ConnectionSlots>,
    released: Condvar,
}

#[derive(Default)]
struct ConnectionSlots {
    /// The idle connections; the last one was used most recently.
    idle: Vec<PooledConnection>,
    /// The number of connections in use.
    in_use: usize,
    /// The time when a connection was last lost.
    last_lost: Option<Instant>,
}

/// A connection of a pool.
pub(super) struct PooledConnection {
    pub connection: Box<dyn SqlConnection>,
    /// The time when it was opened, and the time of its last use.
    opened: Instant,
    last_used: Instant,
}

impl Pool {
    /// Creates an empty pool. It opens a connection when none is idle: at most [`MAX_CONNECTIONS`] are in use at one
    /// time, a caller waits for one for at most [`ACQUIRE_TIMEOUT`], and one that is older than [`MAX_AGE`] or was
    /// idle for [`MAX_IDLE`] is closed instead of reused.
    pub fn new(options: ConnectOptions) -> Pool {
        Pool { options, slots: Mutex::default(), released: Condvar::new() }
    }

    /// Runs `work` on a connection, which must be outside of a transaction after success and after a conflict. One that was
    /// lost or failed is not reused: SQLite rolls a transaction back by itself when the disk is full, and the driver does not
    /// notice.
    pub fn with<T: Send>(
        &self,
        work: impl FnOnce(&mut dyn SqlConnection) -> Result<T, EntityStoreError> + Send,
    ) -> Result<T, EntityStoreError> {
        block(|| {
            let permit = self.permit()?;
            let mut connection = permit.acquire()?;
            let result = work(&mut *connection.connection);
            match &result {
                Ok(_) | Err(EntityStoreError::Conflict) => permit.release(connection),
                Err(EntityStoreError::ConnectionLost(_)) => {
                    self.slots.lock().last_lost = Some(Instant::now())
                }
                Err(_) => {}
            }
            result
        })
    }

    /// Waits until fewer than the maximum number of connections are in use.
    fn permit(&self) -> Result<ConnectionPermit<'_>, EntityStoreError> {
        let is_full = |slots: &mut ConnectionSlots| slots.in_use >= MAX_CONNECTIONS;
        let mut slots = self.slots.lock();
        let waited = self.released.wait_while_for(&mut slots, is_full, ACQUIRE_TIMEOUT);
        if waited.timed_out() {
            return Err(EntityStoreError::Unreachable(
                "timed out waiting for a database connection".to_owned(),
            ));
        }
        slots.in_use += 1;
        Ok(ConnectionPermit(self))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        close(std::mem::take(&mut self.slots.lock().idle));
    }
}

fn close(connections: Vec<PooledConnection>) {
    if connections.is_empty() {
        return;
    }
    // A failure here does not matter.
    let _ = block(|| {
        connections.into_iter().for_each(|pooled| pooled.connection.close());
        Ok(())
    });
}

/// The right to use one connection.
struct ConnectionPermit<'p>(&'p Pool);

impl ConnectionPermit<'_> {
    /// Returns an idle connection, or a new one.
    fn acquire(&self) -> Result<PooledConnection, EntityStoreError> {
        let (connection, old) = {
            let mut slots = self.0.slots.lock();
            let last_lost = slots.last_lost;
            let is_usable = |connection: &PooledConnection| {
                connection.opened.elapsed() < MAX_AGE
                    && connection.last_used.elapsed() < MAX_IDLE
                    && last_lost.is_none_or(|last_lost| connection.opened > last_lost)
            };
            let (mut free, old): (Vec<PooledConnection>, Vec<PooledConnection>) =
                slots.idle.drain(..).partition(is_usable);
            let connection = free.pop();
            slots.idle = free;
            (connection, old)
        };
        close(old);
        connection.map_or_else(|| connect_with_retry(&self.0.options), Ok)
    }

    /// Returns a connection to the pool.
    fn release(&self, mut connection: PooledConnection) {
        connection.last_used = Instant::now();
        self.0.slots.lock().idle.push(connection);
    }
}

impl Drop for ConnectionPermit<'_> {
    fn drop(&mut self) {
        self.0.slots.lock().in_use -= 1;
        self.0.released.notify_one();
    }
}

/// Opens a connection. Waits for a server that is starting, and for another process that creates the
/// same file.
pub(super) fn connect_with_retry(options: &ConnectOptions) -> Result<PooledConnection, EntityStoreError> {
    let since = Instant::now();
    loop {
        let remaining = ACQUIRE_TIMEOUT.saturating_sub(since.elapsed());
        match options.open(remaining) {
            Ok(connection) => {
                let opened = Instant::now();
                return Ok(PooledConnection { connection, opened, last_used: opened });
            }
            Err(EntityStoreError::ConnectionLost(_)) if remaining > PAUSE => {}
            // SQLite does not wait for a lock while another process switches a new file to its
            // write-ahead log.
            Err(EntityStoreError::Unreachable(_))
                if remaining > PAUSE && matches!(options, ConnectOptions::Sqlite(_)) => {}
            Err(EntityStoreError::ConnectionLost(reason)) => {
                return Err(EntityStoreError::Unreachable(reason));
            }
            Err(error) => return Err(error),
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn pool() -> Pool {
        Pool::new(ConnectOptions::Sqlite(":memory:".into()))
    }

    #[test]
    fn there_are_never_more_than_there_may_be() {
        let (pool, now, most) = (pool(), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 * MAX_CONNECTIONS {
                scope.spawn(|| {
                    let result = pool.with(|_| {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(30));
                        now.fetch_sub(1, Ordering::SeqCst);
                        Ok(())
                    });
                    assert_eq!(result, Ok(()));
                });
            }
        });
        let most = most.into_inner();
        assert!((2..=MAX_CONNECTIONS).contains(&most), "{most}");
        let slots = pool.slots.lock();
        let (in_use, idle) = (slots.in_use, slots.idle.len());
        assert!(in_use == 0 && (1..=MAX_CONNECTIONS).contains(&idle), "{in_use} in use, {idle} idle");
    }

    #[test]
    fn one_as_old_as_one_that_was_lost_is_not_used_again() {
        let pool = pool();
        let use_connection = || {
            let permit = pool.permit().unwrap();
            let connection = permit.acquire().unwrap();
            let opened = connection.opened;
            permit.release(connection);
            opened
        };
        let first = use_connection();
        assert_eq!(use_connection(), first, "the control: it is used as long as none was lost");
        let (one, other) = (pool.permit().unwrap(), pool.permit().unwrap());
        let (old, new) = (one.acquire().unwrap(), other.acquire().unwrap());
        let newer = new.opened;
        other.release(new);
        one.release(old);
        drop((one, other));
        let result = pool.with(|_| Err::<(), _>(EntityStoreError::ConnectionLost("cut".to_owned())));
        assert!(result.is_err() && newer > first);
        assert!(use_connection() > newer, "neither of both is left");
    }

    #[test]
    fn one_on_which_something_failed_is_not_used_again() {
        let pool = pool();
        let free = || pool.slots.lock().idle.len();
        assert_eq!((pool.with(|_| Ok(1)), free()), (Ok(1), 1));
        pool.with(|_| Err::<(), _>(EntityStoreError::Conflict)).unwrap_err();
        assert_eq!(free(), 1);
        pool.with(|_| Err::<(), _>(EntityStoreError::Full)).unwrap_err();
        assert_eq!(free(), 0);
    }
}
