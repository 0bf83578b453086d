//! The folders that a command may edit in.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::{ProjectRoot, TrustOverride, Workspace};
use crate::error::{Code, Error};
use crate::gate::adopt_orphans;

/// The folders that a command may edit in.
#[derive(Debug, clap::Args)]
pub(super) struct Roots {
    /// Folder whose files may be edited, again for each further one [default: the project around the current folder]
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<PathBuf>,
}

impl Roots {
    /// Opens the workspace of these folders; without any, of the project around the current folder.
    ///
    /// Errors: `IO_FAILED` when there is no current folder, and what [`Workspace::open`] refuses.
    pub(super) fn open(&self, promise: TrustOverride) -> Result<Arc<Workspace>, Error> {
        // Whoever opens a workspace here starts no other programs than those of its gates.
        adopt_orphans();
        let CommandRoots { roots, base } = self.found()?;
        Workspace::at(&roots).with_base(base).promising(promise).open()
    }

    /// The folders themselves: those that were named, else the project around the current folder.
    ///
    /// Errors: `IO_FAILED` when there is no current folder.
    pub(super) fn found(&self) -> Result<CommandRoots<'_>, Error> {
        if !self.roots.is_empty() {
            return Ok(CommandRoots { roots: Cow::Borrowed(&self.roots), base: String::new() });
        }
        let ProjectRoot { root, base } = ProjectRoot::around(&current_folder()?);
        Ok(CommandRoots { roots: Cow::Owned(vec![root]), base })
    }
}

/// The folders that a command may edit in, and the folder that its relative paths are relative to.
pub(super) struct CommandRoots<'a> {
    /// The folders.
    pub(super) roots: Cow<'a, [PathBuf]>,
    /// The path of that folder below the first of them; empty for the first itself.
    pub(super) base: String,
}

/// The folder in which the command was started.
///
/// Errors: `IO_FAILED` when it is gone.
pub(super) fn current_folder() -> Result<PathBuf, Error> {
    std::env::current_dir()
        .map_err(|trouble| Error::new(Code::IoFailed, format!("there is no current folder: {trouble}")))
}

/// The word of the one who starts a command, for as long as that runs.
#[derive(Debug, clap::Args)]
pub(super) struct TrustArgs {
    /// Lets the commands of the policies run as they are now, in this process only; for CI
    #[arg(long)]
    trust: bool,
}

impl TrustArgs {
    /// The promise that this is.
    pub(super) fn promise(&self) -> TrustOverride {
        if self.trust { TrustOverride::Process } else { TrustOverride::Recorded }
    }
}
