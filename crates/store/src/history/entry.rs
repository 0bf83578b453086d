//! One edit as the journal records it.

use std::time::SystemTime;

use super::EditId;
use lockgate_edit::request::{Entity, Target};
use lockgate_text::Version;

/// The metadata of an edit: tool, author, request and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditMeta {
    /// The tool or command that was called.
    pub tool: String,
    /// The caller, by the name that it gave.
    pub author: String,
    /// The hash of the whole request; a request that is sent again has the same hash.
    pub request: Version,
    /// The kind of the edit.
    pub kind: EntryKind,
    /// A short summary of the gates' results.
    pub gates: String,
}

/// The kind of edit that an entry records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A change that a caller requested.
    Edit,
    /// The undo of an earlier edit.
    Undo(EditId),
    /// The redo of an undone edit.
    Redo(EditId),
}

/// An edit in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The id by which the history names the edit.
    pub id: EditId,
    /// The time when the edit began.
    pub at: SystemTime,
    /// The tool, the author, the request and the gates' results.
    pub meta: EditMeta,
    /// Set when the edit was undone and not redone since.
    pub undone: bool,
    /// The changes to the files; at least one.
    pub changes: Vec<FileChange>,
}

impl Entry {
    /// Returns true for an edit of files that is not undone; neither an undo nor a redo is one.
    pub fn is_undoable(&self) -> bool {
        let is_of_files = self.changes.iter().all(|change| change.entity.is_none());
        self.meta.kind == EntryKind::Edit && !self.undone && is_of_files
    }
}

/// The version before a change that was recorded without the text before.
pub(crate) const UNKNOWN_VERSION: Version = Version::from_bytes([0; 32]);

/// The change that an edit made to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file's path as a caller may name it, as in [`crate::FileLocation::shown`].
    pub path: String,
    /// The entity's key, if it is stored in a database.
    pub entity: Option<Entity>,
    /// The version before; absent if there was no file. See [`FileChange::has_unknown_before`].
    pub before: Option<Version>,
    /// The version after; absent if the file was removed.
    pub after: Option<Version>,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// The permission bits of a removed file.
    pub mode: Option<u32>,
    /// The number of folders that were created for a new file.
    pub folders: usize,
    /// Set when both texts were kept, so that the change can be undone.
    pub kept: bool,
}

impl FileChange {
    /// Returns true if the edit was recorded without the text before, so that it cannot be undone.
    pub fn has_unknown_before(&self) -> bool {
        self.before == Some(UNKNOWN_VERSION)
    }

    /// The changed file or entity as a request names it.
    pub fn target(&self) -> Target {
        match &self.entity {
            Some(entity) => Target::Entity(entity.clone()),
            None => Target::File(self.path.clone()),
        }
    }
}

/// The facts about a write that the journal records besides its texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct JournalRecord {
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// Set when the journal may keep the texts.
    pub keep: bool,
}
