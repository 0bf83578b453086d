//! The index of a workspace, with the proof that each file in it is unchanged.

use std::collections::{HashMap, HashSet};

use lockgate_context::Index;
use lockgate_store::{FileFingerprint, FileLocation};

/// The index of a workspace, with the fingerprints of its files when they were read.
#[derive(Debug, Default)]
pub(crate) struct CodeIndex {
    pub(super) index: Index,
    /// The fingerprint of each indexed file; `None` if it proves nothing.
    pub(super) fingerprints: HashMap<String, Option<FileFingerprint>>,
    /// Set in tests to take every file for unchanged, which shows that fingerprints are needed.
    #[cfg(test)]
    pub(super) is_unreliable: bool,
}

impl CodeIndex {
    /// True if the file has not changed since it was read.
    pub(super) fn is_fresh(&self, (place, fingerprint): &(FileLocation, FileFingerprint)) -> bool {
        let Some(known) = self.fingerprints.get(place.shown()) else { return false };
        #[cfg(test)]
        if self.is_unreliable {
            return true;
        }
        *known == Some(*fingerprint)
    }

    /// Removes all files but these.
    pub(super) fn retain(&mut self, paths: &HashSet<&str>) {
        let gone: Vec<String> =
            self.fingerprints.keys().filter(|path| !paths.contains(path.as_str())).cloned().collect();
        for path in gone {
            self.fingerprints.remove(&path);
            self.index.remove(&path);
        }
    }
}
