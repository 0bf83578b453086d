//! Private folders for the files of a run.
//!
//! Invariant: only the user can enter such a folder. It is removed with its contents when it is dropped or, if the
//! process was killed, when a later one makes a folder ([`owner`]). A program in a sandbox can reach only the folder
//! inside, and not the lock beside that.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

use super::owner;
use super::removal::remove_tree;

/// The name of the folder inside, which programs may write to.
const INNER: &str = "run";

/// A private folder for one run of a program, in the system's folder for temporary files.
#[derive(Debug)]
pub struct PrivateFolder {
    /// The folder around, which is removed when this is dropped.
    folder: TempDir,
    /// Shows other processes that the folder is in use.
    _lock: File,
    /// The path of the folder as programs see it, with links resolved.
    path: PathBuf,
}

impl PrivateFolder {
    /// Makes the folder. Some programs ignore folders whose names begin with a dot, so its name does not.
    ///
    /// Errors: those of the system.
    pub fn new() -> io::Result<PrivateFolder> {
        owner::sweep_once();
        let private = Permissions::from_mode(0o700);
        PrivateFolder::holding(Builder::new().prefix(owner::PREFIX).permissions(private).tempdir()?)
    }

    /// Takes a folder that exists already.
    ///
    /// Errors: those of the system.
    pub fn holding(folder: TempDir) -> io::Result<PrivateFolder> {
        let outer = folder.path().canonicalize()?;
        let lock = owner::lock_folder(&outer)?;
        let path = outer.join(INNER);
        create_private(&path)?;
        Ok(PrivateFolder { _lock: lock, folder, path })
    }

    /// The absolute path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder in this one, or finds it there, and returns its absolute path.
    ///
    /// Errors: those of the system.
    pub fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.path.join(name);
        create_private(&folder)?;
        Ok(folder)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // A program may have taken away permissions. What is left is removed at a later start.
        let _ = remove_tree(self.folder.path());
    }
}

/// Makes a folder and its missing parents, accessible by the user only. An existing folder is not changed.
///
/// Errors: those of the system.
pub fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
