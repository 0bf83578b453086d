//! The step that makes the change: the rename, and what makes the rename last.
//!
//! Invariant: a refusal here means that the target is as it was; what fails after the rename is a note, never a refusal.

use super::stage::Staged;
use crate::error::Error;
use crate::store::folder::Folder;
use crate::store::trouble::{conflict, failed};
use rustix::io::Errno;

impl Staged<'_> {
    /// Puts the staged file in the place of the target; gives back notes.
    pub fn replace(self, target: &str) -> Result<Vec<String>, Error> {
        let renamed = self.folder().rename(self.name(), target);
        renamed.map_err(|errno| failed("rename", self.shown(), errno))?;
        Ok(self.finish())
    }

    /// Gives the staged file the target's name, which must be free; gives back notes.
    pub fn create(self, target: &str) -> Result<Vec<String>, Error> {
        match self.folder().rename_new(self.name(), target) {
            Ok(()) => Ok(self.finish()),
            Err(Errno::EXIST) => Err(conflict(self.shown(), "was created by somebody else in the meantime")),
            Err(errno) => Err(failed("rename", self.shown(), errno)),
        }
    }

    fn finish(self) -> Vec<String> {
        let (folder, shown) = (self.folder(), self.shown());
        self.published();
        lasting(folder, shown)
    }
}

/// Syncs a folder; where that fails, a note that says what is not proved.
pub(super) fn lasting(folder: &Folder, shown: &str) -> Vec<String> {
    match folder.sync() {
        Ok(()) => Vec::new(),
        Err(errno) => vec![format!(
            "{shown} was written, but it is not proved that it would survive a power cut: syncing its folder failed: {}",
            std::io::Error::from(errno)
        )],
    }
}
