//! Allows one edit of a file at a time: in the order of arrival within this process, and by turns with other
//! processes. A database row is locked within this process only; between processes, the database decides.
//!
//! Invariant: a table entry lives exactly as long as a task holds or awaits it. The lock within this process
//! is taken before the one between processes, so that a process waits for another at most once for each file.

mod interprocess;

use super::lock_key::LockKey;
use super::state::StateFolder;
use super::system_error;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use interprocess::{Lock, LockError, LockFiles, ProcessLocks};
use lockgate_error::{Code, Error};
use parking_lot::Mutex as PlainMutex;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

type LockTable = DashMap<LockKey, Arc<LockQueue>>;

/// The locks of all files that are being edited.
#[derive(Debug, Default)]
pub struct Locks {
    entries: Arc<LockTable>,
    /// The locks that other processes respect, or the reason why they cannot; absent if only this process counts.
    interprocess: Option<Result<ProcessLocks, String>>,
}

/// The lock of one key between processes, if it needs one; the reason why other processes do not respect it is the error.
type ProcessLock = Result<Option<Lock>, String>;

/// The longest waits for the locks of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockWaits {
    /// The longest wait behind earlier edits in this process, for all keys together.
    pub queue: Duration,
    /// The longest wait for other processes, for all keys together.
    pub process: Duration,
}

/// The edits of one key in this process, in the order of their arrival.
#[derive(Debug, Default)]
struct LockQueue {
    /// Fair: it passes from each holder to the one that has waited longest, without a pause.
    mutex: Arc<Mutex<()>>,
    tickets: PlainMutex<Tickets>,
}

#[derive(Debug, Default)]
struct Tickets {
    next: u64,
    live: BTreeSet<u64>,
}

/// Locks that are held; dropping the guard lets the next waiter continue.
#[derive(Debug)]
#[must_use = "the locks are released when this is dropped"]
pub struct LockGuard {
    each: Vec<KeyLock>,
}

impl LockGuard {
    /// Releases the locks of all other keys.
    pub fn retain(&mut self, keys: &[LockKey]) {
        self.each.retain(|lock| keys.contains(&lock.claim.key));
    }

    /// The reason why other processes do not respect one of the locks, if they do not.
    pub fn missing_process_lock(&self) -> Option<&str> {
        self.each.iter().find_map(|lock| lock.process_lock.as_ref().err()).map(String::as_str)
    }
}

/// The lock of one key, in this process and between processes.
#[derive(Debug)]
struct KeyLock {
    // Dropped in this order: other processes first; the claim must see that the lock is free.
    process_lock: ProcessLock,
    _guard: OwnedMutexGuard<()>,
    claim: Claim,
}

impl Locks {
    /// Locks that other processes of the same user respect as well, by files in lockgate's state folder. If
    /// that cannot be used, only this process respects them, and each guard has the reason.
    pub fn open(state: &StateFolder) -> Locks {
        let folder = state
            .locks()
            .inspect_err(|reason| tracing::warn!("locks of other processes are not respected: {reason}"));
        Locks { entries: Arc::default(), interprocess: Some(folder.map(ProcessLocks::new)) }
    }

    /// The files of the lock between processes, if the key needs one.
    ///
    /// Errors: the reason why there are none.
    fn lock_files(&self, key: &LockKey) -> Result<Option<LockFiles>, String> {
        match &self.interprocess {
            Some(Ok(process_locks)) if key.needs_process_lock() => Ok(Some(process_locks.lock_files(key))),
            Some(Err(reason)) if key.needs_process_lock() => Err(reason.clone()),
            Some(_) | None => Ok(None),
        }
    }

    /// Takes the locks of all keys if they are free now.
    pub fn try_hold(&self, keys: &[LockKey]) -> Option<LockGuard> {
        let take = |key: &LockKey| {
            let (claim, mutex) = Claim::new(&self.entries, key.clone());
            let guard = mutex.try_lock_owned().ok()?;
            let process_lock = match self.lock_files(key) {
                // An error counts as a lock that is not free.
                Ok(Some(mut lock_files)) => Ok(Some(lock_files.try_take().ok()??)),
                Ok(None) => Ok(None),
                Err(reason) => Err(reason),
            };
            Some(KeyLock { process_lock, _guard: guard, claim })
        };
        sorted(keys).iter().map(take).collect::<Option<_>>().map(|each| LockGuard { each })
    }

    /// Waits for the locks of all keys, at most for the given times; free locks are taken at once, whatever
    /// these are.
    ///
    /// They are taken in the order of the keys, so that two callers that want the same locks never deadlock.
    ///
    /// Errors: `LOCK_TIMEOUT`, with the number of earlier edits or the process that holds the lock, if that is
    /// known, and errors of the system.
    pub async fn hold(&self, keys: &[LockKey], waits: LockWaits) -> Result<LockGuard, Error> {
        let queue_end = Instant::now() + waits.queue;
        let mut process_wait = waits.process;
        let mut each = Vec::new();
        for key in sorted(keys) {
            let lock_files = self.lock_files(&key);
            let (claim, mutex) = Claim::new(&self.entries, key);
            let guard = match Arc::clone(&mutex).try_lock_owned() {
                Ok(guard) => guard,
                Err(_) => tokio::time::timeout_at(queue_end, mutex.lock_owned())
                    .await
                    .map_err(|_| timed_out(waits.queue, &claim.holder()))?,
            };
            let began = Instant::now();
            let process_lock = match lock_files {
                Ok(Some(lock_files)) => acquire(lock_files, began + process_wait, waits.process).await?,
                Ok(None) => Ok(None),
                Err(reason) => Err(reason),
            };
            process_wait = process_wait.saturating_sub(began.elapsed());
            each.push(KeyLock { process_lock, _guard: guard, claim });
        }
        Ok(LockGuard { each })
    }
}

/// Waits for a lock between processes. Without it, publishing has its own guards. `wait` is the time that an error names.
async fn acquire(mut lock_files: LockFiles, deadline: Instant, wait: Duration) -> Result<ProcessLock, Error> {
    let taken = |result: Result<Lock, LockError>| match result {
        Ok(lock) => Ok(Ok(Some(lock))),
        Err(error) => unsupported(&error).map(Err),
    };
    if let Some(result) = lock_files.try_take().transpose() {
        return taken(result);
    }
    let path = lock_files.path();
    let receiver = lock_files.wait().map_err(|errno| system_error::failed("waiting for", "a lock", errno))?;
    let Ok(received) = tokio::time::timeout_at(deadline, receiver).await else {
        let holder = interprocess::holder(&path).map(|holder| format!("held by process {holder}; "));
        return Err(timed_out(wait, &holder.unwrap_or_default()));
    };
    taken(received.map_err(|_| {
        Error::new(Code::Internal, "the thread that waits for the lock of another process ended")
    })?)
}

/// Returns the reason why a lock is not supported here.
///
/// Errors: `STORE_UNAVAILABLE` if a lock file, or its folder, is of another kind; other errors of the system.
fn unsupported(LockError { path, errno }: &LockError) -> Result<String, Error> {
    let shown = path.display().to_string();
    let failed = system_error::failed("locking", &shown, *errno);
    let broken = match *errno {
        Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::NOSYS | Errno::NOTSUP | Errno::NOLCK => {
            return Ok(failed.message);
        }
        Errno::NOTDIR => path.parent().unwrap_or(path),
        Errno::ISDIR | Errno::LOOP | Errno::NXIO => path,
        _ => return Err(failed),
    };
    let hint = format!("a person can move {} away; lockgate then makes it again", broken.display());
    Err(Error::new(Code::StoreUnavailable, failed.message).hint(hint))
}

fn sorted(keys: &[LockKey]) -> BTreeSet<LockKey> {
    keys.iter().cloned().collect()
}

/// The error of a wait that took too long; `holder` says who has the lock, as far as that is known.
fn timed_out(wait: Duration, holder: &str) -> Error {
    Error::new(Code::LockTimeout, "Another edit operation is in progress for this file")
        .hint(format!("{holder}timed out after {} ms; send the request again", wait.as_millis()))
}

/// An interest in an entry, held or awaited.
#[derive(Debug)]
struct Claim {
    entries: Arc<LockTable>,
    key: LockKey,
    queue: Option<Arc<LockQueue>>,
    ticket: u64,
}

impl Claim {
    fn new(entries: &Arc<LockTable>, key: LockKey) -> (Claim, Arc<Mutex<()>>) {
        let queue = Arc::clone(entries.entry(key.clone()).or_default().value());
        let mutex = Arc::clone(&queue.mutex);
        let ticket = {
            let mut tickets = queue.tickets.lock();
            tickets.next += 1;
            let ticket = tickets.next;
            tickets.live.insert(ticket);
            ticket
        };
        (Claim { entries: Arc::clone(entries), key, queue: Some(queue), ticket }, mutex)
    }

    /// Describes the holder of the lock: an edit of this process.
    fn holder(&self) -> String {
        let live = |queue: &Arc<LockQueue>| queue.tickets.lock().live.range(..self.ticket).count();
        let count = self.queue.as_ref().map_or(0, live);
        format!("held by process {}; {count} before this one in the queue; ", std::process::id())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Released under the map's own lock, which also covers new claims, so that the last one sees that it
        // is the last.
        if let Entry::Occupied(entry) = self.entries.entry(self.key.clone()) {
            entry.get().tickets.lock().live.remove(&self.ticket);
            self.queue = None;
            if Arc::strong_count(entry.get()) == 1 {
                entry.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex as Plain;

    impl Locks {
        fn in_folder(folder: &std::path::Path) -> Locks {
            Locks { interprocess: Some(Ok(ProcessLocks::new(folder.to_owned()))), ..Locks::default() }
        }

        fn count(&self) -> usize {
            self.entries.len()
        }
    }

    const SECOND: LockWaits = both(Duration::from_secs(1));

    const fn both(wait: Duration) -> LockWaits {
        LockWaits { queue: wait, process: wait }
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn a_guard_can_keep_some_of_its_locks() {
        let locks = Locks::default();
        let [a, b] = ["a", "b"].map(|rest| LockKey::sample(1, rest));
        let mut guard = locks.try_hold(&[a.clone(), b.clone()]).unwrap();
        assert!(locks.try_hold(std::slice::from_ref(&b)).is_none(), "the control");
        guard.retain(std::slice::from_ref(&a));
        assert!(locks.try_hold(&[b]).is_some() && locks.try_hold(&[a]).is_none());
    }

    #[test]
    fn a_guard_has_the_reason_why_other_processes_do_not_respect_it() {
        let dir = tempfile::tempdir().unwrap();
        let keys = [LockKey::sample(1, "a")];
        let reason =
            |locks: &Locks| run(locks.hold(&keys, SECOND)).unwrap().missing_process_lock().map(str::to_owned);
        let own = Ok(dir.path().join("state"));
        let state = StateFolder::at(own.clone(), own, &[]);
        assert_eq!(reason(&Locks::open(&state)), None, "the control");
        std::fs::remove_dir_all(dir.path().join("state/locks")).unwrap();
        std::fs::write(dir.path().join("state/locks"), "").unwrap();
        let locks = Locks::open(&state);
        assert!(reason(&locks).unwrap().contains("state/locks cannot be created"));
        assert!(locks.try_hold(&keys).unwrap().missing_process_lock().is_some());
        assert!(locks.try_hold(&[LockKey::of_row(1, "a")]).unwrap().missing_process_lock().is_none());
    }

    #[test]
    fn a_broken_lock_file_is_named_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("locks");
        let locks = Locks::in_folder(&folder);
        let keys = [LockKey::sample(1, "a")];
        let error = || run(locks.hold(&keys, SECOND)).unwrap_err();
        let file = folder.join(format!("{}.turn", keys[0].hash()));
        std::fs::create_dir_all(&file).unwrap();
        let not_file = error();
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::write(&folder, "").unwrap();
        for (error, broken) in [(not_file, &file), (error(), &folder)] {
            assert_eq!(error.code, Code::StoreUnavailable);
            assert!(error.message.starts_with(file.to_str().unwrap()), "{error:?}");
            let hint = format!("a person can move {} away; lockgate then makes it again", broken.display());
            assert_eq!(error.hint.as_deref(), Some(hint.as_str()));
        }
        std::fs::remove_file(&folder).unwrap();
        assert!(run(locks.hold(&keys, SECOND)).is_ok(), "the control");
    }

    #[test]
    fn a_free_lock_never_times_out() {
        run(async {
            let locks = Locks::default();
            for _ in 0..100 {
                assert!(locks.hold(&[LockKey::sample(1, "a")], both(Duration::ZERO)).await.is_ok());
            }
        });
    }

    #[test]
    fn a_held_lock_times_out_with_the_exact_words_and_others_do_not_wait() {
        run(async {
            let locks = Locks::default();
            let _lock = locks.hold(&[LockKey::sample(1, "a")], SECOND).await.unwrap();
            let error =
                locks.hold(&[LockKey::sample(1, "a")], both(Duration::from_millis(10))).await.unwrap_err();
            assert_eq!(error.code, Code::LockTimeout);
            assert_eq!(error.message, "Another edit operation is in progress for this file");
            let prefix = format!("held by process {}; ", std::process::id());
            assert!(error.hint.unwrap().starts_with(&prefix));
            assert!(locks.hold(&[LockKey::sample(1, "b")], both(Duration::ZERO)).await.is_ok());
            assert!(locks.hold(&[LockKey::sample(2, "a")], both(Duration::ZERO)).await.is_ok());
        });
    }

    #[test]
    fn a_timeout_in_the_queue_names_the_edits_before_and_the_waits_are_apart() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, theirs) = (Arc::new(Locks::in_folder(dir.path())), Locks::in_folder(dir.path()));
        run(async {
            let keys = [LockKey::sample(1, "a")];
            let lock = ours.hold(&keys, SECOND).await.unwrap();
            let mut waiters = Vec::new();
            for _ in 0..3 {
                let (ours, keys) = (Arc::clone(&ours), keys.clone());
                waiters.push(tokio::spawn(async move { ours.hold(&keys, SECOND).await.map(drop) }));
                tokio::task::yield_now().await;
            }
            let short = LockWaits { queue: Duration::from_millis(10), process: Duration::from_secs(60) };
            let hint = ours.hold(&keys, short).await.unwrap_err().hint.unwrap();
            assert!(hint.contains("; 4 before this one in the queue; timed out after 10 ms"), "{hint}");
            waiters.pop().unwrap().abort();
            tokio::task::yield_now().await;
            let hint = ours.hold(&keys, short).await.unwrap_err().hint.unwrap();
            assert!(hint.contains("; 3 before this one"), "one gave up: {hint}");
            drop(lock);
            for waiter in waiters {
                waiter.await.unwrap().unwrap();
            }
            let _lock = theirs.hold(&keys, SECOND).await.unwrap();
            let short = LockWaits { queue: Duration::from_secs(60), process: Duration::from_millis(10) };
            let hint = ours.hold(&keys, short).await.unwrap_err().hint.unwrap();
            assert!(hint.ends_with("; timed out after 10 ms; send the request again"), "{hint}");
            assert!(!hint.contains("queue"), "{hint}");
        });
    }

    #[test]
    fn waiters_come_in_the_order_of_their_asking() {
        run(async {
            let locks = Arc::new(Locks::default());
            let order = Arc::new(Plain::new(Vec::new()));
            let lock = locks.hold(&[LockKey::sample(1, "a")], SECOND).await.unwrap();
            let mut waiters = Vec::new();
            for number in 0..20 {
                let (locks, order) = (Arc::clone(&locks), Arc::clone(&order));
                waiters.push(tokio::spawn(async move {
                    let _lock = locks.hold(&[LockKey::sample(1, "a")], SECOND).await.unwrap();
                    order.lock().push(number);
                    tokio::task::yield_now().await;
                }));
                tokio::task::yield_now().await;
            }
            drop(lock);
            for waiter in waiters {
                waiter.await.unwrap();
            }
            assert_eq!(*order.lock(), (0..20).collect::<Vec<_>>());
        });
    }

    #[test]
    fn idle_entries_are_dropped_after_holding_waiting_and_giving_up() {
        run(async {
            let locks = Arc::new(Locks::default());
            let lock = locks.hold(&[LockKey::sample(1, "a")], SECOND).await.unwrap();
            assert!(locks.hold(&[LockKey::sample(1, "a")], both(Duration::from_millis(1))).await.is_err());
            let again = Arc::clone(&locks);
            let cancelled =
                tokio::spawn(async move { again.hold(&[LockKey::sample(1, "a")], SECOND).await.map(drop) });
            tokio::task::yield_now().await;
            cancelled.abort();
            assert!(cancelled.await.is_err());
            assert_eq!(locks.count(), 1);
            drop(lock);
            assert_eq!(locks.count(), 0);
        });
    }

    #[test]
    fn two_threads_never_hold_one_lock() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let locks = Arc::new(Locks::default());
        let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (locks, inside) = (Arc::clone(&locks), Arc::clone(&inside));
                std::thread::spawn(move || {
                    let runtime =
                        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                    for _ in 0..500 {
                        let lock = runtime
                            .block_on(locks.hold(&[LockKey::sample(1, "a")], both(Duration::from_secs(30))))
                            .unwrap();
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(lock);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop(runtime);
        assert_eq!(locks.count(), 0);
    }

    /// Two sets of locks share nothing but the folder, as two processes do.
    #[test]
    fn two_processes_never_hold_one_lock_and_none_starves() {
        let dir = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicUsize::new(0);
        let worst = Plain::new(Duration::ZERO);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let locks = Locks::in_folder(dir.path());
                    run(async {
                        for _ in 0..100 {
                            let start = std::time::Instant::now();
                            let keys = [LockKey::sample(1, "a"), LockKey::sample(2, "b")];
                            let lock = locks.hold(&keys, both(Duration::from_secs(30))).await.unwrap();
                            let mut worst = worst.lock();
                            *worst = worst.max(start.elapsed());
                            drop(worst);
                            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            drop(lock);
                        }
                    });
                });
            }
        });
        println!("the longest wait: {:?}", worst.lock());
        assert!(*worst.lock() < Duration::from_secs(2));
    }

    #[test]
    fn a_lock_of_another_process_times_out_and_is_not_had_by_trying() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, theirs) = (Locks::in_folder(dir.path()), Locks::in_folder(dir.path()));
        let keys = [LockKey::sample(1, "a"), LockKey::sample(1, "b")];
        run(async {
            let lock = theirs.hold(&keys[1..], SECOND).await.unwrap();
            assert!(ours.try_hold(&keys).is_none());
            let error = ours.hold(&keys, both(Duration::from_millis(10))).await.unwrap_err();
            assert_eq!((error.code, ours.count()), (Code::LockTimeout, 0));
            assert!(theirs.try_hold(&keys[..1]).is_some(), "what was had is given back");
            drop(lock);
            // The thread that waited may have the lock for a moment.
            assert!(ours.hold(&keys, SECOND).await.is_ok());
            assert!(
                Locks::default().try_hold(&keys).is_some(),
                "the control: without the folder nobody sees it"
            );
        });
    }

    #[test]
    fn a_row_is_locked_within_the_process_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, theirs) = (Locks::in_folder(dir.path()), Locks::in_folder(dir.path()));
        let (row, file) = ([LockKey::of_row(1, "a")], [LockKey::sample(1, "a")]);
        let _guards = (ours.try_hold(&row).unwrap(), ours.try_hold(&file).unwrap());
        assert!(ours.try_hold(&row).is_none() && theirs.try_hold(&row).is_some());
        assert!(theirs.try_hold(&file).is_none(), "the control: of a file other processes know");
        let files = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(files, 2, "those of the file");
    }

    /// Names the folder in which the test below, run as a process of its own, holds a lock.
    const HELD_IN: &str = "LOCKGATE_TEST_HELD_IN";

    #[test]
    fn a_lock_whose_holder_was_killed_is_had_at_once() {
        let test = "locks::tests::a_lock_whose_holder_was_killed_is_had_at_once";
        if let Some(folder) = std::env::var_os(HELD_IN) {
            let locks = Locks::in_folder(folder.as_ref());
            let _lock = locks.try_hold(&[LockKey::sample(1, "a")]).unwrap();
            std::fs::write(std::path::Path::new(&folder).join("ready"), "").unwrap();
            std::thread::sleep(Duration::from_secs(60));
            return;
        }
        let mut waits = Vec::new();
        for _ in 0..5 {
            let dir = tempfile::tempdir().unwrap();
            let mut holder = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", test])
                .env(HELD_IN, dir.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            while !dir.path().join("ready").exists() {
                std::thread::sleep(Duration::from_millis(2));
            }
            let locks = Locks::in_folder(dir.path());
            run(async {
                let keys = [LockKey::sample(1, "a")];
                let error = locks.hold(&keys, both(Duration::from_millis(20))).await.unwrap_err();
                let prefix = format!("held by process {}; ", holder.id());
                let hint = error.hint.unwrap();
                assert!(hint.starts_with(&prefix), "the control: it is held; {hint}");
                holder.kill().unwrap();
                let start = std::time::Instant::now();
                let lock = locks.hold(&keys, SECOND).await;
                waits.push(start.elapsed());
                assert!(lock.is_ok());
            });
            holder.wait().unwrap();
        }
        println!("waits after the kill: {waits:?}");
        waits.sort();
        assert!(waits[2] < Duration::from_millis(100), "{waits:?}");
    }
}
