//! A connection with its own tokio runtime. The calling thread drives the runtime, so no other thread
//! has to be woken for each response.
//!
//! Invariant: only the waiting caller is blocked, even if it runs on a runtime itself.

use super::super::EntityStoreError;
use super::DatabaseConnection;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::block_in_place;
use tokio::time::timeout;

/// The time limit for telling a server that a connection closes.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A runtime without a thread of its own; `None` only while it is dropped.
#[derive(Debug)]
pub(super) struct LocalRuntime(Option<Runtime>);

#[derive(Debug)]
pub(super) struct PooledConnection {
    // Dropped before the runtime where it is registered.
    connection: DatabaseConnection,
    runtime: LocalRuntime,
    /// The time when it was opened, and the time of its last use.
    pub opened: Instant,
    pub last_used: Instant,
}

impl LocalRuntime {
    pub fn new() -> Result<LocalRuntime, EntityStoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime
            .map(|runtime| LocalRuntime(Some(runtime)))
            .map_err(|error| EntityStoreError::Other(format!("cannot create a runtime: {error}")))
    }

    /// Blocks until a future on this runtime completes.
    pub fn block_on<T: Send, F: Future<Output = Result<T, EntityStoreError>>>(
        &self,
        work: impl FnOnce() -> F + Send,
    ) -> Result<T, EntityStoreError> {
        let Some(runtime) = &self.0 else {
            return Err(EntityStoreError::Other("its runtime has shut down".to_owned()));
        };
        let wait = || runtime.block_on(work());
        match Handle::try_current().map(|handle| handle.runtime_flavor()) {
            Err(_) => wait(),
            Ok(RuntimeFlavor::MultiThread) => block_in_place(wait),
            // This may be the only thread of the caller's runtime, where tokio does not allow blocking
            // on another runtime.
            Ok(_) => thread::scope(|scope| {
                let waiting = thread::Builder::new().spawn_scoped(scope, wait);
                let waiting = waiting.map_err(|error| {
                    EntityStoreError::Other(format!("cannot start a thread to wait: {error}"))
                })?;
                waiting.join().unwrap_or_else(|payload| resume_unwind(payload))
            }),
        }
    }
}

impl Drop for LocalRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Without waiting: the drop may happen on another runtime.
            runtime.shutdown_background();
        }
    }
}

impl PooledConnection {
    /// Pairs a connection with the runtime where it was opened.
    pub fn new(connection: DatabaseConnection, runtime: LocalRuntime) -> PooledConnection {
        let opened = Instant::now();
        PooledConnection { connection, runtime, opened, last_used: opened }
    }

    /// Runs `work` on the connection and waits for it.
    pub fn run<T: Send>(
        &mut self,
        work: impl AsyncFnOnce(&mut DatabaseConnection) -> Result<T, EntityStoreError> + Send,
    ) -> Result<T, EntityStoreError> {
        let PooledConnection { connection, runtime, .. } = self;
        runtime.block_on(|| work(connection))
    }

    /// Closes the connection with the server's closing handshake.
    pub fn close(self) {
        use sqlx::Connection;
        let PooledConnection { connection, runtime, .. } = self;
        // A failure here does not matter.
        let _result = runtime.block_on(|| async {
            drop(timeout(CLOSE_TIMEOUT, connection.connection.close()).await);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_on_a_runtime_can_wait_for_another() {
        let runtime = LocalRuntime::new().unwrap();
        let compute = || {
            runtime.block_on(|| async {
                let spawned = tokio::spawn(async { 6 });
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(spawned.await.unwrap() * 7)
            })
        };
        assert_eq!(compute(), Ok(42));
        let one = Builder::new_current_thread().build().unwrap();
        assert_eq!(one.block_on(async { compute() }), Ok(42));
        let several = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        assert_eq!(several.block_on(async { compute() }), Ok(42));
        let runtime = std::sync::Arc::new(LocalRuntime::new().unwrap());
        let spawned = several.spawn_blocking(move || runtime.block_on(|| async { Ok(42) }));
        assert_eq!(several.block_on(spawned).unwrap(), Ok(42));
        one.block_on(async { drop(LocalRuntime::new()) });
    }
}
