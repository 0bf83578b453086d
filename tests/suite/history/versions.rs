//! An edit with an older version is rebased, rejected, or already applied.

use std::path::PathBuf;

use super::*;
use lockgate_edit::request::{HistoryRequest, Mode};
use lockgate_engine::Status;
use lockgate_error::{Code, NextCall};
use lockgate_store::{EditId, Files, Locks, StateFolder};

const TEN: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

/// A file of ten lines that lockgate wrote.
fn ten() -> (Fixture, Report) {
    let fixture = Fixture::new(&[("other.txt", "x\n")]);
    let report = fixture.edit(content("a.txt", TEN)).unwrap();
    (fixture, report)
}

#[test]
fn an_edit_of_an_older_version_is_rebased_without_a_conflict() {
    for (edit, expected) in [
        (line(9, "NINE\n"), TEN.replace("nine", "NINE")),
        (insertion(9, "new\n"), TEN.replace("nine", "new\nnine")),
        (search("nine", "NINE"), TEN.replace("nine", "NINE")),
    ] {
        let (fixture, first) = ten();
        fixture.edit(request("a.txt", insertion(2, "1a\n1b\n"), version(&first))).unwrap();
        let report = fixture.edit(request("a.txt", edit, version(&first))).unwrap();
        assert_eq!(report.status, Status::Written);
        assert_eq!(fixture.text("a.txt"), expected.replace("one\n", "one\n1a\n1b\n"));
        assert!(report.notes.iter().any(|note| note.contains("rebased from version")), "{:?}", report.notes);
        let shifts: Vec<_> = report.change.shifts.iter().map(|shift| (shift.from, shift.by)).collect();
        assert_eq!(
            shifts.first(),
            Some(&(2, 2)),
            "the numbers are those of the version that the caller spoke of"
        );
    }
}

#[test]
fn later_changes_are_never_overwritten() {
    for edit in [line(9, "NINE\n"), insertion(9, "new\n"), insertion(10, "new\n"), search("nine", "NINE")] {
        let (fixture, first) = ten();
        fixture.edit(request("a.txt", line(9, "theirs\n"), version(&first))).unwrap();
        let rejection = fixture.edit(request("a.txt", edit, version(&first))).unwrap_err();
        assert_eq!(rejection.code, Code::EditConflict, "{}", rejection.message);
        let since = rejection.since.unwrap();
        assert!(since.diff.contains("-nine\n+theirs\n"), "{}", since.diff);
        assert_eq!(rejection.places.iter().map(|place| place.line).collect::<Vec<_>>(), [9]);
        assert_eq!(fixture.text("a.txt"), TEN.replace("nine", "theirs"));
    }
}

#[test]
fn a_conflict_says_how_the_lines_were_changed() {
    for (theirs, own, expected) in [
        (
            line(9, ""),
            line(9, "NINE\n"),
            "line 9 of version V, the target of this edit, was changed since by the removal of line 9",
        ),
        (
            insertion(9, "a\nb\n"),
            insertion(9, "c\n"),
            "the place before line 9 of version V, the target of this edit, was changed since by the addition of lines 9-10",
        ),
        (
            line(9, "theirs\n"),
            line(9, "NINE\n"),
            "line 9 of version V, the target of this edit, was changed since: it is line 9 now",
        ),
        (
            lines(8, 9, "theirs\n"),
            lines(8, 9, "own\n"),
            "lines 8-9 of version V, the target of this edit, was changed since: it is line 8 now",
        ),
    ] {
        let (fixture, first) = ten();
        fixture.edit(request("a.txt", theirs, Expect::Anything)).unwrap();
        let rejection = fixture.edit(request("a.txt", own, version(&first))).unwrap_err();
        assert_eq!(rejection.message, expected.replace('V', &first.version.unwrap().to_string()));
    }
}

#[test]
fn the_whole_text_is_not_rebased() {
    let (fixture, first) = ten();
    fixture.edit(request("a.txt", line(9, "theirs\n"), Expect::Anything)).unwrap();
    let rejection =
        fixture.edit(request("a.txt", Edit::Content("all\n".into()), version(&first))).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    assert!(rejection.since.unwrap().diff.contains("+theirs"));
    assert_eq!(fixture.edit(content("a.txt", "all\n")).unwrap().status, Status::Written, "the control");
}

#[test]
fn a_version_that_is_not_known_is_refused() {
    let (fixture, first) = ten();
    let nothing = Expect::Version("0123456789ab".into());
    let rejection = fixture.edit(request("a.txt", line(9, "x\n"), nothing)).unwrap_err();
    let now = first.version.unwrap().to_string();
    assert_eq!((rejection.code, rejection.since.map(|since| since.version)), (Code::EditConflict, Some(now)));
}

#[test]
fn an_error_about_an_earlier_version_names_that_version() {
    let (fixture, first) = ten();
    fixture.save("a.txt", &TEN.replace("nine", "NINE"));
    let about = format!("this is about version {}, and the file has changed since; ", first.version.unwrap());
    let rejection = fixture.edit(request("a.txt", search("NINE", "9"), version(&first))).unwrap_err();
    assert_eq!(rejection.code, Code::MatchNotFound);
    assert_eq!(rejection.hint.as_deref(), Some(format!("{about}read it again").as_str()));
    assert!(rejection.best.is_none() && matches!(rejection.next.as_deref(), Some(NextCall::Read { .. })));
    let rejection = fixture.edit(request("a.txt", line(11, "x\n"), version(&first))).unwrap_err();
    assert_eq!(rejection.code, Code::RangeOutOfBounds);
    assert!(rejection.hint.unwrap().starts_with(&about));
    let rejection = fixture.edit(request("a.txt", search("nowhere", "x"), Expect::Anything)).unwrap_err();
    assert!(!rejection.hint.unwrap().contains("this is about version"), "the control");
}

#[test]
fn a_foreign_save_is_rebased_and_reported() {
    let (fixture, first) = ten();
    fixture.save("a.txt", &TEN.replace("two", "zwei"));
    let report = fixture.edit(request("a.txt", line(9, "NINE\n"), version(&first))).unwrap();
    assert_eq!(fixture.text("a.txt"), TEN.replace("two", "zwei").replace("nine", "NINE"));
    let id = first.edit_id.unwrap().to_string();
    assert!(report.notes.iter().any(|note| note.contains("by another program") && note.contains(&id)));
    let report = fixture.edit(request("a.txt", line(8, "EIGHT\n"), Expect::Anything)).unwrap();
    assert!(!report.notes.iter().any(|note| note.contains("by another program")), "it is told once");
}

#[test]
fn a_note_about_another_program_says_what_the_last_edit_left() {
    let fixture = Fixture::new(&[
        ("a.txt", "one\n"),
        ("a.tfstate", "one\n"),
        ("quality.yaml", "never_journal: [\"*.tfstate\"]\n"),
    ]);
    let kept = ", whose text the journal keeps";
    for (path, edit, expected) in [
        ("a.txt", edits::content("two\n"), format!("overwritten by another program since edit ID{kept}")),
        ("a.tfstate", edits::content("two\n"), "overwritten by another program since edit ID".to_owned()),
        ("a.txt", Edit::Remove, "created again by another program since edit ID removed it".to_owned()),
    ] {
        let last = fixture.edit(request(path, edit, Expect::Anything)).unwrap().edit_id.unwrap();
        fixture.save(path, "other\n");
        let report = fixture.edit(content(path, "three\n")).unwrap();
        let expected = format!("the file was {}", expected.replace("ID", &last.to_string()));
        assert!(report.notes.contains(&expected), "{path}: {:?}", report.notes);
    }
}

#[test]
fn the_same_request_sent_again_is_known() {
    let (fixture, first) = ten();
    for edit in [
        line(9, "NINE\n"),
        insertion(2, "new\n"),
        search("seven", "seven\nseven"),
        Edit::Content("z\n".into()),
    ] {
        let version =
            Expect::Version(lockgate_text::Version::hash(fixture.text("a.txt").as_bytes()).to_string());
        let edit_request = request("a.txt", edit, version);
        let first_report = fixture.edit(edit_request.clone()).unwrap();
        let text = fixture.text("a.txt");
        let again = fixture.edit(edit_request.clone()).unwrap();
        assert_eq!((again.status, again.edit_id), (Status::AlreadyApplied, first_report.edit_id));
        assert_eq!(
            (again.version, again.previous_version),
            (first_report.version, first_report.previous_version)
        );
        assert_eq!(again.diff().render(9999).0, first_report.diff().render(9999).0);
        assert_eq!(fixture.text("a.txt"), text);
    }
    assert!(first.edit_id.is_some());
}

#[test]
fn a_rebased_request_is_recognized_when_repeated() {
    let (fixture, first) = ten();
    fixture.save("a.txt", &TEN.replace("one", "eins"));
    for edit in [line(9, "new\nnine\n"), line(6, "six\nnew\n"), line(4, "")] {
        let edit_request = request("a.txt", edit, version(&first));
        let first_report = fixture.edit(edit_request.clone()).unwrap();
        let text = fixture.text("a.txt");
        for _ in 0..2 {
            let again = fixture.edit(edit_request.clone()).unwrap();
            assert_eq!((again.status, again.edit_id), (Status::AlreadyApplied, first_report.edit_id));
        }
        // After somebody else's edit it is no longer the present version, and still not made twice.
        let now = fixture.text("a.txt");
        fixture.save("a.txt", &now.replace("eins", "uno").replace("one", "eins"));
        let rejection = fixture.edit(edit_request).unwrap_err();
        assert_eq!(rejection.code, Code::EditConflict, "{}", rejection.message);
        assert!(rejection.message.contains("already applied as edit"), "{}", rejection.message);
        fixture.save("a.txt", &text);
    }
}

/// The control: another request from that version, or the same after another edit, is no repeat.
#[test]
fn another_request_is_no_repeat() {
    let (fixture, first) = ten();
    let edit_request = request("a.txt", insertion(2, "new\n"), version(&first));
    fixture.edit(edit_request.clone()).unwrap();
    let other = request("a.txt", insertion(2, "newer\n"), version(&first));
    assert_eq!(fixture.edit(other).unwrap_err().code, Code::EditConflict);
    fixture.edit(request("a.txt", line(11, "TEN\n"), Expect::Anything)).unwrap();
    assert_eq!(fixture.edit(edit_request).unwrap_err().code, Code::EditConflict);
}

#[test]
fn a_batch_sent_again_is_known_as_a_whole() {
    let (fixture, first) = ten();
    let batch = || {
        vec![
            request("a.txt", line(1, "ONE\n"), version(&first)),
            content("b/new.txt", "new\n"),
            request("other.txt", search("x", "y"), Expect::Anything),
        ]
    };
    let first_reports = fixture.edit_all(batch()).unwrap();
    assert!(
        first_reports
            .iter()
            .all(|report| report.status == Status::Written && report.edit_id == first_reports[0].edit_id)
    );
    let again = fixture.edit_all(batch()).unwrap();
    assert!(again.iter().all(|report| report.status == Status::AlreadyApplied), "{again:?}");
}

/// The database of the journal.
fn journal(fixture: &Fixture) -> PathBuf {
    let folders = std::fs::read_dir(fixture.dir.path().join("own/state")).unwrap();
    let mut journals = folders.map(|folder| folder.unwrap().path().join("journal.db"));
    journals.find(|journal| journal.exists()).unwrap()
}

/// As after a full disk, or the end of another process, between the exchange and its record.
#[test]
fn an_edit_that_is_not_settled_is_listed_and_undone() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    let ids = ["two\n", "three\n"].map(|text| fixture.edit(content("a.txt", text)).unwrap().edit_id.unwrap());
    let unsettle = || {
        let database = rusqlite::Connection::open(journal(&fixture)).unwrap();
        let last = "UPDATE edits SET settled = 0 WHERE number = ?";
        let id = ids[1].to_string();
        assert_eq!(database.execute(last, [id.split_once('-').unwrap().1]).unwrap(), 1);
    };
    let listed = || {
        let request = HistoryRequest { target: None, max_entries: 9 };
        let entries = fixture.runtime.block_on(fixture.workspace.read(request, Watch::idle())).unwrap();
        entries.iter().map(|entry| entry.id).collect::<Vec<_>>()
    };
    // An edit in progress has the locks of its files.
    let files = Files::open(&[fixture.dir.path().join("root")]).unwrap();
    let locks = Locks::open(&StateFolder::in_folder(&fixture.dir.path().join("own"), &files.root_paths()));
    let held = locks.try_hold(&[files.admit("a.txt").unwrap().key()]).unwrap();
    unsettle();
    assert_eq!(listed(), [ids[0]]);
    drop(held);
    assert_eq!(listed(), [ids[1], ids[0]]);
    for (edit_id, path) in [(Some(ids[1].to_string()), None), (None, Some("a.txt")), (None, None)] {
        unsettle();
        fixture.revert(Direction::Undo, edit_id.as_deref(), path).unwrap();
        assert_eq!(fixture.text("a.txt"), "two\n", "{edit_id:?} {path:?}");
        fixture.revert(Direction::Redo, None, None).unwrap();
    }
}

/// As on a disk that is still full.
#[test]
fn an_edit_that_cannot_be_settled_is_not_denied() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    let id = fixture.edit(content("a.txt", "two\n")).unwrap().edit_id.unwrap().to_string();
    let database = rusqlite::Connection::open(journal(&fixture)).unwrap();
    let full = "UPDATE edits SET settled = 0; CREATE TRIGGER full BEFORE UPDATE ON edits
        BEGIN SELECT RAISE(ABORT, 'no space'); END";
    database.execute_batch(full).unwrap();
    for (edit_id, path) in [(Some(id.as_str()), None), (None, Some("a.txt")), (None, None)] {
        let error = fixture.revert(Direction::Undo, edit_id, path).unwrap_err();
        let expected = format!("the edit {id} is incomplete, and the journal could not record its outcome: ");
        assert_eq!(error.code, Code::StoreUnavailable, "{error:?}");
        assert!(error.message.starts_with(&expected), "{error:?}");
    }
    database.execute_batch("DROP TRIGGER full").unwrap();
    fixture.revert(Direction::Undo, Some(&id), None).unwrap();
    assert_eq!(fixture.text("a.txt"), "one\n", "the control");
}

/// The last edit of all roots may be the one that cannot be settled.
#[test]
fn an_edit_that_cannot_be_settled_stops_no_undo_of_a_path_in_another_root() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    let id = fixture.edit(content("a.txt", "two\n")).unwrap().edit_id.unwrap();
    let full = "UPDATE edits SET settled = 0; CREATE TRIGGER full BEFORE UPDATE ON edits
        BEGIN SELECT RAISE(ABORT, 'no space'); END";
    rusqlite::Connection::open(journal(&fixture)).unwrap().execute_batch(full).unwrap();
    let (root, other) = (fixture.dir.path().join("root"), fixture.dir.path().join("other"));
    std::fs::create_dir(&other).unwrap();
    let path = other.join("b.txt");
    let roots = [root.clone(), other];
    let workspace = Workspace::at(&roots).with_state_dir(&fixture.dir.path().join("own")).open().unwrap();
    let run = |edit: Edit| {
        let request = request(path.to_str().unwrap(), edit, Expect::Anything);
        fixture.runtime.block_on(workspace.edit(request, Watch::idle())).unwrap().edit_id.unwrap()
    };
    let undo = |edit_id: Option<EditId>, target: Option<&Path>| {
        let target = target.map(|path| Target::File(path.to_str().unwrap().to_owned()));
        let edit_id = edit_id.map(|id| id.to_string());
        let revert = UndoRequest { target, ..edits::revert(Direction::Undo, edit_id) };
        fixture.runtime.block_on(workspace.undo_or_redo(revert, Watch::idle()))
    };
    let ids = ["one\n", "two\n", "three\n"].map(|text| run(edits::content(text)));
    let error = undo(None, None).unwrap_err();
    let outside = format!(
        ", or name the `path` or the `edit_id` of an edit outside {}",
        root.canonicalize().unwrap().display()
    );
    assert!(error.next_step().ends_with(&outside), "{error:?}");
    for (edit_id, path) in [(Some(id), None), (None, Some(root.join("a.txt")))] {
        let error = undo(edit_id, path.as_deref()).unwrap_err();
        assert!(error.code == Code::StoreUnavailable && error.hint.is_none(), "{error:?}");
    }
    undo(None, Some(&path)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
    undo(Some(ids[1]), None).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n");
}

#[test]
fn the_history_says_once_that_a_journal_was_set_aside() {
    let list = |fixture: &Fixture| {
        let request = HistoryRequest { target: None, max_entries: 9 };
        fixture.runtime.block_on(fixture.workspace.read(request, Watch::idle()))
    };
    let undo = |fixture: &Fixture| fixture.revert(Direction::Undo, None, None).map(drop);
    for is_undo in [false, true] {
        let fixture = Fixture::new(&[("a.txt", "one\n")]);
        fixture.edit(content("a.txt", "two\n")).unwrap();
        let database = journal(&fixture);
        let fixture = fixture.again(|_| {
            for part in ["db-wal", "db-shm"] {
                let _ = std::fs::remove_file(database.with_extension(part));
            }
            std::fs::write(&database, "garbage ".repeat(2000)).unwrap();
        });
        let result = if is_undo { undo(&fixture) } else { list(&fixture).map(drop) };
        let error = result.unwrap_err();
        assert_eq!(error.code, Code::StoreUnavailable);
        assert!(error.message.contains("it was set aside as"), "{error:?}");
        assert!(list(&fixture).unwrap().is_empty());
        assert_eq!(undo(&fixture).unwrap_err().code, Code::InvalidInput, "there is no edit");
        let report = fixture.edit(content("a.txt", "three\n")).unwrap();
        assert!(!report.notes.iter().any(|note| note.contains("set aside")), "it was said");
    }
}

#[test]
fn an_edit_that_other_processes_were_not_kept_out_of_says_so_once() {
    let fixture = Fixture::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let unguarded = |fixture: &Fixture, text: &str| {
        let reports = fixture.edit_all(vec![content("a.txt", text), content("b.txt", text)]).unwrap();
        let is_said = |note: &&String| note.starts_with("other lockgate processes were not kept out");
        reports.iter().map(|report| report.notes.iter().filter(is_said).count()).collect::<Vec<_>>()
    };
    assert_eq!(unguarded(&fixture, "two\n"), [0, 0], "the control");
    let fixture = fixture.again(|dir| {
        std::fs::remove_dir_all(dir.join("own/state/locks")).unwrap();
        std::fs::write(dir.join("own/state/locks"), "").unwrap();
    });
    assert_eq!(unguarded(&fixture, "three\n"), [1, 0]);
}

#[test]
fn nothing_is_written_while_the_journal_cannot_be_read() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    fixture.edit(content("a.txt", "two\n")).unwrap();
    let database = rusqlite::Connection::open(journal(&fixture)).unwrap();
    database.execute_batch("ALTER TABLE changes RENAME TO hidden").unwrap();
    let preview = fixture.edit(Request { mode: Mode::VerifyOnly, ..content("a.txt", "three\n") }).unwrap();
    assert_eq!(preview.status, Status::Verified);
    for mode in [Mode::Strict, Mode::Interactive] {
        let error = fixture.edit(Request { mode, ..content("a.txt", "three\n") }).unwrap_err();
        assert_eq!(
            (error.code, fixture.text("a.txt").as_str()),
            (Code::StoreUnavailable, "two\n"),
            "{error:?}"
        );
    }
    database.execute_batch("ALTER TABLE hidden RENAME TO changes").unwrap();
    fixture.edit(content("a.txt", "three\n")).unwrap();
}

/// Removes the entry of an edit, as the limits of the journal do with the oldest ones.
fn prune(fixture: &Fixture, id: EditId) {
    let database = rusqlite::Connection::open(journal(fixture)).unwrap();
    let id = id.to_string();
    for table in ["changes WHERE edit", "edits WHERE number"] {
        let removed = database.execute(&format!("DELETE FROM {table} = ?"), [id.split_once('-').unwrap().1]);
        assert!(removed.unwrap() > 0);
    }
}

#[test]
fn an_undo_in_the_journal_is_taken_back_without_the_entry_of_its_edit() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    let (texts, files) = (["one\n", "two\n"], ["a.txt", "new.txt"]);
    let batch = files.map(|path| content(path, "two\n")).to_vec();
    let edit = fixture.edit_all(batch).unwrap()[0].edit_id.unwrap();
    let edit_id = edit.to_string();
    let mut last = fixture.revert(Direction::Undo, None, None).unwrap()[0].edit_id.unwrap();
    prune(&fixture, edit);
    // By the undo, by the redo, by the edit, by a path, and without any; each turn has its control.
    type Named = (Direction, Option<String>, Option<&'static str>);
    let named: [fn(&str, &str) -> Named; 6] = [
        |last, _| (Direction::Undo, Some(last.to_owned()), None),
        |last, _| (Direction::Undo, Some(last.to_owned()), None),
        |_, edit| (Direction::Redo, Some(edit.to_owned()), None),
        |_, edit| (Direction::Undo, Some(edit.to_owned()), None),
        |_, _| (Direction::Redo, None, Some("new.txt")),
        |last, _| (Direction::Redo, Some(last.to_owned()), None),
    ];
    for (turn, named) in named.into_iter().enumerate() {
        let (direction, id, path) = named(&last.to_string(), &edit_id);
        let reports = fixture.revert(direction, id.as_deref(), path).unwrap();
        let is_made = turn % 2 == 0;
        if turn == 5 {
            // Redoing a redo again does nothing.
            assert!(reports.iter().all(|report| report.status == Status::AlreadyApplied), "{reports:?}");
            continue;
        }
        assert!(reports.iter().all(|report| report.status == Status::Written), "{turn}: {reports:?}");
        last = reports[0].edit_id.unwrap();
        assert_eq!(fixture.text("a.txt"), texts[usize::from(is_made)], "{turn}");
        assert_eq!(fixture.dir.path().join("root/new.txt").exists(), is_made, "{turn}");
    }
    let error = fixture.revert(Direction::Redo, None, None).unwrap_err();
    assert!(error.message.starts_with("no edit was undone"), "{error:?}");
    fixture.revert(Direction::Undo, Some(&last.to_string()), None).unwrap();
    fixture.revert(Direction::Redo, None, None).unwrap();
    assert_eq!(fixture.text("a.txt"), "two\n");
    fixture.revert(Direction::Undo, None, None).unwrap();
    assert_eq!(fixture.text("a.txt"), "one\n");
    let error = fixture.revert(Direction::Undo, None, None).unwrap_err();
    assert!(error.message.starts_with("there is no edit to undo"), "{error:?}");
}

#[test]
fn the_edit_that_was_undone_last_is_redone_first_also_without_its_entry() {
    let fixture = Fixture::new(&[("a.txt", "0\n"), ("b.txt", "0\n"), ("c.txt", "0\n")]);
    let [a, b, c] =
        ["a.txt", "b.txt", "c.txt"].map(|path| fixture.edit(content(path, "1\n")).unwrap().edit_id.unwrap());
    for id in [b, a, c] {
        fixture.revert(Direction::Undo, Some(&id.to_string()), None).unwrap();
    }
    prune(&fixture, a);
    for expected in ["0 0 1", "1 0 1", "1 1 1"] {
        fixture.revert(Direction::Redo, None, None).unwrap();
        let texts = ["a.txt", "b.txt", "c.txt"].map(|path| fixture.text(path).trim_end().to_owned());
        assert_eq!(texts.join(" "), expected);
    }
}
