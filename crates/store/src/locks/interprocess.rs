//! The lock between processes: two files in lockgate's state folder for each key, locked with `flock`, which
//! the kernel releases when a process dies.
//!
//! A process takes the turnstile first and holds it until it has the lock. So a process that has just
//! released the lock queues behind one that waits. Lock files that were used lately stay open.
//!
//! A busy lock is awaited by a thread that blocks in `flock`, so that the kernel passes the lock on at once, in
//! the order of the waits. A thread that nobody waits for any more releases the lock as soon as it has it.
//!
//! Invariant: a lock file is removed only while its lock is held, and a lock counts only on a file that still
//! has its name; no descriptor serves two locks at a time; at most one thread waits for a lock.

use crate::lock_key::LockKey;
use crate::state;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use lru::LruCache;
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::{Errno, Result as Io};
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;
use tokio::sync::oneshot;

/// The age at which a lock file is removed, if nobody holds its lock. Taking a lock does not change the times of its file.
const LONGEST_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of tries where another process can come between: it removes the lock file, or changes the table of locks.
const MAX_TRIES: usize = 8;

/// The ways to take a lock: only if it is free now, and when it becomes free.
const IF_FREE: FlockOperation = FlockOperation::NonBlockingLockExclusive;
const WHEN_FREE: FlockOperation = FlockOperation::LockExclusive;

/// The most lock files that stay open without a lock.
const MAX_IDLE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

/// The folder of the lock files of all processes.
#[derive(Debug)]
pub(super) struct ProcessLocks {
    folder: PathBuf,
    idle: Arc<IdleFiles>,
    waits: Arc<Waits>,
}

/// The locks that a thread of this process waits for, with the call that gets each.
type Waits = DashMap<PathBuf, oneshot::Sender<Result<Lock, LockError>>>;

/// An error of the system at a lock file.
#[derive(Debug)]
pub(super) struct LockError {
    pub path: PathBuf,
    pub errno: Errno,
}

/// The open lock files that nothing uses now; using one takes it out.
#[derive(Debug)]
struct IdleFiles(Mutex<LruCache<PathBuf, OwnedFd>>);

/// A lock that is held; dropping it releases the lock.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// The locked file; `None` only while the lock is dropped.
    file: Option<OwnedFd>,
    idle: Arc<IdleFiles>,
}

/// The two files of one lock.
#[derive(Debug)]
pub(super) struct LockFiles {
    turnstile: PathBuf,
    lock: PathBuf,
    turnstile_lock: Option<Lock>,
    idle: Arc<IdleFiles>,
    waits: Arc<Waits>,
}

impl ProcessLocks {
    /// The locks in this folder; removes the files that were made more than a day ago and that nobody holds.
    pub fn new(folder: PathBuf) -> ProcessLocks {
        let idle = Arc::new(IdleFiles(Mutex::new(LruCache::new(MAX_IDLE))));
        let across = ProcessLocks { folder, idle, waits: Arc::default() };
        across.tidy(LONGEST_KEPT);
        across
    }

    /// The files of the lock of a key.
    pub fn lock_files(&self, key: &LockKey) -> LockFiles {
        let name = key.hash();
        let file = |ending| self.folder.join(format!("{name}.{ending}"));
        LockFiles {
            turnstile: file("turn"),
            lock: file("lock"),
            turnstile_lock: None,
            idle: Arc::clone(&self.idle),
            waits: Arc::clone(&self.waits),
        }
    }

    /// Removes the lock files that were made this long ago and that nobody holds. A process that has one open makes a new
    /// file, because the removed one has no name any more.
    fn tidy(&self, least_age: Duration) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().ok().and_then(|found| state::age(&found));
            let is_lock_file =
                entry.path().extension().is_some_and(|ending| ending == "lock" || ending == "turn");
            if is_lock_file
                && age.is_some_and(|age| age >= least_age)
                && let Ok(Some(_lock)) = take(&entry.path(), &self.idle, IF_FREE)
            {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

impl LockFiles {
    /// Takes the lock if it is free now; a turnstile that was taken is kept for the next attempt.
    pub fn try_take(&mut self) -> Result<Option<Lock>, LockError> {
        if self.turnstile_lock.is_none() {
            self.turnstile_lock = take(&self.turnstile, &self.idle, IF_FREE)?;
        }
        let lock = if self.turnstile_lock.is_some() { take(&self.lock, &self.idle, IF_FREE)? } else { None };
        if lock.is_some() {
            self.turnstile_lock = None;
        }
        Ok(lock)
    }

    /// Waits for the lock in a thread. The receiver gets it, unless it was dropped or another call has waited for the
    /// same lock since.
    ///
    /// Errors: those of starting the thread.
    pub fn wait(self) -> Io<oneshot::Receiver<Result<Lock, LockError>>> {
        let (sender, receiver) = oneshot::channel();
        let waits = Arc::clone(&self.waits);
        match waits.entry(self.lock.clone()) {
            Entry::Occupied(mut waiting) => {
                waiting.insert(sender);
            }
            Entry::Vacant(free) => {
                let builder = Builder::new().name("lock".to_owned());
                builder.spawn(|| self.take_and_send()).map_err(|error| os_error(&error))?;
                free.insert(sender);
            }
        }
        Ok(receiver)
    }

    /// Blocks until the lock is taken, and gives it to the call that waits for it now.
    fn take_and_send(mut self) {
        let result = self.take_when_free();
        if let Some((_, sender)) = self.waits.remove(&self.lock) {
            // Where nobody waits any more, the lock comes back and is released.
            let _abandoned = sender.send(result);
        }
    }

    fn take_when_free(&mut self) -> Result<Lock, LockError> {
        if self.turnstile_lock.is_none() {
            self.turnstile_lock = take(&self.turnstile, &self.idle, WHEN_FREE)?;
        }
        loop {
            // The file was removed so often only if others tidy the folder meanwhile.
            if let Some(lock) = take(&self.lock, &self.idle, WHEN_FREE)? {
                self.turnstile_lock = None;
                return Ok(lock);
            }
        }
    }

    /// The file that is locked.
    pub fn path(&self) -> PathBuf {
        self.lock.clone()
    }
}

/// The id of the process that holds the lock of this file, if the kernel tells.
pub(super) fn holder(path: &Path) -> Option<u32> {
    let stat = rustix::fs::stat(path).ok()?;
    let device = format!("{:02x}:{:02x}", rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
    // The kernel gives the table in parts of a page. If other locks end between two parts, a line is left out.
    (0..MAX_TRIES)
        .find_map(|_| holder_in(&std::fs::read_to_string("/proc/locks").ok()?, &device, stat.st_ino))
}

/// Returns the process that holds an `flock` on the file of this inode, according to the text of `/proc/locks`. Some
/// file systems show another device there, so a file of this device is only preferred.
fn holder_in(locks: &str, device: &str, inode: u64) -> Option<u32> {
    let holder = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", holder, file, ..] = words.as_slice() else { return None };
        let (its_device, its_inode) = file.rsplit_once(':')?;
        let holder: u32 = holder.parse().ok()?;
        (its_inode.parse() == Ok(inode) && holder > 0).then_some((its_device != device, holder))
    };
    locks
        .lines()
        .filter_map(holder)
        .min_by_key(|(is_of_another_device, _)| *is_of_another_device)
        .map(|(_, holder)| holder)
}

impl Drop for Lock {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        // A child process may have inherited the descriptor until it executes its own program: closing would
        // not be enough.
        if rustix::fs::flock(&file, FlockOperation::Unlock).is_ok() {
            let replaced = self.idle.0.lock().push(std::mem::take(&mut self.path), file);
            drop(replaced);
        }
    }
}

/// Takes the lock of a file; `None` if it is not free now, or was removed each time.
fn take(path: &Path, idle: &Arc<IdleFiles>, operation: FlockOperation) -> Result<Option<Lock>, LockError> {
    let failed = |errno| LockError { path: path.to_owned(), errno };
    for _ in 0..MAX_TRIES {
        let known = idle.0.lock().pop(path);
        let file = known.map_or_else(|| open(path), Ok).map_err(failed)?;
        match rustix::io::retry_on_intr(|| rustix::fs::flock(&file, operation)) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                idle.0.lock().put(path.to_owned(), file);
                return Ok(None);
            }
            Err(errno) => return Err(failed(errno)),
        }
        // The file was removed by a process that held its lock; the name may lead to another file by now. Closing
        // this one ends its lock.
        if rustix::fs::fstat(&file).map_err(failed)?.st_nlink > 0 {
            return Ok(Some(Lock { path: path.to_owned(), file: Some(file), idle: Arc::clone(idle) }));
        }
    }
    Ok(None)
}

fn open(path: &Path) -> Io<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o600);
    match rustix::fs::open(path, flags, mode) {
        Err(Errno::NOENT) => {
            // The folder was removed; it is created again with the same rights.
            let folder = path.parent().ok_or(Errno::NOENT)?;
            state::make(folder).map_err(|error| os_error(&error))?;
            rustix::fs::open(path, flags, mode)
        }
        result => result,
    }
}

fn os_error(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn across() -> (tempfile::TempDir, ProcessLocks) {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("locks");
        (dir, ProcessLocks::new(folder))
    }

    #[test]
    fn a_lock_is_held_once_and_names_its_holder() {
        let (_dir, across) = across();
        let key = LockKey::sample(1, "a");
        let lock = across.lock_files(&key).try_take().unwrap().unwrap();
        let mut second = across.lock_files(&key);
        assert!(second.try_take().unwrap().is_none());
        assert_eq!(holder(&second.path()), Some(std::process::id()));
        assert!(
            across.lock_files(&LockKey::sample(1, "b")).try_take().unwrap().is_some(),
            "another key is free"
        );
        drop(lock);
        assert!(second.try_take().unwrap().is_some());
    }

    #[test]
    fn who_has_just_given_it_back_queues_behind_one_that_waits() {
        let (_dir, across) = across();
        let key = LockKey::sample(1, "a");
        let lock = across.lock_files(&key).try_take().unwrap();
        let mut waits = across.lock_files(&key);
        assert!(waits.try_take().unwrap().is_none());
        drop(lock);
        assert!(across.lock_files(&key).try_take().unwrap().is_none(), "the turn is another's");
        assert!(waits.try_take().unwrap().is_some());
    }

    #[test]
    fn one_thread_waits_for_a_lock_whoever_wants_it_and_releases_it_when_nobody_does() {
        let (_dir, ours) = across();
        let theirs = ProcessLocks::new(ours.folder.clone());
        let key = LockKey::sample(1, "a");
        let wait = || ours.lock_files(&key).wait().unwrap();
        let lock = theirs.lock_files(&key).try_take().unwrap();
        let (replaced, last) = (wait(), wait());
        assert_eq!(ours.waits.len(), 1);
        drop(lock);
        let lock = last.blocking_recv().unwrap().unwrap();
        assert!(replaced.blocking_recv().is_err(), "only the last one gets it");
        assert!(theirs.lock_files(&key).try_take().unwrap().is_none(), "the control: it is held");
        drop(lock);
        let lock = theirs.lock_files(&key).try_take().unwrap();
        drop(wait());
        drop(lock);
        while !ours.waits.is_empty() {
            std::thread::yield_now();
        }
        let lock = theirs.lock_files(&key).wait().unwrap().blocking_recv();
        assert!(lock.unwrap().is_ok(), "the thread that nobody waited for released it");
    }

    #[test]
    fn only_idle_locks_are_removed_and_a_removed_file_is_no_lock() {
        let (_dir, across) = across();
        let lock = across.lock_files(&LockKey::sample(1, "held")).try_take().unwrap();
        drop(across.lock_files(&LockKey::sample(1, "idle")).try_take().unwrap());
        let count = || std::fs::read_dir(&across.folder).unwrap().count();
        across.tidy(LONGEST_KEPT);
        assert_eq!(count(), 4, "they are young");
        across.tidy(Duration::ZERO);
        assert_eq!(count(), 1, "that which is held stays");
        drop(lock);
        across.idle.0.lock().clear();
        let path = across.lock_files(&LockKey::sample(1, "c")).lock;
        let removed = open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        rustix::fs::flock(&removed, FlockOperation::NonBlockingLockExclusive).unwrap();
        let used = || take(&path, &across.idle, IF_FREE).unwrap();
        assert!(used().is_some(), "the control: another file has the name now");
        // It is idle now, and open; removed, it is no lock either.
        std::fs::remove_file(&path).unwrap();
        drop(used().unwrap());
        assert!(path.exists(), "a new file was made");
    }

    #[test]
    fn an_open_file_is_used_again_by_one_lock_at_a_time() {
        let (_dir, across) = across();
        let key = LockKey::sample(1, "a");
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        drop(across.lock_files(&key).try_take().unwrap().unwrap());
        let before = descriptors();
        for _ in 0..100 {
            drop(across.lock_files(&key).try_take().unwrap().unwrap());
        }
        assert!(descriptors() < before + 50, "other tests may have some open");
        assert_eq!(across.idle.0.lock().len(), 2, "the two files of the lock");
        let _lock = across.lock_files(&key).try_take().unwrap().unwrap();
        assert!(across.lock_files(&key).try_take().unwrap().is_none());
    }

    #[test]
    fn the_holder_is_read_from_the_table_of_the_kernel() {
        let locks = "1: FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n2: POSIX  ADVISORY  WRITE 13 fe:00:78 0 EOF\n\
            2: -> FLOCK  ADVISORY  WRITE 14 fe:00:79 0 EOF\n3: FLOCK  ADVISORY  WRITE 0 fe:00:80 0 EOF\n4: FLOCK\n\
            5: FLOCK  ADVISORY  WRITE 15 00:2a:81 0 EOF\n6: FLOCK  ADVISORY  WRITE 16 fe:00:81 0 EOF\n";
        assert_eq!(
            ["fe:00", "00:2a", "00:2b"].map(|device| holder_in(locks, device, 81)),
            [Some(16), Some(15), Some(15)]
        );
        let holder = |inode| holder_in(locks, "00:2b", inode);
        assert_eq!([77, 78, 79, 80, 82].map(holder), [Some(12), None, None, None, None]);
    }

    #[test]
    fn a_folder_that_was_removed_is_made_again() {
        let (_dir, across) = across();
        assert!(across.lock_files(&LockKey::sample(1, "a")).try_take().unwrap().is_some());
        std::fs::remove_dir_all(&across.folder).unwrap();
        assert!(across.lock_files(&LockKey::sample(1, "a")).try_take().unwrap().is_some());
    }
}
