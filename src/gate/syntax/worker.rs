//! Runs a parser on a thread of its own, with a stack that fits the text.
//!
//! The parsers of programming languages call themselves once per level of nesting, and a stack that overflows ends
//! the whole process. So each parse gets a stack large enough for the deepest nesting that its text can hold. The
//! stack is reserved, not used: a page costs memory only when a parser reaches it.
//!
//! A thread cannot be stopped from outside, so large texts are read in a process ([`super::child`]), and only small
//! ones here. When the time is up, or the caller has gone, a thread is given [`GRACE`] to end, which the size of its text
//! makes likely. Then the answer is given without it; while [`MOST_LEFT_BEHIND`] of them run on, no further thread is
//! started.
//!
//! Invariant: whatever a parser does short of ending the process, the caller gets an [`End`].

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::super::watch::{Halt, Limit};

/// How many threads may run on after their time was up.
const MOST_LEFT_BEHIND: usize = 4;
/// How often a waiting caller looks whether it is still wanted.
const GLANCE: Duration = Duration::from_millis(20);

/// How long a thread is waited for after its time was up.
const GRACE: Duration = Duration::from_secs(1);

static LEFT_BEHIND: AtomicUsize = AtomicUsize::new(0);

/// The outcome of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JobOutcome<T> {
    /// With a result.
    Done(T),
    /// With a panic, and what it said.
    Panicked(String),
    /// It did not, and the caller does not wait any longer.
    Halted(Halt),
    /// It never began: no thread could be had.
    NoThread,
}

/// Runs a job with a stack of this many bytes, and waits for it within the limit.
pub(super) fn run<T: Send + 'static>(
    stack: usize,
    limit: Limit<'_>,
    job: impl FnOnce() -> T + Send + 'static,
) -> JobOutcome<T> {
    if LEFT_BEHIND.load(Ordering::Relaxed) >= MOST_LEFT_BEHIND {
        return JobOutcome::NoThread;
    }
    let parted = Arc::new(AtomicBool::new(false));
    let leaving = Leaving(Arc::clone(&parted));
    let (send, receive) = channel();
    let work = move || {
        let _leaving = leaving;
        // A caller that has gone needs no result.
        let _unheard = send.send(job());
    };
    match Builder::new().name("lockgate-parser".to_owned()).stack_size(stack).spawn(work) {
        Ok(thread) => wait(&receive, thread, limit, &parted),
        Err(_) => JobOutcome::NoThread,
    }
}

fn wait<T>(
    receive: &Receiver<T>,
    thread: JoinHandle<()>,
    limit: Limit<'_>,
    parted: &AtomicBool,
) -> JobOutcome<T> {
    loop {
        let left = limit.end().saturating_duration_since(Instant::now());
        let heard = receive.recv_timeout(left.min(GLANCE));
        if matches!(heard, Err(RecvTimeoutError::Timeout)) {
            let Some(halt) = limit.reached() else { continue };
            if matches!(receive.recv_timeout(GRACE), Err(RecvTimeoutError::Timeout)) {
                leave(parted);
            } else {
                let _ended = thread.join();
            }
            return JobOutcome::Halted(halt);
        }
        // It ends at once, and its stack is given back before the next one is asked for.
        return match (heard, thread.join()) {
            (Ok(result), _) => JobOutcome::Done(result),
            (Err(_), Err(panic)) => JobOutcome::Panicked(panic_message(panic.as_ref())),
            (Err(_), Ok(())) => JobOutcome::Panicked(String::new()),
        };
    }
}

/// The caller goes. Whoever comes second, caller or thread, takes the thread off the count.
fn leave(parted: &AtomicBool) {
    LEFT_BEHIND.fetch_add(1, Ordering::Relaxed);
    if parted.swap(true, Ordering::AcqRel) {
        LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Marks the end of a thread, by panic too.
struct Leaving(Arc<AtomicBool>);

impl Drop for Leaving {
    fn drop(&mut self) {
        if self.0.swap(true, Ordering::AcqRel) {
            LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Returns the message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::gate::Watch;

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
        let gone = Watch::new(token, None);
        let end = run(STACK, gone.until(later()), move || gate.recv().is_ok());
        assert_eq!(end, JobOutcome::Halted(Halt::Cancelled));
        drop(go);
    }

    #[test]
    fn a_stack_that_cannot_be_had_is_no_panic() {
        assert_eq!(run(usize::MAX / 4, Watch::idle().until(later()), || 7), JobOutcome::NoThread);
    }
}
