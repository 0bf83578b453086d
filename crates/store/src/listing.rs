//! Lists the files of a folder that git does not ignore, and resolves named paths.
//!
//! Invariant: only names and ignore files are read, and a walk follows no link; a listed file is opened like
//! any other, through the root.

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use super::files::Files;
use super::paths::file_location::FileLocation;
use super::paths::root::{Root, named};
use super::paths::{admit, spelling, walk};
use super::system_error;
use lockgate_error::Error;

/// The reason for which a nested repository, such as a submodule, is skipped.
pub const OTHER_REPOSITORY: &str = "another repository";

/// The reason for skipping a file whose path is not UTF-8.
pub const NOT_UTF8: &str = "its name is not UTF-8";

/// The resolved target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPath {
    /// The number of the root that contains it.
    pub root: usize,
    /// Its path relative to that root, links resolved; empty for the root itself.
    pub path: String,
    /// The kind of entry at the path.
    pub kind: PathKind,
}

/// The kind of entry at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// A folder below a root, or a root itself.
    Folder,
    /// A file that is not a special file, such as a device.
    File,
    /// No entry exists at the path.
    Nothing,
}

/// The files of a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// Their paths relative to the root, in order.
    pub files: Vec<String>,
    /// The skipped entries: path, lossy if it is not UTF-8, and reason.
    pub skipped: Vec<(String, String)>,
}

impl Files {
    /// Resolves a path.
    ///
    /// Errors: `PATH_OUTSIDE_ROOT`, `NOT_A_FILE` for an entry that is neither a file nor a folder, and errors
    /// of the system.
    pub fn scope(&self, path: &str) -> Result<ListedPath, Error> {
        spelling::check(path)?;
        let (root, rest) = walk::choose(&self.roots, path)?;
        let mut found = walk::walk(&self.roots, root, &rest, path)?;
        let (name, kind) = match found.file.take() {
            Some((name, stat, fd)) => {
                admit::refuse_special(&stat, &fd, path)?;
                (name, PathKind::File)
            }
            None => match found.missing.pop() {
                Some(name) => (name, PathKind::Nothing),
                None => (String::new(), PathKind::Folder),
            },
        };
        Ok(ListedPath { root: found.root, path: admit::real_path(&found, &name), kind })
    }

    /// Lists the files in a folder of a root and below it, without ignored files, nested repositories, links,
    /// and names that are not UTF-8.
    ///
    /// Errors: `PATH_OUTSIDE_ROOT` for a root that does not exist.
    pub fn list(&self, root: usize, folder: &str) -> Result<Listing, Error> {
        let root = self.roots.get(root).ok_or_else(|| system_error::outside(folder))?;
        let mut listing = Listing::default();
        let nested = Arc::new(Mutex::new(Vec::new()));
        for entry in walker(&root.real().join(folder), Arc::clone(&nested)).build() {
            match entry {
                Ok(entry) => listing.note(root, &entry),
                Err(error) => listing.skipped.push((folder.to_owned(), error.to_string())),
            }
        }
        let nested = std::mem::take(&mut *nested.lock());
        let other = |path: PathBuf| (lossy(below(root, &path)), OTHER_REPOSITORY.to_owned());
        listing.skipped.extend(nested.into_iter().map(other));
        listing.files.sort_unstable();
        Ok(listing)
    }

    /// True if a path of a root is in another repository below the root, or is the folder of one.
    pub fn is_in_nested_repository(&self, root: usize, path: impl AsRef<Path>) -> bool {
        let Some(root) = self.roots.get(root) else { return false };
        let mut folders = path.as_ref().ancestors().filter(|folder| !folder.as_os_str().is_empty());
        folders.any(|folder| root.dir().symlink_metadata(folder.join(".git")).is_ok())
    }

    /// True if a path of a root is a regular file, and its last name is not a link.
    pub fn has_file(&self, root: usize, path: impl AsRef<Path>) -> bool {
        let Some(root) = self.roots.get(root) else { return false };
        root.dir().symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
    }

    /// True if a path of a root does not exist.
    pub fn has_nothing(&self, root: usize, path: &str) -> bool {
        self.roots.get(root).is_some_and(|root| root.dir().symlink_metadata(path).is_err())
    }

    /// True if a file that was at a path of a root is deleted: nothing is there, or a folder.
    pub fn is_deleted(&self, root: usize, path: &str) -> bool {
        let Some(root) = self.roots.get(root) else { return false };
        root.dir().symlink_metadata(path).map_or(true, |metadata| metadata.is_dir())
    }

    /// Spells a path of a root as a caller would name it.
    ///
    /// Errors: `PATH_OUTSIDE_ROOT` for a root whose own path is not UTF-8.
    pub fn named(&self, root: usize, path: &str) -> Result<String, Error> {
        named(&self.roots, root, path).ok_or_else(|| system_error::outside(path))
    }

    /// Spells a path of the root that contains a file, as a caller would name it.
    ///
    /// Errors: those of [`Files::named`].
    pub fn named_beside(&self, place: &FileLocation, path: &str) -> Result<String, Error> {
        self.named(place.root, path)
    }
}

impl Listing {
    fn note(&mut self, root: &Root, entry: &DirEntry) {
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { return };
        let path = below(root, entry.path());
        let reason = if path.to_str().is_none() {
            NOT_UTF8
        } else if kind.is_symlink() {
            "a link"
        } else if !kind.is_file() {
            "not a regular file"
        } else {
            return self.files.push(lossy(path));
        };
        self.skipped.push((lossy(path), reason.to_owned()));
    }
}

/// Walks as git does, with the project's ignore files only: the user's global ignore file does not apply.
fn walker(folder: &Path, nested: Arc<Mutex<Vec<PathBuf>>>) -> WalkBuilder {
    let mut walker = WalkBuilder::new(folder);
    let is_walked = move |entry: &DirEntry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if entry.file_name() == ".git" {
            return false;
        }
        if is_folder && entry.depth() > 0 && entry.path().join(".git").symlink_metadata().is_ok() {
            nested.lock().push(entry.path().to_owned());
            return false;
        }
        true
    };
    walker.hidden(false).ignore(false).git_global(false).require_git(false).follow_links(false);
    walker.filter_entry(is_walked);
    walker
}

/// A path below a root, relative to it.
fn below<'p>(root: &Root, path: &'p Path) -> &'p Path {
    path.strip_prefix(root.real()).unwrap_or(path)
}

fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn the_name_of_the_root_does_not_matter() {
        let top = tempfile::tempdir().unwrap();
        for root in [&b"plain"[..], b"caf\xe9"] {
            let root = top.path().join(OsStr::from_bytes(root));
            fs::create_dir_all(root.join("sub")).unwrap();
            fs::create_dir_all(root.join("other/.git")).unwrap();
            for name in [&b"a.py"[..], b"sub/b.py", b"sub/\xff.py", b"other/c.py"] {
                fs::write(root.join(OsStr::from_bytes(name)), "").unwrap();
            }
            let Listing { files, skipped } = Files::open(&[root]).unwrap().list(0, "").unwrap();
            assert_eq!(files, ["a.py", "sub/b.py"]);
            let reason = |path: &str, reason: &str| (path.to_owned(), reason.to_owned());
            assert_eq!(
                skipped,
                [reason("sub/\u{fffd}.py", "its name is not UTF-8"), reason("other", OTHER_REPOSITORY)]
            );
        }
    }
}
