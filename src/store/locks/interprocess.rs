//! The lock between processes: two files in lockgate's state folder for each key, locked with `flock`, which
//! the kernel releases when a process dies.
//!
//! A process takes the turnstile first and holds it until it has the lock. So a process that has just
//! released the lock queues behind one that waits.
//!
//! Invariant: a lock file is removed only while its lock is held, and a lock counts only on a file that still
//! has its name; no thread blocks inside a system call.

use crate::store::document_path::LockKey;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::{Errno, Result as Io};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The age at which an unused lock file is removed.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of retries if the lock file is removed while it is being locked.
const MAX_TRIES: usize = 8;

/// The folder of the lock files of all processes.
#[derive(Debug)]
pub(super) struct ProcessLocks {
    folder: PathBuf,
}

/// A lock that is held; dropping it releases the lock.
#[derive(Debug)]
pub(super) struct Lock(OwnedFd);

/// The two files of one lock.
#[derive(Debug)]
pub(super) struct LockFiles {
    turnstile: PathBuf,
    lock: PathBuf,
    turnstile_lock: Option<Lock>,
}

impl ProcessLocks {
    /// The locks in this folder; removes those that were not used for a day.
    pub fn new(folder: PathBuf) -> ProcessLocks {
        let across = ProcessLocks { folder };
        across.tidy(IDLE);
        across
    }

    /// The files of the lock of a key.
    pub fn lock_files(&self, key: &LockKey) -> LockFiles {
        let name = key.hash();
        let file = |ending| self.folder.join(format!("{name}.{ending}"));
        LockFiles { turnstile: file("turn"), lock: file("lock"), turnstile_lock: None }
    }

    /// Removes the lock files that were unused for this long.
    fn tidy(&self, idle: Duration) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let used = entry.metadata().and_then(|found| found.modified());
            let age = used.ok().and_then(|used| SystemTime::now().duration_since(used).ok());
            let is_lock_file =
                entry.path().extension().is_some_and(|ending| ending == "lock" || ending == "turn");
            if is_lock_file
                && age.is_some_and(|age| age >= idle)
                && let Ok(Some(_lock)) = take(&entry.path())
            {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

impl LockFiles {
    /// Takes the lock if it is free now; a turnstile that was taken is kept for the next attempt.
    pub fn try_take(&mut self) -> Io<Option<Lock>> {
        if self.turnstile_lock.is_none() {
            self.turnstile_lock = take(&self.turnstile)?;
        }
        let lock = if self.turnstile_lock.is_some() { take(&self.lock)? } else { None };
        if let Some(Lock(file)) = &lock {
            self.turnstile_lock = None;
            record_holder(file);
        }
        Ok(lock)
    }

    /// The process id that is recorded in the lock file.
    pub fn holder(&self) -> Option<u32> {
        std::fs::read_to_string(&self.lock).ok()?.trim().parse().ok()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child process may have inherited the descriptor until it executes its own program: closing would
        // not be enough.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// Takes the lock of a file if it is free now.
fn take(path: &Path) -> Io<Option<Lock>> {
    for _ in 0..MAX_TRIES {
        let file = open(path)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno) => return Err(errno),
        }
        let lock = Lock(file);
        // The file was removed by a process that held its lock; the name may lead to another file by now.
        if rustix::fs::fstat(&lock.0)?.st_nlink > 0 {
            return Ok(Some(lock));
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
            crate::store::state::make(folder)
                .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
            rustix::fs::open(path, flags, mode)
        }
        result => result,
    }
}

/// Records the process that holds the lock. Only the timeout message uses it.
fn record_holder(file: &OwnedFd) {
    // Always of the same length, so that nothing of an earlier record is left.
    let line = format!("{:<10}\n", std::process::id());
    let _ = rustix::io::pwrite(file, line.as_bytes(), 0);
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
        assert_eq!(second.holder(), Some(std::process::id()));
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
    fn only_idle_locks_are_removed_and_a_removed_file_is_no_lock() {
        let (_dir, across) = across();
        let lock = across.lock_files(&LockKey::sample(1, "held")).try_take().unwrap();
        drop(across.lock_files(&LockKey::sample(1, "idle")).try_take().unwrap());
        let count = || std::fs::read_dir(&across.folder).unwrap().count();
        across.tidy(IDLE);
        assert_eq!(count(), 4, "they are young");
        across.tidy(Duration::ZERO);
        assert_eq!(count(), 1, "that which is held stays");
        drop(lock);
        let path = across.lock_files(&LockKey::sample(1, "c")).lock;
        let removed = open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        rustix::fs::flock(&removed, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(take(&path).unwrap().is_some(), "the control: another file has the name now");
    }

    #[test]
    fn a_folder_that_was_removed_is_made_again() {
        let (_dir, across) = across();
        assert!(across.lock_files(&LockKey::sample(1, "a")).try_take().unwrap().is_some());
        std::fs::remove_dir_all(&across.folder).unwrap();
        assert!(across.lock_files(&LockKey::sample(1, "a")).try_take().unwrap().is_some());
    }
}
