//! A call of the command, and the change of one file.

use super::addition::{Addition, Scope};
use super::kinds::Client;
use crate::cli::init::writing::{OnExisting, WriteMode};

/// The change of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::init) enum Change {
    Add(OnExisting),
    Remove,
}

/// A call of the command.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli::init) struct ClientCall<'a> {
    pub(in crate::cli::init) client: Client,
    pub(in crate::cli::init) addition: Addition,
    pub(in crate::cli::init) scope: Scope,
    pub(in crate::cli::init) change: Change,
    pub(in crate::cli::init) toolsets: Option<&'a str>,
    pub(in crate::cli::init) writing: WriteMode,
}

/// A change of one file.
#[derive(Debug)]
pub(super) enum FileChange {
    Write(String),
    /// The file goes, and the folders that were made for it, if they are empty.
    Delete {
        /// The number of these folders below the project, or below the folder of the user.
        folders: usize,
        /// The number of these folders from the folder of the user upwards.
        user_folders: usize,
    },
}
