//! What the code of a workspace says, kept in memory: where each symbol is defined, and which file uses which names.
//!
//! Invariant: no text of a file is kept but its names; what stands in the index of a file is that of the version that it
//! is kept with.

mod filed;
mod names;

use std::collections::BTreeMap;

use super::tags::Tags;
use crate::text::Stamp;

pub(super) use filed::{Definition, Filed};
pub(super) use names::Names;

/// As many names may be forgotten before the others are kept anew.
const MOST_FORGOTTEN: usize = 2;

/// The index of a workspace.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) names: Names,
    pub(super) files: BTreeMap<String, Filed>,
    /// What the folder of the first root is called: in it, other names may lead.
    pub(super) home: String,
    /// How many names there were when none had been forgotten.
    fresh: usize,
}

impl Index {
    /// An empty index of a workspace whose first root is called so.
    pub fn of(home: &str) -> Index {
        Index { home: home.to_owned(), ..Index::default() }
    }

    /// Keeps what a file says, in place of what it said before.
    pub fn put(&mut self, path: &str, version: Stamp, tags: &Tags) {
        let is_new = !self.files.contains_key(path);
        let filed = Filed::new(version, tags, &mut self.names);
        self.files.insert(path.to_owned(), filed);
        if is_new {
            self.fresh = self.fresh.max(self.names.len());
        }
    }

    /// Forgets a file.
    pub fn remove(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// The version of which a file is known.
    pub fn version(&self, path: &str) -> Option<Stamp> {
        self.files.get(path).map(|filed| filed.version)
    }

    /// How many files it has.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Whether so many names are kept that no file has any more that it should be built anew.
    pub fn is_worn(&self) -> bool {
        self.names.len() > MOST_FORGOTTEN * self.fresh.max(10_000)
    }

    /// The files of which something was left out.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|(_, filed)| !filed.whole).map(|(path, _)| path.as_str())
    }
}
