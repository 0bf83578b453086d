//! The location of a policy file, and its base.

use lockgate_text::fold;

/// The location of a policy file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyOrigin {
    /// The file's name in messages.
    pub name: String,
    /// The file's path, relative to its root.
    pub in_root: String,
    /// The folder that its patterns are relative to, by its path relative to the root; empty for the root itself.
    pub folder: String,
}

impl PolicyOrigin {
    /// A policy file at the top of a root.
    pub fn top(name: &str) -> PolicyOrigin {
        PolicyOrigin { name: name.to_owned(), in_root: name.to_owned(), folder: String::new() }
    }

    /// Returns the part of a path, relative to the root, below the folder.
    pub(super) fn relative_path<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.folder.as_str() {
            "" => Some(path),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        }
    }

    /// Like the function above, with any spelling of the folder's names.
    pub(super) fn relative_path_ignoring_case<'a>(&self, path: &'a str) -> Option<&'a str> {
        let mut below = path;
        for name in self.folder.split('/').filter(|name| !name.is_empty()) {
            let (first, rest) = below.split_once('/')?;
            below = if fold(first) == fold(name) { rest } else { return None };
        }
        Some(below)
    }
}

/// The base of a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extends {
    /// No base: the policy stands alone.
    #[default]
    Nothing,
    /// The default policy that is built into lockgate.
    Default,
    /// The next policy above its folder, or the built-in one.
    Parent,
}
