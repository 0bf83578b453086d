//! Editing: what is asked for, what is expected of the text, and what becomes of many edits at once.

use lockgate_checks::Watch;
use lockgate_edit::request::{Expect, Mode};
use lockgate_edit::{Edit, Insertion};
use lockgate_engine::{Report, Status};
use lockgate_error::Code;
use lockgate_text::Version;

use super::common::{FIVE, written};
use crate::suite::edits::{content, insertion, lines, search};
use crate::suite::rows::fixture::{EntityFixture, Storage, version};

pub fn the_four_modes(fixture: &EntityFixture) {
    let creation = written(fixture, "src/a.txt", content(FIVE));
    assert!(creation.is_created() && creation.previous_version.is_none());
    let second = written(fixture, "src/a.txt", lines(2, 3, "TWO\n"));
    assert_eq!(fixture.text("src/a.txt"), "one\nTWO\nfour\nfive\n");
    assert_eq!((second.previous_version, second.is_created()), (creation.version, false));
    written(fixture, "src/a.txt", insertion(1, "zero\n"));
    written(fixture, "src/a.txt", insertion(Insertion::END, "six"));
    assert_eq!(fixture.text("src/a.txt"), "zero\none\nTWO\nfour\nfive\nsix\n");
    let found = written(fixture, "src/a.txt", search("o", "0"));
    assert_eq!(found.matches.replacements, Some(3));
    assert_eq!(fixture.text("src/a.txt"), "zer0\n0ne\nTWO\nf0ur\nfive\nsix\n");
    let same = fixture.edit("src/a.txt", search("six", "six"), Expect::Anything).unwrap();
    assert_eq!((same.status, same.edit_id), (Status::Unchanged, None));
    let whole = written(fixture, "src/a.txt", content("all new\n"));
    assert!(!whole.is_created());
    for (edit, code) in [
        (search("nowhere to be found", "x"), Code::MatchNotFound),
        (lines(7, 7, "x\n"), Code::RangeOutOfBounds),
        (insertion(9, "x\n"), Code::RangeOutOfBounds),
    ] {
        assert_eq!(fixture.edit("src/a.txt", edit, Expect::Anything).unwrap_err().code, code);
    }
    for edit in [search("a", "b"), lines(1, 1, "x\n"), insertion(1, "x\n")] {
        let rejection = fixture.edit("src/none.txt", edit, Expect::Anything).unwrap_err();
        assert_eq!((rejection.code, rejection.field.as_deref()), (Code::FileNotFound, Some("path")));
    }
    assert_eq!(fixture.text("src/a.txt"), "all new\n");
    assert_eq!(fixture.bytes("src/none.txt"), None);
}

pub fn the_modes_of_checking(fixture: &EntityFixture) {
    let (good, bad) = ("def f():\n    return 1\n", "def f(:\n    return 1\n");
    let refused = fixture.edit("src/a.py", content(bad), Expect::Anything).unwrap();
    assert_eq!((refused.status, refused.edit_id, refused.version), (Status::Refused, None, None));
    assert!(refused.verdict.findings.iter().any(|finding| finding.blocking));
    let shown = fixture.edit_as("src/a.py", content(good), Mode::VerifyOnly, Expect::Anything).unwrap();
    assert_eq!((shown.status, shown.edit_id), (Status::Verified, None));
    let shown = fixture.edit_as("src/a.py", content(bad), Mode::VerifyOnly, Expect::Anything).unwrap();
    assert_eq!(shown.status, Status::Refused);
    assert_eq!(fixture.bytes("src/a.py"), None);
    written(fixture, "src/a.py", content(good));
    let refused = fixture.edit("src/a.py", search("f()", "f("), Expect::Anything).unwrap();
    assert_eq!((refused.status, fixture.text("src/a.py").as_str()), (Status::Refused, good));
    let warned =
        fixture.edit_as("src/a.py", search("f()", "f("), Mode::Interactive, Expect::Anything).unwrap();
    assert_eq!((warned.status, fixture.text("src/a.py").as_str()), (Status::Written, bad));
    // What was wrong before does not count, and what nobody parses passes.
    written(fixture, "src/a.py", search("return 1", "return 2"));
    written(fixture, "src/a.txt", content(bad));
    let refused = fixture
        .edit("src/a.txt", content("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"), Expect::Anything)
        .unwrap();
    assert_eq!(refused.status, Status::Refused);
    assert_eq!(fixture.text("src/a.txt"), bad);
}

pub fn expected_versions(fixture: &EntityFixture) {
    let creation = fixture.edit("src/a.txt", content(FIVE), Expect::Absent).unwrap();
    assert_eq!(creation.status, Status::Written);
    let rejection = fixture.edit("src/a.txt", content("x\n"), Expect::Absent).unwrap_err();
    assert_eq!((rejection.code, rejection.field.as_deref()), (Code::FileExists, Some("path")));
    let short = Expect::Version(creation.version.unwrap().hex()[..12].to_owned());
    let second = fixture.edit("src/a.txt", lines(1, 1, "ONE\n"), short).unwrap();
    let third = fixture.edit("src/a.txt", lines(5, 5, "FIVE\n"), version(&second)).unwrap();
    assert_eq!(third.status, Status::Written);
    let never = Expect::Version(Version::hash(b"never").hex());
    let rejection = fixture.edit("src/a.txt", lines(2, 2, "x\n"), never.clone()).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    let rejection = fixture.edit("src/none.txt", content("x\n"), never).unwrap_err();
    assert_eq!((rejection.code, rejection.field.as_deref()), (Code::EditConflict, Some("expected_version")));
    assert_eq!(fixture.text("src/a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert_eq!(fixture.bytes("src/none.txt"), None);
}

pub fn rebased_or_refused(fixture: &EntityFixture) {
    let first = written(fixture, "src/a.txt", content(FIVE));
    written(fixture, "src/a.txt", lines(1, 1, "ONE\nand a half\n"));
    let rebased = fixture.edit("src/a.txt", lines(4, 4, "FOUR\n"), version(&first)).unwrap();
    assert_eq!(rebased.status, Status::Written);
    assert!(rebased.notes.iter().any(|note| note.contains("rebased from")), "{:?}", rebased.notes);
    assert_eq!(fixture.text("src/a.txt"), "ONE\nand a half\ntwo\nthree\nFOUR\nfive\n");
    let rejection = fixture.edit("src/a.txt", lines(1, 1, "uno\n"), version(&first)).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    assert!(rejection.since.is_some_and(|since| since.diff.contains("-one\n+ONE\n")));
    let rejection = fixture.edit("src/a.txt", content("whole\n"), version(&first)).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    // An older version of another text says nothing of this one.
    let other = written(fixture, "src/b.txt", content("other\n"));
    let request = fixture.request("src/a.txt", lines(1, 1, "x\n"), Mode::Strict, version(&other));
    let rejection = fixture.runtime.block_on(fixture.servers[0].edit(request, Watch::idle())).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    let tells = rejection.since.is_some_and(|since| since.diff.contains("other"));
    assert!(fixture.kept == Storage::Files || !tells, "texts belong to one row");
    assert_eq!(fixture.text("src/a.txt"), "ONE\nand a half\ntwo\nthree\nFOUR\nfive\n");
}

pub fn removing(fixture: &EntityFixture) {
    let creation = written(fixture, "src/a.txt", content(FIVE));
    let second = written(fixture, "src/a.txt", lines(1, 1, "ONE\n"));
    let rejection = fixture.edit("src/a.txt", Edit::Remove, version(&creation)).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    let removal = fixture.edit("src/a.txt", Edit::Remove, version(&second)).unwrap();
    assert!(removal.is_removed() && removal.version.is_none() && removal.previous_version == second.version);
    assert_eq!(fixture.bytes("src/a.txt"), None);
    assert_eq!(
        fixture.edit("src/a.txt", Edit::Remove, Expect::Anything).unwrap_err().code,
        Code::FileNotFound
    );
    let again = fixture.edit("src/a.txt", content("back\n"), Expect::Absent).unwrap();
    assert!(again.is_created());
    // An empty text is not the same as none.
    written(fixture, "src/empty.txt", content(""));
    assert_eq!(fixture.bytes("src/empty.txt"), Some(Vec::new()));
    assert!(fixture.edit("src/empty.txt", Edit::Remove, Expect::Anything).unwrap().is_removed());
    assert_eq!(fixture.bytes("src/empty.txt"), None);
}

pub fn a_batch_is_whole_or_nothing(fixture: &EntityFixture) {
    let request = |path: &str, edit: Edit| fixture.request(path, edit, Mode::Strict, Expect::Anything);
    written(fixture, "src/a.txt", content(FIVE));
    let a = written(fixture, "src/a.py", content("x = 1\n"));
    let rejection = fixture.edit_all(vec![
        request("src/a.txt", lines(1, 1, "ONE\n")),
        request("src/none.txt", lines(1, 1, "ONE\n")),
    ]);
    assert_eq!(rejection.unwrap_err().code, Code::FileNotFound);
    let refused = fixture.edit_all(vec![
        request("src/a.txt", lines(1, 1, "ONE\n")),
        request("src/a.py", content("x = (\n")),
        request("src/new.txt", content("new\n")),
    ]);
    let statuses: Vec<Status> = refused.unwrap().iter().map(|report| report.status).collect();
    assert_eq!(statuses, [Status::Verified, Status::Refused, Status::Verified]);
    let twice = fixture
        .edit_all(vec![request("src/a.txt", lines(1, 1, "1\n")), request("src/a.txt", lines(2, 2, "2\n"))]);
    assert_eq!(twice.unwrap_err().code, Code::InvalidInput);
    assert_eq!(fixture.edit_all(Vec::new()).unwrap_err().code, Code::InvalidInput);
    assert_eq!((fixture.text("src/a.txt").as_str(), fixture.bytes("src/new.txt")), (FIVE, None));
    assert_eq!(fixture.text("src/a.py"), "x = 1\n");
    let reports = fixture
        .edit_all(vec![
            request("src/a.txt", lines(1, 1, "ONE\n")),
            fixture.request("src/a.py", Edit::Remove, Mode::Strict, version(&a)),
            request("src/new.txt", content("new\n")),
        ])
        .unwrap();
    assert!(reports.iter().all(|report| report.status == Status::Written));
    assert!(reports.iter().all(|report| report.edit_id == reports[0].edit_id && report.edit_id.is_some()));
    assert_eq!(fixture.bytes("src/a.py"), None);
    let back = fixture.undo(&reports[0]).unwrap();
    assert_eq!(back.len(), 3);
    assert_eq!((fixture.text("src/a.txt").as_str(), fixture.bytes("src/new.txt")), (FIVE, None));
    assert_eq!(fixture.text("src/a.py"), "x = 1\n");
    fixture.redo(&reports[0]).unwrap();
    assert_eq!((fixture.text("src/new.txt").as_str(), fixture.bytes("src/a.py")), ("new\n", None));
    // What one of them cannot undo, none does.
    written(fixture, "src/new.txt", content("theirs\n"));
    assert_eq!(fixture.undo(&reports[0]).unwrap_err().code, Code::EditConflict);
    assert_eq!((fixture.text("src/new.txt").as_str(), fixture.bytes("src/a.py")), ("theirs\n", None));
}

pub fn the_same_request_again(fixture: &EntityFixture) {
    let creation = written(fixture, "src/a.txt", content(FIVE));
    let first = fixture.edit("src/a.txt", lines(2, 2, "TWO\ntwo and a half\n"), version(&creation)).unwrap();
    for _ in 0..2 {
        let again =
            fixture.edit("src/a.txt", lines(2, 2, "TWO\ntwo and a half\n"), version(&creation)).unwrap();
        assert_eq!((again.status, again.edit_id), (Status::AlreadyApplied, first.edit_id));
        assert_eq!((again.version, again.previous_version), (first.version, first.previous_version));
    }
    // Another server of the same store knows it, too.
    let request =
        fixture.request("src/a.txt", lines(2, 2, "TWO\ntwo and a half\n"), Mode::Strict, version(&creation));
    let again = fixture.runtime.block_on(fixture.servers[1].edit(request, Watch::idle())).unwrap();
    assert_eq!((again.status, again.edit_id), (Status::AlreadyApplied, first.edit_id));
    // Another request of the same version is none.
    let other = fixture.edit("src/a.txt", lines(2, 2, "ZWEI\n"), version(&creation));
    assert_eq!(other.unwrap_err().code, Code::EditConflict);
    let batch = |at: &Report| {
        vec![
            fixture.request("src/a.txt", lines(1, 1, "ONE\n"), Mode::Strict, version(at)),
            fixture.request("src/b.txt", content("b\n"), Mode::Strict, Expect::Anything),
        ]
    };
    let reports = fixture.edit_all(batch(&first)).unwrap();
    let again = fixture.edit_all(batch(&first)).unwrap();
    assert!(
        again
            .iter()
            .all(|report| (report.status, report.edit_id) == (Status::AlreadyApplied, reports[0].edit_id))
    );
    assert_eq!(fixture.text("src/a.txt"), "ONE\nTWO\ntwo and a half\nthree\nfour\nfive\n");
    let removal = fixture.edit("src/b.txt", Edit::Remove, version(&reports[1])).unwrap();
    let again = fixture.edit("src/b.txt", Edit::Remove, version(&reports[1]));
    fixture.log.record("removed again", Ok(format!("{} {}", removal.is_removed(), again.is_ok())));
    assert_eq!(fixture.history(Some("src/a.txt"), 9).len(), 3);
}
