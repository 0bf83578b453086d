//! Creates the folders that a new file needs, when the file is published and not before.
//!
//! Invariant: dropping them removes those that were created here and are empty, the last first; keeping them
//! consumes this.

use crate::disk::folder::{Folder, Identity};
use crate::file_write::FileWrite;
use crate::outcome::PublishedFile;
use crate::paths::file_location::split;
use crate::paths::root::Root;
use crate::system_error::{conflict, failed};
use lockgate_error::Error;
use rustix::io::Errno;

/// The folders of all writes of one edit.
#[must_use = "dropping new folders removes them; keep them once the files are published"]
pub(super) struct Chains<'a>(Vec<NewFolders<'a>>);

impl<'a> Chains<'a> {
    /// Creates the missing folders of each write, starting from its existing folder.
    pub fn make(writes: &'a [FileWrite<'_>], tops: Vec<Folder>) -> Result<Chains<'a>, Error> {
        let mut chains = Chains(Vec::new());
        for (write, top) in writes.iter().zip(tops) {
            chains.0.push(NewFolders::make(top, &write.place.missing, write.place.shown())?);
        }
        Ok(chains)
    }

    /// The folder chain of each write.
    pub fn each(&self) -> impl Iterator<Item = &NewFolders<'a>> {
        self.0.iter()
    }

    /// Makes the new names survive a power cut: syncs each changed folder once. A failure becomes a note on the file, never
    /// an error, because the edit is already applied.
    pub fn sync(&self, writes: &[FileWrite<'_>], files: &mut [PublishedFile]) {
        let mut synced: Vec<Identity> = Vec::new();
        let several = self.each().flat_map(NewFolders::changed).nth(1).is_some();
        for ((chain, write), file) in self.each().zip(writes).zip(files) {
            for folder in chain.changed() {
                match several.then(|| folder.identity()) {
                    Some(Ok(identity)) if synced.contains(&identity) => continue,
                    Some(Ok(identity)) => synced.push(identity),
                    Some(Err(_)) | None => {}
                }
                file.notes.extend(folder.sync().err().map(|errno| {
                    format!(
                        "{} was written, but it may not survive a power cut: syncing its folder failed: {}",
                        write.place.shown(),
                        std::io::Error::from(errno)
                    )
                }));
            }
        }
    }

    /// Keeps the created folders, which a drop would otherwise remove.
    pub fn keep(mut self) {
        self.0.iter_mut().for_each(|chain| chain.is_kept = true);
    }
}

impl Drop for Chains<'_> {
    fn drop(&mut self) {
        // A later folder may lie in one that an earlier write created.
        while self.0.pop().is_some() {}
    }
}

/// The chain of folders from an existing one to the new file's folder.
pub(super) struct NewFolders<'a> {
    shown: &'a str,
    first: Folder,
    made: Vec<CreatedFolder<'a>>,
    /// Set once the folders stay; a drop removes them before.
    is_kept: bool,
}

struct CreatedFolder<'a> {
    name: &'a str,
    folder: Folder,
    /// Set if this edit created the folder, and no other program.
    is_ours: bool,
}

impl<'a> NewFolders<'a> {
    /// Creates the named folders, each in the one before.
    pub fn make(first: Folder, names: &'a [String], shown: &'a str) -> Result<NewFolders<'a>, Error> {
        let mut chain = NewFolders { shown, first, made: Vec::new(), is_kept: false };
        for name in names {
            chain.add(name, |above| above.enter(name))?;
        }
        Ok(chain)
    }

    fn add(
        &mut self,
        name: &'a str,
        enter: impl FnOnce(&Folder) -> Result<Folder, Errno>,
    ) -> Result<(), Error> {
        let above = self.last();
        let is_ours = match above.make(name) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(failed("mkdir", self.shown, errno)),
        };
        match enter(above) {
            Ok(folder) => {
                self.made.push(CreatedFolder { name, folder, is_ours });
                Ok(())
            }
            Err(errno) => {
                if is_ours {
                    // Not in the chain yet, so only this removes it; a folder that another program put there
                    // stays.
                    let _ = above.remove(name);
                }
                Err(match errno {
                    Errno::NOTDIR | Errno::LOOP | Errno::NOENT => {
                        conflict(self.shown, "lost its folder, which another program removed or replaced")
                    }
                    errno => failed("opening the new folder", self.shown, errno),
                })
            }
        }
    }

    /// The folder of the file.
    pub fn last(&self) -> &Folder {
        self.made.last().map_or(&self.first, |created| &created.folder)
    }

    /// The folders with a new name in them: the file's own, and the parents of created folders.
    pub fn changed(&self) -> impl Iterator<Item = &Folder> {
        let is_ours = |(_, created): &(&Folder, &CreatedFolder<'a>)| created.is_ours;
        std::iter::once(self.last())
            .chain(self.parents().into_iter().filter(is_ours).map(|(parent, _)| parent))
    }

    /// Each folder with the one that it lies in, the outermost first.
    fn parents(&self) -> Vec<(&Folder, &CreatedFolder<'a>)> {
        let parents = std::iter::once(&self.first).chain(self.made.iter().map(|created| &created.folder));
        parents.zip(&self.made).collect()
    }
}

impl Drop for NewFolders<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for (parent, created) in self.parents().into_iter().rev().filter(|(_, created)| created.is_ours) {
            // Not empty: another program uses it, so it stays.
            let _ = parent.remove(created.name);
        }
    }
}

/// Removes the folders that go with a removed file, the innermost first, if they are empty.
pub(super) fn remove_emptied(roots: &[Root], write: &FileWrite<'_>) {
    let Some(root) = roots.get(write.place.root) else { return };
    let mut path = write.place.folder.as_str();
    for _ in 0..write.folders {
        let (above, name) = split(path);
        let removed = root.folder(above).is_ok_and(|above| {
            // Not empty: another program uses it. A power cut can only bring back an empty folder.
            above.remove(name).is_ok_and(|()| above.sync().is_ok())
        });
        if !removed || above.is_empty() {
            return;
        }
        path = above;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_made_but_cannot_be_entered_is_removed_and_another_s_stays() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("theirs")).unwrap();
        let first = Folder::new(std::fs::File::open(dir.path()).unwrap().into());
        let mut chain = NewFolders::make(first, &[], "x").unwrap();
        for name in ["ours", "theirs"] {
            assert!(chain.add(name, |_| Err(Errno::MFILE)).is_err());
        }
        assert!(!dir.path().join("ours").exists() && dir.path().join("theirs").exists());
        assert!(chain.add("ours", |above| above.enter("ours")).is_ok());
        assert!(dir.path().join("ours").exists(), "the control");
    }

    fn folder(dir: &std::path::Path) -> Folder {
        Folder::new(std::fs::File::open(dir).unwrap().into())
    }

    #[test]
    fn folders_that_were_made_for_nothing_are_removed_unless_somebody_uses_them() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        drop(NewFolders::make(folder(dir.path()), &names, "a/b/c/x").unwrap());
        assert!(!dir.path().join("a").exists());
        let folders = NewFolders::make(folder(dir.path()), &names, "a/b/c/x").unwrap();
        std::fs::write(dir.path().join("a/theirs"), "").unwrap();
        drop(folders);
        assert!(dir.path().join("a/theirs").exists() && !dir.path().join("a/b").exists());
    }

    #[test]
    fn folders_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        let names = ["a".to_owned(), "b".to_owned()];
        drop(NewFolders::make(folder(dir.path()), &names, "a/b/x").unwrap());
        assert!(dir.path().join("a").exists() && !dir.path().join("a/b").exists());
    }
}
