//! A document: a file below a root, or a row of a database. Its path, and its content as it was read.
//!
//! Invariant: a path holds no descriptor, no connection and no right; every call goes through its store again
//! and finds the same document, or fails.

use super::lock_key::LockKey;
use super::paths::file_location::FileLocation;
use super::row_location::{RowLocation, RowSnapshot};
use super::snapshot::FileSnapshot;
use lockgate_edit::request::{Entity, EntityKind};
use lockgate_error::Error;
use lockgate_policy::Publishing;

/// An admitted target: a file or a database row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentPath {
    /// A file in one of the roots.
    File(FileLocation),
    /// A row in a database.
    Row(RowLocation),
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

/// The content that was read, of a file or a row.
#[derive(Debug)]
pub enum Snapshot {
    /// A file that is held open.
    File(FileSnapshot),
    /// A row of a database.
    Row(RowSnapshot),
}

impl Snapshot {
    /// Takes the content out, so that it need not be copied.
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        match self {
            Snapshot::File(snapshot) => snapshot.take_bytes(),
            Snapshot::Row(snapshot) => snapshot.take_bytes(),
        }
    }

    /// The permission bits of a file.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Snapshot::File(snapshot) => Some(snapshot.mode),
            Snapshot::Row(_) => None,
        }
    }

    /// Fails if publishing would fail because of hard links, as in [`FileSnapshot::check_names`].
    ///
    /// Errors: `PERMISSION_DENIED`, with a hint.
    pub fn check_names(&self, place: &DocumentPath, publishing: Publishing) -> Result<(), Error> {
        match (self, place) {
            (Snapshot::File(snapshot), DocumentPath::File(place)) => snapshot.check_names(place, publishing),
            (Snapshot::File(_) | Snapshot::Row(_), DocumentPath::File(_) | DocumentPath::Row(_)) => Ok(()),
        }
    }
}
