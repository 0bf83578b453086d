//! Where a request leads: a file beneath a root, or a row of the stored content.
//!
//! Invariant: a place holds no descriptor, no connection and no right; every call that uses it goes through its store again
//! and finds the same, or refuses.

use super::file_place::FilePlace;
use super::folder::Identity;
use super::rows::RowPlace;
use crate::request::{Entity, EntityKind};
use crate::text::Version;

/// The device of what lies on none: no file system has this number.
const ROWS: u64 = u64::MAX;

/// Digits of a key's hash.
const HASH: usize = 32;

/// An admitted target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentPath {
    /// A file.
    File(FilePlace),
    /// What is kept in a database.
    Row(RowPlace),
}

/// What a lock is taken on: the folder that is there, by what it is, and the names below it; or a row of a database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockKey {
    folder: Identity,
    rest: String,
}

impl DocumentPath {
    /// What to lock while it is edited; two spellings of one path have one key.
    pub fn key(&self) -> LockKey {
        match self {
            DocumentPath::File(place) => place.key(),
            DocumentPath::Row(place) => place.key(),
        }
    }

    /// What lies there, in a word: a file, or the sort of the entity.
    pub fn noun(&self) -> &str {
        match self {
            DocumentPath::File(_) => EntityKind::FILE,
            DocumentPath::Row(place) => place.entity().kind.name(),
        }
    }

    /// The key of what is kept in a database.
    pub fn entity(&self) -> Option<&Entity> {
        match self {
            DocumentPath::File(_) => None,
            DocumentPath::Row(place) => Some(place.entity()),
        }
    }

    /// The built-in rule by which a file makes a program start, as [`FilePlace::runnable`] has it.
    pub fn runnable(&self) -> Option<&'static str> {
        match self {
            DocumentPath::File(place) => place.runnable(),
            DocumentPath::Row(_) => None,
        }
    }

    /// The occasion on which a file runs, as [`FilePlace::occasion`] has it.
    pub fn occasion(&self) -> Option<&'static str> {
        match self {
            DocumentPath::File(place) => place.occasion(),
            DocumentPath::Row(_) => None,
        }
    }

    /// The path as the caller named it, as [`FilePlace::shown`] spells it.
    pub fn shown(&self) -> &str {
        match self {
            DocumentPath::File(place) => place.shown(),
            DocumentPath::Row(place) => place.path(),
        }
    }

    /// The path by which policies, gates and diffs know it: relative to the root that it really lies in, with `/`.
    pub fn in_root(&self) -> &str {
        match self {
            DocumentPath::File(place) => place.in_root(),
            DocumentPath::Row(place) => place.path(),
        }
    }

    /// The path of the file that is really edited, when a symlink was followed.
    pub fn resolved(&self) -> Option<&str> {
        match self {
            DocumentPath::File(place) => place.resolved(),
            DocumentPath::Row(_) => None,
        }
    }

    /// All names of a file that has several.
    pub fn names(&self) -> &[String] {
        match self {
            DocumentPath::File(place) => place.names(),
            DocumentPath::Row(_) => &[],
        }
    }
}

impl From<FilePlace> for DocumentPath {
    fn from(place: FilePlace) -> DocumentPath {
        DocumentPath::File(place)
    }
}

impl From<RowPlace> for DocumentPath {
    fn from(place: RowPlace) -> DocumentPath {
        DocumentPath::Row(place)
    }
}

impl LockKey {
    /// Whether the other one lies below this one, as in a folder.
    pub fn holds(&self, other: &LockKey) -> bool {
        let below = other.rest.strip_prefix(&self.rest).is_some_and(|rest| rest.starts_with('/'));
        below && self.folder == other.folder
    }

    /// The key of a row of a database, which is no folder's.
    pub(super) fn of_row(depot: u64, rest: &str) -> LockKey {
        LockKey::below(Identity { device: ROWS, inode: depot }, rest)
    }

    /// Whether other processes are waited for, as well: of rows the database says who came first.
    pub(super) fn is_waited_for_by_all(&self) -> bool {
        self.folder.device != ROWS
    }

    /// The key of what these names lead to beneath a folder.
    pub(super) fn below(folder: Identity, rest: &str) -> LockKey {
        LockKey { folder, rest: rest.to_owned() }
    }

    /// A name for it that is the same in all processes, and fit for a file.
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
