//! The roots of a command.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use lockgate_checks::adopt_orphans;
use lockgate_engine::{ProjectRoot, TrustOverride, Workspace};
use lockgate_error::{Code, Error};

/// The roots of a command.
#[derive(Debug, clap::Args)]
pub(super) struct Roots {
    /// Folder whose files may be edited; repeatable [default: the project around the current folder]
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<PathBuf>,
}

impl Roots {
    /// Opens the workspace of these roots; without any, of the project around the current folder.
    ///
    /// Errors: `IO_FAILED` when the current folder does not exist, and those of [`Workspace::open`].
    pub(super) fn open(&self, trust_override: TrustOverride) -> Result<Arc<Workspace>, Error> {
        // This process starts only gate programs.
        adopt_orphans();
        let CommandRoots { roots, base } = self.resolve()?;
        Workspace::at(&roots).with_base(base).with_trust_override(trust_override).open()
    }

    /// Returns the named roots, or else the project around the current folder.
    ///
    /// Errors: `IO_FAILED` when the current folder does not exist.
    pub(super) fn resolve(&self) -> Result<CommandRoots<'_>, Error> {
        if !self.roots.is_empty() {
            return Ok(CommandRoots { roots: Cow::Borrowed(&self.roots), base: String::new() });
        }
        let ProjectRoot { root, base } = ProjectRoot::around(&current_folder()?);
        Ok(CommandRoots { roots: Cow::Owned(vec![root]), base })
    }
}

/// The roots of a command, and the base of its relative paths.
pub(super) struct CommandRoots<'a> {
    pub(super) roots: Cow<'a, [PathBuf]>,
    /// Path of the base below the first root; empty for the root itself.
    pub(super) base: String,
}

/// Returns the current folder.
///
/// Errors: `IO_FAILED` when it does not exist.
pub(super) fn current_folder() -> Result<PathBuf, Error> {
    std::env::current_dir()
        .map_err(|error| Error::new(Code::IoFailed, format!("there is no current folder: {error}")))
}

/// The `--trust` flag, which applies to this process only.
#[derive(Debug, clap::Args)]
pub(super) struct TrustArgs {
    /// Lets the commands of the policies run as they are now, in this process only; for CI
    #[arg(long)]
    trust: bool,
}

impl TrustArgs {
    /// Returns the override that the flag sets.
    pub(super) fn trust_override(&self) -> TrustOverride {
        if self.trust { TrustOverride::Process } else { TrustOverride::Recorded }
    }
}
