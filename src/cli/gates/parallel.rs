//! Runs work in parallel, one thread for each core, with results in order.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Runs `work` for each item and passes each result to `each` in the order of the items.
pub(super) fn parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut each: impl FnMut(&T, R),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let worker = |sender: mpsc::Sender<(usize, R)>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            // The receiver lives until all workers have ended.
            let _ = sender.send((at, work(item)));
        }
    };
    let worker = &worker;
    let cores = thread::available_parallelism().map_or(2, NonZeroUsize::get);
    thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..cores.min(items.len()) {
            let sender = sender.clone();
            started +=
                usize::from(thread::Builder::new().spawn_scoped(scope, move || worker(sender)).is_ok());
        }
        if started == 0 {
            // Without threads, all work is done before the first result is passed on.
            worker(sender);
        } else {
            drop(sender);
        }
        let mut waiting = BTreeMap::new();
        let mut remaining = items.iter().enumerate().peekable();
        for (at, result) in receiver {
            waiting.insert(at, result);
            while let Some((item, result)) =
                remaining.peek().and_then(|(at, item)| Some((*item, waiting.remove(at)?)))
            {
                each(item, result);
                remaining.next();
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
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
