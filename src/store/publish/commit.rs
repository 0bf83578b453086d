//! The step that makes the change: the rename, and what makes the rename last.
//!
//! Invariant: a refusal here means that the target is as it was; what fails after the rename is a note, never a refusal.

use super::stage::Staged;
use crate::error::Error;
use crate::store::folder::{Folder, Renamed};
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
            Ok(renamed) => Ok(self.finish_new(renamed, target)),
            Err(Errno::EXIST) => Err(conflict(self.shown(), "was created by somebody else in the meantime")),
            Err(errno) => Err(failed("rename", self.shown(), errno)),
        }
    }

    fn finish_new(self, renamed: Renamed, target: &str) -> Vec<String> {
        let left = match renamed {
            Renamed::Whole => None,
            Renamed::OldNameLeft(errno) => Some(format!(
                "{} was written, but a second name of the file, {}, could not be removed: {}; remove it before {target} is \
                 edited again",
                self.shown(),
                self.name(),
                std::io::Error::from(errno)
            )),
        };
        left.into_iter().chain(self.finish()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::publish::stage::Freshness;

    #[test]
    fn a_staged_name_that_stays_behind_is_a_note() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(std::fs::File::open(dir.path()).unwrap().into());
        let staged = |name: &'static str| Staged::begin(&folder, name, name, Freshness::New).unwrap();
        assert!(staged("a.txt").finish_new(Renamed::Whole, "a.txt").is_empty(), "the control");
        let left = staged("b.txt");
        let name = left.name().to_owned();
        let notes = left.finish_new(Renamed::OldNameLeft(Errno::PERM), "b.txt");
        assert!(matches!(notes.as_slice(), [note] if note.contains(&name)), "{notes:?}");
    }
}
