//! A file that was judged.

use std::sync::Arc;

use lockgate_checks::Verdict;
use lockgate_text::Buffer;

/// A file that the gates judged.
#[derive(Debug)]
pub struct CheckedFile {
    /// The index of its root in [`Audit`](super::Audit).
    pub root_index: usize,
    /// Its path relative to its root.
    pub path: String,
    /// The kind of change since the revision.
    pub change: ChangeKind,
    /// The current text of the file.
    pub text: Arc<Buffer>,
    /// The folder of its policy, relative to its root; empty for the root itself.
    pub policy_folder: String,
    /// The verdict of the gates.
    pub verdict: Verdict,
}

/// The kind of change of a file since the revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file did not exist.
    Added,
    /// The file had another text.
    Modified,
    /// The same text had this path, which no longer exists.
    Renamed(String),
    /// The file is as it was, and links to a file that is gone.
    Unchanged,
}
