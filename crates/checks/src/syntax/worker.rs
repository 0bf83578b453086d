//! Runs a parser on its own thread, with a stack that fits the text.
//!
//! The parsers of programming languages recurse once per level of nesting, and a stack overflow ends the whole process.
//! So each parse gets a stack large enough for the deepest nesting that its text can hold. The stack is only reserved: a
//! page uses memory only when a parser reaches it.
//!
//! A thread cannot be stopped from outside, so large texts are parsed in a process ([`super::child`]), and only small
//! ones here. At the time limit, or when the caller cancels, a thread gets [`GRACE`] to end; texts are small, so it usually
//! does. After that the caller stops waiting. While [`MAX_LEFT_BEHIND`] such threads still run, no new thread is started.
//!
//! Invariant: unless a parser ends the process, the caller gets a [`JobOutcome`].

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::parse::ParseFailure;
use lockgate_sandbox::{Halt, Limit};

/// The most threads that may still run after their time limit.
const MAX_LEFT_BEHIND: usize = 4;
/// The interval at which a waiting caller checks its limit.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The time that a thread gets to end after its time limit.
const GRACE: Duration = Duration::from_secs(1);

static LEFT_BEHIND: AtomicUsize = AtomicUsize::new(0);

/// The outcome of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JobOutcome<T> {
    /// The job returned this value.
    Done(T),
    /// The job panicked with this message.
    Panicked(String),
    /// The job did not end within the limit.
    Halted(Halt),
    /// The job did not start, because no thread could be created.
    NoThread,
}

impl<T> JobOutcome<T> {
    /// Returns the value of the job; `None` if it did not start. `what` names the job in an error.
    pub(super) fn value(self, what: &str) -> Result<Option<T>, ParseFailure> {
        match self {
            JobOutcome::Done(value) => Ok(Some(value)),
            JobOutcome::NoThread => Ok(None),
            JobOutcome::Panicked(words) => Err(ParseFailure::Broken(format!("{what} panicked: {words}"))),
            JobOutcome::Halted(halt) => Err(ParseFailure::Halted(halt)),
        }
    }
}

/// Runs a job on a thread with a stack of this many bytes, and waits for it within the limit.
pub(super) fn run<T: Send + 'static>(
    stack: usize,
    limit: Limit<'_>,
    job: impl FnOnce() -> T + Send + 'static,
) -> JobOutcome<T> {
    if LEFT_BEHIND.load(Ordering::Relaxed) >= MAX_LEFT_BEHIND {
        return JobOutcome::NoThread;
    }
    let is_left = Arc::new(AtomicBool::new(false));
    let guard = EndGuard(Arc::clone(&is_left));
    let (send, receive) = channel();
    let work = move || {
        let _guard = guard;
        // The caller may have stopped waiting; then the result is not needed.
        let _sent = send.send(job());
    };
    match Builder::new().name("lockgate-parser".to_owned()).stack_size(stack).spawn(work) {
        Ok(thread) => wait(&receive, thread, limit, &is_left),
        Err(_) => JobOutcome::NoThread,
    }
}

fn wait<T>(
    receive: &Receiver<T>,
    thread: JoinHandle<()>,
    limit: Limit<'_>,
    is_left: &AtomicBool,
) -> JobOutcome<T> {
    loop {
        let left = limit.end().saturating_duration_since(Instant::now());
        let received = receive.recv_timeout(left.min(POLL_INTERVAL));
        if matches!(received, Err(RecvTimeoutError::Timeout)) {
            let Some(halt) = limit.reached() else { continue };
            if matches!(receive.recv_timeout(GRACE), Err(RecvTimeoutError::Timeout)) {
                leave(is_left);
            } else {
                let _ended = thread.join();
            }
            return JobOutcome::Halted(halt);
        }
        // The thread ends at once; joining it frees its stack before the next one is allocated.
        return match (received, thread.join()) {
            (Ok(result), _) => JobOutcome::Done(result),
            (Err(_), Err(panic)) => JobOutcome::Panicked(panic_message(panic.as_ref())),
            (Err(_), Ok(())) => JobOutcome::Panicked(String::new()),
        };
    }
}

/// Counts the thread as left behind. The second of caller and thread to set the flag removes it from the count.
fn leave(is_left: &AtomicBool) {
    LEFT_BEHIND.fetch_add(1, Ordering::Relaxed);
    if is_left.swap(true, Ordering::AcqRel) {
        LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A guard that marks the end of a thread, also after a panic.
struct EndGuard(Arc<AtomicBool>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        if self.0.swap(true, Ordering::AcqRel) {
            LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Returns the message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Watch;

    const STACK: usize = 1 << 20;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(60)
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn gives_the_result_or_the_last_words() {
        let watch = Watch::idle();
        assert_eq!(run(STACK, watch.until(later()), || 7), JobOutcome::Done(7));
        let panicked = run(STACK, watch.until(later()), || panic!("bad {}", 3));
        assert_eq!(panicked, JobOutcome::<()>::Panicked("bad 3".to_owned()));
    }

    #[test]
    fn does_not_wait_beyond_the_limit_nor_for_a_caller_that_has_gone() {
        let (go, gate) = sync_channel::<()>(0);
        let end = run(STACK, Watch::idle().until(soon()), move || gate.recv().is_ok());
        assert_eq!(end, JobOutcome::Halted(Halt::TimedOut));
        drop(go);
        let token = CancellationToken::new();
        token.cancel();
        let (go, gate) = sync_channel::<()>(0);
        let watch = Watch::new(token, None);
        let end = run(STACK, watch.until(later()), move || gate.recv().is_ok());
        assert_eq!(end, JobOutcome::Halted(Halt::Cancelled));
        drop(go);
    }

    #[test]
    fn a_stack_that_cannot_be_had_is_no_panic() {
        assert_eq!(run(usize::MAX / 4, Watch::idle().until(later()), || 7), JobOutcome::NoThread);
    }
}
