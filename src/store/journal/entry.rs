//! One edit as it is written down.

use std::time::SystemTime;

use super::EditId;
use crate::request::{Entity, Target};
use crate::text::Version;

/// What an edit was asked to do, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditMeta {
    /// The tool or command that was called.
    pub tool: String,
    /// Who called it, as they name themselves.
    pub author: String,
    /// The hash of the whole request: the same request sent again has the same.
    pub request: Version,
    /// What sort of edit it is.
    pub kind: EntryKind,
    /// What the gates said, in a few words.
    pub gates: String,
}

/// What sort of edit an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A change that was asked for.
    Edit,
    /// An earlier edit was taken back.
    Undo(EditId),
    /// An edit that had been taken back was made again.
    Redo(EditId),
}

/// An edit that was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub id: EditId,
    /// When it was begun.
    pub at: SystemTime,
    /// What was asked.
    pub deed: EditMeta,
    /// Whether it has been taken back since, and not been made again.
    pub undone: bool,
    /// What it did to each file; at least one.
    pub changes: Vec<FileChange>,
}

/// What an edit did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file's path as a caller may name it: as [`crate::store::FilePlace::shown`] spells it.
    pub path: String,
    /// Its key, where it is kept in a database.
    pub entity: Option<Entity>,
    /// The version before; absent when there was no file.
    pub before: Option<Version>,
    /// The version after; absent when the file was removed.
    pub after: Option<Version>,
    /// How many lines were added.
    pub added: usize,
    /// How many lines were taken away.
    pub removed: usize,
    /// The permission bits of a file that was removed.
    pub mode: Option<u32>,
    /// How many folders were made for a new file.
    pub folders: usize,
    /// Whether both texts were kept, so that the change can be taken back.
    pub kept: bool,
}

impl FileChange {
    /// What was changed, as a request names it.
    pub fn target(&self) -> Target {
        match &self.entity {
            Some(entity) => Target::Entity(entity.clone()),
            None => Target::File(self.path.clone()),
        }
    }
}
