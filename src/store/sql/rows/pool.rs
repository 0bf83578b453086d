//! The connections to a database.
//!
//! Invariant: a connection that is as old as one that was lost is not used again.

use super::Failure;
use super::dialect::Dialect;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Executor};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Connections to one database that a process has at most. PostgreSQL takes a hundred, if it is not told otherwise.
const MOST: u32 = 8;
/// How long a connection is waited for, and how soon it is tried again.
const ACQUIRE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);

/// When a connection was lost last.
#[derive(Debug, Default)]
pub(super) struct Lost(Mutex<Option<Instant>>);

impl Lost {
    /// Notes that one was lost.
    pub fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a connection of that age was made before one was lost.
    fn outdates(&self, age: Duration) -> bool {
        let lost = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lost.is_some_and(|lost| lost.elapsed() < age)
    }
}

/// The first connection. A server that is just starting is waited for, as the pool does it.
pub(super) async fn first(options: &AnyConnectOptions, dialect: Dialect) -> Result<AnyConnection, Failure> {
    let since = Instant::now();
    let connect = async || {
        let mut connection = options.connect().await?;
        connection.execute(AssertSqlSafe(dialect.greeting())).await?;
        Ok(connection)
    };
    loop {
        let left = ACQUIRE.saturating_sub(since.elapsed());
        match timeout(left, connect()).await {
            Ok(Err(Failure::Lost(_))) if left > PAUSE => tokio::time::sleep(PAUSE).await,
            Ok(Err(Failure::Lost(why))) => return Err(Failure::Away(why)),
            Ok(done) => return done,
            Err(_) => return Err(Failure::Away("it gave no connection in time".to_owned())),
        }
    }
}

/// The connections; none is made yet.
pub(super) fn pool(options: AnyConnectOptions, dialect: Dialect, lost: &Arc<Lost>) -> AnyPool {
    let lost = Arc::clone(lost);
    AnyPoolOptions::new()
        .max_connections(MOST)
        .acquire_timeout(ACQUIRE)
        // Where one was lost, it is found by using it, and costs nothing where none was.
        .test_before_acquire(false)
        .acquire_slow_threshold(ACQUIRE)
        .after_connect(move |connection, _| {
            Box::pin(async move { connection.execute(AssertSqlSafe(dialect.greeting())).await.map(drop) })
        })
        .before_acquire(move |_, known| {
            let is_fresh = !lost.outdates(known.age);
            Box::pin(async move { Ok(is_fresh) })
        })
        .connect_lazy_with(options)
}
