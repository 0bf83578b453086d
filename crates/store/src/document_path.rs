//! The target of a request: a file below a root, or a row of a database.
//!
//! Invariant: it holds no descriptor, no connection and no right; every call goes through its store again and
//! finds the same target, or fails.

use super::file_location::FileLocation;
use super::folder::Identity;
use super::rows::RowLocation;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_text::Version;

/// The device number of database rows: no file system has it.
const ROWS: u64 = u64::MAX;

/// The number of digits of a key's hash.
const HASH: usize = 32;

/// An admitted target: a file or a database row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentPath {
    /// A file in one of the roots.
    File(FileLocation),
    /// A row in a database.
    Row(RowLocation),
}

/// The key of a lock: the identity of the deepest existing folder and the names below it, or a row of a
/// database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockKey {
    folder: Identity,
    rest: String,
}

impl DocumentPath {
    /// The lock key; two spellings of one path have the same key.
    pub fn key(&self) -> LockKey {
        match self {
            DocumentPath::File(place) => place.key(),
            DocumentPath::Row(place) => place.key(),
        }
    }

    /// A word for the target: `file`, or the type of the entity.
    pub fn noun(&self) -> &str {
        match self {
            DocumentPath::File(_) => EntityKind::FILE,
            DocumentPath::Row(place) => place.entity().kind.name(),
        }
    }

    /// The key of an entity in a database.
    pub fn entity(&self) -> Option<&Entity> {
        match self {
            DocumentPath::File(_) => None,
            DocumentPath::Row(place) => Some(place.entity()),
        }
    }

    /// The built-in rule by which a file starts a program, as in [`FileLocation::runnable`].
    pub fn runnable(&self) -> Option<&'static str> {
        match self {
            DocumentPath::File(place) => place.runnable(),
            DocumentPath::Row(_) => None,
        }
    }

    /// The occasion on which a file runs, as in [`FileLocation::occasion`].
    pub fn occasion(&self) -> Option<&'static str> {
        match self {
            DocumentPath::File(place) => place.occasion(),
            DocumentPath::Row(_) => None,
        }
    }

    /// The path as the caller named it, as in [`FileLocation::shown`].
    pub fn shown(&self) -> &str {
        match self {
            DocumentPath::File(place) => place.shown(),
            DocumentPath::Row(place) => place.path(),
        }
    }

    /// The path for policies, gates and diffs: relative to the root that contains the file, with `/`.
    pub fn in_root(&self) -> &str {
        match self {
            DocumentPath::File(place) => place.in_root(),
            DocumentPath::Row(place) => place.path(),
        }
    }

    /// The path of the file that is really edited, if a symlink was followed.
    pub fn resolved(&self) -> Option<&str> {
        match self {
            DocumentPath::File(place) => place.resolved(),
            DocumentPath::Row(_) => None,
        }
    }

    /// All names of a hard-linked file.
    pub fn names(&self) -> &[String] {
        match self {
            DocumentPath::File(place) => place.names(),
            DocumentPath::Row(_) => &[],
        }
    }
}

impl From<FileLocation> for DocumentPath {
    fn from(place: FileLocation) -> DocumentPath {
        DocumentPath::File(place)
    }
}

impl From<RowLocation> for DocumentPath {
    fn from(place: RowLocation) -> DocumentPath {
        DocumentPath::Row(place)
    }
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
