//! The stores of a workspace.

use super::files::Files;
use super::journal::Journal;
use super::rows::EntityStore;

/// The files and the rows of a workspace, with their journals.
#[derive(Debug)]
pub struct Store {
    /// The files below the roots.
    pub files: Files,
    /// The journal of the files.
    pub journal: Journal,
    /// The entities in a database, with their history.
    pub rows: EntityStore,
}
