//! Half-done edits as a killed process leaves them, at each step, and what becomes of them.

use super::edit::{InterruptedEdit, RecoveryAction};
use super::sweep::{JournalNames, MIN_AGE};
use crate::Files;
use crate::disk::inode::{Inode, Inodes};
use crate::lock_key::LockKey;
use crate::locks::Locks;
use crate::sql::UnsettledFile;
use lockgate_text::Version;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const STAGED: &str = ".a.0000000000000001.lockgate";
const KEPT: &str = "a.0000000000000001.kept";
const OTHER: &str = ".z.0000000000000002.lockgate";

struct Fixture {
    dir: TempDir,
    files: Files,
    locks: Locks,
    texts: HashMap<String, Vec<u8>>,
}

fn version(text: &str) -> Version {
    Version::hash(text.as_bytes())
}

fn interrupted(path: &str, staged: &str, before: Option<&str>, after: Option<&str>) -> UnsettledFile {
    UnsettledFile {
        path: path.to_owned(),
        staged: staged.to_owned(),
        before: before.map(version),
        after: after.map(version),
        folders: 0,
        inodes: None,
    }
}

impl Fixture {
    fn new(texts: &[(&str, &str)]) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in texts {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), text).unwrap();
        }
        let files = Files::open(&[dir.path().to_owned()]).unwrap();
        Fixture { dir, files, locks: Locks::default(), texts: HashMap::new() }
    }

    fn with_texts(mut self, texts: &[&str]) -> Fixture {
        self.texts = texts.iter().map(|text| (version(text).hex(), text.as_bytes().to_vec())).collect();
        self
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What is there: names with their texts.
    fn now(&self) -> Vec<(String, String)> {
        let entries = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap());
        let text = |entry: fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap_or_default())
        };
        let mut all: Vec<_> = entries.map(text).collect();
        all.sort();
        all
    }

    /// Which file has that name.
    fn inode(&self, name: &str) -> Inode {
        Inode::read(fs::File::open(self.at(name)).unwrap()).unwrap()
    }

    /// The write as a journal has it that was told which files are whose: the staged copy is what begins as the new text.
    fn recorded(&self, file: UnsettledFile, before: Option<&str>, after: Option<&str>) -> UnsettledFile {
        let folder = file.path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let names = [format!("{folder}{}", file.staged), file.path.clone()];
        let holds = |name: &String, is: &dyn Fn(&str) -> bool| {
            fs::read_to_string(self.at(name)).ok().filter(|text| is(text)).map(|_| self.inode(name))
        };
        let find = |is: &dyn Fn(&str) -> bool| names.iter().find_map(|name| holds(name, is));
        let copy = find(&|text| after.is_some_and(|after| after.starts_with(text)));
        let before = find(&|text| Some(text) == before).map(|inode| inode.number);
        UnsettledFile { inodes: Some(Inodes { copy, before, in_place: false }), ..file }
    }

    fn recover(&self, files: &[UnsettledFile]) -> (RecoveryAction, Vec<String>) {
        let text = |version: Version| self.texts.get(&version.hex()).cloned();
        let edit = InterruptedEdit { root: 0, files, text: &text, is_open: &|| true };
        let recovered = self.files.recover_edit(&self.locks, &edit, &[]);
        (recovered.action, recovered.notes)
    }
}

fn pairs(texts: &[(&str, &str)]) -> Vec<(String, String)> {
    texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// One replaced file at every step: what stands under its name and beside it, what is decided, and what stands there then.
#[test]
fn a_replaced_file_is_old_or_new_and_a_foreign_text_is_never_lost() {
    type Texts = &'static [(&'static str, &'static str)];
    let table: &[(Texts, RecoveryAction, Texts)] = &[
        (&[("a", "old")], RecoveryAction::Forget, &[("a", "old")]),
        (&[("a", "old"), (STAGED, "")], RecoveryAction::Forget, &[("a", "old")]),
        (&[("a", "old"), (STAGED, "n")], RecoveryAction::Forget, &[("a", "old")]),
        (&[("a", "old"), (STAGED, "new")], RecoveryAction::Forget, &[("a", "old")]),
        (&[("a", "new"), (STAGED, "old")], RecoveryAction::Settle, &[("a", "new")]),
        (&[("a", "new")], RecoveryAction::Settle, &[("a", "new")]),
        (&[("a", "new"), (STAGED, "new")], RecoveryAction::Settle, &[("a", "new")]),
        (&[("a", "theirs"), (STAGED, "old")], RecoveryAction::Settle, &[("a", "theirs")]),
        (&[("a", "theirs"), (STAGED, "new")], RecoveryAction::Forget, &[("a", "theirs")]),
        (&[("a", "theirs")], RecoveryAction::Forget, &[("a", "theirs")]),
        (&[("a", "new"), (STAGED, "theirs")], RecoveryAction::Forget, &[("a", "theirs")]),
        (&[("a", "old"), (STAGED, "theirs")], RecoveryAction::Forget, &[("a", "old"), (KEPT, "theirs")]),
        (&[("a", "one"), (STAGED, "two")], RecoveryAction::Forget, &[("a", "one"), (KEPT, "two")]),
        (&[], RecoveryAction::Forget, &[]),
    ];
    for (was, action, is) in table {
        let fixture = Fixture::new(was).with_texts(&["old", "new"]);
        let file = interrupted("a", STAGED, Some("old"), Some("new"));
        let (decision, notes) = fixture.recover(&[fixture.recorded(file, Some("old"), Some("new"))]);
        assert_eq!((decision, fixture.now()), (*action, pairs(is)), "{was:?} {notes:?}");
        assert_eq!(
            notes.is_empty(),
            !is.iter().any(|(name, _)| name.ends_with(".kept")),
            "{was:?} {notes:?}"
        );
        let again = fixture.recover(&[interrupted("a", STAGED, Some("old"), Some("new"))]);
        assert_eq!(fixture.now(), pairs(is), "a second look changes nothing: {was:?} {again:?}");
    }
}

#[test]
fn a_new_and_a_removed_file_are_there_or_not() {
    type Texts = &'static [(&'static str, &'static str)];
    type Row = (Option<&'static str>, Option<&'static str>, Texts, RecoveryAction, Texts);
    let table: &[Row] = &[
        (None, Some("new"), &[(STAGED, "ne")], RecoveryAction::Forget, &[]),
        (None, Some("new"), &[(STAGED, "new")], RecoveryAction::Forget, &[]),
        (None, Some("new"), &[("a", "new")], RecoveryAction::Settle, &[("a", "new")]),
        (None, Some("new"), &[("a", "theirs"), (STAGED, "new")], RecoveryAction::Forget, &[("a", "theirs")]),
        (Some("old"), None, &[("a", "old")], RecoveryAction::Forget, &[("a", "old")]),
        (Some("old"), None, &[(STAGED, "old")], RecoveryAction::Settle, &[]),
        (Some("old"), None, &[], RecoveryAction::Settle, &[]),
        (Some("old"), None, &[(STAGED, "theirs")], RecoveryAction::Forget, &[("a", "theirs")]),
        (Some("old"), None, &[("a", "theirs"), (STAGED, "old")], RecoveryAction::Settle, &[("a", "theirs")]),
    ];
    for (before, after, was, action, is) in table {
        let fixture = Fixture::new(was).with_texts(&["old", "new"]);
        let file = fixture.recorded(interrupted("a", STAGED, *before, *after), *before, *after);
        let (decision, notes) = fixture.recover(&[file]);
        assert_eq!((decision, fixture.now()), (*action, pairs(is)), "{was:?} {notes:?}");
    }
}

#[test]
fn an_edit_of_which_some_is_there_is_taken_back_whole() {
    let z = interrupted("z", OTHER, Some("1"), Some("2"));
    type Texts = &'static [(&'static str, &'static str)];
    let table: &[(UnsettledFile, Texts, Texts)] = &[
        (
            interrupted("a", STAGED, Some("old"), Some("new")),
            &[("a", "new"), (STAGED, "old")],
            &[("a", "old"), ("z", "1")],
        ),
        (interrupted("a", STAGED, Some("old"), Some("new")), &[("a", "new")], &[("a", "old"), ("z", "1")]),
        (interrupted("a", STAGED, None, Some("new")), &[("a", "new")], &[("z", "1")]),
        (interrupted("a", STAGED, Some("old"), None), &[(STAGED, "old")], &[("a", "old"), ("z", "1")]),
    ];
    for (first, was, is) in table {
        let fixture = Fixture::new(was).with_texts(&["old", "new", "1", "2"]);
        fs::write(fixture.at("z"), "1").unwrap();
        fs::write(fixture.at(OTHER), "2").unwrap();
        assert_eq!(fixture.recover(&[first.clone(), z.clone()]), (RecoveryAction::Forget, vec![]), "{was:?}");
        assert_eq!(fixture.now(), pairs(is), "{was:?}");
        // The control: where the last one is there as well, all of it is.
        let fixture = Fixture::new(was).with_texts(&["old", "new", "1", "2"]);
        fs::write(fixture.at("z"), "2").unwrap();
        assert_eq!(fixture.recover(&[first.clone(), z.clone()]).0, RecoveryAction::Settle, "{was:?}");
        assert_eq!(fs::read_to_string(fixture.at("z")).unwrap(), "2");
    }
    let fixture = Fixture::new(&[("a", "theirs"), (STAGED, "old"), ("z", "1")]).with_texts(&["old", "new"]);
    let (action, notes) = fixture.recover(&[interrupted("a", STAGED, Some("old"), Some("new")), z]);
    assert_eq!((action, notes.len()), (RecoveryAction::Forget, 1));
    assert_eq!(fixture.now(), pairs(&[("a", "theirs"), ("a.0000000000000001.kept", "old"), ("z", "1")]));
}

/// The root was moved away, with a half-done edit in it, and another folder stands in its place.
#[test]
fn nothing_is_recovered_in_a_root_that_was_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let [root, aside] = ["p", "p.bak"].map(|name| dir.path().join(name));
    fs::create_dir(&root).unwrap();
    for (name, text) in [("a", "old"), (STAGED, "new")] {
        fs::write(root.join(name), text).unwrap();
    }
    let files = Files::open(std::slice::from_ref(&root)).unwrap();
    let recover = || {
        let interrupted_files = [interrupted("a", STAGED, Some("old"), Some("new"))];
        let edit = InterruptedEdit { root: 0, files: &interrupted_files, text: &|_| None, is_open: &|| true };
        files.recover_edit(&Locks::default(), &edit, &[]).action
    };
    fs::rename(&root, &aside).unwrap();
    fs::create_dir(&root).unwrap();
    assert_eq!((recover(), aside.join(STAGED).exists()), (RecoveryAction::Leave, true));
    // The control: where it is back, the edit is taken back.
    fs::remove_dir(&root).unwrap();
    fs::rename(&aside, &root).unwrap();
    assert_eq!((recover(), root.join(STAGED).exists()), (RecoveryAction::Forget, false));
}

/// An edit was killed after it had taken a `HEAD` away, and others brought the rest of a git folder meanwhile.
#[test]
fn a_removed_file_is_not_put_back_where_it_would_complete_a_git_folder() {
    let staged = ".HEAD.0000000000000001.lockgate";
    let common: &[(&str, &str)] = &[("w/HEAD", "x"), ("w/commondir", "../v\n"), ("v/objects/x", "x")];
    for (path, staged, parts, is_back) in [
        ("v/HEAD", staged, &[("v/objects/x", "x"), ("v/refs/x", "x")][..], false),
        // The control: without one of the parts the file is put back.
        ("v/HEAD", staged, &[("v/objects/x", "x"), ("v/other/x", "x")], true),
        ("v/refs/HEAD", staged, &[("v/HEAD", "x"), ("v/objects/x", "x"), ("v/refs/x", "x")], false),
        ("v/refs/a", STAGED, common, false),
        ("v/refs/a", STAGED, &common[1..], true),
    ] {
        let folder = path.rsplit_once('/').unwrap().0;
        let removed = format!("{folder}/{staged}");
        let mut texts = parts.to_vec();
        texts.extend([(removed.as_str(), "old"), ("z", "1"), (OTHER, "2")]);
        let fixture = Fixture::new(&texts).with_texts(&["old", "1", "2"]);
        let files =
            [interrupted(path, staged, Some("old"), None), interrupted("z", OTHER, Some("1"), Some("2"))];
        let (action, notes) = fixture.recover(&files);
        assert_eq!(
            (action, fixture.at(path).exists()),
            (RecoveryAction::Forget, is_back),
            "{path} {parts:?} {notes:?}"
        );
        let kept_path = removed.replace("/.", "/").replace(".lockgate", ".kept");
        assert_eq!(fs::read_to_string(fixture.at(if is_back { path } else { &kept_path })).unwrap(), "old");
        assert_eq!(notes.iter().any(|note| note.contains("git folder")), !is_back, "{notes:?}");
    }
}

#[test]
fn a_torn_file_is_put_back_and_another_s_text_is_not() {
    let (old, new) = ("0123456789".repeat(300), "abcdefghij".repeat(300));
    let torn = [new.split_at(1000).0, old.split_at(1000).1].concat();
    let fixture = Fixture::new(&[("a", &torn), (STAGED, &new)]).with_texts(&[&old, &new]);
    assert_eq!(
        fixture.recover(&[interrupted("a", STAGED, Some(&old), Some(&new))]),
        (RecoveryAction::Forget, vec![])
    );
    assert_eq!(fixture.now(), pairs(&[("a", &old)]));
    let theirs = torn.replace("0", "x");
    let fixture = Fixture::new(&[("a", &theirs), (STAGED, &new)]).with_texts(&[&old, &new]);
    let _ = fixture.recover(&[interrupted("a", STAGED, Some(&old), Some(&new))]);
    assert_eq!(fixture.now(), pairs(&[("a", &theirs)]));
}

/// Half of an edit that a person made by hand, while the edit itself was killed before its first exchange.
#[test]
fn a_part_of_an_edit_that_somebody_saved_is_theirs_unless_the_file_may_have_been_written_into() {
    let (old, new, theirs) = ("one\ntwo\n", "ONE\nTWO\n", "ONE\ntwo\n");
    for (in_place, is) in [(false, theirs), (true, old)] {
        let fixture = Fixture::new(&[("a", theirs), (STAGED, new)]).with_texts(&[old, new]);
        let inodes =
            Inodes { copy: Some(fixture.inode(STAGED)), before: Some(fixture.inode("a").number), in_place };
        let file = UnsettledFile { inodes: Some(inodes), ..interrupted("a", STAGED, Some(old), Some(new)) };
        assert_eq!(fixture.recover(&[file]).0, RecoveryAction::Forget);
        assert_eq!(
            fixture.now(),
            pairs(&[("a", is)]),
            "the control is the guess by the text alone: {in_place}"
        );
    }
}

#[test]
fn folders_that_were_made_go_with_what_was_not_completed() {
    let staged = "d/e/.a.0000000000000001.lockgate";
    let fixture = Fixture::new(&[(staged, "new")]);
    let file = UnsettledFile { folders: 2, ..interrupted("d/e/a", STAGED, None, Some("new")) };
    assert_eq!(fixture.recover(std::slice::from_ref(&file)), (RecoveryAction::Forget, vec![]));
    assert!(!fixture.at("d").exists());
    let fixture = Fixture::new(&[(staged, "new"), ("d/theirs", "")]);
    let _ = fixture.recover(std::slice::from_ref(&file));
    assert!(fixture.at("d/theirs").exists() && !fixture.at("d/e").exists());
    // Only the outermost was made.
    let fixture = Fixture::new(&[]);
    std::fs::create_dir(fixture.at("d")).unwrap();
    assert_eq!(
        fixture.recover(&[UnsettledFile { folders: 3, path: "d/e/f/a".to_owned(), ..file }]),
        (RecoveryAction::Forget, vec![])
    );
    assert!(!fixture.at("d").exists());
}

#[test]
fn what_somebody_is_still_at_or_has_settled_is_left_alone() {
    let fixture = Fixture::new(&[("d/a", "new"), ("d/.a.0000000000000001.lockgate", "old")]);
    let file = UnsettledFile { folders: 1, ..interrupted("d/a", STAGED, Some("old"), Some("new")) };
    // Its owner took the lock before the folder was there.
    let top = fixture.files.admit("x").unwrap().key();
    let early = LockKey::below(top.folder_identity(), "d/a");
    for key in [early, fixture.files.admit("d/a").unwrap().key()] {
        let guard = fixture.locks.try_hold(&[key]).unwrap();
        assert_eq!(fixture.recover(std::slice::from_ref(&file)).0, RecoveryAction::Wait);
        drop(guard);
    }
    let is_locked = Cell::new(false);
    let is_open = || {
        is_locked.set(fixture.locks.try_hold(&[fixture.files.admit("d/a").unwrap().key()]).is_none());
        false
    };
    let settled_edit =
        InterruptedEdit { root: 0, files: std::slice::from_ref(&file), text: &|_| None, is_open: &is_open };
    assert_eq!(
        fixture.files.recover_edit(&fixture.locks, &settled_edit, &[]).action,
        RecoveryAction::Nothing
    );
    assert!(is_locked.get(), "it was asked under the lock");
    assert_eq!(fixture.recover(&[file]).0, RecoveryAction::Settle, "the control");
}

#[test]
fn the_key_of_a_file_is_that_of_a_call_even_where_its_folder_is_gone() {
    let fixture = Fixture::new(&[]);
    let keys =
        super::inspect::keys(&fixture.files.roots[0], &interrupted("d/e/a", STAGED, None, Some("new")));
    assert_eq!(keys, [fixture.files.admit("d/e/a").unwrap().key()]);
}

#[test]
fn a_text_that_was_not_kept_is_recovered_by_what_stands_there() {
    for (was, action, is) in [
        ([("a", "new"), (STAGED, "old")], RecoveryAction::Settle, "new"),
        ([("a", "old"), (STAGED, "ne")], RecoveryAction::Forget, "old"),
    ] {
        let fixture = Fixture::new(&was);
        let file =
            fixture.recorded(interrupted("a", STAGED, Some("old"), Some("new")), Some("old"), Some("new"));
        assert_eq!(fixture.recover(&[file]), (action, vec![]));
        assert_eq!(fixture.now(), pairs(&[("a", is)]));
    }
}

/// Files of somebody else beside an edit that was killed: each is kept, byte for byte, and told.
#[test]
fn a_file_that_somebody_made_under_the_staged_name_is_kept_whatever_it_holds() {
    for text in ["", "n", "new", "old"] {
        for (now, action) in [("old", RecoveryAction::Forget), ("new", RecoveryAction::Settle)] {
            let fixture = Fixture::new(&[("a", now), ("elsewhere", "")]).with_texts(&["old", "new"]);
            let file = interrupted("a", STAGED, Some("old"), Some("new"));
            let copy = Some(fixture.inode(if now == "new" { "a" } else { "elsewhere" }));
            let before = (now == "old").then(|| fixture.inode("a").number);
            let file = UnsettledFile { inodes: Some(Inodes { copy, before, in_place: false }), ..file };
            fs::write(fixture.at(STAGED), text).unwrap();
            let (decision, notes) = fixture.recover(&[file]);
            let is = pairs(&[("a", now), (KEPT, text), ("elsewhere", "")]);
            assert_eq!((decision, fixture.now()), (action, is), "{text:?} beside {now:?}: {notes:?}");
            assert!(notes.len() == 1 && notes[0].contains(KEPT), "{notes:?}");
        }
        // The control: the same file is removed where it is the edit's own.
        let fixture = Fixture::new(&[("a", "old"), (STAGED, text)]).with_texts(&["old", "new"]);
        let file = interrupted("a", STAGED, Some("old"), Some("new"));
        let inodes = Inodes {
            copy: Some(fixture.inode(STAGED)),
            before: Some(fixture.inode(STAGED).number),
            in_place: false,
        };
        assert_eq!(
            fixture.recover(&[UnsettledFile { inodes: Some(inodes), ..file }]),
            (RecoveryAction::Forget, vec![]),
            "{text:?}"
        );
        assert_eq!(fixture.now(), pairs(&[("a", "old")]), "{text:?}");
    }
}

#[test]
fn a_staged_copy_that_somebody_wrote_into_is_kept() {
    let fixture = Fixture::new(&[("a", "old"), (STAGED, "new, and more")]).with_texts(&["old", "new"]);
    let inodes = Inodes {
        copy: Some(fixture.inode(STAGED)),
        before: Some(fixture.inode("a").number),
        in_place: false,
    };
    let file = UnsettledFile { inodes: Some(inodes), ..interrupted("a", STAGED, Some("old"), Some("new")) };
    assert_eq!(
        (fixture.recover(&[file]).0, fixture.now()),
        (RecoveryAction::Forget, pairs(&[("a", "old"), (KEPT, "new, and more")]))
    );
}

#[test]
fn a_file_beside_one_that_was_made_or_removed_is_kept() {
    let z = interrupted("z", OTHER, Some("1"), Some("2"));
    for is_whole in [true, false] {
        for text in ["", "n", "theirs"] {
            let fixture = Fixture::new(&[("a", "new"), ("z", if is_whole { "2" } else { "1" })])
                .with_texts(&["1", "2", "new"]);
            let inodes = Inodes { copy: Some(fixture.inode("a")), before: None, in_place: false };
            let file = UnsettledFile { inodes: Some(inodes), ..interrupted("a", STAGED, None, Some("new")) };
            fs::write(fixture.at(STAGED), text).unwrap();
            let (action, notes) = fixture.recover(&[file, z.clone()]);
            let all: &[(&str, &str)] = if is_whole {
                &[("a", "new"), (KEPT, text), ("z", "2")]
            } else {
                &[(KEPT, text), ("z", "1")]
            };
            let expected_action = if is_whole { RecoveryAction::Settle } else { RecoveryAction::Forget };
            assert_eq!((action, fixture.now()), (expected_action, pairs(all)), "{text:?}: {notes:?}");
        }
    }
    let fixture = Fixture::new(&[]).with_texts(&["old"]);
    let file = interrupted("a", STAGED, Some("old"), None);
    let file =
        UnsettledFile { inodes: Some(Inodes { copy: None, before: Some(1), in_place: false }), ..file };
    fs::write(fixture.at(STAGED), "").unwrap();
    let _ = fixture.recover(&[file]);
    assert_eq!(fixture.now(), pairs(&[(KEPT, "")]));
}

/// Journals of earlier versions do not say which file a staged copy is.
#[test]
fn without_a_record_only_a_whole_text_is_known_again() {
    for (was, action, is) in [
        ([("a", "old"), (STAGED, "")], RecoveryAction::Forget, &[("a", "old"), (KEPT, "")][..]),
        ([("a", "old"), (STAGED, "n")], RecoveryAction::Forget, &[("a", "old"), (KEPT, "n")]),
        ([("a", "new"), (STAGED, "")], RecoveryAction::Forget, &[("a", "new"), (KEPT, "")]),
        ([("a", "old"), (STAGED, "new")], RecoveryAction::Forget, &[("a", "old")]),
        ([("a", "new"), (STAGED, "old")], RecoveryAction::Settle, &[("a", "new")]),
        ([("a", "new"), (STAGED, "new")], RecoveryAction::Settle, &[("a", "new")]),
    ] {
        let fixture = Fixture::new(&was).with_texts(&["old", "new"]);
        let (decision, notes) = fixture.recover(&[interrupted("a", STAGED, Some("old"), Some("new"))]);
        assert_eq!((decision, fixture.now()), (action, pairs(is)), "{was:?} {notes:?}");
    }
}

#[test]
fn only_old_staged_copies_whose_text_is_elsewhere_and_that_no_journal_names_are_swept() {
    let is_named = |name: &str| name == OTHER;
    let is_kept = |text: Version| text == version("in the journal");
    let known = JournalNames { is_named: &is_named, is_kept: &is_kept };
    let staged = |number: u32| format!(".a.{number:016x}.lockgate");
    let fixture = Fixture::new(&[("a", "the file"), (OTHER, "in the journal")]);
    let texts = ["the file", "in the journal", "theirs", "", "the fi"];
    (1..).zip(texts).for_each(|(number, text)| fs::write(fixture.at(&staged(number)), text).unwrap());
    assert!(fixture.files.sweep(&fixture.locks, (0, ""), &known, MIN_AGE).is_empty(), "they are young");
    assert_eq!(fixture.now().len(), 7);
    let notes = fixture.files.sweep(&fixture.locks, (0, ""), &known, Duration::ZERO);
    let names: Vec<String> = fixture.now().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [staged(3), staged(4), staged(5), OTHER.to_owned(), "a".to_owned()]);
    assert_eq!(notes.iter().filter(|note| note.contains("was removed")).count(), 2, "{notes:?}");
    assert_eq!(notes.iter().filter(|note| note.contains("nowhere else")).count(), 3, "{notes:?}");
}
