//! Locates lockgate's own folders and keeps roots away from them.
//!
//! A process that could edit a record could grant trust in a person's name, and tools believe the content of
//! their cache. So a root that lies in one of these folders is rejected, and a path that leads into one is
//! protected, whether the folder exists or not.
//!
//! Invariant: folders are compared by device and inode, as far as they exist.

use crate::disk::folder::Identity;
use lockgate_error::{Code, Error};
use std::env;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// lockgate's folder within the user's state or cache folder.
const NAME: &str = "lockgate";

/// The folder for persistent state.
pub(super) fn state_home() -> Result<PathBuf, String> {
    home("XDG_STATE_HOME", ".local/state")
}

/// The folder for caches, which may be lost.
pub(super) fn cache_home() -> Result<PathBuf, String> {
    home("XDG_CACHE_HOME", ".cache")
}

/// Follows the XDG Base Directory Specification: a path that is not absolute is ignored.
fn home(variable: &str, below_home: &str) -> Result<PathBuf, String> {
    let set = |path: &OsString| Path::new(path).is_absolute();
    let folder = match env::var_os(variable).filter(set) {
        Some(folder) => PathBuf::from(folder),
        None => env::home_dir()
            .filter(|home| home.is_absolute())
            .ok_or_else(|| format!("neither {variable} nor HOME names a folder"))?
            .join(below_home),
    };
    Ok(folder.join(NAME))
}

/// Resolves the links of the folder as far as it exists, and checks that it lies outside of every root.
///
/// Errors: the root that contains it, or an error of the system.
pub fn outside(folder: &Path, roots: &[PathBuf]) -> Result<PathBuf, String> {
    let shown = folder.display();
    let resolved = settle(folder).map_err(|error| format!("{shown} cannot be inspected: {error}"))?;
    for root in roots {
        let root_identity =
            Identity::at(root).map_err(|error| format!("{} cannot be inspected: {error}", root.display()))?;
        if lies_in(&resolved, root_identity) {
            return Err(format!("{shown} is inside the root {}", root.display()));
        }
    }
    Ok(resolved)
}

/// Resolves the links and dots of a path as far as it exists; a relative one begins in the current folder.
fn settle(path: &Path) -> std::io::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        if component == Component::ParentDir {
            resolved.pop();
            continue;
        }
        resolved.push(component);
        resolved = match resolved.canonicalize() {
            Ok(real) => real,
            // A dangling link is rejected, because its target may be created anywhere.
            Err(error) if resolved.is_symlink() || error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error);
            }
            Err(_) => resolved,
        };
    }
    Ok(resolved)
}

/// Fails for a root that lies in one of lockgate's own folders; `real` is free of links.
pub(crate) fn refuse_inside(real: &Path) -> Result<(), Error> {
    let has_root = |own: &&PathBuf| Identity::at(own).is_ok_and(|own| lies_in(real, own));
    let Some(own) = folders().iter().find(has_root) else { return Ok(()) };
    let message = format!("the root {} is inside lockgate's own folder {}", real.display(), own.display());
    Err(Error::new(Code::InvalidInput, message).field("roots"))
}

/// True if a path without links is this folder, or lies in it.
fn lies_in(path: &Path, folder: Identity) -> bool {
    path.ancestors().any(|above| Identity::at(above).is_ok_and(|above| above == folder))
}

/// True if a path, given without links, is in one of lockgate's own folders, whether that exists or not.
pub fn is_own_path(path: &Path) -> bool {
    folders().iter().any(|own| settle(own).is_ok_and(|own| path.starts_with(own)))
}

/// The identities of lockgate's own folders that exist.
pub(crate) fn own_folders() -> Vec<Identity> {
    folders().iter().filter_map(|own| Identity::at(own).ok()).collect()
}

/// The deepest existing folder on the way to each of lockgate's own folders, with the missing names below it.
pub(crate) fn own_locations() -> impl Iterator<Item = (Identity, String)> {
    folders().iter().filter_map(|own| deepest_existing(own))
}

/// The identity of the deepest existing folder, and the missing names below it.
fn deepest_existing(own: &Path) -> Option<(Identity, String)> {
    let position = |above: &Path| {
        let missing = own.strip_prefix(above).ok()?.to_str()?;
        Some((Identity::at(above).ok()?, missing.to_owned()))
    };
    own.ancestors().find_map(position)
}

/// Both folders, from the environment at the first call.
fn folders() -> &'static [PathBuf] {
    static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOLDERS.get_or_init(|| [state_home(), cache_home()].into_iter().filter_map(Result::ok).collect())
}
