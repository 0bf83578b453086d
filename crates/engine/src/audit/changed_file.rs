//! The files of a root that differ from the revision.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use lockgate_store::{IndexFiles, ListedFolders, Repository, Revision};

/// The files of one root to be judged.
pub(super) struct AuditedFiles {
    /// The index of the root in the audit.
    pub(super) root_index: usize,
    /// The revision to compare with, if there is one.
    pub(super) revision: Option<Revision>,
    /// The repository of the root, if there is one.
    pub(super) repository: Option<Repository>,
    /// The files of git's index; none without a repository.
    pub(super) index: IndexFiles,
    /// The files of the whole repository at that revision, if a file was renamed from outside of the root.
    pub(super) whole: Option<Revision>,
    pub(super) changed: Vec<ChangedFile>,
    /// The paths of the files that no longer exist, relative to the root.
    pub(super) removed: Vec<String>,
    /// The folders of the files.
    pub(super) listed: Arc<ListedFolders>,
}

/// The files that the roots of an audit, which can lie in each other, have in common.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    /// The absolute paths of the files that were compared, or that no longer exist.
    pub(super) compared: HashSet<PathBuf>,
    /// The absolute paths of the deleted files that were renamed.
    pub(super) renamed: HashSet<PathBuf>,
    /// The folders of the files, each of which is listed once.
    pub(super) listed: Arc<ListedFolders>,
}

/// A file that differs from the revision.
#[derive(Debug)]
pub(super) struct ChangedFile {
    /// Its path relative to the root.
    pub(super) path: String,
    /// The path that it had at the revision, if it was another.
    pub(super) renamed_from: Option<RenamedFrom>,
    /// The size limit of the file, in bytes.
    pub(super) limit: u64,
}

/// The earlier path of a file.
#[derive(Debug)]
pub(super) enum RenamedFrom {
    /// Its path relative to the root, where it also was.
    InRoot(String),
    /// It was elsewhere in the repository.
    Outside {
        /// Its path relative to the root, as answers show it.
        shown: String,
        /// Its path from the top of the repository.
        from_top: String,
    },
}

impl RenamedFrom {
    /// Returns the path relative to the root.
    pub(super) fn path(&self) -> &str {
        match self {
            RenamedFrom::InRoot(path) | RenamedFrom::Outside { shown: path, .. } => path,
        }
    }
}
