//! The thread on which a database is spoken to, and how others wait for what it does.
//!
//! Invariant: whoever waits is blocked and nothing else is, also where the caller runs on a reactor itself.

use super::Failure;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use tokio::runtime::{Builder, Handle, Runtime};

/// The thread that listens to the connections.
#[derive(Debug)]
pub(super) struct Reactor {
    runtime: Option<Runtime>,
    handle: Handle,
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Reactor {
    /// Starts the thread.
    pub fn start() -> Result<Reactor, Failure> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("content").enable_all().build();
        let runtime =
            runtime.map_err(|error| Failure::Other(format!("no thread can be started: {error}")))?;
        Ok(Reactor { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// Makes what belongs to it.
    pub fn within<T>(&self, make: impl FnOnce() -> T) -> T {
        let _within = self.handle.enter();
        make()
    }

    /// Waits for what is done over the connections.
    pub fn wait<F: Future>(&self, work: F) -> F::Output {
        // Not tokio's own, which refuses callers that run on a reactor.
        self.within(|| {
            let mut work = pin!(work);
            let waker = Waker::from(Arc::new(Unpark(thread::current())));
            loop {
                match work.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(done) => return done,
                    Poll::Pending => thread::park(),
                }
            }
        })
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn whoever_runs_on_a_reactor_can_wait_for_another() {
        let reactor = Reactor::start().unwrap();
        let waited = || {
            reactor.wait(async {
                let spawned = tokio::spawn(async { 6 });
                tokio::time::sleep(Duration::from_millis(1)).await;
                spawned.await.unwrap() * 7
            })
        };
        assert_eq!(waited(), 42);
        let own = Builder::new_current_thread().build().unwrap();
        assert_eq!(own.block_on(async { waited() }), 42);
    }
}
