//! The responses of the tools that list edits.

use serde::Serialize;

use super::{EntityKey, Name};

/// A list of edits, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HistoryResponse {
    /// The listed edits, newest first.
    pub edits: Vec<EditRecord>,
    /// True if there are more edits; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// An edit in the history.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct EditRecord {
    /// The id of the edit.
    pub edit_id: String,
    /// The time in RFC 3339, in UTC.
    pub at: String,
    /// The tool or command that made the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The name of the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// `edit`, `undo` or `redo`.
    pub kind: Name,
    /// The id of the edit that an undo or redo refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// True if the edit was undone and not redone since.
    pub undone: bool,
    /// The results of the gates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates: Option<String>,
    /// The changed files, or the first of them.
    pub files: Vec<RecordedFile>,
    /// The number of changed files that are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_files: Option<usize>,
}

/// The change of an edit to one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RecordedFile {
    /// The path of the file, without control characters.
    pub path: String,
    /// The key of the target, if it is an entity.
    #[serde(flatten)]
    pub key: EntityKey,
    /// The version after the edit; absent if the file was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version before the edit; absent if the file was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_version: Option<String>,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// False if the texts are not stored, so that the edit cannot be undone; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<bool>,
    /// The unified diff, if it was requested and the texts are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl RecordedFile {
    /// Returns `created `, `removed ` or an empty text, depending on the change.
    pub fn change_word(&self) -> &'static str {
        match (&self.previous_version, &self.version) {
            (None, _) => "created ",
            (_, None) => "removed ",
            (Some(_), Some(_)) => "",
        }
    }

    /// False if the numbers of added and removed lines are unknown, as for an edit of a host whose text before it was not
    /// seen.
    pub fn is_counted(&self) -> bool {
        self.kept.is_none() || self.added + self.removed > 0
    }
}
