//! Tests of undo and redo.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::super::report::Status;
use super::super::services::Services;
use super::choose::check_recorded;
use crate::tests::Fixture;
use crate::{BytesBefore, HostChange, Workspace};
use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{
    Author, Direction, Expect, HistoryRequest, Mode, Request, Target, UndoRequest, Whose,
};
use lockgate_error::{Code, Error};
use lockgate_store::{EditId, UnrecordedEdit};
use lockgate_text::Version;

fn author(name: &str) -> Author {
    Author { tool: "edit_file".to_owned(), name: name.to_owned(), confirmation_id: None }
}

/// A root whose file was edited once, and the ID of that edit.
async fn edited_file() -> (Fixture, EditId) {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    let request = Request::new(Target::File("a.txt".to_owned()), Edit::Restore(b"two\n".to_vec()));
    let report = fixture.services.edit(request, Watch::idle()).await.unwrap();
    (fixture, report.edit_id.unwrap())
}

#[tokio::test]
async fn the_last_edit_of_an_author_is_found_behind_many_others() {
    let fixture = Fixture::new(&[]);
    let services = &fixture.services;
    for (number, name) in ["one", "two", "two", "two", "two", "two"].into_iter().enumerate() {
        let request = Request {
            mode: Mode::Strict,
            expect: Expect::Absent,
            author: author(name),
            ..Request::new(Target::File(format!("{number}.txt")), Edit::Restore(b"text\n".to_vec()))
        };
        services.edit(request, Watch::idle()).await.unwrap();
    }
    let undo = |name: &str| UndoRequest {
        direction: Direction::Undo,
        edit_id: None,
        target: None,
        whose: Whose::Author,
        author: author(name),
    };
    for (recent, path) in [(&[1, 3, 9][..], Some("0.txt")), (&[1, 3], None), (&[6], Some("0.txt"))] {
        let found = services.last_of_author(&undo("one"), recent).ok();
        assert_eq!(found.as_ref().map(|found| found.entry.changes[0].path.as_str()), path, "{recent:?}");
    }
    assert!(services.last_of_author(&undo("three"), &[1, 3, 9]).is_err());
}

fn undo(edit_id: EditId) -> UndoRequest {
    UndoRequest {
        direction: Direction::Undo,
        edit_id: Some(edit_id.to_string()),
        target: None,
        whose: Whose::Everyone,
        author: author("one"),
    }
}

async fn undo_error(services: &Arc<Services>, edit_id: EditId) -> Error {
    services.undo_or_redo(undo(edit_id), Watch::idle()).await.unwrap_err()
}

#[tokio::test]
async fn a_conflict_that_may_have_changed_a_file_ends_the_call() {
    let (fixture, edit_id) = edited_file().await;
    let services = &fixture.services;
    let reversal = services.prepare(&undo(edit_id)).unwrap();
    services.undo_or_redo(undo(edit_id), Watch::idle()).await.unwrap();
    let conflict = Error::new(Code::EditConflict, "changed");
    for (error, is_overtaken) in [(conflict.clone(), true), (conflict.with_unknown_disk(), false)] {
        assert_eq!(services.was_overtaken(&reversal, &Err(error)).await, is_overtaken);
    }
}

/// Calls that name no edit choose one before they have its lock.
#[tokio::test]
async fn parallel_calls_undo_and_redo_an_edit_each() {
    const CALLS: usize = 6;
    let fixture = Fixture::new(&[("a.txt", "0\n")]);
    let services = &fixture.services;
    for number in 1..CALLS {
        let edit = Edit::Restore(format!("{number}\n").into_bytes());
        let request =
            Request { author: author("one"), ..Request::new(Target::File("a.txt".to_owned()), edit) };
        services.edit(request, Watch::idle()).await.unwrap();
    }
    let text = || std::fs::read_to_string(fixture.root().join("a.txt")).unwrap();
    let last = format!("{}\n", CALLS - 1);
    for (direction, result) in [(Direction::Undo, "0\n"), (Direction::Redo, last.as_str())] {
        for (whose, calls) in [(Whose::Author, 2), (Whose::Everyone, CALLS - 2)] {
            let call = |_| {
                let (services, author) = (Arc::clone(services), author("one"));
                let revert = UndoRequest { direction, edit_id: None, target: None, whose, author };
                tokio::spawn(async move { services.undo_or_redo(revert, Watch::idle()).await })
            };
            let calls: Vec<_> = (0..calls).map(call).collect();
            let mut errors = Vec::new();
            for call in calls {
                match call.await.unwrap() {
                    Ok(reports) => assert_eq!(reports[0].status, Status::Written),
                    Err(error) => errors.push(error.message),
                }
            }
            // The last call finds nothing left.
            assert_eq!(errors.len(), usize::from(whose == Whose::Everyone), "{errors:?}");
            assert!(errors.iter().all(|error| error.contains("there is no")), "{errors:?}");
        }
        assert_eq!(text(), result);
    }
}

#[tokio::test]
async fn a_text_that_no_hook_recorded_has_its_own_reason() {
    for (policy, reason) in [
        ("quality_gates: {}\n", "no hook recorded the text before the edit"),
        ("never_journal: [\"*.py\"]\n", "the policy's `never_journal` keeps it out"),
    ] {
        let fixture = Fixture::new(&[("a.py", "x = 1\n"), ("quality.yaml", policy)]);
        let services = &fixture.services;
        let change = HostChange { path: "a.py".to_owned(), before: BytesBefore::Unknown, mode: None };
        let edit = services.record_host_edit(&[change], author("one"), String::new());
        let edit = edit.unwrap().unwrap();
        let error = undo_error(services, edit).await;
        let expected = format!("the journal has no text of a.py for edit {edit}: {reason}");
        assert_eq!((error.code, error.message), (Code::InvalidInput, expected));
    }
}

#[tokio::test]
async fn the_version_of_a_file_that_is_gone_is_as_short_as_everywhere() {
    let fixture = Fixture::new(&[("a.txt", "one\n")]);
    let services = &fixture.services;
    let request = Request {
        author: author("one"),
        ..Request::new(Target::File("a.txt".to_owned()), Edit::Restore(b"two\n".to_vec()))
    };
    let edit = services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap();
    std::fs::remove_file(fixture.root().join("a.txt")).unwrap();
    let error = undo_error(services, edit).await;
    let version = Version::hash(b"two\n");
    let expected = format!(
        "edit {edit} of a.txt cannot be undone: version {version} was expected, but there is no file: a.txt"
    );
    assert_eq!((error.code, error.message), (Code::EditConflict, expected));
    let hint = format!("`lockgate show {edit}` shows the earlier text");
    assert_eq!(error.hint, Some(hint.into()));
}

#[tokio::test]
async fn a_removed_file_comes_back_under_a_name_that_no_new_file_may_have() {
    let path = "a\u{200b}.txt";
    let fixture = Fixture::new(&[(path, "one\n")]);
    let services = &fixture.services;
    let request =
        |edit| Request { author: author("one"), ..Request::new(Target::File(path.to_owned()), edit) };
    let edit = services.edit(request(Edit::Remove), Watch::idle()).await.unwrap().edit_id.unwrap();
    let created = services.edit(request(Edit::Content("one\n".to_owned())), Watch::idle()).await;
    assert_eq!(created.unwrap_err().code, Code::InvalidInput);
    services.undo_or_redo(undo(edit), Watch::idle()).await.unwrap();
    assert_eq!(std::fs::read(fixture.root().join(path)).unwrap(), b"one\n");
}

/// Other edits of the path in between do not change the permission bits of the file that comes back.
#[tokio::test]
async fn a_file_comes_back_with_the_permission_bits_that_it_had() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(&[("a.sh", "one\n")]);
    let (services, path) = (&fixture.services, fixture.root().join("a.sh"));
    let bits = || std::fs::metadata(&path).map(|found| found.permissions().mode() & 0o777).ok();
    let edit = async |edit| {
        let target = Target::File("a.sh".to_owned());
        let request = Request { author: author("one"), ..Request::new(target, edit) };
        services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap()
    };
    let revert = async |direction, id| {
        services.undo_or_redo(UndoRequest { direction, ..undo(id) }, Watch::idle()).await.unwrap();
    };
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    let removed = edit(Edit::Remove).await;
    let created = edit(Edit::Content("two\n".to_owned())).await;
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    revert(Direction::Undo, created).await;
    revert(Direction::Undo, removed).await;
    assert_eq!(bits(), Some(0o700));
    revert(Direction::Redo, removed).await;
    let other = edit(Edit::Content("three\n".to_owned())).await;
    revert(Direction::Undo, other).await;
    revert(Direction::Redo, created).await;
    assert_eq!(bits(), Some(0o640));
}

#[tokio::test]
async fn a_conflict_in_one_of_several_files_names_it() {
    for (path, other) in [("p.txt", "q.txt"), ("q.txt", "p.txt")] {
        let fixture = Fixture::new(&[("p.txt", "one\nb\nc\nend\n"), ("q.txt", "one\nb\nc\nend\n")]);
        let services = &fixture.services;
        let request = |path: &str, text: &str| Request {
            author: author("one"),
            ..Request::new(Target::File(path.to_owned()), Edit::Restore(text.as_bytes().to_vec()))
        };
        let requests = vec![request("p.txt", "two\nb\nc\nend\n"), request("q.txt", "three\nb\nc\nend\n")];
        let edit = services.edit_all(requests, Watch::idle()).await.unwrap()[0].edit_id.unwrap();
        // A change elsewhere is no conflict.
        let text = if other == "p.txt" { "two\nb\nc\nother\n" } else { "three\nb\nc\nother\n" };
        fixture.write(other, text);
        fixture.write(path, "four\nb\nc\nend\n");
        let error = undo_error(services, edit).await;
        let beginning = format!("edit {edit} of p.txt, q.txt cannot be undone: {path}: line 1 of version ");
        assert!(error.message.starts_with(&beginning), "{}", error.message);
        assert!(error.code == Code::EditConflict && error.names_target());
    }
}

/// A folder with a root, and a root inside of that.
fn nested_roots() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (outer, inner) = (dir.path().join("root"), dir.path().join("root/sub"));
    std::fs::create_dir_all(&inner).unwrap();
    (dir, outer, inner)
}

/// Opens these roots, in this order, with the state folder that all of them share.
fn open_roots(dir: &TempDir, roots: &[&PathBuf]) -> Arc<Services> {
    let roots: Vec<PathBuf> = roots.iter().map(|root| (*root).clone()).collect();
    Workspace::at(&roots).with_state_dir(&dir.path().join("own")).services().unwrap()
}

/// A path of the outer root may also lie in the inner one.
#[tokio::test]
async fn an_edit_is_undone_in_the_root_whose_journal_has_it() {
    let (dir, outer, inner) = nested_roots();
    let path = inner.join("a.txt");
    let open = |roots: &[&PathBuf]| open_roots(&dir, roots);
    for before in [None, Some("one\n")] {
        before.iter().for_each(|text| std::fs::write(&path, text).unwrap());
        let request = Request {
            author: author("one"),
            ..Request::new(Target::File("sub/a.txt".to_owned()), Edit::Content("two\n".to_owned()))
        };
        let edit = open(&[&outer, &inner]).edit(request, Watch::idle()).await.unwrap().edit_id.unwrap();
        let services = open(&[&inner, &outer]);
        services.undo_or_redo(undo(edit), Watch::idle()).await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), before);
        let again = services.undo_or_redo(undo(edit), Watch::idle()).await.unwrap();
        assert_eq!(again[0].status, Status::AlreadyApplied);
    }
}

/// The journal of the root that contained the file at the time of the edit has it.
#[tokio::test]
async fn the_last_edit_of_a_path_is_found_in_the_journals_of_all_roots_that_contain_it() {
    let (dir, outer, inner) = nested_roots();
    let path = inner.join("a.txt");
    std::fs::write(&path, "0\n").unwrap();
    let open = |roots: &[&PathBuf]| open_roots(&dir, roots);
    let target = || Target::File(path.to_str().unwrap().to_owned());
    let mut ids = Vec::new();
    for (root, text) in [(&outer, "1\n"), (&inner, "2\n"), (&outer, "3\n")] {
        let edit = Edit::Content(text.to_owned());
        let request = Request { author: author("one"), ..Request::new(target(), edit) };
        ids.push(open(&[root]).edit(request, Watch::idle()).await.unwrap().edit_id.unwrap());
    }
    for roots in [[&outer, &inner], [&inner, &outer]] {
        let services = open(&roots);
        let request = HistoryRequest { target: Some(target()), max_entries: 2 };
        let entries = services.read(request, Watch::idle()).await.unwrap();
        assert_eq!(entries.len(), 2);
        for (direction, texts) in
            [(Direction::Undo, ["2\n", "1\n", "0\n"]), (Direction::Redo, ["1\n", "2\n", "3\n"])]
        {
            for text in texts {
                let revert = UndoRequest { direction, edit_id: None, target: Some(target()), ..undo(ids[0]) };
                services.undo_or_redo(revert, Watch::idle()).await.unwrap();
                assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{direction:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_conflict_that_another_program_caused_during_the_write_is_to_be_sent_again() {
    let (fixture, edit_id) = edited_file().await;
    let services = &fixture.services;
    let reversal = services.prepare(&undo(edit_id)).unwrap();
    let conflict = || Error::new(Code::EditConflict, "a.txt was changed").hint("merge the two texts");
    let hint = |error| services.as_rejection(error, &reversal, &undo(edit_id)).hint.unwrap().into_string();
    assert_eq!(hint(conflict()), "send the request again");
    let shown = format!("`lockgate show {edit_id}` shows the earlier text");
    assert_eq!(hint(conflict().field("expected_version")), shown);
    assert_eq!(hint(conflict().with_unknown_disk()), "merge the two texts");
}

/// Edits and removes a file of `sub`, each time moves the folder there and leaves a link, and returns the errors of the
/// undos with the ids of the edits.
async fn undos_behind_a_folder_link(fixture: &Fixture, there: &Path) -> Vec<(EditId, Error)> {
    fixture.write("sub/a.txt", "one\n");
    let (services, sub) = (&fixture.services, fixture.root().join("sub"));
    let mut errors = Vec::new();
    for edit in [Edit::Restore(b"two\n".to_vec()), Edit::Remove] {
        let request =
            Request { author: author("one"), ..Request::new(Target::File("sub/a.txt".to_owned()), edit) };
        let id = services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap();
        std::fs::rename(&sub, there).unwrap();
        std::os::unix::fs::symlink(there, &sub).unwrap();
        errors.push((id, undo_error(services, id).await));
        std::fs::remove_file(&sub).unwrap();
        std::fs::rename(there, &sub).unwrap();
    }
    errors
}

#[tokio::test]
async fn a_folder_that_leads_outside_is_a_conflict() {
    let fixture = Fixture::new(&[]);
    for (id, error) in undos_behind_a_folder_link(&fixture, &fixture.own().join("there")).await {
        assert_eq!(error.code, Code::EditConflict, "{error:?}");
        let hint = format!("`lockgate show {id}` shows the earlier text");
        assert_eq!((error.hint, error.next), (Some(hint.into()), None));
    }
}

#[tokio::test]
async fn a_folder_that_leads_to_another_is_a_conflict() {
    let fixture = Fixture::new(&[]);
    for (_, error) in undos_behind_a_folder_link(&fixture, &fixture.root().join("there")).await {
        assert_eq!(error.code, Code::EditConflict, "{error:?}");
        let message = "sub/a.txt leads to there/a.txt through a symlink that is newer than the edit";
        assert!(error.message.ends_with(message), "{error:?}");
    }
}

/// Makes `texts` the text of a.txt one after the other, then writes the last but one as another program does; returns the
/// ids of the edits.
async fn edits_of_which_the_last_is_reverted(fixture: &Fixture, texts: [&str; 2]) -> [EditId; 2] {
    let edit = async |text: &str| {
        let edit = Edit::Restore(text.as_bytes().to_vec());
        let request =
            Request { author: author("one"), ..Request::new(Target::File("a.txt".to_owned()), edit) };
        fixture.services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap()
    };
    let ids = [edit(texts[0]).await, edit(texts[1]).await];
    fixture.write("a.txt", texts[0]);
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_parallel_calls_records_that_an_edit_is_reverted() {
    for _ in 0..10 {
        let fixture = Fixture::new(&[("a.txt", "0\n")]);
        let services = &fixture.services;
        let ids = edits_of_which_the_last_is_reverted(&fixture, ["1\n", "2\n"]).await;
        let call = || {
            let revert = UndoRequest { edit_id: None, whose: Whose::Author, ..undo(ids[0]) };
            let services = Arc::clone(services);
            tokio::spawn(async move { services.undo_or_redo(revert, Watch::idle()).await })
        };
        let (one, other) = tokio::join!(call(), call());
        let reports = [one, other].map(|reports| reports.unwrap().unwrap().remove(0));
        let recorded: Vec<_> = reports.iter().filter(|report| report.edit_id == Some(ids[1])).collect();
        assert!(recorded.len() == 1 && recorded[0].status == Status::AlreadyApplied);
        assert_eq!(std::fs::read_to_string(fixture.root().join("a.txt")).unwrap(), "0\n");
        assert!(ids.iter().all(|id| services.entry(*id).unwrap().undone));
    }
}

#[tokio::test]
async fn an_edit_that_another_call_recorded_as_reverted_is_not_recorded_again() {
    let fixture = Fixture::new(&[("a.txt", "0\n")]);
    let services = &fixture.services;
    let [_, id] = edits_of_which_the_last_is_reverted(&fixture, ["1\n", "2\n"]).await;
    let reversal = Arc::new(services.prepare(&undo(id)).unwrap());
    let record = async |edit_id: Option<String>| {
        let (revert, watch) = (Arc::new(UndoRequest { edit_id, ..undo(id) }), Watch::idle());
        let error = Error::new(Code::EditConflict, "changed");
        services.record_if_reverted(&reversal, &revert, &watch, error).await
    };
    // It waits for the lock of the file.
    let held = services.locks.try_hold(&[services.store.files.admit("a.txt").unwrap().key()]).unwrap();
    let release = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!services.entry(id).unwrap().undone);
        drop(held);
    };
    let (first, ()) = tokio::join!(record(None), release);
    let again = record(Some(id.to_string())).await;
    for reports in [first, again] {
        let report = reports.unwrap().unwrap().remove(0);
        assert_eq!((report.status, report.edit_id), (Status::AlreadyApplied, Some(id)));
    }
    assert!(record(None).await.unwrap().is_none());
    assert_eq!(services.store.journal.entries(None, 9).unwrap().len(), 3);
    // Also after the file has changed.
    fixture.write("a.txt", "3\n");
    assert!(record(None).await.unwrap().is_none());
}

#[tokio::test]
async fn a_link_to_a_file_with_the_earlier_text_is_a_conflict() {
    let fixture = Fixture::new(&[("a.txt", "0\n"), ("b.txt", "1\n")]);
    let services = &fixture.services;
    let [_, id] = edits_of_which_the_last_is_reverted(&fixture, ["1\n", "2\n"]).await;
    std::fs::remove_file(fixture.root().join("a.txt")).unwrap();
    std::os::unix::fs::symlink("b.txt", fixture.root().join("a.txt")).unwrap();
    assert_eq!(undo_error(services, id).await.code, Code::EditConflict);
    assert!(!services.entry(id).unwrap().undone);
    // The older edit left the text of the other file, but not there.
    let last = UndoRequest { edit_id: None, ..undo(id) };
    let error = services.undo_or_redo(last, Watch::idle()).await.unwrap_err();
    assert_eq!(error.hint, Some(format!("`lockgate show {id}` shows the earlier text").into()));
    std::fs::remove_file(fixture.root().join("a.txt")).unwrap();
    fixture.write("a.txt", "1\n");
    services.undo_or_redo(undo(id), Watch::idle()).await.unwrap();
    assert!(services.entry(id).unwrap().undone, "the control");
}

#[test]
fn an_edit_that_a_journal_cannot_record_stops_only_calls_that_could_mean_it() {
    let id = |text: &str| text.parse::<EditId>().unwrap();
    let named = |text: &str| Some(text.to_owned());
    for (edit_id, is_stopped) in [(named("7f3a-2"), true), (named("7f3b-2"), false), (None, true)] {
        let error = Error::new(Code::NoSpace, "full");
        let unrecorded = vec![UnrecordedEdit { id: id("7f3a-1"), error }];
        let revert = UndoRequest { edit_id, ..undo(id("7f3a-2")) };
        assert_eq!(check_recorded(&revert, unrecorded).is_err(), is_stopped, "{:?}", revert.edit_id);
    }
}

async fn edit(services: &Arc<Services>, name: &str, path: &str, text: &str) -> EditId {
    let edit = Edit::Restore(text.as_bytes().to_vec());
    let request = Request { author: author(name), ..Request::new(Target::File(path.to_owned()), edit) };
    services.edit(request, Watch::idle()).await.unwrap().edit_id.unwrap()
}

#[tokio::test]
async fn a_created_file_that_the_journal_does_not_keep_is_not_removed() {
    let reason =
        |path: &str, id: EditId, why: &str| format!("the journal has no text of {path} for edit {id}: {why}");
    let fixture = Fixture::new(&[("b.txt", "one\n"), ("quality.yaml", "never_journal: [\"*.sec\"]\n")]);
    let services = &fixture.services;
    let is_there = |path: &str| fixture.root().join(path).exists();
    let request = |path: &str| {
        let edit = Edit::Content("two\n".to_owned());
        Request { author: author("one"), ..Request::new(Target::File(path.to_owned()), edit) }
    };
    let batch = services.edit_all(vec![request("n.sec"), request("b.txt")], Watch::idle()).await.unwrap();
    let own = edit(services, "one", "m.sec", "x\n").await;
    for (path, id) in [("m.sec", own), ("n.sec", batch[0].edit_id.unwrap())] {
        let error = undo_error(services, id).await;
        assert_eq!(error.message, reason(path, id, "the policy's `never_journal` keeps it out"));
        assert!(is_there(path) && !services.entry(id).unwrap().undone);
    }
    // Not kept from now on, but kept by the edit, so it can be given back.
    let kept = edit(services, "one", "c.txt", "x\n").await;
    fixture.write("quality.yaml", "never_journal: [\"*.txt\"]\n");
    services.undo_or_redo(undo(kept), Watch::idle()).await.unwrap();
    let redo = UndoRequest { direction: Direction::Redo, ..undo(kept) };
    services.undo_or_redo(redo, Watch::idle()).await.unwrap();
    assert!(is_there("c.txt"));
    fixture.write("quality.yaml", "limits: { journal: 0 }\n");
    let error = undo_error(services, kept).await;
    let expected = reason("c.txt", kept, "`limits.journal: 0` of the policy turns the journal off");
    assert!(error.message == expected && is_there("c.txt"), "{error:?}");
    // What another program has removed is gone already.
    std::fs::remove_file(fixture.root().join("m.sec")).unwrap();
    assert_eq!(
        services.undo_or_redo(undo(own), Watch::idle()).await.unwrap()[0].status,
        Status::AlreadyApplied
    );
}

#[tokio::test]
async fn an_older_edit_that_other_changes_leave_alone_is_proposed() {
    let fixture = Fixture::new(&[("b.txt", "x\ny\nz\nq\n")]);
    let services = &fixture.services;
    let first = edit(services, "one", "b.txt", "X\ny\nz\nq\n").await;
    edit(services, "one", "b.txt", "X\ny\nz\nQ\n").await;
    let last = async |target: Option<&str>| {
        let target = target.map(|path| Target::File(path.to_owned()));
        let last = UndoRequest { edit_id: None, target, whose: Whose::Author, ..undo(first) };
        services.undo_or_redo(last, Watch::idle()).await.unwrap_err().hint.unwrap_or_default()
    };
    fixture.write("b.txt", "X\ny\nz\nQQQ\n");
    let proposal = format!(", or undo the next older edit, {first} of b.txt, by its `edit_id`");
    for target in [None, Some("b.txt")] {
        let hint = last(target).await;
        assert!(hint.ends_with(&proposal), "{hint}");
    }
    // The control: that line has changed, too.
    fixture.write("b.txt", "XX\ny\nz\nQQQ\n");
    assert!(!last(None).await.contains("next older edit"));
    fixture.write("b.txt", "X\ny\nz\nQQQ\n");
    services.undo_or_redo(undo(first), Watch::idle()).await.unwrap();
    assert_eq!(std::fs::read_to_string(fixture.root().join("b.txt")).unwrap(), "x\ny\nz\nQQQ\n");
}

#[tokio::test]
async fn an_edit_of_another_author_is_proposed_only_if_its_texts_are_kept() {
    let fixture = Fixture::new(&[("quality.yaml", "never_journal: [\"*.sec\"]\n")]);
    let services = &fixture.services;
    let revert = |id| UndoRequest { edit_id: None, whose: Whose::Author, author: author("two"), ..undo(id) };
    for (path, is_proposed) in [("a.txt", true), ("a.sec", false)] {
        let id = edit(services, "one", path, "x\n").await;
        let error = services.undo_or_redo(revert(id), Watch::idle()).await.unwrap_err();
        assert_eq!(error.hint.unwrap().contains(&id.to_string()), is_proposed);
    }
}

#[tokio::test]
async fn the_history_of_a_file_needs_no_file_at_its_path() {
    let link = |target: &'static str| move |path: &Path| std::os::unix::fs::symlink(target, path).unwrap();
    let folder = |path: &Path| std::fs::create_dir(path).unwrap();
    type Put<'a> = &'a dyn Fn(&Path);
    let puts: [(&str, Put<'_>); 6] = [
        ("d/a.txt", &folder),
        ("d/a.txt", &link("nothing")),
        ("d/a.txt", &link("/etc/hosts")),
        ("d/a.txt", &link("../other.txt")),
        ("d", &link("/etc")),
        ("d", &|path| std::fs::write(path, "").unwrap()),
    ];
    for (at, put) in puts {
        let fixture = Fixture::new(&[("other.txt", "other\n")]);
        fixture.write("d/a.txt", "one\n");
        let services = &fixture.services;
        let id = edit(services, "one", "d/a.txt", "two\n").await;
        let place = fixture.root().join(at);
        std::fs::remove_file(fixture.root().join("d/a.txt")).unwrap();
        if at == "d" {
            std::fs::remove_dir(&place).unwrap();
        }
        put(&place);
        let entry = services.entry(id).unwrap();
        let path = services.store.journal.recorded_paths(id).unwrap().pop();
        let diff = services.change(id, &entry.changes[0], path).unwrap();
        assert!(diff.starts_with("--- a/d/a.txt\n") && diff.ends_with("-one\n+two\n"), "{diff}");
        for path in ["d/a.txt", "./d/x/../a.txt", fixture.root().join("d/a.txt").to_str().unwrap()] {
            let request = HistoryRequest { target: Some(Target::File(path.to_owned())), max_entries: 9 };
            let entries = services.read(request, Watch::idle()).await.unwrap();
            assert_eq!(entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [id], "{path}");
        }
        let request = HistoryRequest { target: Some(Target::File(".env".to_owned())), max_entries: 9 };
        assert_eq!(services.read(request, Watch::idle()).await.unwrap_err().code, Code::Protected);
    }
}

/// Without `--root`, the command line takes the project around the folder.
#[tokio::test]
async fn the_command_that_shows_an_edit_names_a_root_inside_a_project() {
    let (dir, outer, inner) = nested_roots();
    std::fs::create_dir(outer.join(".git")).unwrap();
    for (root, is_named) in [(&inner, true), (&outer, false)] {
        let services = open_roots(&dir, &[root]);
        let id = edit(&services, "one", "a.txt", "one\n").await;
        std::fs::write(root.join("a.txt"), "two\n").unwrap();
        let hint = undo_error(&services, id).await.hint.unwrap();
        let real = root.canonicalize().unwrap();
        let command = match is_named {
            true => format!("`lockgate show --root {} {id}`", real.display()),
            false => format!("`lockgate show {id}`"),
        };
        assert!(hint.contains(&command), "{hint}");
    }
}

#[tokio::test]
async fn the_later_edit_that_is_in_the_way_is_named() {
    let fixture = Fixture::new(&[("a.txt", "0\n")]);
    let services = &fixture.services;
    let first = edit(services, "one", "a.txt", "1\n").await;
    let second = edit(services, "one", "a.txt", "2\n").await;
    let hint = async || undo_error(services, first).await.hint.unwrap_or_default();
    let proposal = format!(", or undo the later edit {second} first, by its `edit_id`");
    assert!(hint().await.ends_with(&proposal), "{}", hint().await);
    let third = edit(services, "one", "a.txt", "3\n").await;
    assert!(!hint().await.contains("later edit"), "the undo of one edit is not enough");
    fixture.write("a.txt", "4\n");
    assert!(!hint().await.contains("later edit"), "nor that of an edit that cannot be undone");
    fixture.write("a.txt", "3\n");
    for (id, text) in [(third, "2\n"), (second, "1\n"), (first, "0\n")] {
        services.undo_or_redo(undo(id), Watch::idle()).await.unwrap();
        assert_eq!(std::fs::read_to_string(fixture.root().join("a.txt")).unwrap(), text);
    }
}
