//! The journal behind publishing: what is remembered of an edit, and what becomes of one whose process was killed.
//!
//! The folder of the journal is named by the environment, so each test runs in a process of its own: this very test, told
//! by a variable what to do.

use lockgate_error::Error;
use lockgate_policy::Publishing;
use lockgate_store::{
    Content, EditFilter, EditMeta, EntryKind, FileLocation, FileWrite, Files, Journal, JournalRecord, Locks,
    PublishedBatch, RetentionLimits, StateFolder,
};
use lockgate_text::{Buffer, Hints, Version};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const PART: &str = "LOCKGATE_TEST_PART";
const ROOT: &str = "LOCKGATE_TEST_ROOT";

/// A root and its journal, in a process that was given their paths.
struct Fixture {
    files: Files,
    journal: Journal,
    locks: Locks,
}

impl Fixture {
    fn new() -> Fixture {
        let root = PathBuf::from(std::env::var_os(ROOT).unwrap());
        let files = Files::open(std::slice::from_ref(&root)).unwrap();
        let state = StateFolder::for_user(&files.root_paths());
        let (journal, locks) = (Journal::open(&state, &files), Locks::open(&state));
        Fixture { files, journal, locks }
    }

    /// Writes each file anew, as one edit.
    fn edit(&self, texts: &[(&str, &str)]) -> Result<PublishedBatch, Error> {
        let places: Vec<_> = texts.iter().map(|(path, _)| self.files.admit(path).unwrap()).collect();
        let read: Vec<_> = places.iter().map(|place| self.files.read(place, 1 << 20).unwrap()).collect();
        let keys: Vec<_> = places.iter().map(FileLocation::key).collect();
        let _held = self.locks.try_hold(&keys).expect("nobody else edits here");
        let mut writes = Vec::new();
        for ((place, read), (_, text)) in places.iter().zip(&read).zip(texts) {
            let before = read.as_ref().map(|read| read.expected(Content::new(read.bytes())));
            let record = JournalRecord { added: 1, removed: 1, keep: true };
            writes.push(FileWrite {
                record,
                ..FileWrite::new(place, before, Some(Content::new(text.as_bytes())))
            });
        }
        let request = Version::hash(b"request");
        let meta = EditMeta {
            tool: "edit_file".into(),
            author: "tester".into(),
            request,
            kind: EntryKind::Edit,
            gates: String::new(),
        };
        self.files.publish(&writes, Publishing::default(), Some((&self.journal, &meta)))
    }
}

/// Starts a part of a test in a process of its own.
fn start(part: &str, dir: &tempfile::TempDir) -> Child {
    fs::create_dir_all(dir.path().join("root")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "suite::journal::a_part_of_another_test", "--nocapture"]).env(PART, part);
    command.env(ROOT, dir.path().join("root")).env("XDG_STATE_HOME", dir.path().join("state"));
    command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap()
}

fn run(part: &str, dir: &tempfile::TempDir) {
    assert!(start(part, dir).wait().unwrap().success(), "{part}");
}

#[test]
fn a_part_of_another_test() {
    match std::env::var(PART).as_deref() {
        Ok("remember") => remember(),
        Ok("look") => check_entries(),
        Ok("edit for ever") => edit_for_ever(),
        Ok("recover") => recover(),
        Ok("recover nothing") => assert_eq!(recovered(&Fixture::new()), 0),
        _ => {}
    }
}

#[test]
fn an_edit_is_recorded_for_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    run("remember", &dir);
    run("look", &dir);
}

fn remember() {
    let fixture = Fixture::new();
    let _ = fixture.edit(&[("a.txt", "one")]).unwrap();
    let report = fixture.edit(&[("a.txt", "two"), ("deep/b.txt", "new")]).unwrap();
    assert!(report.edit.is_some());
}

fn check_entries() {
    let fixture = Fixture::new();
    let a = fixture.files.admit("a.txt").unwrap();
    let b = fixture.files.admit("deep/b.txt").unwrap();
    let entry = fixture.journal.newest(EditFilter::Settled, Some(&a)).unwrap().unwrap();
    assert_eq!(fixture.journal.newest(EditFilter::Settled, Some(&b)).unwrap().as_ref(), Some(&entry));
    let paths: Vec<_> = entry.changes.iter().map(|it| (it.path.as_str(), it.before, it.folders)).collect();
    assert_eq!(paths, [("a.txt", Some(Version::hash(b"one")), 0), ("deep/b.txt", None, 1)]);
    for text in ["one", "two", "new"] {
        let version = Version::hash(text.as_bytes()).to_string();
        assert_eq!(fixture.journal.text(&a, &version).unwrap().as_deref(), Some(text.as_bytes()));
    }
    assert_eq!(fixture.journal.entries(None, 9).unwrap().len(), 2);
    assert_eq!(fixture.journal.entry(entry.id).unwrap(), Some(entry));
}

/// Whoever is killed leaves every file as one of the texts, and the journal agrees with it once it was recovered.
#[test]
fn after_a_kill_the_journal_matches_the_files() {
    let rounds = std::env::var("LOCKGATE_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(10);
    let dir = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        let mut child = start("edit for ever", &dir);
        std::thread::sleep(Duration::from_millis(120 + 7 * (round % 20)));
        child.kill().unwrap();
        child.wait().unwrap();
        run("recover", &dir);
        run("recover nothing", &dir);
    }
}

const TEXTS: [&str; 3] = ["first text", "second text, which is longer", "third"];

fn edit_for_ever() {
    let fixture = Fixture::new();
    for round in 0_usize.. {
        let text = |shift| TEXTS[(round + shift) % TEXTS.len()];
        let _ = fixture.edit(&[("a.txt", text(0)), ("b.txt", text(1))]).unwrap();
        let read = Arc::new(Buffer::read(b"read".to_vec(), Hints::default()).unwrap());
        let bounds = RetentionLimits { size: 1 << 20, age: Duration::from_secs(3600) };
        fixture.journal.keep(&fixture.files.admit("a.txt").unwrap(), read, bounds);
    }
}

fn recovered(fixture: &Fixture) -> usize {
    let places = ["a.txt", "b.txt"].map(|path| fixture.files.admit(path).unwrap());
    let stale = places.iter().filter(|place| fixture.journal.has_interrupted_edit(place).unwrap()).count();
    let notes = fixture.journal.recover(&fixture.files, &fixture.locks, &[]).notes;
    assert!(notes.is_empty(), "{notes:?}");
    stale
}

fn recover() {
    let fixture = Fixture::new();
    recovered(&fixture);
    for path in ["a.txt", "b.txt"] {
        let place = fixture.files.admit(path).unwrap();
        assert!(!fixture.journal.has_interrupted_edit(&place).unwrap());
        let read = fixture.files.read(&place, 1 << 20).unwrap();
        let disk_version = read.as_ref().map(|read| Version::hash(read.bytes()));
        let latest = fixture.journal.newest(EditFilter::Settled, Some(&place)).unwrap();
        assert_eq!(
            latest.and_then(|entry| entry.changes.iter().find(|it| it.path == path)?.after),
            disk_version
        );
    }
    let root = PathBuf::from(std::env::var_os(ROOT).unwrap());
    let mut names: Vec<_> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.is_empty() || names == ["a.txt", "b.txt"], "{names:?}");
}

/// What `Begun::sync` relies on: the descriptor that is synced is that of the log, after the row was written to it.
#[test]
fn the_log_is_synced_after_the_row_was_written_and_before_the_file_is_exchanged() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("root")).unwrap();
    let strace_log = dir.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=pwrite64,fdatasync,renameat2", "-o"]).arg(&strace_log);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", "suite::journal::a_part_of_another_test"]);
    command.env(PART, "remember").env(ROOT, dir.path().join("root"));
    command.env("XDG_STATE_HOME", dir.path().join("state")).stdout(Stdio::null()).stderr(Stdio::null());
    if !command.status().is_ok_and(|status| status.success()) {
        return super::store::not_run("strace cannot run here, so the order of the calls was not looked at");
    }
    let strace_log = fs::read_to_string(strace_log).unwrap();
    let lines: Vec<&str> = strace_log.lines().collect();
    let is = |line: &str, call: &str, what: &str| line.contains(call) && line.contains(what);
    let exchange = lines.iter().rposition(|line| is(line, "renameat2(", "RENAME_EXCHANGE")).unwrap();
    let before = &lines[..exchange];
    let synced = before.iter().rposition(|line| is(line, "fdatasync(", "journal.db-wal>")).unwrap();
    let written = before[..synced].iter().rposition(|line| is(line, "pwrite64(", "journal.db-wal>"));
    assert!(written.is_some());
    assert!(
        !before[synced..].iter().any(|line| is(line, "pwrite64(", "journal.db-wal>")),
        "nothing came after"
    );
    let settled = lines[exchange..].iter().any(|line| is(line, "pwrite64(", "journal.db-wal>"));
    assert!(settled, "the control: it is settled after the exchange");
}
