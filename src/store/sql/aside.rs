//! Setting a broken database aside, for a person to look at.
//!
//! Invariant: nothing of it is removed, and while its name is taken nobody begins a new one.

use super::DatabaseError;
use super::database::io_failure;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What SQLite keeps beside the database, and the database itself last: while it is there, nobody begins a new one.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

/// Gives the database's files other names; tells what was done.
pub fn set_aside(path: &Path, why: &str) -> Result<String, DatabaseError> {
    let new = free_name(path);
    for part in PARTS {
        match std::fs::rename(with(path, part), with(&new, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_failure(&error)),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(format!(
        "the journal could not be read ({why}); it was set aside as {}, and a new one was begun: earlier edits can no \
         longer be taken back",
        new.display()
    ))
}

fn free_name(path: &Path) -> PathBuf {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let named = |time: u64| with(path, &format!(".corrupt-{time}"));
    (since..).map(named).find(|name| name.symlink_metadata().is_err()).unwrap_or_else(|| named(since))
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
