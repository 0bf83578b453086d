//! Half-done edits as a killed process leaves them, at each step, and what becomes of them.

use super::*;
use crate::store::Files;
use crate::store::inode::Inode;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const STAGED: &str = ".a.0000000000000001.lockgate";
const KEPT: &str = "a.0000000000000001.kept";
const OTHER: &str = ".z.0000000000000002.lockgate";

struct Scene {
    dir: TempDir,
    files: Files,
    locks: Locks,
    texts: HashMap<String, Vec<u8>>,
}

fn stamp(text: &str) -> Version {
    Version::hash(text.as_bytes())
}

fn left<'a>(
    path: &'a str,
    staged: &'a str,
    before: Option<&str>,
    after: Option<&str>,
) -> InterruptedFile<'a> {
    InterruptedFile {
        path,
        staged,
        before: before.map(stamp),
        after: after.map(stamp),
        folders: 0,
        inodes: None,
    }
}

impl Scene {
    fn new(texts: &[(&str, &str)]) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in texts {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), text).unwrap();
        }
        let files = Files::open(&[dir.path().to_owned()]).unwrap();
        Scene { dir, files, locks: Locks::default(), texts: HashMap::new() }
    }

    fn kept(mut self, texts: &[&str]) -> Scene {
        self.texts = texts.iter().map(|text| (stamp(text).hex(), text.as_bytes().to_vec())).collect();
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
    fn recorded<'a>(
        &self,
        left: InterruptedFile<'a>,
        before: Option<&str>,
        after: Option<&str>,
    ) -> InterruptedFile<'a> {
        let folder = left.path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let names = [format!("{folder}{}", left.staged), left.path.to_owned()];
        let holds = |name: &String, is: &dyn Fn(&str) -> bool| {
            fs::read_to_string(self.at(name)).ok().filter(|text| is(text)).map(|_| self.inode(name))
        };
        let find = |is: &dyn Fn(&str) -> bool| names.iter().find_map(|name| holds(name, is));
        let copy = find(&|text| after.is_some_and(|after| after.starts_with(text)));
        let before = find(&|text| Some(text) == before).map(|inode| inode.number);
        InterruptedFile { inodes: Some(Inodes { copy, before, in_place: false }), ..left }
    }

    fn recover(&self, files: &[InterruptedFile<'_>]) -> (RecoveryAction, Vec<String>) {
        let text = |stamp: Version| self.texts.get(&stamp.hex()).cloned();
        let half = InterruptedEdit { root: 0, files, text: &text, is_open: &|| true };
        let done = self.files.recover(&self.locks, &half);
        (done.action, done.notes)
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
    for (was, fate, is) in table {
        let scene = Scene::new(was).kept(&["old", "new"]);
        let half = left("a", STAGED, Some("old"), Some("new"));
        let (decided, notes) = scene.recover(&[scene.recorded(half, Some("old"), Some("new"))]);
        assert_eq!((decided, scene.now()), (*fate, pairs(is)), "{was:?} {notes:?}");
        assert_eq!(
            notes.is_empty(),
            !is.iter().any(|(name, _)| name.ends_with(".kept")),
            "{was:?} {notes:?}"
        );
        let again = scene.recover(&[left("a", STAGED, Some("old"), Some("new"))]);
        assert_eq!(scene.now(), pairs(is), "a second look changes nothing: {was:?} {again:?}");
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
    for (before, after, was, fate, is) in table {
        let scene = Scene::new(was).kept(&["old", "new"]);
        let half = scene.recorded(left("a", STAGED, *before, *after), *before, *after);
        let (decided, notes) = scene.recover(&[half]);
        assert_eq!((decided, scene.now()), (*fate, pairs(is)), "{was:?} {notes:?}");
    }
}

#[test]
fn an_edit_of_which_some_is_there_is_taken_back_whole() {
    let z = left("z", OTHER, Some("1"), Some("2"));
    type Texts = &'static [(&'static str, &'static str)];
    let table: &[(InterruptedFile<'_>, Texts, Texts)] = &[
        (
            left("a", STAGED, Some("old"), Some("new")),
            &[("a", "new"), (STAGED, "old")],
            &[("a", "old"), ("z", "1")],
        ),
        (left("a", STAGED, Some("old"), Some("new")), &[("a", "new")], &[("a", "old"), ("z", "1")]),
        (left("a", STAGED, None, Some("new")), &[("a", "new")], &[("z", "1")]),
        (left("a", STAGED, Some("old"), None), &[(STAGED, "old")], &[("a", "old"), ("z", "1")]),
    ];
    for (first, was, is) in table {
        let scene = Scene::new(was).kept(&["old", "new", "1", "2"]);
        fs::write(scene.at("z"), "1").unwrap();
        fs::write(scene.at(OTHER), "2").unwrap();
        assert_eq!(scene.recover(&[*first, z]), (RecoveryAction::Forget, vec![]), "{was:?}");
        assert_eq!(scene.now(), pairs(is), "{was:?}");
        // The control: where the last one is there as well, all of it is.
        let scene = Scene::new(was).kept(&["old", "new", "1", "2"]);
        fs::write(scene.at("z"), "2").unwrap();
        assert_eq!(scene.recover(&[*first, z]).0, RecoveryAction::Settle, "{was:?}");
        assert_eq!(fs::read_to_string(scene.at("z")).unwrap(), "2");
    }
    let scene = Scene::new(&[("a", "theirs"), (STAGED, "old"), ("z", "1")]).kept(&["old", "new"]);
    let (fate, notes) = scene.recover(&[left("a", STAGED, Some("old"), Some("new")), z]);
    assert_eq!((fate, notes.len()), (RecoveryAction::Forget, 1));
    assert_eq!(scene.now(), pairs(&[("a", "theirs"), ("a.0000000000000001.kept", "old"), ("z", "1")]));
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
        let half = [left("a", STAGED, Some("old"), Some("new"))];
        let half = InterruptedEdit { root: 0, files: &half, text: &|_| None, is_open: &|| true };
        files.recover(&Locks::default(), &half).action
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
        let scene = Scene::new(&texts).kept(&["old", "1", "2"]);
        let half = [left(path, staged, Some("old"), None), left("z", OTHER, Some("1"), Some("2"))];
        let (fate, notes) = scene.recover(&half);
        assert_eq!(
            (fate, scene.at(path).exists()),
            (RecoveryAction::Forget, is_back),
            "{path} {parts:?} {notes:?}"
        );
        let kept = removed.replace("/.", "/").replace(".lockgate", ".kept");
        assert_eq!(fs::read_to_string(scene.at(if is_back { path } else { &kept })).unwrap(), "old");
        assert_eq!(notes.iter().any(|note| note.contains("git folder")), !is_back, "{notes:?}");
    }
}

#[test]
fn a_torn_file_is_put_back_and_another_s_text_is_not() {
    let (old, new) = ("0123456789".repeat(300), "abcdefghij".repeat(300));
    let torn = [new.split_at(1000).0, old.split_at(1000).1].concat();
    let scene = Scene::new(&[("a", &torn), (STAGED, &new)]).kept(&[&old, &new]);
    assert_eq!(scene.recover(&[left("a", STAGED, Some(&old), Some(&new))]), (RecoveryAction::Forget, vec![]));
    assert_eq!(scene.now(), pairs(&[("a", &old)]));
    let theirs = torn.replace("0", "x");
    let scene = Scene::new(&[("a", &theirs), (STAGED, &new)]).kept(&[&old, &new]);
    let _ = scene.recover(&[left("a", STAGED, Some(&old), Some(&new))]);
    assert_eq!(scene.now(), pairs(&[("a", &theirs)]));
}

/// Half of an edit that a person made by hand, while the edit itself was killed before its first exchange.
#[test]
fn a_part_of_an_edit_that_somebody_saved_is_theirs_unless_the_file_may_have_been_written_into() {
    let (old, new, theirs) = ("one\ntwo\n", "ONE\nTWO\n", "ONE\ntwo\n");
    for (in_place, is) in [(false, theirs), (true, old)] {
        let scene = Scene::new(&[("a", theirs), (STAGED, new)]).kept(&[old, new]);
        let inodes =
            Inodes { copy: Some(scene.inode(STAGED)), before: Some(scene.inode("a").number), in_place };
        let half = InterruptedFile { inodes: Some(inodes), ..left("a", STAGED, Some(old), Some(new)) };
        assert_eq!(scene.recover(&[half]).0, RecoveryAction::Forget);
        assert_eq!(
            scene.now(),
            pairs(&[("a", is)]),
            "the control is the guess by the text alone: {in_place}"
        );
    }
}

#[test]
fn folders_that_were_made_go_with_what_was_not_completed() {
    let staged = "d/e/.a.0000000000000001.lockgate";
    let scene = Scene::new(&[(staged, "new")]);
    let half = InterruptedFile { folders: 2, ..left("d/e/a", STAGED, None, Some("new")) };
    assert_eq!(scene.recover(&[half]), (RecoveryAction::Forget, vec![]));
    assert!(!scene.at("d").exists());
    let scene = Scene::new(&[(staged, "new"), ("d/theirs", "")]);
    let _ = scene.recover(&[half]);
    assert!(scene.at("d/theirs").exists() && !scene.at("d/e").exists());
    // Only the outermost was made.
    let scene = Scene::new(&[]);
    std::fs::create_dir(scene.at("d")).unwrap();
    assert_eq!(
        scene.recover(&[InterruptedFile { folders: 3, path: "d/e/f/a", ..half }]),
        (RecoveryAction::Forget, vec![])
    );
    assert!(!scene.at("d").exists());
}

#[test]
fn what_somebody_is_still_at_or_has_settled_is_left_alone() {
    let scene = Scene::new(&[("d/a", "new"), ("d/.a.0000000000000001.lockgate", "old")]);
    let half = InterruptedFile { folders: 1, ..left("d/a", STAGED, Some("old"), Some("new")) };
    // Its owner took the lock before the folder was there.
    let top = scene.files.admit("x").unwrap().key();
    let early = LockKey::below(top.folder_identity(), "d/a");
    for key in [early, scene.files.admit("d/a").unwrap().key()] {
        let held = scene.locks.try_hold(&[key]).unwrap();
        assert_eq!(scene.recover(&[half]).0, RecoveryAction::Leave);
        drop(held);
    }
    let asked = Cell::new(false);
    let is_open = || {
        asked.set(scene.locks.try_hold(&[scene.files.admit("d/a").unwrap().key()]).is_none());
        false
    };
    let settled = InterruptedEdit { root: 0, files: &[half], text: &|_| None, is_open: &is_open };
    assert_eq!(scene.files.recover(&scene.locks, &settled).action, RecoveryAction::Leave);
    assert!(asked.get(), "it was asked under the lock");
    assert_eq!(scene.recover(&[half]).0, RecoveryAction::Settle, "the control");
}

#[test]
fn a_text_that_was_not_kept_is_recovered_by_what_stands_there() {
    for (was, fate, is) in [
        ([("a", "new"), (STAGED, "old")], RecoveryAction::Settle, "new"),
        ([("a", "old"), (STAGED, "ne")], RecoveryAction::Forget, "old"),
    ] {
        let scene = Scene::new(&was);
        let half = scene.recorded(left("a", STAGED, Some("old"), Some("new")), Some("old"), Some("new"));
        assert_eq!(scene.recover(&[half]), (fate, vec![]));
        assert_eq!(scene.now(), pairs(&[("a", is)]));
    }
}

/// Files of somebody else beside an edit that was killed: each is kept, byte for byte, and told.
#[test]
fn a_file_that_somebody_made_under_the_staged_name_is_kept_whatever_it_holds() {
    for text in ["", "n", "new", "old"] {
        for (now, fate) in [("old", RecoveryAction::Forget), ("new", RecoveryAction::Settle)] {
            let scene = Scene::new(&[("a", now), ("elsewhere", "")]).kept(&["old", "new"]);
            let half = left("a", STAGED, Some("old"), Some("new"));
            let copy = Some(scene.inode(if now == "new" { "a" } else { "elsewhere" }));
            let before = (now == "old").then(|| scene.inode("a").number);
            let half = InterruptedFile { inodes: Some(Inodes { copy, before, in_place: false }), ..half };
            fs::write(scene.at(STAGED), text).unwrap();
            let (decided, notes) = scene.recover(&[half]);
            let is = pairs(&[("a", now), (KEPT, text), ("elsewhere", "")]);
            assert_eq!((decided, scene.now()), (fate, is), "{text:?} beside {now:?}: {notes:?}");
            assert!(notes.len() == 1 && notes[0].contains(KEPT), "{notes:?}");
        }
        // The control: the same file is removed where it is the edit's own.
        let scene = Scene::new(&[("a", "old"), (STAGED, text)]).kept(&["old", "new"]);
        let half = left("a", STAGED, Some("old"), Some("new"));
        let inodes = Inodes {
            copy: Some(scene.inode(STAGED)),
            before: Some(scene.inode(STAGED).number),
            in_place: false,
        };
        assert_eq!(
            scene.recover(&[InterruptedFile { inodes: Some(inodes), ..half }]),
            (RecoveryAction::Forget, vec![]),
            "{text:?}"
        );
        assert_eq!(scene.now(), pairs(&[("a", "old")]), "{text:?}");
    }
}

#[test]
fn a_staged_copy_that_somebody_wrote_into_is_kept() {
    let scene = Scene::new(&[("a", "old"), (STAGED, "new, and more")]).kept(&["old", "new"]);
    let inodes =
        Inodes { copy: Some(scene.inode(STAGED)), before: Some(scene.inode("a").number), in_place: false };
    let half = InterruptedFile { inodes: Some(inodes), ..left("a", STAGED, Some("old"), Some("new")) };
    assert_eq!(
        (scene.recover(&[half]).0, scene.now()),
        (RecoveryAction::Forget, pairs(&[("a", "old"), (KEPT, "new, and more")]))
    );
}

#[test]
fn a_file_beside_one_that_was_made_or_removed_is_kept() {
    let z = left("z", OTHER, Some("1"), Some("2"));
    for is_whole in [true, false] {
        for text in ["", "n", "theirs"] {
            let scene =
                Scene::new(&[("a", "new"), ("z", if is_whole { "2" } else { "1" })]).kept(&["1", "2", "new"]);
            let inodes = Inodes { copy: Some(scene.inode("a")), before: None, in_place: false };
            let half = InterruptedFile { inodes: Some(inodes), ..left("a", STAGED, None, Some("new")) };
            fs::write(scene.at(STAGED), text).unwrap();
            let (fate, notes) = scene.recover(&[half, z]);
            let all: &[(&str, &str)] = if is_whole {
                &[("a", "new"), (KEPT, text), ("z", "2")]
            } else {
                &[(KEPT, text), ("z", "1")]
            };
            let wanted = if is_whole { RecoveryAction::Settle } else { RecoveryAction::Forget };
            assert_eq!((fate, scene.now()), (wanted, pairs(all)), "{text:?}: {notes:?}");
        }
    }
    let scene = Scene::new(&[]).kept(&["old"]);
    let half = left("a", STAGED, Some("old"), None);
    let half =
        InterruptedFile { inodes: Some(Inodes { copy: None, before: Some(1), in_place: false }), ..half };
    fs::write(scene.at(STAGED), "").unwrap();
    let _ = scene.recover(&[half]);
    assert_eq!(scene.now(), pairs(&[(KEPT, "")]));
}

/// Journals of earlier versions do not say which file a staged copy is.
#[test]
fn without_a_record_only_a_whole_text_is_known_again() {
    for (was, fate, is) in [
        ([("a", "old"), (STAGED, "")], RecoveryAction::Forget, &[("a", "old"), (KEPT, "")][..]),
        ([("a", "old"), (STAGED, "n")], RecoveryAction::Forget, &[("a", "old"), (KEPT, "n")]),
        ([("a", "new"), (STAGED, "")], RecoveryAction::Forget, &[("a", "new"), (KEPT, "")]),
        ([("a", "old"), (STAGED, "new")], RecoveryAction::Forget, &[("a", "old")]),
        ([("a", "new"), (STAGED, "old")], RecoveryAction::Settle, &[("a", "new")]),
        ([("a", "new"), (STAGED, "new")], RecoveryAction::Settle, &[("a", "new")]),
    ] {
        let scene = Scene::new(&was).kept(&["old", "new"]);
        let (decided, notes) = scene.recover(&[left("a", STAGED, Some("old"), Some("new"))]);
        assert_eq!((decided, scene.now()), (fate, pairs(is)), "{was:?} {notes:?}");
    }
}

#[test]
fn only_old_staged_copies_whose_text_is_elsewhere_and_that_no_journal_names_are_swept() {
    let is_named = |name: &str| name == OTHER;
    let is_kept = |text: Version| text == stamp("in the journal");
    let known = JournalNames { is_named: &is_named, is_kept: &is_kept };
    let staged = |number: u32| format!(".a.{number:016x}.lockgate");
    let scene = Scene::new(&[("a", "the file"), (OTHER, "in the journal")]);
    let texts = ["the file", "in the journal", "theirs", "", "the fi"];
    (1..).zip(texts).for_each(|(number, text)| fs::write(scene.at(&staged(number)), text).unwrap());
    assert!(scene.files.sweep(&scene.locks, 0, "", &known).is_empty(), "they are young");
    assert_eq!(scene.now().len(), 7);
    let notes = sweep::older(scene.files.roots(), &scene.locks, (0, ""), &known, Duration::ZERO);
    let left: Vec<String> = scene.now().into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, [staged(3), staged(4), staged(5), OTHER.to_owned(), "a".to_owned()]);
    assert_eq!(notes.iter().filter(|note| note.contains("was removed")).count(), 2, "{notes:?}");
    assert_eq!(notes.iter().filter(|note| note.contains("nowhere else")).count(), 3, "{notes:?}");
}
