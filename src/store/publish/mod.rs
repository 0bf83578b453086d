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
use super::journal::{Deed, EditId, Journal};
use super::place::Place;
use super::root::{self, Root};
use super::snapshot::Before;
use crate::error::Error;
use crate::policy::Publishing;
use crate::text::Stamp;
use folders::NewFolders;
use stage::{Freshness, Staged};

/// A text and its stamp.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// The hash of the bytes.
    pub stamp: Stamp,
    /// The text.
    pub bytes: &'a [u8],
}

impl<'a> Content<'a> {
    /// Stamps these bytes.
    pub fn of(bytes: &'a [u8]) -> Content<'a> {
        Content { stamp: Stamp::of(bytes), bytes }
    }
}

/// One file that is to become another, to be made or to be removed.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// Where it lies.
    pub place: &'a Place,
    /// What was read there; absent when there was no file.
    pub before: Option<Before<'a>>,
    /// What is to stand there; absent when the file is to be removed.
    pub after: Option<Content<'a>>,
    /// The permission bits of a new file, where they are not those of any new file.
    pub mode: Option<u32>,
    /// How many of the folders above a removed file go with it, where they are empty then.
    pub folders: usize,
    /// What the journal is told of it.
    pub told: Told,
}

/// What the journal is told of a write, beside its texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told {
    /// How many lines are added.
    pub added: usize,
    /// How many lines are taken away.
    pub removed: usize,
    /// Whether its texts may be kept.
    pub keep: bool,
}

/// How well the write was guarded against other programs; the best that the file system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Written into the file itself, which a crash can tear: only where the policy says so.
    InPlace,
    /// Compared just before it was replaced.
    Compare,
    /// Exchanged with what was there, which was then looked at; or a new name that was free.
    Exchange,
    /// The same while nobody else could open it for writing.
    Lease,
}

impl Level {
    /// The level's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Level::InPlace => "in_place",
            Level::Compare => "compare",
            Level::Exchange => "exchange",
            Level::Lease => "lease",
        }
    }
}

/// What publishing did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "its notes tell what could not be proved"]
pub struct Published {
    /// Whether there was no file before.
    pub created: bool,
    /// How it was guarded.
    pub level: Level,
    /// What the caller should know of a write that succeeded.
    pub notes: Vec<String>,
}

/// What publishing did to all files of one edit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "its notes tell what could not be proved"]
pub struct Done {
    /// What was done to each file, in the order of the writes.
    pub files: Vec<Published>,
    /// The name under which the edit is remembered; absent when it is not.
    pub edit: Option<EditId>,
}

/// Publishes all writes of one edit, or none.
pub(super) fn publish(
    roots: &[Root],
    writes: &[Write<'_>],
    _how: Publishing,
    record: Option<(&Journal, &Deed)>,
) -> Result<Done, Error> {
    let names: Vec<String> = writes.iter().map(|write| format!(".{}.lockgate", write.place.name)).collect();
    let begun = record.map(|(journal, deed)| journal.begin(deed, writes, &names)).transpose()?;
    let one = |write: &Write<'_>| {
        let folder = root::folder_of(roots, write.place)?;
        match (write.before, write.after) {
            (Some(before), Some(after)) => replace(&folder, write.place, before, after.bytes),
            (None, Some(after)) => create(folder, write.place, after.bytes),
            (_, None) => folder
                .unlink(&write.place.name)
                .map(|()| Published { created: false, level: Level::Exchange, notes: Vec::new() })
                .map_err(|errno| super::trouble::failed("unlink", write.place.shown(), errno)),
        }
    };
    let files = writes.iter().map(one).collect::<Result<_, _>>()?;
    let edit = begun.map(|begun| {
        let id = begun.id();
        let _ = begun.settle();
        id
    });
    Ok(Done { files, edit })
}

fn replace(folder: &Folder, place: &Place, before: Before<'_>, bytes: &[u8]) -> Result<Published, Error> {
    compare::may_still_write(folder, place, &before)?;
    let staged = Staged::begin(folder, &place.name, place.shown(), Freshness::Copy)?;
    staged.write(bytes)?;
    metadata::carry(&before.snapshot.file, staged.file(), place.shown())?;
    staged.sync()?;
    compare::unchanged(folder, place, &before)?;
    let notes = staged.replace(&place.name)?;
    Ok(Published { created: false, level: Level::Compare, notes })
}

fn create(folder: Folder, place: &Place, bytes: &[u8]) -> Result<Published, Error> {
    let folders = NewFolders::make(folder, &place.missing, place.shown())?;
    let staged = Staged::begin(folders.last(), &place.name, place.shown(), Freshness::New)?;
    staged.write(bytes)?;
    staged.sync()?;
    let mut notes = staged.create(&place.name)?;
    notes.extend(folders.keep());
    Ok(Published { created: true, level: Level::Exchange, notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use crate::store::Files;
    use std::fs;

    const LIMIT: u64 = 1 << 20;

    fn publish_one(
        files: &Files,
        place: &Place,
        before: Option<Before<'_>>,
        bytes: &[u8],
    ) -> Result<Done, Error> {
        let after = Some(Content::of(bytes));
        let write = Write { place, before, after, mode: None, folders: 0, told: Told::default() };
        files.publish(&[write], Publishing::default(), None)
    }

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

        let error =
            publish_one(&files, &place, Some(snapshot.held(Content::of(snapshot.bytes()))), b"ours 2")
                .unwrap_err();
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
