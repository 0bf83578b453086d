//! A queue of jobs, shared by threads, in which a job can add further jobs.
//!
//! Invariant: it ends when no job is left and none is running, even if one panicked.

use parking_lot::{Condvar, Mutex};
use std::thread::Builder;

/// The waiting jobs, the next one last.
struct Queue<J> {
    state: Mutex<QueueState<J>>,
    woken: Condvar,
}

struct QueueState<J> {
    jobs: Vec<J>,
    busy: usize,
}

/// Runs these jobs, and those that they add, on this many threads; returns the state of each thread.
///
/// The jobs that a job adds run before those that wait, the last first.
pub(super) fn share<J: Send, H: Send>(
    jobs: Vec<J>,
    threads: usize,
    new_state: impl Fn() -> H + Sync,
    work: impl Fn(&mut H, J) -> Vec<J> + Sync,
) -> Vec<H> {
    let queue = Queue { state: Mutex::new(QueueState { jobs, busy: 0 }), woken: Condvar::new() };
    let run = || {
        let mut state = new_state();
        while let Some(job) = queue.take() {
            let mut guard = JobGuard { queue: &queue, added: Vec::new() };
            guard.added = work(&mut state, job);
        }
        state
    };
    std::thread::scope(|scope| {
        // If no more threads can be started, the existing ones do all of the work.
        let start = |_| Builder::new().spawn_scoped(scope, run).ok();
        let handles: Vec<_> = (1..threads).map_while(start).collect();
        let mut states = vec![run()];
        for handle in handles {
            match handle.join() {
                Ok(state) => states.push(state),
                Err(payload) => std::panic::resume_unwind(payload),
            }
        }
        states
    })
}

/// A running job; on drop, even in a panic, its new jobs are put into the queue.
struct JobGuard<'q, J> {
    queue: &'q Queue<J>,
    added: Vec<J>,
}

impl<J> Drop for JobGuard<'_, J> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        state.busy -= 1;
        let more = self.added.len();
        state.jobs.append(&mut self.added);
        let is_over = state.busy == 0 && state.jobs.is_empty();
        drop(state);
        match more {
            // This thread takes the last of them itself.
            0 | 1 if !is_over => {}
            2 if !is_over => drop(self.queue.woken.notify_one()),
            _ => drop(self.queue.woken.notify_all()),
        }
    }
}

impl<J> Queue<J> {
    /// Waits for the next job; `None` when there will be none.
    fn take(&self) -> Option<J> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                return None;
            }
            self.woken.wait(&mut state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once_whatever_the_number_of_threads() {
        for threads in [1, 2, 7] {
            let work = |sum: &mut usize, job: usize| {
                *sum += job;
                (0..job).collect()
            };
            let sums = share(vec![10], threads, || 0, work);
            let mut whole = 0;
            let mut jobs = vec![10];
            while let Some(job) = jobs.pop() {
                whole += job;
                jobs.extend(0..job);
            }
            assert_eq!((sums.len(), sums.iter().sum::<usize>()), (threads, whole));
        }
    }

    #[test]
    fn a_job_that_fails_ends_it_for_all() {
        let result = std::panic::catch_unwind(|| {
            let work = |_: &mut (), job: usize| {
                assert!(job != 3, "on purpose");
                (0..job).collect()
            };
            share(vec![6], 4, || (), work)
        });
        assert!(result.is_err());
    }
}
