//! Keeps the order in which calls for files of one name arrived, until each has its locks or waits for them.
//!
//! Each call runs on a thread of its own, so calls that arrive together would take the lock of a file in any order. The order
//! counts from where their arguments are parsed: a call of several kilobytes can be overtaken by a short one.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use lockgate_checks::Watch;
use lockgate_edit::request::{Request, Target};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The number of queues. Calls for files of other names share one now and then.
const QUEUES: usize = 64;
/// The longest wait for the calls before. Then a call no longer keeps the order: one before it hangs in its file system.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The place of a call in a queue. The next call follows when it is dropped.
pub(super) type QueuePlace = OwnedMutexGuard<()>;

/// The queues of all file names.
pub(super) struct ArrivalQueues {
    /// Fair: a place passes to the call that has waited longest.
    queues: Vec<Arc<Mutex<()>>>,
    hasher: RandomState,
}

impl Default for ArrivalQueues {
    fn default() -> ArrivalQueues {
        let queues = std::iter::repeat_with(Arc::default).take(QUEUES).collect();
        ArrivalQueues { queues, hasher: RandomState::new() }
    }
}

impl ArrivalQueues {
    /// Waits until the earlier calls for files of these names have their locks or wait for them, for at most a second, and
    /// until the call is cancelled.
    ///
    /// A path can be spelt in several ways, which have the name of the file in common. Entities have no queues: resolving one
    /// asks a database, for which no other call should wait.
    pub(super) async fn wait(&self, requests: &[Request], watch: &Watch) -> Vec<QueuePlace> {
        tokio::select! {
            places = self.places(requests) => places,
            () = watch.ended() => Vec::new(),
            () = tokio::time::sleep(MAX_WAIT) => Vec::new(),
        }
    }

    async fn places(&self, requests: &[Request]) -> Vec<QueuePlace> {
        let name = |request: &Request| match &request.target {
            Target::File(path) => Some(path.rsplit('/').next().unwrap_or_default().to_owned()),
            Target::Entity(_) => None,
        };
        let numbers: BTreeSet<usize> =
            requests.iter().filter_map(name).map(|name| self.number(&name)).collect();
        let mut places = Vec::new();
        // In one order, so that two calls never wait for each other.
        for queue in numbers.into_iter().filter_map(|number| self.queues.get(number)) {
            places.push(Arc::clone(queue).lock_owned().await);
        }
        places
    }

    fn number(&self, name: &str) -> usize {
        usize::try_from(self.hasher.hash_one(name) % QUEUES as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_edit::Edit;
    use std::time::Instant;
    use tokio_util::sync::CancellationToken;

    fn requests(paths: &[&str]) -> Vec<Request> {
        paths.iter().map(|path| Request::new(Target::File((*path).to_owned()), Edit::Remove)).collect()
    }

    #[tokio::test]
    async fn a_call_waits_for_those_of_the_same_name_only_so_long() {
        let queues = ArrivalQueues::default();
        let idle = Watch::idle();
        let first = queues.wait(&requests(&["src/a.rs", "b.rs"]), &idle).await;
        assert_eq!(first.len(), 2);
        let began = Instant::now();
        assert!(queues.wait(&requests(&["b.rs", "a.rs"]), &idle).await.is_empty());
        assert!(began.elapsed() >= MAX_WAIT);
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let began = Instant::now();
        assert!(queues.wait(&requests(&["a.rs"]), &Watch::new(cancelled, None)).await.is_empty());
        assert!(began.elapsed() < MAX_WAIT);
        drop(first);
        assert_eq!(queues.wait(&requests(&["./b.rs", "/x/a.rs"]), &idle).await.len(), 2);
    }
}
