//! What holds wherever texts are kept: the same requests get the same answers over files, SQLite and PostgreSQL.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lockgate::edit::{Aim, Edit, Insertion, LineEdit, Needle, Search, Standing};
use lockgate::engine::{Kind, Report, Sight, Status};
use lockgate::error::Code;
use lockgate::gate::Watch;
use lockgate::locate::Tolerance;
use lockgate::request::{Direction, Expect, LineLook, Look, Mode};
use lockgate::text::Stamp;

use super::world::{Kept, World, version};

/// Something that is done in a world.
type Scene = fn(&World);

/// What is done in a world, and must be answered alike in each.
const SCENES: &[(&str, Scene)] = &[
    ("the four modes of an edit", the_four_modes),
    ("strict, interactive and verify_only", the_modes_of_checking),
    ("what a caller expects", what_a_caller_expects),
    ("an edit is carried over or refused", carried_over_or_refused),
    ("removing", removing),
    ("a batch is whole or nothing", a_batch_is_whole_or_nothing),
    ("the same request again", the_same_request_again),
    ("taking back and making again", taking_back_and_making_again),
    ("taking back what made and what removed", taking_back_what_made_and_what_removed),
    ("taking back one of many", taking_back_one_of_many),
    ("what is remembered", what_is_remembered),
    ("every text byte for byte", every_text_byte_for_byte),
    ("names that look like a statement", names_that_look_like_a_statement),
    ("more statements than are remembered", more_statements_than_are_remembered),
    ("what is no text", what_is_no_text),
    ("what is too large", what_is_too_large),
    ("lines and whole texts", lines_and_whole_texts),
    ("searching", searching),
    ("listing", listing),
    ("many servers at one text", many_servers_at_one_text),
    ("many servers making one text", many_servers_making_one_text),
];

#[test]
fn files_sqlite_and_postgresql_answer_alike() {
    let mut wrong = Vec::new();
    for (name, scene) in SCENES {
        let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for kept in [Kept::Files, Kept::Sqlite, Kept::Postgres] {
            let Some(world) = World::new(kept) else { continue };
            if catch_unwind(AssertUnwindSafe(|| scene(&world))).is_err() {
                wrong.push(format!("{name}, {kept:?}"));
            }
            told.insert(format!("{kept:?}"), world.told());
        }
        let files = told.remove("Files").unwrap();
        for (kept, told) in told {
            for (number, (told, files)) in told.iter().zip(&files).enumerate() {
                if told != files {
                    wrong.push(format!(
                        "{name}, {kept}, answer {number}:\n  {told}\nbut of files:\n  {files}"
                    ));
                }
            }
            if told.len() != files.len() {
                wrong.push(format!("{name}, {kept}: {} answers, but {} of files", told.len(), files.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const FIVE: &str = "one\ntwo\nthree\nfour\nfive\n";

fn content(text: &str) -> Edit {
    Edit::Content(text.to_owned())
}

fn lines(first: usize, last: usize, text: &str) -> Edit {
    Edit::Lines(vec![LineEdit {
        start_line: first,
        end_line: last,
        new_content: text.to_owned(),
        expect: None,
    }])
}

fn insertion(at: usize, text: &str) -> Edit {
    Edit::Insert(vec![Insertion { at_line: at, content: text.to_owned(), expect: None }])
}

fn search(from: &str, to: &str) -> Edit {
    Edit::Search(Search {
        needle: Needle::Literal(from.to_owned()),
        replace: to.to_owned(),
        count: None,
        lines: None,
        within: None,
        aim: Aim::Matches,
        tolerance: Tolerance::Wrapping,
        standing: Standing::Again,
    })
}

#[track_caller]
fn written(world: &World, path: &str, edit: Edit) -> Report {
    let report = world.edit(path, edit, Expect::Anything).unwrap();
    assert_eq!(report.status, Status::Written, "{report:?}");
    assert_eq!(report.version, world.bytes(path).map(|bytes| Stamp::of(&bytes)));
    assert!(report.edit_id.is_some());
    report
}

fn the_four_modes(world: &World) {
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

fn the_modes_of_checking(world: &World) {
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

fn what_a_caller_expects(world: &World) {
    let made = world.edit("src/a.txt", content(FIVE), Expect::Absent).unwrap();
    assert_eq!(made.status, Status::Written);
    let refusal = world.edit("src/a.txt", content("x\n"), Expect::Absent).unwrap_err();
    assert_eq!((refusal.code, refusal.field.as_deref()), (Code::FileExists, Some("path")));
    let short = Expect::Version(made.version.unwrap().hex()[..12].to_owned());
    let second = world.edit("src/a.txt", lines(1, 1, "ONE\n"), short).unwrap();
    let third = world.edit("src/a.txt", lines(5, 5, "FIVE\n"), version(&second)).unwrap();
    assert_eq!(third.status, Status::Written);
    let never = Expect::Version(Stamp::of(b"never").hex());
    let refusal = world.edit("src/a.txt", lines(2, 2, "x\n"), never.clone()).unwrap_err();
    assert_eq!(refusal.code, Code::EditConflict);
    let refusal = world.edit("src/none.txt", content("x\n"), never).unwrap_err();
    assert_eq!((refusal.code, refusal.field.as_deref()), (Code::EditConflict, Some("expected_version")));
    assert_eq!(world.text("src/a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert_eq!(world.bytes("src/none.txt"), None);
}

fn carried_over_or_refused(world: &World) {
    let first = written(world, "src/a.txt", content(FIVE));
    written(world, "src/a.txt", lines(1, 1, "ONE\nand a half\n"));
    let carried = world.edit("src/a.txt", lines(4, 4, "FOUR\n"), version(&first)).unwrap();
    assert_eq!(carried.status, Status::Written);
    assert!(carried.notes.iter().any(|note| note.contains("carried over")), "{:?}", carried.notes);
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
    assert!(world.kept == Kept::Files || !tells, "texts belong to one row");
    assert_eq!(world.text("src/a.txt"), "ONE\nand a half\ntwo\nthree\nFOUR\nfive\n");
}

fn removing(world: &World) {
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

fn a_batch_is_whole_or_nothing(world: &World) {
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

fn the_same_request_again(world: &World) {
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
    world.tell("removed again", Ok(format!("{} {}", gone.removed, again.is_ok())));
    assert_eq!(world.history(Some("src/a.txt"), 9).len(), 3);
}

fn taking_back_and_making_again(world: &World) {
    let made = written(world, "src/a.txt", content(FIVE));
    let edit = written(world, "src/a.txt", lines(2, 2, "TWO\n"));
    for _ in 0..2 {
        let back = world.undo(&edit).unwrap();
        assert_eq!((back[0].status, world.text("src/a.txt").as_str()), (Status::Written, FIVE));
        assert_eq!((back[0].version, back[0].previous_version), (made.version, edit.version));
        let standing = world.undo(&edit).unwrap();
        assert_eq!((standing[0].status, standing[0].edit_id), (Status::AlreadyApplied, edit.edit_id));
        let again = world.revert(Direction::Redo, None, Some("src/a.txt")).unwrap();
        assert_eq!((again[0].status, again[0].version), (Status::Written, edit.version));
    }
    let back = world.revert(Direction::Undo, None, Some("src/a.txt")).unwrap();
    assert_eq!(back[0].version, made.version);
    // An undo is taken back by its own name, too.
    let undo = back[0].edit_id.unwrap().to_string();
    let again = world.revert(Direction::Undo, Some(&undo), None).unwrap();
    assert_eq!(again[0].version, edit.version);
    let none = world.revert(Direction::Redo, None, Some("src/a.txt")).unwrap_err();
    assert_eq!((none.code, none.field.as_deref()), (Code::InvalidInput, Some("path")));
    let none = world.revert(Direction::Undo, None, Some("src/none.txt")).unwrap_err();
    assert_eq!((none.code, none.field.as_deref()), (Code::InvalidInput, Some("path")));
    for id in ["e-nothing", "0", ""] {
        assert_eq!(
            world.revert(Direction::Undo, Some(id), None).unwrap_err().code,
            Code::InvalidInput,
            "{id}"
        );
    }
}

fn taking_back_what_made_and_what_removed(world: &World) {
    let made = written(world, "src/a.txt", content(FIVE));
    let back = world.undo(&made).unwrap();
    assert!(back[0].removed && back[0].version.is_none());
    assert_eq!(world.bytes("src/a.txt"), None);
    let again = world.redo(&made).unwrap();
    assert!(again[0].created && again[0].version == made.version);
    let gone = world.edit("src/a.txt", Edit::Remove, Expect::Anything).unwrap();
    let back = world.undo(&gone).unwrap();
    assert!(back[0].created && back[0].version == made.version);
    world.redo(&gone).unwrap();
    assert_eq!(world.bytes("src/a.txt"), None);
    // Somebody else's text stands where the removed one is to come back.
    written(world, "src/a.txt", content("theirs\n"));
    assert_eq!(world.undo(&gone).unwrap_err().code, Code::EditConflict);
    assert_eq!(world.text("src/a.txt"), "theirs\n");
    // What was made was changed since: it is not removed with the change.
    let other = written(world, "src/b.txt", content("mine\n"));
    written(world, "src/b.txt", content("changed\n"));
    assert_eq!(world.undo(&other).unwrap_err().code, Code::EditConflict);
    assert_eq!(world.text("src/b.txt"), "changed\n");
}

fn taking_back_one_of_many(world: &World) {
    written(world, "src/a.txt", content(FIVE));
    let edits: Vec<Report> = ["one", "two", "three", "four", "five"]
        .iter()
        .map(|word| written(world, "src/a.txt", search(word, &format!("{word}\n{word}!"))))
        .collect();
    let back = world.undo(&edits[2]).unwrap();
    assert_eq!(world.text("src/a.txt"), "one\none!\ntwo\ntwo!\nthree\nfour\nfour!\nfive\nfive!\n");
    assert!(back[0].notes.iter().any(|note| note.contains("carried over")), "{:?}", back[0].notes);
    world.redo(&edits[2]).unwrap();
    assert_eq!(world.text("src/a.txt"), "one\none!\ntwo\ntwo!\nthree\nthree!\nfour\nfour!\nfive\nfive!\n");
    written(world, "src/a.txt", search("two!", "zwei!"));
    let refusal = world.undo(&edits[1]).unwrap_err();
    assert_eq!(refusal.code, Code::EditConflict);
    assert_eq!(world.text("src/a.txt"), "one\none!\ntwo\nzwei!\nthree\nthree!\nfour\nfour!\nfive\nfive!\n");
}

fn what_is_remembered(world: &World) {
    let made = written(world, "src/a.txt", content(FIVE));
    let other = written(world, "src/b.txt", content("b\n"));
    let second = written(world, "src/a.txt", lines(1, 2, "ONE\n"));
    world.undo(&second).unwrap();
    let of_a = world.history(Some("src/a.txt"), 10);
    assert_eq!(of_a.len(), 3);
    assert!(matches!(of_a[0].deed.kind, Kind::Undo(of) if Some(of) == second.edit_id));
    assert_eq!((Some(of_a[1].id), of_a[1].undone), (second.edit_id, true));
    assert_eq!((Some(of_a[2].id), of_a[2].undone), (made.edit_id, false));
    assert_eq!((of_a[1].changes[0].added, of_a[1].changes[0].removed), (1, 2));
    assert_eq!((of_a[1].deed.tool.as_str(), of_a[1].deed.author.as_str()), ("suite", "tester"));
    assert!(of_a.windows(2).all(|two| two[0].at >= two[1].at));
    assert_eq!(world.history(None, 10).len(), 4);
    assert_eq!(world.history(None, 2).len(), 2);
    assert_eq!(world.history(Some("src/a.txt"), 1)[0].id, of_a[0].id);
    assert_eq!(
        world.history(Some("src/b.txt"), 10).iter().map(|entry| Some(entry.id)).collect::<Vec<_>>(),
        [other.edit_id]
    );
    assert_eq!(world.history(Some("src/none.txt"), 10), []);
    let shown = world.remembered(&second);
    assert!(shown.diffs[0].as_ref().unwrap().contains("-one\n-two\n+ONE\n"), "{:?}", shown.diffs);
    let shown = world.remembered(&made);
    assert!(shown.diffs[0].as_ref().unwrap().contains("+five\n"), "{:?}", shown.diffs);
    // Both servers remember the same.
    let again = lockgate::request::History { of: Some(world.target("src/a.txt")), most: 10 };
    assert_eq!(world.runtime.block_on(world.servers[1].history(again)).unwrap(), of_a);
}

fn utf16(text: &str, mark: [u8; 2]) -> Vec<u8> {
    let bytes = |unit: u16| if mark == [0xFF, 0xFE] { unit.to_le_bytes() } else { unit.to_be_bytes() };
    mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
}

fn every_text_byte_for_byte(world: &World) {
    let texts: Vec<(&str, Vec<u8>)> = vec![
        ("crlf", b"one\r\ntwo\r\nthree\r\n".to_vec()),
        ("mixed", b"one\r\ntwo\nthree\r\n".to_vec()),
        ("cr", b"one\rtwo\rthree\r".to_vec()),
        ("no end", b"one\ntwo\nthree".to_vec()),
        ("crlf, no end", b"one\r\ntwo\r\nthree".to_vec()),
        ("bom", b"\xEF\xBB\xBFone\ntwo\nthree\n".to_vec()),
        ("utf-16le", utf16("one\ntwo \u{1F600}\nthree\n", [0xFF, 0xFE])),
        ("utf-16be", utf16("one\r\ntwo é\r\nthree\r\n", [0xFE, 0xFF])),
        ("windows-1252", b"one \xE9\xE8\ntwo\nthree \x80\n".to_vec()),
        ("wide", "one é\u{1F600}\ntwo \u{2028}\u{85}\nthree \u{202E}\u{FFFD}\n".as_bytes().to_vec()),
        ("controls", b"one\x0C\x0B\x1B\x07\ntwo\nthree\x7F\n".to_vec()),
        ("quotes", b"one ' \" \\ $1 ? :a %s --\ntwo; DROP TABLE x;\nthree /* */\n".to_vec()),
        ("blanks", b"one \t \ntwo\n\n\n  \nthree\n\n".to_vec()),
        ("long", [b"one ".to_vec(), vec![b'x'; 9000], b"\ntwo\nthree\n".to_vec()].concat()),
    ];
    for (number, (name, bytes)) in texts.iter().enumerate() {
        let path = format!("src/{number}.txt");
        let made = world.put(&path, bytes);
        assert_eq!(world.bytes(&path).as_ref(), Some(bytes), "{name}");
        assert_eq!(made.version, Some(Stamp::of(bytes)), "{name}");
        // Of a line of its own nothing but that line changes, and both ways lead back to the byte.
        let edit = written(world, &path, search("two", "2 and 2"));
        let changed = world.bytes(&path).unwrap();
        assert!(changed.len() > bytes.len() && changed[..2] == bytes[..2], "{name}");
        assert_eq!(changed.ends_with(b"\n"), bytes.ends_with(b"\n"), "{name}");
        world.undo(&edit).unwrap();
        assert_eq!(world.bytes(&path).as_ref(), Some(bytes), "{name}");
        world.redo(&edit).unwrap();
        assert_eq!(world.bytes(&path), Some(changed), "{name}");
        let gone = world.edit(&path, Edit::Remove, Expect::Anything).unwrap();
        world.undo(&gone).unwrap();
        world.undo(&edit).unwrap();
        assert_eq!(world.bytes(&path).as_ref(), Some(bytes), "{name}");
    }
    // Empty, and from and to it.
    written(world, "src/empty.txt", content(""));
    let filled = written(world, "src/empty.txt", content("x"));
    world.undo(&filled).unwrap();
    assert_eq!(world.bytes("src/empty.txt"), Some(Vec::new()));
    for (number, (_, bytes)) in texts.iter().enumerate() {
        // The whole text anew, in another encoding than the one that stands there.
        let edit = Edit::Restore(texts[(number + 5) % texts.len()].1.clone());
        let path = format!("src/{number}.txt");
        let other = world.edit_as(&path, edit, Mode::Interactive, Expect::Anything).unwrap();
        world.undo(&other).unwrap();
        assert_eq!(world.bytes(&path).as_ref(), Some(bytes));
    }
}

fn names_that_look_like_a_statement(world: &World) {
    let names = ["it's", "'; ROLLBACK; --", "$1 = ?1", "\"a\" %_", "E'x'", "é\u{1F600}", "(NULL)"];
    for name in names {
        let path = format!("src/{name}.txt");
        assert_eq!(world.bytes(&path), None, "{path}");
        written(world, &path, content("one\n"));
        let edit = written(world, &path, content("one\ntwo\n"));
        world.undo(&edit).unwrap();
        assert_eq!(world.text(&path), "one\n");
        assert_eq!(world.history(Some(&path), 9).len(), 3, "{path}");
    }
    // All of them, and how many there are.
    assert_eq!(found(world, "one", None, 20).unwrap().len(), names.len() + 1);
}

fn more_statements_than_are_remembered(world: &World) {
    for text in ["one\n", "two\n", "three\n"] {
        written(world, "src/a.txt", content(text));
    }
    // Each number makes a statement of its own.
    for most in 1..130 {
        assert_eq!(world.history(Some("src/a.txt"), most).len(), most.min(3), "{most}");
    }
}

fn what_is_no_text(world: &World) {
    for (number, bytes) in
        [b"a\0b\n".as_slice(), b"\x7FELF\x02\x01\x01\0\0\0", b"\0\x01\x02\xFF"].into_iter().enumerate()
    {
        let path = format!("src/{number}.bin");
        let refusal = world.edit_as(&path, Edit::Restore(bytes.to_vec()), Mode::Interactive, Expect::Absent);
        world.tell("no text", refusal.as_ref().map(|report| report.status.name().to_owned()));
        let there = world.look(Look::Whole(world.target(&path)));
        world.tell("read", there.as_ref().map(|_| "text".to_owned()));
    }
    let refusal = world.edit("src/nul.txt", content("a\0b\n"), Expect::Anything);
    world.tell("nul", refusal.as_ref().map(|report| report.status.name().to_owned()));
}

fn what_is_too_large(world: &World) {
    let limit = 20 << 10;
    let fits = "x".repeat(limit - 1) + "\n";
    let made = written(world, "src/a.txt", content(&fits));
    for edit in [content(&format!("{fits}x")), insertion(1, "x\n"), search("x\n", "xx\n")] {
        let refusal = world.edit("src/a.txt", edit, Expect::Anything).unwrap_err();
        assert_eq!(refusal.code, Code::TooLarge);
    }
    assert_eq!(
        world.edit("src/b.txt", content(&format!("{fits}x")), Expect::Anything).unwrap_err().code,
        Code::TooLarge
    );
    assert_eq!(
        (world.bytes("src/a.txt").map(|bytes| Stamp::of(&bytes)), world.bytes("src/b.txt")),
        (made.version, None)
    );
}

fn lines_and_whole_texts(world: &World) {
    let crlf = "one\r\ntwo\r\nthree\r\nfour\r\nfive";
    let made = world.put("src/a.txt", crlf.as_bytes());
    world.put("src/empty.txt", b"");
    let look = |path: &str, start_line, end_line| {
        let target = world.target(path);
        let sight = world.look(Look::Lines(LineLook { target, start_line, end_line }));
        let shown = sight.map(|sight| match sight {
            Sight::Lines(reading) => {
                assert_eq!(
                    Some(reading.text.stamp()),
                    made.version.filter(|_| path == "src/a.txt").or(Some(Stamp::of(b"")))
                );
                let text: Vec<&str> = (reading.start_line..=reading.end_line)
                    .map(|line| reading.text.lines().text(line))
                    .collect();
                format!("{} {} {} {text:?}", reading.path, reading.start_line, reading.end_line)
            }
            other => panic!("{other:?}"),
        });
        world.tell("lines", shown.as_ref().cloned());
        shown
    };
    assert_eq!(look("src/a.txt", 2, 3).unwrap(), "src/a.txt 2 3 [\"two\", \"three\"]");
    assert_eq!(look("src/a.txt", 5, 99).unwrap(), "src/a.txt 5 5 [\"five\"]");
    assert_eq!(look("src/a.txt", 6, 7).unwrap_err().code, Code::RangeOutOfBounds);
    assert_eq!(look("src/none.txt", 1, 1).unwrap_err().code, Code::FileNotFound);
    assert!(look("src/empty.txt", 1, 9).is_ok());
    assert_eq!(world.text("src/a.txt"), crlf);
}

/// What a search showed, in a line for each match.
fn found(world: &World, pattern: &str, path: Option<&str>, most: usize) -> Result<Vec<String>, Code> {
    let sight = world.search(pattern, path, most);
    let shown = sight.map(|sight| match sight {
        Sight::Matches(matches) => {
            let mut lines: Vec<String> = matches
                .found
                .iter()
                .map(|found| {
                    let (before, after) = (found.before.len(), found.after.len());
                    format!(
                        "{}:{}:{}+{before}+{after} {}",
                        found.path,
                        found.line,
                        found.text,
                        found.version.hex()
                    )
                })
                .collect();
            lines.push(format!("{} {}", matches.total, matches.truncated));
            lines
        }
        other => panic!("{other:?}"),
    });
    world.tell("search", shown.as_ref().map(|lines| lines.join("; ")));
    shown.map_err(|refusal| refusal.code).map(|lines| {
        lines.iter().map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
    })
}

fn searching(world: &World) {
    world.put("src/a.py", b"import os\n\ndef get_agents(client):\n    return os\n");
    world.put("src/b.py", "# get_agents, é\u{1F600}\nx = 'Get_Agents'\n".as_bytes());
    world.put("src/deep/c.txt", b"nothing\r\nget_agents\r\nend");
    world.put("src/deep/d.txt", &utf16("get_agents\nsecond\n", [0xFF, 0xFE]));
    world.put("src/e_f.txt", b"100% a_b\nget agents\n");
    world.put("src/empty.txt", b"");
    let all = found(world, "get_agents", None, 20).unwrap();
    assert_eq!(all[..3], ["src/a.py:3:def", "src/b.py:1:#", "src/deep/c.txt:2:get_agents+1+1"]);
    assert_eq!(all.len(), 5, "{all:?}");
    for (pattern, path, most) in [
        ("def get_.*\\(", None, 20),
        ("(?i)get_agents", None, 20),
        ("get_agents", Some("src/a.py"), 20),
        ("get_agents", Some("src/deep"), 20),
        ("get_agents", Some("src/**/*.py"), 20),
        ("get_agents", None, 2),
        ("^$", None, 20),
        (".", None, 5),
        ("100% a_b", None, 20),
        ("a.b", None, 20),
        ("é\u{1F600}", None, 20),
        ("é", None, 20),
        ("\u{1F600}", None, 20),
        ("no such thing", None, 20),
        ("os|second", None, 20),
        ("[ge]et", None, 20),
        ("end$", None, 20),
        ("nothing$", None, 20),
        ("\\d+%", None, 20),
        ("(", None, 20),
        ("x", Some("src/none.py"), 20),
    ] {
        found(world, pattern, path, most).ok();
    }
    // What was changed, taken back or removed is found as it is now.
    let edit = written(world, "src/a.py", search("get_agents", "get_people"));
    assert_eq!(found(world, "get_people", None, 20).unwrap().len(), 2);
    world.undo(&edit).unwrap();
    assert_eq!(found(world, "get_people", None, 20).unwrap(), ["0"]);
    world.edit("src/a.py", Edit::Remove, Expect::Anything).unwrap();
    assert_eq!(found(world, "get_agents", None, 20).unwrap().len(), 4);
}

fn listing(world: &World) {
    for path in [
        "src/b.txt",
        "src/a.txt",
        "src/deep/x.py",
        "src/deep-er.txt",
        "src/B.txt",
        "src/é.txt",
        "src/a_c",
        "src/axc",
    ] {
        world.put(path, path.as_bytes());
    }
    let listed = |prefix: &str, most: usize| {
        let sight = world.list(prefix, most);
        let shown = sight.map(|sight| match sight {
            Sight::Entries(entries) => {
                let mut paths: Vec<String> = entries
                    .entries
                    .iter()
                    .map(|entry| format!("{} {} {}", entry.path, entry.size, entry.version.unwrap().hex()))
                    .collect();
                paths.push(entries.truncated.to_string());
                paths
            }
            other => panic!("{other:?}"),
        });
        world.tell("list", shown.as_ref().map(|lines| lines.join("; ")));
        shown.unwrap().len() - 1
    };
    assert_eq!(listed("src/", 20), 8);
    assert_eq!(listed("src", 20), 8);
    listed("src/deep", 20);
    assert_eq!(listed("src/deep/", 20), 1);
    assert_eq!(listed("src/a_", 20), 1);
    assert_eq!(listed("src/a", 2), 2);
    assert_eq!(listed("src/", 7), 7);
    assert_eq!(listed("src/", 8), 8);
    assert_eq!(listed("src/none", 8), 0);
    assert_eq!(listed("src/%", 8), 0);
    world.edit("src/b.txt", Edit::Remove, Expect::Anything).unwrap();
    assert_eq!(listed("src/", 20), 7);
}

const WORKERS: usize = 6;
const EDITS: usize = 12;

/// Every edit that was acknowledged is there once, and none that was refused.
fn many_servers_at_one_text(world: &World) {
    world.put("src/a.txt", b"begin\n");
    let done: Vec<(String, Result<Status, Code>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                scope.spawn(move || {
                    let line = |number: usize| format!("worker {worker} edit {number}.");
                    let each = |number: usize| {
                        let edit = insertion(Insertion::END, &line(number));
                        let request = world.request("src/a.txt", edit, Mode::Strict, Expect::Anything);
                        let server = &world.servers[(worker + number) % 2];
                        let answer = world.runtime.block_on(server.edit(request, Watch::idle()));
                        (line(number), answer.map(|report| report.status).map_err(|refusal| refusal.code))
                    };
                    (0..EDITS).map(each).collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let text = world.text("src/a.txt");
    let mut there: Vec<&str> = text.lines().skip(1).collect();
    let mut acknowledged: Vec<&str> = done
        .iter()
        .filter(|(_, answer)| *answer == Ok(Status::Written))
        .map(|(line, _)| line.as_str())
        .collect();
    assert!(acknowledged.len() >= EDITS, "{done:?}");
    there.sort_unstable();
    acknowledged.sort_unstable();
    assert_eq!(there, acknowledged);
    let other: Vec<_> = done
        .iter()
        .filter(|(_, answer)| !matches!(answer, Ok(Status::Written) | Err(Code::EditConflict)))
        .collect();
    assert!(other.is_empty(), "{other:?}");
    let history = lockgate::request::History { of: Some(world.target("src/a.txt")), most: 1000 };
    let history = world.runtime.block_on(world.servers[0].history(history)).unwrap();
    assert_eq!(history.len(), acknowledged.len() + 1);
    // The past is one chain: each edit began with what the one before it left.
    let chained = history.windows(2).all(|two| two[0].changes[0].before == two[1].changes[0].after);
    assert!(chained, "{history:?}");
    assert_eq!(history[0].changes[0].after, Some(Stamp::of(text.as_bytes())));
}

fn many_servers_making_one_text(world: &World) {
    // The folder of files is there: they do not wait for one that is made.
    world.put("src/first.txt", b"");
    for round in 0..6 {
        let path = format!("src/{round}.txt");
        let answers: Vec<Result<Status, Code>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|worker| {
                    let path = &path;
                    scope.spawn(move || {
                        let edit = content(&format!("worker {worker}\n"));
                        let request = world.request(path, edit, Mode::Strict, Expect::Absent);
                        let answer =
                            world.runtime.block_on(world.servers[worker % 2].edit(request, Watch::idle()));
                        answer.map(|report| report.status).map_err(|refusal| refusal.code)
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let winners: Vec<usize> =
            (0..WORKERS).filter(|&worker| answers[worker] == Ok(Status::Written)).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        assert!(
            answers.iter().all(|answer| matches!(answer, Ok(Status::Written) | Err(Code::FileExists))),
            "{answers:?}"
        );
        assert_eq!(world.text(&path), format!("worker {}\n", winners[0]));
    }
}
