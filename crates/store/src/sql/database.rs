//! The database of one root: one connection for writing and a few for reading.
//!
//! Invariant: one thread writes at a time, and readers never wait for it. Only point queries use its connection.

use super::aside::with_suffix;
use super::connection::{LOG_KEPT, connect};
use super::error::DatabaseError;
use super::schema::{self, SchemaState, VERSION};
use crate::disk::folder::Identity;
use crate::history::EditId;
use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The number of edits between two checks of their age.
const TIDY_INTERVAL: u64 = 256;
/// The bytes that the rows of an edit take in the log, without its texts; an estimate.
const ROWS_OF_AN_EDIT: u64 = 32 << 10;
/// The number of connections kept open for reading.
const READERS: usize = 4;

/// The open database of one root.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    /// The identity of the file. Another file of the same name is another journal.
    identity: Identity,
    name: u16,
    /// Usable after a panic of its holder: a dropped transaction is rolled back.
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    /// The write-ahead log. SQLite holds no lock on it that closing a second descriptor would drop.
    log: File,
    /// Set when the age of the edits should be checked.
    due: AtomicBool,
    /// The bytes of texts that were recorded since the files' sizes were last compared with the limits.
    unmeasured: AtomicU64,
}

impl Database {
    /// Connects to the journal in this existing file.
    pub(super) fn connect(path: &Path) -> Result<Database, DatabaseError> {
        let identity = identity(path)?;
        let writer = connect(path)?;
        let mut state = schema::read_state(&writer)?;
        if state == SchemaState::New {
            schema::create(&writer)?;
            state = schema::read_state(&writer)?;
        }
        let name = match state {
            SchemaState::Ours(name) => name,
            SchemaState::Newer(version) => {
                return Err(DatabaseError::Unusable(format!(
                    "it was written by a newer lockgate: its table version is {version}, this one supports {VERSION}"
                )));
            }
            SchemaState::New | SchemaState::Foreign => {
                return Err(DatabaseError::Corrupt("it is not a lockgate journal".to_owned()));
            }
        };
        schema::add_missing_tables(&writer)?;
        let log = File::options().read(true).write(true).open(with_suffix(path, "-wal"))?;
        Ok(Database {
            path: path.to_owned(),
            identity,
            name,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            log,
            due: AtomicBool::new(false),
            // At first they are compared with any limit.
            unmeasured: AtomicU64::new(u64::MAX / 2),
        })
    }

    /// Runs SQLite's integrity check.
    ///
    /// Errors: the damage found.
    pub(super) fn check(&self) -> Result<(), DatabaseError> {
        let message =
            self.read(|reader| reader.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)))?;
        if message == "ok" { Ok(()) } else { Err(DatabaseError::Corrupt(message)) }
    }

    /// True if the path still leads to this file.
    pub fn is_current(&self) -> bool {
        identity(&self.path).is_ok_and(|current| current == self.identity)
    }

    /// The name of the journal, with which its edit ids begin.
    pub fn name(&self) -> u16 {
        self.name
    }

    /// The id of the edit with this number.
    pub fn id(&self, number: u64) -> EditId {
        EditId::new(self.name, number)
    }

    /// Flushes all writes to the disk, so that they survive a power failure.
    pub fn sync(&self) -> Result<(), DatabaseError> {
        Ok(rustix::io::retry_on_intr(|| rustix::fs::fdatasync(&self.log)).map_err(io::Error::from)?)
    }

    /// The size of the database's file in bytes, without the log.
    pub(super) fn length(&self) -> u64 {
        self.path.metadata().map_or(0, |found| found.len())
    }

    /// The size of the write-ahead log in bytes.
    pub(super) fn log_length(&self) -> u64 {
        self.log.metadata().map_or(0, |found| found.len())
    }

    /// Counts a recorded edit; every [`TIDY_INTERVAL`]th number makes a cleanup due.
    pub(super) fn count(&self, number: u64) {
        if number.is_multiple_of(TIDY_INTERVAL) {
            self.due.store(true, Ordering::Relaxed);
        }
    }

    /// Counts this many bytes of texts that were recorded.
    pub(super) fn count_bytes(&self, bytes: u64) {
        self.unmeasured.fetch_add(bytes.saturating_add(ROWS_OF_AN_EDIT), Ordering::Relaxed);
    }

    /// True if so much was recorded since this was true for the last time that the sizes of the files should be compared
    /// with a limit of this many bytes: a sixty-fourth of it.
    pub(super) fn is_to_be_measured(&self, size: u64) -> bool {
        let is_enough = self.unmeasured.load(Ordering::Relaxed) >= (size / 64).min(LOG_KEPT / 16);
        if is_enough {
            self.unmeasured.store(0, Ordering::Relaxed);
        }
        is_enough
    }

    /// True if the age of the edits should be checked.
    pub(super) fn is_due(&self) -> bool {
        self.due.load(Ordering::Relaxed)
    }

    /// Marks the check as done.
    pub(super) fn clear_due(&self) {
        self.due.store(false, Ordering::Relaxed);
    }

    /// Runs `work` in a transaction and commits it only if it succeeds.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        let mut writer = self.writer();
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Runs `work` on a connection for reading, concurrently with the writer.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        let idle = self.readers.lock().pop();
        let reader = idle.map_or_else(|| connect(&self.path), Ok)?;
        let value = work(&reader)?;
        let mut readers = self.readers.lock();
        if readers.len() < READERS {
            readers.push(reader);
        }
        Ok(value)
    }

    /// Runs a few queries that each find one row, on the connection for writing if no thread uses it: its cache has
    /// the pages that this process wrote last. Otherwise does the same as [`Database::read`].
    pub(super) fn read_briefly<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        // One transaction takes SQLite's lock once for all queries.
        let in_transaction = |connection: &Connection| {
            let transaction = connection.unchecked_transaction()?;
            work(&transaction)
        };
        match self.writer.try_lock() {
            Some(writer) => Ok(in_transaction(&writer)?),
            None => self.read(in_transaction),
        }
    }

    /// Locks and returns the only connection that writes.
    pub(super) fn writer(&self) -> MutexGuard<'_, Connection> {
        self.writer.lock()
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    path.symlink_metadata().map(|found| Identity::from_metadata(&found))
}
