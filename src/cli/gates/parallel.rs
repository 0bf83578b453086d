//! Runs work in parallel, one thread for each core, with results in order.

use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::thread;

use parking_lot::Mutex;

/// Runs `work` for each item and passes each result to `each` in the order of the items.
pub(super) fn parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut each: impl FnMut(&T, R),
) {
    let (senders, receivers): (Vec<_>, Vec<_>) = items.iter().map(|_| mpsc::channel()).unzip();
    let queue = Mutex::new(items.iter().zip(senders));
    let next = || queue.lock().next();
    let worker = || {
        while let Some((item, sender)) = next() {
            // Fails only after another worker panicked, when nobody waits for the result.
            let _ = sender.send(work(item));
        }
    };
    let cores = thread::available_parallelism().map_or(2, NonZeroUsize::get);
    thread::scope(|scope| {
        let start = || thread::Builder::new().spawn_scoped(scope, worker).is_ok();
        let started = (0..cores.min(items.len())).filter(|_| start()).count();
        if started == 0 {
            // Without threads, all work is done before the first result is passed on.
            worker();
        }
        for (item, receiver) in items.iter().zip(receivers) {
            // A worker that panics drops its sender; the scope then panics as well.
            let Ok(result) = receiver.recv() else { break };
            each(item, result);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn no_more_is_done_at_one_time_than_there_are_cores() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |_: &u8| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
        };
        parallel(&[0; 200], work, |_, ()| {});
        let cores = thread::available_parallelism().map_or(2, NonZeroUsize::get);
        assert!((1..=cores).contains(&most.into_inner()));
    }

    #[test]
    fn every_result_is_reported_once_and_in_order() {
        let items: Vec<u64> = (0..50).collect();
        let mut results = Vec::new();
        parallel(
            &items,
            |item| {
                thread::sleep(Duration::from_micros((50 - item) * 20));
                item * 2
            },
            |item, result| results.push((*item, result)),
        );
        assert_eq!(results, items.iter().map(|item| (*item, item * 2)).collect::<Vec<_>>());
        parallel(&[], |_: &u8| panic!("no work"), |_, ()| panic!("no result"));
    }
}
