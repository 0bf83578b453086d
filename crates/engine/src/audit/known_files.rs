//! What the roots of an audit, which can lie in each other, have in common.

use std::collections::HashSet;
use std::path::PathBuf;

/// The files that the roots of an audit have in common.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    /// The absolute paths of the files that were compared, or that no longer exist.
    pub(super) compared: HashSet<PathBuf>,
    /// The absolute paths of the deleted files that were renamed.
    pub(super) renamed: HashSet<PathBuf>,
}
