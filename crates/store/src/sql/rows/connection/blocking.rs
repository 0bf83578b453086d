//! Blocks a caller that may run on a runtime.

use super::super::EntityStoreError;
use std::panic::resume_unwind;
use std::thread;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// Runs `work`, which blocks. Only the caller is blocked, even if it runs on a runtime, and `work` may
/// drive a runtime of its own.
pub(super) fn block<T: Send>(
    work: impl FnOnce() -> Result<T, EntityStoreError> + Send,
) -> Result<T, EntityStoreError> {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Err(_) => work(),
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        // This may be the only thread of the caller's runtime, where tokio does not allow blocking on
        // another runtime.
        Ok(_) => thread::scope(|scope| {
            let waiting = thread::Builder::new().spawn_scoped(scope, work);
            let waiting = waiting.map_err(|error| {
                EntityStoreError::Other(format!("cannot start a thread to wait: {error}"))
            })?;
            waiting.join().unwrap_or_else(|payload| resume_unwind(payload))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::postgres::LocalRuntime;
    use super::*;
    use std::time::Duration;
    use tokio::runtime::Builder;

    #[test]
    fn a_caller_on_a_runtime_can_wait_for_another() {
        let runtime = LocalRuntime::new().unwrap();
        let compute = || {
            block(|| {
                runtime.block_on(async {
                    let spawned = tokio::spawn(async { 6 });
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    Ok(spawned.await.unwrap() * 7)
                })
            })
        };
        assert_eq!(compute(), Ok(42));
        let one = Builder::new_current_thread().build().unwrap();
        assert_eq!(one.block_on(async { compute() }), Ok(42));
        let several = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        assert_eq!(several.block_on(async { compute() }), Ok(42));
        let runtime = std::sync::Arc::new(LocalRuntime::new().unwrap());
        let spawned = several.spawn_blocking(move || block(|| runtime.block_on(async { Ok(42) })));
        assert_eq!(several.block_on(spawned).unwrap(), Ok(42));
        one.block_on(async { drop(LocalRuntime::new()) });
    }
}
