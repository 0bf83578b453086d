//! Opens or creates the database of a root.
//!
//! Invariant: one process at a time creates a database or sets one aside. A file that may belong to
//! another program is not used.

use super::aside::set_aside;
use super::database::Database;
use super::error::DatabaseError;
use crate::state::{doubt, open_or_create};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

const NAME: &str = "journal.db";
const LOCK: &str = "journal.lock";
/// The time limit of another process's open; opening normally takes milliseconds.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

impl Database {
    /// Opens or creates the database in a root's state folder; also returns warnings for the user.
    pub fn open(folder: &Path) -> Result<(Database, Vec<String>), DatabaseError> {
        let path = folder.join(NAME);
        let _lock = lock_exclusively(folder)?;
        let mut notes = Vec::new();
        if let Some(reason) = unusable_reason(&path)? {
            notes.push(set_aside(&path, &reason)?);
        }
        open_private(&path)?;
        let database = match Database::connect(&path) {
            Err(DatabaseError::Corrupt(_)) => {
                if let Some(reason) = find_corruption(&path)? {
                    notes.push(set_aside(&path, &reason)?);
                    open_private(&path)?;
                }
                Database::connect(&path)?
            }
            result => result?,
        };
        // Flushes the names of the files, which nothing else does.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok((database, notes))
    }

    /// Sets this database aside if it is still the root's database and still corrupt. The next process
    /// creates a new one.
    pub fn set_aside_if_corrupt(&self, folder: &Path, reason: &str) -> Result<Option<String>, DatabaseError> {
        let _lock = lock_exclusively(folder)?;
        let path = folder.join(NAME);
        if !self.is_current() || find_corruption(&path)?.is_none() {
            return Ok(None);
        }
        set_aside(&path, reason).map(Some)
    }
}

/// Checks a seemingly corrupt database again and completely, and returns the damage. A single failed
/// read has damaged nothing.
fn find_corruption(path: &Path) -> Result<Option<String>, DatabaseError> {
    match Database::connect(path).and_then(|database| database.check()) {
        Ok(()) => Ok(None),
        Err(DatabaseError::Corrupt(reason)) => Ok(Some(reason)),
        Err(error) => Err(error),
    }
}

/// Waits until no other process is opening the journal in this folder. The lock ends when the file is dropped.
fn lock_exclusively(folder: &Path) -> Result<File, DatabaseError> {
    let lock = open_private(&folder.join(LOCK))?;
    let deadline = Instant::now() + OPEN_TIMEOUT;
    loop {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(Errno::WOULDBLOCK) => {
                return Err(DatabaseError::Other(
                    "another process kept it locked for too long while opening it".to_owned(),
                ));
            }
            Err(errno) => return Err(std::io::Error::from(errno).into()),
        }
    }
}

/// Opens or creates a file that only this user can access.
fn open_private(path: &Path) -> Result<File, DatabaseError> {
    Ok(open_or_create(path, OFlags::NOFOLLOW | OFlags::NONBLOCK)?)
}

/// Returns the reason why the file cannot be a database, if any.
fn unusable_reason(path: &Path) -> Result<Option<String>, DatabaseError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(found) if !found.is_file() => Ok(Some("it is not a file".to_owned())),
        Ok(found) => doubt(&found)
            .map_or(Ok(None), |reason| Err(DatabaseError::Unusable(format!("its database {reason}")))),
    }
}
