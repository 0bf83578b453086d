//! The folders that a command may edit in.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::Workspace;
use crate::error::{Code, Error};

/// The folders that a command may edit in.
#[derive(Debug, clap::Args)]
pub(super) struct Roots {
    /// Folder whose files may be edited, again for each further one [default: the current folder]
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<PathBuf>,
}

impl Roots {
    /// Opens the workspace of these folders; without any, of the current folder.
    ///
    /// Errors: `IO_FAILED` when there is no current folder, and what [`Workspace::open`] refuses.
    pub(super) fn open(self) -> Result<Arc<Workspace>, Error> {
        if self.roots.is_empty() {
            let here = std::env::current_dir().map_err(|trouble| {
                Error::new(Code::IoFailed, format!("there is no current folder: {trouble}"))
            })?;
            return Workspace::open(&[here]);
        }
        Workspace::open(&self.roots)
    }
}
