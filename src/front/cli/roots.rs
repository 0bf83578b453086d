//! The folders that a command may edit in.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::{Promise, Workspace};
use crate::error::{Code, Error};
use crate::gate::adopt_orphans;

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
    pub(super) fn open(&self, promise: Promise) -> Result<Arc<Workspace>, Error> {
        // Whoever opens a workspace here starts no other programs than those of its gates.
        adopt_orphans();
        Workspace::at(&self.named()?).promising(promise).open()
    }

    /// The folders themselves.
    ///
    /// Errors: `IO_FAILED` when there is no current folder.
    pub(super) fn named(&self) -> Result<Cow<'_, [PathBuf]>, Error> {
        if !self.roots.is_empty() {
            return Ok(Cow::Borrowed(&self.roots));
        }
        let here = std::env::current_dir().map_err(|trouble| {
            Error::new(Code::IoFailed, format!("there is no current folder: {trouble}"))
        })?;
        Ok(Cow::Owned(vec![here]))
    }
}

/// The word of the one who starts a command, for as long as that runs.
#[derive(Debug, clap::Args)]
pub(super) struct Word {
    /// Lets the commands of the policies run as they are now, in this process only; for CI
    #[arg(long)]
    trust: bool,
}

impl Word {
    /// The promise that this is.
    pub(super) fn promise(&self) -> Promise {
        if self.trust { Promise::Process } else { Promise::Recorded }
    }
}
