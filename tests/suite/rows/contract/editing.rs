//! Editing: what is asked for, what is expected of the text, and what becomes of many edits at once.

use lockgate::edit::{Edit, Insertion};
use lockgate::engine::{Report, Status};
use lockgate::error::Code;
use lockgate::gate::Watch;
use lockgate::request::{Expect, Mode};
use lockgate::text::Version;

use super::asked::{FIVE, written};
use crate::suite::edits::{content, insertion, lines, search};
use crate::suite::rows::fixture::{EntityFixture, Storage, version};

pub fn the_four_modes(world: &EntityFixture) {
    let made = written(world, "src/a.txt", content(FIVE));
    assert!(made.created && made.previous_version.is_none());
    let second = written(world, "src/a.txt", lines(2, 3, "TWO\n"));
    assert_eq!(world.text("src/a.txt"), "one\nTWO\nfour\nfive\n");
    assert_eq!((second.previous_version, second.created), (made.version, false));
    written(world, "src/a.txt", insertion(1, "zero\n"));
    written(world, "src/a.txt", insertion(Insertion::END, "six"));
    assert_eq!(world.text("src/a.txt"), "zero\none\nTWO\nfour\nfive\nsix\n");
    let found = written(world, "src/a.txt", search("o", "0"));
    assert_eq!(found.replacements, Some(3));
    assert_eq!(world.text("src/a.txt"), "zer0\n0ne\nTWO\nf0ur\nfive\nsix\n");
    let same = world.edit("src/a.txt", search("six", "six"), Expect::Anything).unwrap();
    assert_eq!((same.status, same.edit_id), (Status::Unchanged, None));
    let whole = written(world, "src/a.txt", content("all new\n"));
    assert!(!whole.created);
    for (edit, code) in [
        (search("nowhere to be found", "x"), Code::MatchNotFound),
        (lines(7, 7, "x\n"), Code::RangeOutOfBounds),
        (insertion(9, "x\n"), Code::RangeOutOfBounds),
    ] {
        assert_eq!(world.edit("src/a.txt", edit, Expect::Anything).unwrap_err().code, code);
    }
    for edit in [search("a", "b"), lines(1, 1, "x\n"), insertion(1, "x\n")] {
        let refusal = world.edit("src/none.txt", edit, Expect::Anything).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::FileNotFound, Some("path")));
    }
    assert_eq!(world.text("src/a.txt"), "all new\n");
    assert_eq!(world.bytes("src/none.txt"), None);
}

pub fn the_modes_of_checking(world: &EntityFixture) {
    let (good, bad) = ("def f():\n    return 1\n", "def f(:\n    return 1\n");
    let refused = world.edit("src/a.py", content(bad), Expect::Anything).unwrap();
    assert_eq!((refused.status, refused.edit_id, refused.version), (Status::Refused, None, None));
    assert!(refused.verdict.findings.iter().any(|finding| finding.blocking));
    let shown = world.edit_as("src/a.py", content(good), Mode::VerifyOnly, Expect::Anything).unwrap();
    assert_eq!((shown.status, shown.edit_id), (Status::Verified, None));
    let shown = world.edit_as("src/a.py", content(bad), Mode::VerifyOnly, Expect::Anything).unwrap();
    assert_eq!(shown.status, Status::Refused);
    assert_eq!(world.bytes("src/a.py"), None);
    written(world, "src/a.py", content(good));
    let refused = world.edit("src/a.py", search("f()", "f("), Expect::Anything).unwrap();
    assert_eq!((refused.status, world.text("src/a.py").as_str()), (Status::Refused, good));
    let warned = world.edit_as("src/a.py", search("f()", "f("), Mode::Interactive, Expect::Anything).unwrap();
    assert_eq!((warned.status, world.text("src/a.py").as_str()), (Status::Written, bad));
    // What was wrong before does not count, and what nobody parses passes.
    written(world, "src/a.py", search("return 1", "return 2"));
    written(world, "src/a.txt", content(bad));
    let refused = world
        .edit("src/a.txt", content("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"), Expect::Anything)
        .unwrap();
    assert_eq!(refused.status, Status::Refused);
    assert_eq!(world.text("src/a.txt"), bad);
}

pub fn what_a_caller_expects(world: &EntityFixture) {
    let made = world.edit("src/a.txt", content(FIVE), Expect::Absent).unwrap();
    assert_eq!(made.status, Status::Written);
    let refusal = world.edit("src/a.txt", content("x\n"), Expect::Absent).unwrap_err();
    assert_eq!((refusal.code, refusal.field.as_deref()), (Code::FileExists, Some("path")));
    let short = Expect::Version(made.version.unwrap().hex()[..12].to_owned());
    let second = world.edit("src/a.txt", lines(1, 1, "ONE\n"), short).unwrap();
    let third = world.edit("src/a.txt", lines(5, 5, "FIVE\n"), version(&second)).unwrap();
    assert_eq!(third.status, Status::Written);
    let never = Expect::Version(Version::hash(b"never").hex());
    let refusal = world.edit("src/a.txt", lines(2, 2, "x\n"), never.clone()).unwrap_err();
    assert_eq!(refusal.code, Code::EditConflict);
    let refusal = world.edit("src/none.txt", content("x\n"), never).unwrap_err();
    assert_eq!((refusal.code, refusal.field.as_deref()), (Code::EditConflict, Some("expected_version")));
    assert_eq!(world.text("src/a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert_eq!(world.bytes("src/none.txt"), None);
}

pub fn carried_over_or_refused(world: &EntityFixture) {
    let first = written(world, "src/a.txt", content(FIVE));
    written(world, "src/a.txt", lines(1, 1, "ONE\nand a half\n"));
    let carried = world.edit("src/a.txt", lines(4, 4, "FOUR\n"), version(&first)).unwrap();
    assert_eq!(carried.status, Status::Written);
    assert!(carried.notes.iter().any(|note| note.contains("rebased from")), "{:?}", carried.notes);
    assert_eq!(world.text("src/a.txt"), "ONE\nand a half\ntwo\nthree\nFOUR\nfive\n");
    let refusal = world.edit("src/a.txt", lines(1, 1, "uno\n"), version(&first)).unwrap_err();
    assert_eq!(refusal.code, Code::EditConflict);
    assert!(refusal.since.is_some_and(|since| since.diff.contains("-one\n+ONE\n")));
    let refusal = world.edit("src/a.txt", content("whole\n"), version(&first)).unwrap_err();
    assert_eq!(refusal.code, Code::EditConflict);
    // An older version of another text says nothing of this one.
    let other = written(world, "src/b.txt", content("other\n"));
    let request = world.request("src/a.txt", lines(1, 1, "x\n"), Mode::Strict, version(&other));
    let refusal = world.runtime.block_on(world.servers[0].edit(request, Watch::idle())).unwrap_err();
    assert_eq!(refusal.code, Code::EditConflict);
    let tells = refusal.since.is_some_and(|since| since.diff.contains("other"));
    assert!(world.kept == Storage::Files || !tells, "texts belong to one row");
    assert_eq!(world.text("src/a.txt"), "ONE\nand a half\ntwo\nthree\nFOUR\nfive\n");
}

pub fn removing(world: &EntityFixture) {
    let made = written(world, "src/a.txt", content(FIVE));
    let second = written(world, "src/a.txt", lines(1, 1, "ONE\n"));
    let refusal = world.edit("src/a.txt", Edit::Remove, version(&made)).unwrap_err();
    assert_eq!(refusal.code, Code::EditConflict);
    let gone = world.edit("src/a.txt", Edit::Remove, version(&second)).unwrap();
    assert!(gone.removed && gone.version.is_none() && gone.previous_version == second.version);
    assert_eq!(world.bytes("src/a.txt"), None);
    assert_eq!(world.edit("src/a.txt", Edit::Remove, Expect::Anything).unwrap_err().code, Code::FileNotFound);
    let again = world.edit("src/a.txt", content("back\n"), Expect::Absent).unwrap();
    assert!(again.created);
    // An empty text is not the same as none.
    written(world, "src/empty.txt", content(""));
    assert_eq!(world.bytes("src/empty.txt"), Some(Vec::new()));
    assert!(world.edit("src/empty.txt", Edit::Remove, Expect::Anything).unwrap().removed);
    assert_eq!(world.bytes("src/empty.txt"), None);
}

pub fn a_batch_is_whole_or_nothing(world: &EntityFixture) {
    let request = |path: &str, edit: Edit| world.request(path, edit, Mode::Strict, Expect::Anything);
    written(world, "src/a.txt", content(FIVE));
    let a = written(world, "src/a.py", content("x = 1\n"));
    let refusal = world.edit_all(vec![
        request("src/a.txt", lines(1, 1, "ONE\n")),
        request("src/none.txt", lines(1, 1, "ONE\n")),
    ]);
    assert_eq!(refusal.unwrap_err().code, Code::FileNotFound);
    let refused = world.edit_all(vec![
        request("src/a.txt", lines(1, 1, "ONE\n")),
        request("src/a.py", content("x = (\n")),
        request("src/new.txt", content("new\n")),
    ]);
    let statuses: Vec<Status> = refused.unwrap().iter().map(|report| report.status).collect();
    assert_eq!(statuses, [Status::Verified, Status::Refused, Status::Verified]);
    let twice = world
        .edit_all(vec![request("src/a.txt", lines(1, 1, "1\n")), request("src/a.txt", lines(2, 2, "2\n"))]);
    assert_eq!(twice.unwrap_err().code, Code::InvalidInput);
    assert_eq!(world.edit_all(Vec::new()).unwrap_err().code, Code::InvalidInput);
    assert_eq!((world.text("src/a.txt").as_str(), world.bytes("src/new.txt")), (FIVE, None));
    assert_eq!(world.text("src/a.py"), "x = 1\n");
    let done = world
        .edit_all(vec![
            request("src/a.txt", lines(1, 1, "ONE\n")),
            world.request("src/a.py", Edit::Remove, Mode::Strict, version(&a)),
            request("src/new.txt", content("new\n")),
        ])
        .unwrap();
    assert!(done.iter().all(|report| report.status == Status::Written));
    assert!(done.iter().all(|report| report.edit_id == done[0].edit_id && report.edit_id.is_some()));
    assert_eq!(world.bytes("src/a.py"), None);
    let back = world.undo(&done[0]).unwrap();
    assert_eq!(back.len(), 3);
    assert_eq!((world.text("src/a.txt").as_str(), world.bytes("src/new.txt")), (FIVE, None));
    assert_eq!(world.text("src/a.py"), "x = 1\n");
    world.redo(&done[0]).unwrap();
    assert_eq!((world.text("src/new.txt").as_str(), world.bytes("src/a.py")), ("new\n", None));
    // What one of them cannot undo, none does.
    written(world, "src/new.txt", content("theirs\n"));
    assert_eq!(world.undo(&done[0]).unwrap_err().code, Code::EditConflict);
    assert_eq!((world.text("src/new.txt").as_str(), world.bytes("src/a.py")), ("theirs\n", None));
}

pub fn the_same_request_again(world: &EntityFixture) {
    let made = written(world, "src/a.txt", content(FIVE));
    let first = world.edit("src/a.txt", lines(2, 2, "TWO\ntwo and a half\n"), version(&made)).unwrap();
    for _ in 0..2 {
        let again = world.edit("src/a.txt", lines(2, 2, "TWO\ntwo and a half\n"), version(&made)).unwrap();
        assert_eq!((again.status, again.edit_id), (Status::AlreadyApplied, first.edit_id));
        assert_eq!((again.version, again.previous_version), (first.version, first.previous_version));
    }
    // Another server of the same store knows it, too.
    let request =
        world.request("src/a.txt", lines(2, 2, "TWO\ntwo and a half\n"), Mode::Strict, version(&made));
    let again = world.runtime.block_on(world.servers[1].edit(request, Watch::idle())).unwrap();
    assert_eq!((again.status, again.edit_id), (Status::AlreadyApplied, first.edit_id));
    // Another request of the same version is none.
    let other = world.edit("src/a.txt", lines(2, 2, "ZWEI\n"), version(&made));
    assert_eq!(other.unwrap_err().code, Code::EditConflict);
    let batch = |at: &Report| {
        vec![
            world.request("src/a.txt", lines(1, 1, "ONE\n"), Mode::Strict, version(at)),
            world.request("src/b.txt", content("b\n"), Mode::Strict, Expect::Anything),
        ]
    };
    let done = world.edit_all(batch(&first)).unwrap();
    let again = world.edit_all(batch(&first)).unwrap();
    assert!(
        again
            .iter()
            .all(|report| (report.status, report.edit_id) == (Status::AlreadyApplied, done[0].edit_id))
    );
    assert_eq!(world.text("src/a.txt"), "ONE\nTWO\ntwo and a half\nthree\nfour\nfive\n");
    let gone = world.edit("src/b.txt", Edit::Remove, version(&done[1])).unwrap();
    let again = world.edit("src/b.txt", Edit::Remove, version(&done[1]));
    world.told.tell("removed again", Ok(format!("{} {}", gone.removed, again.is_ok())));
    assert_eq!(world.history(Some("src/a.txt"), 9).len(), 3);
}
