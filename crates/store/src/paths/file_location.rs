//! An admitted file path, resolved to a folder in a root and a name in it.
//!
//! Invariant: it holds no descriptor; every call goes through the root again and finds the same
//! folder, or fails.

use super::folder_names::FolderConfigs;
use super::spelling;
use crate::disk::folder::Identity;
use crate::disk::permit::RightsState;
use crate::lock_key::LockKey;
use lockgate_error::Error;

/// A file path that was admitted and resolved in a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    pub(crate) root: usize,
    /// The path of the deepest existing folder, free of symlinks.
    pub(crate) folder: String,
    pub(crate) identity: Identity,
    /// The folders between that one and the file that do not exist yet.
    pub(crate) missing: Vec<String>,
    pub(crate) name: String,
    pub(crate) shown: String,
    pub(crate) in_root: String,
    pub(crate) resolved: Option<String>,
    /// The state of an existing file when the right to write it was checked; set only for writes.
    pub(crate) admitted: Option<RightsState>,
    /// All names of a hard-linked file that is to be written, relative to its root like `in_root`.
    pub(crate) names: Vec<String>,
    /// The rule by which one of the file's names starts a program; set only for writes.
    pub(crate) runnable: Option<&'static str>,
    /// The occasion, such as `in a build`, on which the file runs by one of its names, for a person's review; set only
    /// for writes.
    pub(crate) occasion: Option<&'static str>,
    /// The configuration files that the folders of the path may have, from the root down, when it was admitted;
    /// empty if they were not listed.
    pub(crate) configs: Vec<FolderConfigs>,
}

impl FileLocation {
    /// The lock key; two spellings of one path have the same key.
    pub fn key(&self) -> LockKey {
        LockKey::below(self.identity, &join(&self.missing.join("/"), &self.name))
    }

    /// The number of the root that contains the file.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The path as the caller named it: relative if it lies below the first root, else absolute; with `/`.
    ///
    /// Admitted again, it leads to the same file.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The path of the file that is really edited, links resolved, relative to its root, with `/`.
    pub fn in_root(&self) -> &str {
        &self.in_root
    }

    /// The path of the file that is really edited, if a symlink was followed; spelled like `shown`.
    pub fn resolved(&self) -> Option<&str> {
        self.resolved.as_deref()
    }

    /// Fails for a misleading name: one that does not exist yet and has characters that are invisible or reorder others.
    ///
    /// Errors: `INVALID_INPUT`.
    pub fn check_new_name(&self) -> Result<(), Error> {
        self.missing.iter().chain([&self.name]).try_for_each(|name| spelling::check_new(name))
    }

    /// The built-in rule by which a file that is to be written, under any of its names, starts a program when
    /// a person opens or uses the folder.
    pub fn runnable(&self) -> Option<&'static str> {
        self.runnable
    }
}

/// Splits a relative path into its folder, which may be empty, and its last name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Joins two relative paths, either of which may be empty.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", path) | (path, "") => path.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}
