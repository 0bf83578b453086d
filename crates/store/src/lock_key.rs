//! The key of a lock: a file by its folder and name, or a row by its database and key.
//!
//! Invariant: a folder is named by its identity, so that two spellings of one path have the same key.

use super::disk::folder::Identity;
use lockgate_text::Version;

/// The device number of database rows: no file system has it.
const ROWS: u64 = u64::MAX;

/// The number of digits of a key's hash.
const HASH: usize = 32;

/// The key of a lock: the identity of the deepest existing folder and the names below it, or a row of a
/// database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockKey {
    folder: Identity,
    rest: String,
}

impl LockKey {
    /// True if the other key lies below this one, as in a folder.
    pub fn holds(&self, other: &LockKey) -> bool {
        let below = other.rest.strip_prefix(&self.rest).is_some_and(|rest| rest.starts_with('/'));
        below && self.folder == other.folder
    }

    /// The key of a row of a database, which lies in no folder.
    pub(super) fn of_row(database: u64, rest: &str) -> LockKey {
        LockKey::below(Identity { device: ROWS, inode: database }, rest)
    }

    /// True if the lock is also taken between processes; for rows the database does that.
    pub(super) fn needs_process_lock(&self) -> bool {
        self.folder.device != ROWS
    }

    /// The key of these names below a folder.
    pub(super) fn below(folder: Identity, rest: &str) -> LockKey {
        LockKey { folder, rest: rest.to_owned() }
    }

    /// A hash that is the same in all processes, for use in file names.
    pub(super) fn hash(&self) -> String {
        let Identity { device, inode } = self.folder;
        let whole = format!("{device}/{inode}/{}", self.rest);
        Version::hash(whole.as_bytes()).hex().chars().take(HASH).collect()
    }
}

#[cfg(test)]
impl LockKey {
    pub(super) fn folder_identity(&self) -> Identity {
        self.folder
    }

    pub(super) fn sample(inode: u64, rest: &str) -> LockKey {
        LockKey::below(Identity { device: 1, inode }, rest)
    }
}
