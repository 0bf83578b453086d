//! An admitted file path, resolved to a folder in a root and a name in it.
//!
//! Invariant: it holds no descriptor and no right; every call goes through the root again and finds the same
//! folder, or fails.

use super::folder::Identity;
use super::folder_names::FolderConfigs;
use super::lock_key::LockKey;

/// A file path that was admitted and resolved in a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    pub(super) root: usize,
    /// The path of the deepest existing folder, free of symlinks.
    pub(super) folder: String,
    pub(super) identity: Identity,
    /// The folders between that one and the file that do not exist yet.
    pub(super) missing: Vec<String>,
    pub(super) name: String,
    pub(super) shown: String,
    pub(super) in_root: String,
    pub(super) resolved: Option<String>,
    /// All names of a hard-linked file that is to be written, relative to its root like `in_root`.
    pub(super) names: Vec<String>,
    /// The rule by which one of the file's names starts a program; set only for writes.
    pub(super) runnable: Option<&'static str>,
    /// The occasion on which the file runs by one of its names; set only for writes.
    pub(super) occasion: Option<&'static str>,
    /// The configuration files that the folders of the path may have, from the root down, when it was admitted;
    /// empty if they were not listed.
    pub(super) configs: Vec<FolderConfigs>,
}

impl FileLocation {
    /// The lock key; two spellings of one path have the same key.
    pub fn key(&self) -> LockKey {
        let mut rest = self.missing.join("/");
        if !rest.is_empty() {
            rest.push('/');
        }
        LockKey::below(self.identity, &(rest + &self.name))
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
}

impl FileLocation {
    /// All names of a hard-linked file that is to be written, relative to its root.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The built-in rule by which a file that is to be written, under any of its names, starts a program when
    /// a person opens or uses the folder.
    pub fn runnable(&self) -> Option<&'static str> {
        self.runnable
    }

    /// The occasion, such as `in a build`, on which a file that is to be written runs under any of its names,
    /// for a person's review.
    pub fn occasion(&self) -> Option<&'static str> {
        self.occasion
    }
}

/// Joins two relative paths, either of which may be empty.
pub(super) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", path) | (path, "") => path.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}
