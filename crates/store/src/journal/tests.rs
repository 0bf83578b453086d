//! The journal as publishing and the engine use it, over files of real roots.

mod bounds;

use super::{Journal, PendingEdit};
use crate::content::Content;
use crate::file_write::FileWrite;
use crate::history::{EditFilter, EditId, EditMeta, Entry, EntryKind, JournalRecord, RetentionLimits};
use crate::state::StateFolder;
use crate::{FileLocation, Files, LockKey, Locks};
use lockgate_error::Code;
use lockgate_text::{Buffer, Hints, Version};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const ALL: RetentionLimits = RetentionLimits { size: 1 << 30, age: std::time::Duration::from_secs(1 << 30) };

/// A text that was read.
fn shared_text(text: &[u8]) -> Arc<Buffer> {
    Arc::new(Buffer::read(text.to_vec(), Hints::default()).unwrap())
}

/// Two roots, and their journals.
struct Fixture {
    dir: TempDir,
    files: Files,
    journal: Journal,
}

impl Fixture {
    fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        for root in ["one", "two"] {
            fs::create_dir_all(dir.path().join(root).join("deep")).unwrap();
        }
        Fixture::over(dir)
    }

    /// As another process would find it.
    fn over(dir: TempDir) -> Fixture {
        let roots = ["one", "two"].map(|root| dir.path().join(root).canonicalize().unwrap());
        let files = Files::open(&roots).unwrap();
        let own = dir.path().join("state");
        let state = StateFolder::at(Ok(own.clone()), Ok(own), &roots);
        Fixture { journal: Journal::open(&state, &files), dir, files }
    }

    fn again(self) -> Fixture {
        let Fixture { dir, journal, .. } = self;
        drop(journal);
        Fixture::over(dir)
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
        let record = JournalRecord { added: 1, removed: 1, keep: true };
        let after = Some(Content::new(after.as_bytes()));
        let write = FileWrite { record, ..FileWrite::new(place, before, after) };
        self.journal.begin(&meta(EntryKind::Edit), &[write], &[".a.lockgate".to_owned()], &[]).unwrap()
    }

    fn edit(&self, place: &FileLocation, before: &str, after: &str) -> EditId {
        let pending = self.begin(place, Some(before), after);
        let id = pending.id();
        pending.settle().unwrap();
        id
    }

    /// Writes down that an edit of this place was taken back or made again.
    fn revert(&self, place: &FileLocation, kind: EntryKind) {
        let write = FileWrite::new(place, None, Some(Content::new(b"x")));
        self.journal.begin(&meta(kind), &[write], &["x".to_owned()], &[]).unwrap().settle().unwrap();
    }

    fn text(&self, place: &FileLocation, text: &str) -> Option<String> {
        let found = self.journal.text(place, &Version::hash(text.as_bytes()).to_string()).unwrap();
        found.map(|text| String::from_utf8(text).unwrap())
    }
}

fn meta(kind: EntryKind) -> EditMeta {
    let request = Version::hash(b"request");
    EditMeta { tool: "edit_file".into(), author: "tester".into(), request, kind, gates: String::new() }
}

fn ids(entries: &[Entry]) -> Vec<EditId> {
    entries.iter().map(|entry| entry.id).collect()
}

#[test]
fn each_root_has_a_journal_and_paths_are_spelled_as_a_caller_may_name_them() {
    let fixture = Fixture::new();
    let (a, b) = (fixture.place("deep/a"), fixture.second("deep/b"));
    let (first, second) = (fixture.edit(&a, "1", "2"), fixture.edit(&b, "3", "4"));
    assert_ne!(first.journal(), second.journal());
    assert_eq!(fixture.databases().len(), 2);
    for (place, id) in [(&a, first), (&b, second)] {
        let entry = fixture.journal.newest(EditFilter::Settled, Some(place)).unwrap().unwrap();
        assert_eq!((entry.id, entry.changes[0].path.as_str()), (id, place.shown()));
        assert_eq!(fixture.journal.entry(id).unwrap(), Some(entry));
    }
    assert_eq!(fixture.text(&a, "1").as_deref(), Some("1"));
    assert_eq!(fixture.text(&b, "1"), None, "a text is only in the journal of its root");
    assert_eq!(ids(&fixture.journal.entries(None, 9).unwrap()).len(), 2);
    assert_eq!(ids(&fixture.journal.entries(Some(&b), 9).unwrap()), [second]);
    assert_eq!(fixture.journal.newest(EditFilter::ToUndo, Some(&a)).unwrap().unwrap().id, first);
    assert_eq!(fixture.journal.newest(EditFilter::ToUndo, Some(&b)).unwrap().unwrap().id, second);
}

#[test]
fn the_last_edit_is_looked_for_in_all_roots() {
    let fixture = Fixture::new();
    let places = [
        fixture.place("a"),
        fixture.second("b"),
        fixture.second("c"),
        fixture.place("d"),
        fixture.second("e"),
    ];
    let edits: Vec<EditId> = places.iter().map(|place| fixture.edit(place, "1", "2")).collect();
    let revert = |id: EditId, kind| {
        let at = edits.iter().position(|edit| *edit == id).unwrap();
        fixture.revert(&places[at], kind);
        id
    };
    let to_undo = || fixture.journal.newest(EditFilter::ToUndo, None).unwrap().map(|entry| entry.id);
    let to_redo = || fixture.journal.newest(EditFilter::ToRedo, None).unwrap().map(|entry| entry.id);
    let newest_first: Vec<EditId> = edits.iter().rev().copied().collect();
    assert_eq!(ids(&fixture.journal.entries(None, 9).unwrap()), newest_first);
    assert_eq!(ids(&fixture.journal.entries(None, 2).unwrap()), newest_first[..2]);
    let of_first_root =
        fixture.journal.journals[0].query(|database| database.last(EditFilter::ToUndo)).unwrap();
    assert_ne!(of_first_root.unwrap().1.id, newest_first[0], "the control: the first root's journal alone");
    let undone: Vec<EditId> =
        std::iter::from_fn(|| to_undo().map(|edit| revert(edit, EntryKind::Undo(edit)))).collect();
    assert_eq!(undone, newest_first);
    let redone: Vec<EditId> =
        std::iter::from_fn(|| to_redo().map(|edit| revert(edit, EntryKind::Redo(edit)))).collect();
    assert_eq!(redone, edits);
    assert_eq!(to_undo(), newest_first.first().copied());
}

#[test]
fn lists_of_several_roots_are_merged_and_each_keeps_its_order() {
    let entry = |journal, number, at: u64| Entry {
        id: EditId::new(journal, number),
        at: std::time::UNIX_EPOCH + std::time::Duration::from_secs(at),
        meta: meta(EntryKind::Edit),
        undone: false,
        changes: Vec::new(),
    };
    // The clock was set back between the first and the second edit of the first journal.
    let first = vec![entry(1, 2, 50), entry(1, 1, 90)];
    let second = vec![entry(2, 2, 60), entry(2, 1, 40)];
    let numbers = |entries: Vec<Entry>| -> Vec<(u16, u64)> {
        entries.iter().map(|entry| (entry.id.journal(), entry.id.number())).collect()
    };
    let both = || vec![first.clone(), second.clone()];
    assert_eq!(numbers(super::merge(both(), 9)), [(2, 2), (1, 2), (1, 1), (2, 1)]);
    assert_eq!(numbers(super::merge(both(), 2)), [(2, 2), (1, 2)]);
    let mut by_time: Vec<Entry> = both().concat();
    by_time.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    assert_ne!(numbers(by_time), numbers(super::merge(both(), 9)), "the control: sorted by time alone");
}

#[test]
fn what_was_begun_and_dropped_is_gone_and_what_was_left_is_stale() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    drop(fixture.begin(&a, Some("1"), "2"));
    assert!(!fixture.journal.has_interrupted_edit(&a).unwrap());
    let pending = fixture.begin(&a, Some("1"), "2");
    let id = pending.id();
    pending.leave();
    let fixture = fixture.again();
    assert!(
        fixture.journal.has_interrupted_edit(&a).unwrap()
            && fixture.journal.newest(EditFilter::Settled, Some(&a)).unwrap().is_none()
    );
    assert_eq!(fixture.journal.entry(id).unwrap(), None);
    assert!(!fixture.journal.has_interrupted_edit(&fixture.place("b")).unwrap());
}

/// Leaves an edit of two files as a killed process does that had written only the second.
fn half_done(fixture: &Fixture, staged: [&str; 2]) -> [FileLocation; 2] {
    let places = ["a", "b"].map(|path| fixture.place(path));
    let paths = ["a", "b"].map(|path| fixture.files.root_paths()[0].join(path));
    paths.iter().for_each(|path| fs::write(path, "old").unwrap());
    let read = places.each_ref().map(|place| fixture.files.read(place, 1 << 20).unwrap().unwrap());
    let record = JournalRecord { added: 1, removed: 1, keep: true };
    let write = |at: usize| {
        let before = read[at].expected(Content::new(read[at].bytes()));
        FileWrite { record, ..FileWrite::new(&places[at], Some(before), Some(Content::new(b"new"))) }
    };
    let staged = staged.map(str::to_owned);
    fixture.journal.begin(&meta(EntryKind::Edit), &[write(0), write(1)], &staged, &[]).unwrap().leave();
    fs::write(&paths[1], "new").unwrap();
    places
}

#[test]
fn who_holds_the_lock_of_one_file_of_an_interrupted_edit_awaits_those_of_the_others() {
    let fixture = Fixture::new();
    let [a, b] = half_done(&fixture, [".a.0000000000000001.lockgate", ".b.0000000000000001.lockgate"]);
    let (a, b) = (a.key(), b.key());
    let locks = Locks::default();
    let recover = |held: &[LockKey]| fixture.journal.recover(&fixture.files, &locks, held);
    let texts =
        || ["a", "b"].map(|path| fs::read_to_string(fixture.files.root_paths()[0].join(path)).unwrap());
    let hold = |key| locks.try_hold(std::slice::from_ref(key)).unwrap();
    let (_own, other) = (hold(&a), hold(&b));
    assert_eq!(recover(std::slice::from_ref(&a)).awaited, [a.clone(), b]);
    assert_eq!(recover(&[]).awaited, [], "it is no edit of the caller's files");
    assert_eq!(texts(), ["old", "new"]);
    drop(other);
    let recovery = recover(&[a]);
    assert!(recovery.awaited.is_empty() && recovery.notes.is_empty(), "{recovery:?}");
    assert_eq!(texts(), ["old", "old"]);
    assert!(!fixture.journal.has_interrupted_edit(&fixture.place("b")).unwrap());
}

#[test]
fn files_that_another_program_wrote_are_never_reverted() {
    let fixture = Fixture::new();
    let [_, b] = half_done(&fixture, [super::NO_COPY; 2]);
    let notes = fixture.journal.recover(&fixture.files, &Locks::default(), &[]).notes;
    assert_eq!(notes, [] as [String; 0]);
    assert_eq!(fs::read_to_string(fixture.files.root_paths()[0].join("b")).unwrap(), "new");
    assert!(!fixture.journal.has_interrupted_edit(&b).unwrap());
    assert!(fixture.journal.newest(EditFilter::Settled, Some(&b)).unwrap().is_some());
}

#[test]
fn what_was_written_down_survives_a_kill_and_the_log_is_on_the_disk_after_sync() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    let pending = fixture.begin(&a, Some("1"), "2");
    pending.sync().unwrap();
    std::mem::forget(pending);
    let fixture = fixture.again();
    assert!(fixture.journal.has_interrupted_edit(&a).unwrap());
    assert_eq!(fixture.text(&a, "1").as_deref(), Some("1"));
}

#[test]
fn one_edit_lies_in_one_root_and_takes_back_one_of_its_own() {
    let fixture = Fixture::new();
    let (a, b) = (fixture.place("a"), fixture.second("b"));
    let write = |place| FileWrite::new(place, None, Some(Content::new(b"x")));
    let staged = ["x".to_owned(), "y".to_owned()];
    let both =
        fixture.journal.begin(&meta(EntryKind::Edit), &[write(&a), write(&b)], &staged, &[]).unwrap_err();
    assert_eq!(both.code, Code::InvalidInput);
    let other = fixture.edit(&b, "1", "2");
    let undo =
        |place| fixture.journal.begin(&meta(EntryKind::Undo(other)), &[write(place)], &staged[..1], &[]);
    assert!(undo(&a).is_err());
    assert!(undo(&b).is_ok(), "the control");
}

#[test]
fn a_read_is_kept_once() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    for _ in 0..3 {
        fixture.journal.keep(&a, shared_text(b"read"), ALL);
    }
    fixture.journal.worker.wait();
    assert_eq!(fixture.text(&a, "read").as_deref(), Some("read"));
    fixture.journal.keep(&a, shared_text(b"at the end"), ALL);
    let fixture = fixture.again();
    assert_eq!(fixture.text(&a, "at the end").as_deref(), Some("at the end"), "done before it was dropped");
    assert_eq!(fixture.text(&a, "never"), None);
}

#[test]
fn without_a_folder_nothing_is_recorded_and_the_reason_is_reported() {
    let fixture = Fixture::new();
    let roots = fixture.files.root_paths();
    let inside = Ok(roots[0].join("deep"));
    let state = StateFolder::at(inside.clone(), inside, &roots);
    let journal = Journal::open(&state, &fixture.files);
    let a = fixture.place("a");
    assert!(journal.disabled_reason(&a).is_some_and(|reason| reason.contains("inside the root")));
    assert_eq!(journal.newest(EditFilter::Settled, Some(&a)), Ok(None));
    assert_eq!(journal.text(&a, &Version::hash(b"x").hex()), Ok(None));
    assert_eq!(journal.has_interrupted_edit(&a), Ok(false));
    let history = [journal.entries(None, 9), journal.entries(Some(&a), 9)].map(|entries| entries.map(drop));
    let one = [
        journal.newest(EditFilter::ToUndo, None),
        journal.newest(EditFilter::ToRedo, Some(&a)),
        journal.entry(EditId::new(1, 1)),
    ];
    for unread in history.into_iter().chain(one.map(|entry| entry.map(drop))) {
        let error = unread.unwrap_err();
        assert_eq!(error.code, Code::StoreUnavailable);
        assert!(error.message.contains("inside the root"), "{error:?}");
    }
    assert_eq!(fixture.journal.entries(None, 9), Ok(Vec::new()), "the control");
    assert_eq!(journal.recover(&fixture.files, &Locks::default(), &[]).notes, [] as [String; 0]);
    assert_eq!(fixture.journal.disabled_reason(&a), None, "the control");
}

#[test]
fn a_journal_that_is_spoilt_meanwhile_is_set_aside_and_reported_once() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    let before = fixture.edit(&a, "1", "2");
    let fixture = fixture.again();
    let [database] = fixture.databases().try_into().unwrap();
    for part in ["-wal", "-shm"] {
        let mut name = database.clone().into_os_string();
        name.push(part);
        fs::remove_file(name).unwrap();
    }
    fs::write(&database, "garbage ".repeat(2000)).unwrap();
    let after = fixture.edit(&a, "2", "3");
    assert_eq!(fixture.journal.newest(EditFilter::Settled, Some(&a)).unwrap().unwrap().id, after);
    assert_eq!(fixture.journal.entry(before).unwrap(), None);
    let notes = fixture.journal.take_notes();
    assert!(matches!(notes.as_slice(), [note] if note.contains("set aside")), "{notes:?}");
    assert!(fixture.journal.take_notes().is_empty());
}

#[test]
fn a_journal_whose_folder_was_removed_is_begun_anew() {
    let fixture = Fixture::new();
    let a = fixture.place("a");
    fixture.edit(&a, "1", "2");
    fs::remove_dir_all(fixture.dir.path().join("state")).unwrap();
    let id = fixture.edit(&a, "2", "3");
    let fixture = fixture.again();
    assert_eq!(
        fixture.journal.newest(EditFilter::Settled, Some(&a)).unwrap().unwrap().id,
        id,
        "it is not in a file that is gone"
    );
}
