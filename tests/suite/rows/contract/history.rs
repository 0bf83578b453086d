//! What was: taken back, made again, and told of.

use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{Direction, Expect};
use lockgate_engine::{EntryKind, Report, Status};
use lockgate_error::Code;

use super::common::{FIVE, written};
use crate::suite::edits::{content, lines, search};
use crate::suite::rows::fixture::EntityFixture;

pub fn undo_and_redo(fixture: &EntityFixture) {
    let creation = written(fixture, "src/a.txt", content(FIVE));
    let edit = written(fixture, "src/a.txt", lines(2, 2, "TWO\n"));
    for _ in 0..2 {
        let back = fixture.undo(&edit).unwrap();
        assert_eq!((back[0].status, fixture.text("src/a.txt").as_str()), (Status::Written, FIVE));
        assert_eq!((back[0].version, back[0].previous_version), (creation.version, edit.version));
        let reports = fixture.undo(&edit).unwrap();
        assert_eq!((reports[0].status, reports[0].edit_id), (Status::AlreadyApplied, edit.edit_id));
        let again = fixture.revert(Direction::Redo, None, Some("src/a.txt")).unwrap();
        assert_eq!((again[0].status, again[0].version), (Status::Written, edit.version));
    }
    let back = fixture.revert(Direction::Undo, None, Some("src/a.txt")).unwrap();
    assert_eq!(back[0].version, creation.version);
    // An undo is taken back by its own name, too.
    let undo = back[0].edit_id.unwrap().to_string();
    let again = fixture.revert(Direction::Undo, Some(&undo), None).unwrap();
    assert_eq!(again[0].version, edit.version);
    let none = fixture.revert(Direction::Redo, None, Some("src/a.txt")).unwrap_err();
    assert_eq!((none.code, none.field.as_deref()), (Code::InvalidInput, Some("path")));
    let none = fixture.revert(Direction::Undo, None, Some("src/none.txt")).unwrap_err();
    assert_eq!((none.code, none.field.as_deref()), (Code::InvalidInput, Some("path")));
    for id in ["e-nothing", "0", ""] {
        assert_eq!(
            fixture.revert(Direction::Undo, Some(id), None).unwrap_err().code,
            Code::InvalidInput,
            "{id}"
        );
    }
}

pub fn undo_of_creation_and_removal(fixture: &EntityFixture) {
    let creation = written(fixture, "src/a.txt", content(FIVE));
    let back = fixture.undo(&creation).unwrap();
    assert!(back[0].is_removed() && back[0].version.is_none());
    assert_eq!(fixture.bytes("src/a.txt"), None);
    let again = fixture.redo(&creation).unwrap();
    assert!(again[0].is_created() && again[0].version == creation.version);
    let removal = fixture.edit("src/a.txt", Edit::Remove, Expect::Anything).unwrap();
    let back = fixture.undo(&removal).unwrap();
    assert!(back[0].is_created() && back[0].version == creation.version);
    fixture.redo(&removal).unwrap();
    assert_eq!(fixture.bytes("src/a.txt"), None);
    // Somebody else's text stands where the removed one is to come back.
    written(fixture, "src/a.txt", content("theirs\n"));
    assert_eq!(fixture.undo(&removal).unwrap_err().code, Code::EditConflict);
    assert_eq!(fixture.text("src/a.txt"), "theirs\n");
    // What was made was changed since: it is not removed with the change.
    let other = written(fixture, "src/b.txt", content("mine\n"));
    written(fixture, "src/b.txt", content("changed\n"));
    assert_eq!(fixture.undo(&other).unwrap_err().code, Code::EditConflict);
    assert_eq!(fixture.text("src/b.txt"), "changed\n");
}

pub fn undo_of_one_of_many(fixture: &EntityFixture) {
    written(fixture, "src/a.txt", content(FIVE));
    let edits: Vec<Report> = ["one", "two", "three", "four", "five"]
        .iter()
        .map(|word| written(fixture, "src/a.txt", search(word, &format!("{word}\n{word}!"))))
        .collect();
    let back = fixture.undo(&edits[2]).unwrap();
    assert_eq!(fixture.text("src/a.txt"), "one\none!\ntwo\ntwo!\nthree\nfour\nfour!\nfive\nfive!\n");
    assert!(back[0].notes.iter().any(|note| note.contains("rebased from")), "{:?}", back[0].notes);
    fixture.redo(&edits[2]).unwrap();
    assert_eq!(fixture.text("src/a.txt"), "one\none!\ntwo\ntwo!\nthree\nthree!\nfour\nfour!\nfive\nfive!\n");
    written(fixture, "src/a.txt", search("two!", "zwei!"));
    let rejection = fixture.undo(&edits[1]).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    assert_eq!(fixture.text("src/a.txt"), "one\none!\ntwo\nzwei!\nthree\nthree!\nfour\nfour!\nfive\nfive!\n");
}

pub fn recorded_history(fixture: &EntityFixture) {
    let creation = written(fixture, "src/a.txt", content(FIVE));
    let other = written(fixture, "src/b.txt", content("b\n"));
    let second = written(fixture, "src/a.txt", lines(1, 2, "ONE\n"));
    fixture.undo(&second).unwrap();
    let of_a = fixture.history(Some("src/a.txt"), 10);
    assert_eq!(of_a.len(), 3);
    assert!(matches!(of_a[0].meta.kind, EntryKind::Undo(of) if Some(of) == second.edit_id));
    assert_eq!((Some(of_a[1].id), of_a[1].undone), (second.edit_id, true));
    assert_eq!((Some(of_a[2].id), of_a[2].undone), (creation.edit_id, false));
    assert_eq!((of_a[1].changes[0].added, of_a[1].changes[0].removed), (1, 2));
    assert_eq!((of_a[1].meta.tool.as_str(), of_a[1].meta.author.as_str()), ("suite", "tester"));
    assert!(of_a.windows(2).all(|two| two[0].at >= two[1].at));
    assert_eq!(fixture.history(None, 10).len(), 4);
    assert_eq!(fixture.history(None, 2).len(), 2);
    assert_eq!(fixture.history(Some("src/a.txt"), 1)[0].id, of_a[0].id);
    assert_eq!(
        fixture.history(Some("src/b.txt"), 10).iter().map(|entry| Some(entry.id)).collect::<Vec<_>>(),
        [other.edit_id]
    );
    assert_eq!(fixture.history(Some("src/none.txt"), 10), []);
    let shown = fixture.remembered(&second);
    assert!(shown.diffs[0].as_ref().unwrap().contains("-one\n-two\n+ONE\n"), "{:?}", shown.diffs);
    let shown = fixture.remembered(&creation);
    assert!(shown.diffs[0].as_ref().unwrap().contains("+five\n"), "{:?}", shown.diffs);
    // Both servers remember the same.
    let again =
        lockgate_edit::request::HistoryRequest { target: Some(fixture.target("src/a.txt")), max_entries: 10 };
    assert_eq!(fixture.runtime.block_on(fixture.servers[1].read(again, Watch::idle())).unwrap(), of_a);
}
