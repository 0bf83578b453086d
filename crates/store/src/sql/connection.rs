//! SQLite connections with lockgate's settings.
//!
//! Invariant: no commit waits for the disk, except one that restarts the log. A caller that finds the
//! database busy retries soon and gives up after [`BUSY_TIMEOUT`].

use super::error::DatabaseError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The size in bytes to which the write-ahead log is truncated after a checkpoint.
pub const LOG_KEPT: u64 = 4 << 20;

/// A commit checkpoints the log only after this many pages without a cleanup.
const PAGES_WITHOUT_TIDYING: u32 = 16 * 1024;
/// The time limit of waiting for a lock; no process holds one longer than it takes to write one edit.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_micros(250);

/// Connects to an existing database.
pub fn connect(path: &Path) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    set_up(&mut connection)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    match mode.as_str() {
        "wal" => Ok(connection),
        mode => {
            let reason = format!("its file system does not support SQLite's WAL mode, only {mode}");
            Err(DatabaseError::Unusable(reason))
        }
    }
}

fn set_up(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(retry_busy))?;
    // Closing would checkpoint the log and wait for the disk after a command has already responded.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Without it, SQLite prepares a statement again when a bound value could decide whether a partial index applies.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(&format!(
        "PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
         PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = {LOG_KEPT};
         PRAGMA wal_autocheckpoint = {PAGES_WITHOUT_TIDYING};"
    ))?;
    // This can be set only before the first page is written, and setting it would write a page each
    // time.
    match connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0))? {
        0 => connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL"),
        _ => Ok(()),
    }
}

/// Retries a busy database. SQLite's own handler sleeps up to 0.1 s, which keeps a late caller late.
fn retry_busy(times: i32) -> bool {
    std::thread::sleep(PAUSE);
    PAUSE.saturating_mul(u32::try_from(times).unwrap_or(0)) < BUSY_TIMEOUT
}
