//! Where the path of a file leads: admitted, resolved to a folder beneath a root and a name in it.
//!
//! Invariant: a place holds no descriptor and no right; every call that uses it goes through the root again and finds the
//! same folder, or refuses.

use super::document_path::LockKey;
use super::folder::Identity;

/// An admitted path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    pub(super) root: usize,
    /// Path of the deepest folder that is there, free of symlinks.
    pub(super) folder: String,
    pub(super) identity: Identity,
    /// The folders between that one and the file that are still to be made.
    pub(super) missing: Vec<String>,
    pub(super) name: String,
    pub(super) shown: String,
    pub(super) in_root: String,
    pub(super) resolved: Option<String>,
    /// Where the file is to be written and has several names, all of them in its root, as `in_root` is.
    pub(super) names: Vec<String>,
    /// The rule by which one of the file's names makes a program start; only of one that is to be written.
    pub(super) runnable: Option<&'static str>,
    /// The occasion on which the file runs by one of its names; only of one that is to be written.
    pub(super) occasion: Option<&'static str>,
}

impl FilePlace {
    /// What to lock while the file is edited; two spellings of one path have one key.
    pub fn key(&self) -> LockKey {
        let mut rest = self.missing.join("/");
        if !rest.is_empty() {
            rest.push('/');
        }
        LockKey::below(self.identity, &(rest + &self.name))
    }

    /// The path as the caller named it: relative when it lies below the first root, else absolute; with `/`.
    ///
    /// Admitted again, it leads to the same place.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The path of the file that is really edited, links resolved, relative to the root that it lies in, with `/`.
    pub fn in_root(&self) -> &str {
        &self.in_root
    }

    /// The path of the file that is really edited, when a symlink was followed; spelled as `shown` is.
    pub fn resolved(&self) -> Option<&str> {
        self.resolved.as_deref()
    }
}

impl FilePlace {
    /// All names of the file in its root, relative to it, where it is to be written and has several.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The built-in rule that says that the file makes a program start when a person opens or uses the folder, where it is
    /// to be written; under any of its names.
    pub fn runnable(&self) -> Option<&'static str> {
        self.runnable
    }

    /// The occasion on which the file runs, as in `in a build`, where it is to be written and a person should review that;
    /// under any of its names.
    pub fn occasion(&self) -> Option<&'static str> {
        self.occasion
    }
}

/// Joins two relative paths of which either may be empty.
pub(super) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", path) | (path, "") => path.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}
