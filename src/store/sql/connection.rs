//! A connection to SQLite, set up as all of ours are, and what its refusals mean.
//!
//! Invariant: no commit waits for the disk, but one at which a log begins anew; whoever finds the database busy comes again
//! soon, and gives up after [`PATIENCE`].

use super::DatabaseError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ffi};
use std::path::Path;
use std::time::Duration;

/// How many bytes the write-ahead log keeps after what it held was moved into the database.
pub const LOG_KEPT: u64 = 4 << 20;

/// The log is moved on the path of an answer only when nobody has tidied up for this many pages.
const PAGES_WITHOUT_TIDYING: u32 = 16 * 1024;
/// Nobody holds the database longer than it takes to write one edit down.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_micros(250);

/// Connects to a database that is there.
pub fn connect(path: &Path) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failure)?;
    set_up(&connection).map_err(failure)?;
    let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0));
    match mode.map_err(failure)?.as_str() {
        "wal" => Ok(connection),
        mode => {
            let why = format!("its file system has no write-ahead log for SQLite, only the mode {mode}");
            Err(DatabaseError::Closed(why))
        }
    }
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(again))?;
    // Closing would move the log, and wait for the disk, when a command has already answered.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
         PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = {LOG_KEPT};
         PRAGMA wal_autocheckpoint = {PAGES_WITHOUT_TIDYING};"
    ))?;
    // It can be chosen before the first page is written, and would write one each time.
    match connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0))? {
        0 => connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL"),
        _ => Ok(()),
    }
}

/// SQLite's own handler sleeps up to a tenth of a second, so that whoever is late stays late.
fn again(times: i32) -> bool {
    std::thread::sleep(PAUSE);
    PAUSE.saturating_mul(u32::try_from(times).unwrap_or(0)) < PATIENCE
}

/// What a refusal of SQLite means.
#[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
pub fn failure(error: Error) -> DatabaseError {
    let why = error.to_string();
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => DatabaseError::Full(why),
        // The index of the log could not grow, which says no more than that.
        _ if extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => DatabaseError::Full(why),
        // SQLite does not tell a file that may not grow from a disk that fails.
        _ if extended == Some(ffi::SQLITE_IOERR_WRITE) && limit_of_files().is_some() => {
            let limit = limit_of_files().unwrap_or_default();
            DatabaseError::Full(format!(
                "{why}; a file of this process may have at most {limit} bytes (`ulimit -f`)"
            ))
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DatabaseError::Spoilt(why),
        _ => DatabaseError::Other(why),
    }
}

/// The most bytes that a file of this process may have, where that is limited.
fn limit_of_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}
