//! How new content takes the place of the old: staged beside it, compared once more, renamed over it.
//!
//! Not promised: between the comparison and the rename another program can still write, for some microseconds; and a
//! program that holds the old file open writes on into what nobody sees any more.
//!
//! Invariant: until the rename nothing under the target's name changes, and after it the whole change is there; whatever
//! fails before leaves no trace.

mod commit;
mod compare;
mod folders;
mod metadata;
mod stage;

use super::folder::Folder;
use super::place::Place;
use super::snapshot::Before;
use crate::error::Error;
use folders::NewFolders;
use stage::{Freshness, Staged};

/// What publishing did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "its notes tell what could not be proved"]
pub struct Published {
    /// Whether there was no file before.
    pub created: bool,
    /// What the caller should know of a write that succeeded.
    pub notes: Vec<String>,
}

/// Puts `bytes` in the place of what was read, or of nothing.
pub(super) fn publish(
    folder: Folder,
    place: &Place,
    before: Option<Before<'_>>,
    bytes: &[u8],
) -> Result<Published, Error> {
    match before {
        Some(before) => replace(&folder, place, before, bytes),
        None => create(folder, place, bytes),
    }
}

fn replace(folder: &Folder, place: &Place, before: Before<'_>, bytes: &[u8]) -> Result<Published, Error> {
    compare::may_still_write(folder, place, &before)?;
    let staged = Staged::begin(folder, &place.name, place.shown(), Freshness::Copy)?;
    staged.write(bytes)?;
    metadata::carry(&before.snapshot.file, staged.file(), place.shown())?;
    staged.sync()?;
    compare::unchanged(folder, place, &before)?;
    let notes = staged.replace(&place.name)?;
    Ok(Published { created: false, notes })
}

fn create(folder: Folder, place: &Place, bytes: &[u8]) -> Result<Published, Error> {
    let folders = NewFolders::make(folder, &place.missing, place.shown())?;
    let staged = Staged::begin(folders.last(), &place.name, place.shown(), Freshness::New)?;
    staged.write(bytes)?;
    staged.sync()?;
    let mut notes = staged.create(&place.name)?;
    notes.extend(folders.keep());
    Ok(Published { created: true, notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::store::Files;
    use std::fs;

    const LIMIT: u64 = 1 << 20;

    fn names(dir: &std::path::Path) -> Vec<String> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn folder(dir: &std::path::Path) -> Folder {
        Folder::new(fs::File::open(dir).unwrap().into())
    }

    /// The control: without the comparison a foreign text is lost; with it, it is not.
    #[test]
    fn without_the_comparison_a_foreign_write_would_be_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::write(&path, "ours 1").unwrap();
        let files = Files::open(&[dir.path().to_owned()]).unwrap();
        let place = files.admit("a.txt").unwrap();
        let snapshot = files.read(&place, LIMIT).unwrap().unwrap();
        fs::write(&path, "theirs").unwrap();

        let error = files.publish(&place, Some(snapshot.held(snapshot.bytes())), b"ours 2").unwrap_err();
        assert_eq!(error.code, Code::EditConflict);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");

        let folder = folder(dir.path());
        let staged = Staged::begin(&folder, "a.txt", "a.txt", Freshness::Copy).unwrap();
        staged.write(b"ours 2").unwrap();
        assert!(staged.replace("a.txt").unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours 2");
    }

    #[test]
    fn a_staged_file_that_is_dropped_is_gone_and_one_that_is_published_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        let staged = Staged::begin(&folder, "a.txt", "a.txt", Freshness::New).unwrap();
        staged.write(b"x").unwrap();
        assert_eq!(names(dir.path()).len(), 1);
        drop(staged);
        assert!(names(dir.path()).is_empty());
        let staged = Staged::begin(&folder, "a.txt", "a.txt", Freshness::New).unwrap();
        assert!(staged.create("a.txt").unwrap().is_empty());
        assert_eq!(names(dir.path()), ["a.txt"]);
    }

    #[test]
    fn a_name_taken_meanwhile_is_a_conflict_and_leaves_nothing_staged() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        let staged = Staged::begin(&folder, "a.txt", "a.txt", Freshness::New).unwrap();
        fs::write(dir.path().join("a.txt"), "faster").unwrap();
        assert_eq!(staged.create("a.txt").unwrap_err().code, Code::EditConflict);
        assert_eq!(names(dir.path()), ["a.txt"]);
        assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "faster");
    }

    #[test]
    fn folders_that_were_made_for_nothing_are_removed_unless_somebody_uses_them() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        drop(NewFolders::make(folder(dir.path()), &names, "a/b/c/x").unwrap());
        assert!(!dir.path().join("a").exists());
        let folders = NewFolders::make(folder(dir.path()), &names, "a/b/c/x").unwrap();
        fs::write(dir.path().join("a/theirs"), "").unwrap();
        drop(folders);
        assert!(dir.path().join("a/theirs").exists() && !dir.path().join("a/b").exists());
    }

    #[test]
    fn folders_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        let names = ["a".to_owned(), "b".to_owned()];
        drop(NewFolders::make(folder(dir.path()), &names, "a/b/x").unwrap());
        assert!(dir.path().join("a").exists() && !dir.path().join("a/b").exists());
    }
}
