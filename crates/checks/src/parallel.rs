//! Runs a function on many items, on several threads.
//!
//! Invariant: the results are in the order of the items; a panic in the function is passed to the caller.

use parking_lot::Mutex;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// The cores of this process; to ask the system reads several files of its control groups.
pub(super) static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(2, usize::from));

/// Runs `work` on each item, on at most `threads` threads, including that of the caller.
///
/// If the system starts fewer threads, the existing ones do all of the work.
pub fn parallel<'t, T: Sync, R: Send>(
    items: &'t [T],
    threads: usize,
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    let run = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(at) else { break };
        let result = work(item);
        done.lock().push((at, result));
    };
    std::thread::scope(|scope| {
        let more = 1..threads.min(items.len());
        let started: Vec<_> = more.filter_map(|_| Builder::new().spawn_scoped(scope, run).ok()).collect();
        run();
        for thread in started {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let mut done = done.into_inner();
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in [0, 1, 3, 200] {
            let items: Vec<usize> = (0..100).collect();
            let doubled = parallel(&items, threads, |item| item * 2);
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
        assert!(parallel(&[] as &[usize], 4, |item| *item).is_empty());
    }

    #[test]
    fn as_many_items_are_worked_on_at_once_as_there_are_threads() {
        // Each waits for the other, which one thread could not do.
        let barrier = Barrier::new(2);
        parallel(&[(), ()], 2, |()| barrier.wait());
    }

    #[test]
    fn a_panic_of_the_work_is_the_callers() {
        let panics = || parallel(&[1, 2, 3], 2, |item| assert!(*item != 3, "on purpose"));
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
