//! Renames a broken database so that a person can inspect it.
//!
//! Invariant: no part of it is deleted, and no new database is created while its name is taken.

use super::columns::since_1970;
use super::error::DatabaseError;
use std::io;
use std::path::{Path, PathBuf};

/// The suffixes of SQLite's files. The database itself is last: while it exists, no process creates a
/// new one.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

/// Renames the database's files and returns a message about it.
pub fn set_aside(path: &Path, reason: &str) -> Result<String, DatabaseError> {
    let new = free_name(path);
    for part in PARTS {
        match std::fs::rename(with_suffix(path, part), with_suffix(&new, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(format!(
        "the journal could not be read ({reason}); it was set aside as {}, and a new one was created: earlier edits can no \
         longer be undone",
        new.display()
    ))
}

fn free_name(path: &Path) -> PathBuf {
    let since = since_1970().as_secs();
    let path_at = |time: u64| with_suffix(path, &format!(".corrupt-{time}"));
    (since..).map(path_at).find(|name| name.symlink_metadata().is_err()).unwrap_or_else(|| path_at(since))
}

/// Appends to the last name of a path.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
