//! The journal as publishing and the engine use it, over files of real roots.

mod bounds;

use super::{EditId, EditMeta, Entry, EntryKind, Journal, PendingEdit, RetentionLimits};
use crate::error::Code;
use crate::store::publish::{Content, FileWrite, JournalRecord};
use crate::store::state::StateFolder;
use crate::store::{FileLocation, Files, Locks};
use crate::text::Version;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const ALL: RetentionLimits = RetentionLimits { size: 1 << 30, age: std::time::Duration::from_secs(1 << 30) };

/// Two roots, and their journals.
struct Scene {
    dir: TempDir,
    files: Files,
    journal: Journal,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        for root in ["one", "two"] {
            fs::create_dir_all(dir.path().join(root).join("deep")).unwrap();
        }
        Scene::over(dir)
    }

    /// As another process would find it.
    fn over(dir: TempDir) -> Scene {
        let roots = ["one", "two"].map(|root| dir.path().join(root).canonicalize().unwrap());
        let files = Files::open(&roots).unwrap();
        let own = dir.path().join("state");
        let state = StateFolder::at(Ok(own.clone()), Ok(own), &roots);
        Scene { journal: Journal::open(&state, &files), dir, files }
    }

    fn again(self) -> Scene {
        let Scene { dir, journal, .. } = self;
        drop(journal);
        Scene::over(dir)
    }

    fn place(&self, path: &str) -> FileLocation {
        self.files.admit(path).unwrap()
    }

    fn second(&self, path: &str) -> FileLocation {
        self.place(self.dir.path().canonicalize().unwrap().join("two").join(path).to_str().unwrap())
    }

    fn databases(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.dir.path().join("state")).unwrap();
        let folders = folders.map(|folder| folder.unwrap().path().join("journal.db"));
        folders.filter(|database| database.exists()).collect()
    }

    fn begin(&self, place: &FileLocation, before: Option<&str>, after: &str) -> PendingEdit {
        let path = self.files.root_path(place).unwrap().join(place.in_root());
        if let Some(before) = before {
            fs::write(path, before).unwrap();
        }
        let snapshot = self.files.read(place, 1 << 20).unwrap();
        let before = snapshot.as_ref().map(|read| read.expected(Content::new(read.bytes())));
        let told = JournalRecord { added: 1, removed: 1, keep: true };
        let after = Some(Content::new(after.as_bytes()));
        let write = FileWrite { place, before, after, mode: None, folders: 0, record: told };
        self.journal.begin(&deed(EntryKind::Edit), &[write], &[".a.lockgate".to_owned()]).unwrap()
    }

    fn edit(&self, place: &FileLocation, before: &str, after: &str) -> EditId {
        self.begin(place, Some(before), after).settle().unwrap()
    }

    /// Writes down that an edit of this place was taken back or made again.
    fn revert(&self, place: &FileLocation, kind: EntryKind) {
        let write = FileWrite {
            place,
            before: None,
            after: Some(Content::new(b"x")),
            mode: None,
            folders: 0,
            record: JournalRecord::default(),
        };
        self.journal.begin(&deed(kind), &[write], &["x".to_owned()]).unwrap().settle().unwrap();
    }

    fn text(&self, place: &FileLocation, text: &str) -> Option<String> {
        let found = self.journal.text(place, &Version::hash(text.as_bytes()).to_string()).unwrap();
        found.map(|text| String::from_utf8(text).unwrap())
    }
}

fn deed(kind: EntryKind) -> EditMeta {
    let request = Version::hash(b"request");
    EditMeta { tool: "edit_file".into(), author: "tester".into(), request, kind, gates: String::new() }
}

fn ids(entries: &[Entry]) -> Vec<EditId> {
    entries.iter().map(|entry| entry.id).collect()
}

#[test]
fn each_root_has_a_journal_and_paths_are_told_as_a_caller_may_name_them() {
    let scene = Scene::new();
    let (a, b) = (scene.place("deep/a"), scene.second("deep/b"));
    let (first, second) = (scene.edit(&a, "1", "2"), scene.edit(&b, "3", "4"));
    assert_ne!(first.journal(), second.journal());
    assert_eq!(scene.databases().len(), 2);
    for (place, id) in [(&a, first), (&b, second)] {
        let entry = scene.journal.latest(place).unwrap().unwrap();
        assert_eq!((entry.id, entry.changes[0].path.as_str()), (id, place.shown()));
        assert_eq!(scene.journal.entry(id).unwrap(), Some(entry));
    }
    assert_eq!(scene.text(&a, "1").as_deref(), Some("1"));
    assert_eq!(scene.text(&b, "1"), None, "a text is only in the journal of its root");
    assert_eq!(ids(&scene.journal.entries(None, 9).unwrap()).len(), 2);
    assert_eq!(ids(&scene.journal.entries(Some(&b), 9).unwrap()), [second]);
    assert_eq!(scene.journal.to_undo(Some(&a)).unwrap().unwrap().id, first);
    assert_eq!(scene.journal.to_undo(Some(&b)).unwrap().unwrap().id, second);
}

#[test]
fn the_last_edit_is_looked_for_in_all_roots() {
    let scene = Scene::new();
    let places =
        [scene.place("a"), scene.second("b"), scene.second("c"), scene.place("d"), scene.second("e")];
    let edits: Vec<EditId> = places.iter().map(|place| scene.edit(place, "1", "2")).collect();
    let turn = |id: EditId, kind| {
        let at = edits.iter().position(|edit| *edit == id).unwrap();
        scene.revert(&places[at], kind);
        id
    };
    let to_undo = || scene.journal.to_undo(None).unwrap().map(|entry| entry.id);
    let to_redo = || scene.journal.to_redo(None).unwrap().map(|entry| entry.id);
    let newest_first: Vec<EditId> = edits.iter().rev().copied().collect();
    assert_eq!(ids(&scene.journal.entries(None, 9).unwrap()), newest_first);
    assert_eq!(ids(&scene.journal.entries(None, 2).unwrap()), newest_first[..2]);
    let of_first_root =
        scene.journal.journals[0].query(|database| database.last(super::EditFilter::ToUndo)).unwrap();
    assert_ne!(of_first_root.unwrap().1.id, newest_first[0], "the control: the first root's journal alone");
    let undone: Vec<EditId> =
        std::iter::from_fn(|| to_undo().map(|edit| turn(edit, EntryKind::Undo(edit)))).collect();
    assert_eq!(undone, newest_first);
    let redone: Vec<EditId> =
        std::iter::from_fn(|| to_redo().map(|edit| turn(edit, EntryKind::Redo(edit)))).collect();
    assert_eq!(redone, edits);
    assert_eq!(to_undo(), newest_first.first().copied());
}

#[test]
fn lists_of_several_roots_are_merged_and_each_keeps_its_order() {
    let entry = |journal, number, at: u64| Entry {
        id: EditId::new(journal, number),
        at: std::time::UNIX_EPOCH + std::time::Duration::from_secs(at),
        meta: deed(EntryKind::Edit),
        undone: false,
        changes: Vec::new(),
    };
    // The clock was set back between the first and the second edit of the first journal.
    let first = vec![entry(1, 2, 50), entry(1, 1, 90)];
    let second = vec![entry(2, 2, 60), entry(2, 1, 40)];
    let named = |entries: Vec<Entry>| -> Vec<(u16, u64)> {
        entries.iter().map(|entry| (entry.id.journal(), entry.id.number())).collect()
    };
    let both = || vec![first.clone(), second.clone()];
    assert_eq!(named(super::merge(both(), 9)), [(2, 2), (1, 2), (1, 1), (2, 1)]);
    assert_eq!(named(super::merge(both(), 2)), [(2, 2), (1, 2)]);
    let mut by_time: Vec<Entry> = both().concat();
    by_time.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    assert_ne!(named(by_time), named(super::merge(both(), 9)), "the control: sorted by time alone");
}

#[test]
fn what_was_begun_and_dropped_is_gone_and_what_was_left_is_stale() {
    let scene = Scene::new();
    let a = scene.place("a");
    drop(scene.begin(&a, Some("1"), "2"));
    assert!(!scene.journal.has_interrupted_edit(&a).unwrap());
    let left = scene.begin(&a, Some("1"), "2").leave();
    let scene = scene.again();
    assert!(scene.journal.has_interrupted_edit(&a).unwrap() && scene.journal.latest(&a).unwrap().is_none());
    assert_eq!(scene.journal.entry(left).unwrap(), None);
    assert!(!scene.journal.has_interrupted_edit(&scene.place("b")).unwrap());
}

#[test]
fn what_was_written_down_survives_a_kill_and_the_log_is_on_the_disk_after_sync() {
    let scene = Scene::new();
    let a = scene.place("a");
    let begun = scene.begin(&a, Some("1"), "2");
    begun.sync().unwrap();
    std::mem::forget(begun);
    let scene = scene.again();
    assert!(scene.journal.has_interrupted_edit(&a).unwrap());
    assert_eq!(scene.text(&a, "1").as_deref(), Some("1"));
}

#[test]
fn one_edit_lies_in_one_root_and_takes_back_one_of_its_own() {
    let scene = Scene::new();
    let (a, b) = (scene.place("a"), scene.second("b"));
    let write = |place| FileWrite {
        place,
        before: None,
        after: Some(Content::new(b"x")),
        mode: None,
        folders: 0,
        record: JournalRecord::default(),
    };
    let staged = ["x".to_owned(), "y".to_owned()];
    let both = scene.journal.begin(&deed(EntryKind::Edit), &[write(&a), write(&b)], &staged).unwrap_err();
    assert_eq!(both.code, Code::InvalidInput);
    let other = scene.edit(&b, "1", "2");
    let undo = |place| scene.journal.begin(&deed(EntryKind::Undo(other)), &[write(place)], &staged[..1]);
    assert!(undo(&a).is_err());
    assert!(undo(&b).is_ok(), "the control");
}

#[test]
fn a_read_is_kept_beside_and_once() {
    let scene = Scene::new();
    let a = scene.place("a");
    for _ in 0..3 {
        scene.journal.keep(&a, Content::new(b"read"));
    }
    scene.journal.worker.wait();
    assert_eq!(scene.text(&a, "read").as_deref(), Some("read"));
    scene.journal.keep(&a, Content::new(b"at the end"));
    let scene = scene.again();
    assert_eq!(scene.text(&a, "at the end").as_deref(), Some("at the end"), "done before it was dropped");
    assert_eq!(scene.text(&a, "never"), None);
}

#[test]
fn without_a_folder_nothing_is_remembered_and_it_is_said_why() {
    let scene = Scene::new();
    let roots = scene.files.root_paths();
    let inside = Ok(roots[0].join("deep"));
    let state = StateFolder::at(inside.clone(), inside, &roots);
    let journal = Journal::open(&state, &scene.files);
    let a = scene.place("a");
    assert!(journal.disabled_reason(&a).is_some_and(|why| why.contains("inside the root")));
    assert_eq!(journal.latest(&a), Ok(None));
    assert_eq!(journal.text(&a, &Version::hash(b"x").hex()), Ok(None));
    assert_eq!(journal.has_interrupted_edit(&a), Ok(false));
    assert_eq!(journal.recover(&scene.files, &Locks::default()), [] as [String; 0]);
    assert_eq!(scene.journal.disabled_reason(&a), None, "the control");
}

#[test]
fn a_journal_that_is_spoilt_meanwhile_is_set_aside_and_told_once() {
    let scene = Scene::new();
    let a = scene.place("a");
    let before = scene.edit(&a, "1", "2");
    let scene = scene.again();
    let [database] = scene.databases().try_into().unwrap();
    for part in ["-wal", "-shm"] {
        let mut name = database.clone().into_os_string();
        name.push(part);
        fs::remove_file(name).unwrap();
    }
    fs::write(&database, "garbage ".repeat(2000)).unwrap();
    let after = scene.edit(&a, "2", "3");
    assert_eq!(scene.journal.latest(&a).unwrap().unwrap().id, after);
    assert_eq!(scene.journal.entry(before).unwrap(), None);
    let notes = scene.journal.recover(&scene.files, &Locks::default());
    assert!(matches!(notes.as_slice(), [note] if note.contains("set aside")), "{notes:?}");
    assert!(scene.journal.recover(&scene.files, &Locks::default()).is_empty());
}

#[test]
fn a_journal_whose_folder_was_removed_is_begun_anew() {
    let scene = Scene::new();
    let a = scene.place("a");
    scene.edit(&a, "1", "2");
    fs::remove_dir_all(scene.dir.path().join("state")).unwrap();
    let id = scene.edit(&a, "2", "3");
    let scene = scene.again();
    assert_eq!(scene.journal.latest(&a).unwrap().unwrap().id, id, "it is not in a file that is gone");
}
