//! Opening the database of a root, or beginning it.
//!
//! Invariant: one process at a time makes a database or sets one aside; what is there and may be another's is not used.

use super::DatabaseError;
use super::aside::set_aside;
use super::database::{Database, io_failure};
use crate::store::state::doubt;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

const NAME: &str = "journal.db";
const LOCK: &str = "journal.lock";
/// Opening takes some milliseconds; whoever takes longer is stopped.
const PATIENCE: Duration = Duration::from_secs(10);

impl Database {
    /// Opens the database in a root's own folder, or begins it; with what a person should know of it.
    pub fn open(folder: &Path) -> Result<(Database, Vec<String>), DatabaseError> {
        let path = folder.join(NAME);
        let lock = private(&folder.join(LOCK)).map_err(|error| io_failure(&error))?;
        only_one(&lock)?;
        let mut notes = Vec::new();
        if let Some(why) = unusable(&path)? {
            notes.push(set_aside(&path, &why)?);
        }
        private(&path).map_err(|error| io_failure(&error))?;
        let database = match Database::connect(&path) {
            Err(DatabaseError::Spoilt(_)) => {
                if let Some(why) = spoilt(&path)? {
                    notes.push(set_aside(&path, &why)?);
                    private(&path).map_err(|error| io_failure(&error))?;
                }
                Database::connect(&path)?
            }
            done => done?,
        };
        // The names of the files, which nothing else makes last.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok((database, notes))
    }

    /// Sets this database aside if it still is the root's and still spoilt; whoever comes next begins a new one.
    pub fn give_up(&self, folder: &Path, why: &str) -> Result<Option<String>, DatabaseError> {
        let lock = private(&folder.join(LOCK)).map_err(|error| io_failure(&error))?;
        only_one(&lock)?;
        let path = folder.join(NAME);
        if !self.is_current() || spoilt(&path)?.is_none() {
            return Ok(None);
        }
        set_aside(&path, why).map(Some)
    }
}

/// Why a database that seems spoilt is, looked at a second time and whole: a disk that failed once has damaged nothing.
fn spoilt(path: &Path) -> Result<Option<String>, DatabaseError> {
    match Database::connect(path).and_then(|database| database.check()) {
        Ok(()) => Ok(None),
        Err(DatabaseError::Spoilt(why)) => Ok(Some(why)),
        Err(failure) => Err(failure),
    }
}

/// Waits until no other process opens this journal.
fn only_one(lock: &File) -> Result<(), DatabaseError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(Errno::WOULDBLOCK) => {
                return Err(DatabaseError::Other(
                    "another process has been opening it for too long".to_owned(),
                ));
            }
            Err(errno) => return Err(io_failure(&errno.into())),
        }
    }
}

/// Opens a file of the user's alone, made when it is not there.
fn private(path: &Path) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false).mode(0o600);
    how.custom_flags(flags.bits().cast_signed()).open(path)
}

/// Why what stands in the place of the database is none.
fn unusable(path: &Path) -> Result<Option<String>, DatabaseError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_failure(&error)),
        Ok(found) if !found.is_file() => Ok(Some("it is not a file".to_owned())),
        Ok(found) => {
            doubt(&found).map_or(Ok(None), |why| Err(DatabaseError::Closed(format!("its database {why}"))))
        }
    }
}
