//! Edits taken back and made again.

use super::*;
use lockgate_engine::Status;
use lockgate_error::Code;

use crate::suite::wire::lockgate;

const FIVE: &str = "one\ntwo\nthree\nfour\nfive\n";

#[test]
fn undo_and_redo_restore_an_edit_byte_for_byte() {
    for (before, after) in [
        (FIVE, "one\n2\nthree\n"),
        ("a\r\nb", "a\r\nc\r\nd"),
        ("\u{feff}x\n", "\u{feff}y\n"),
        ("x\n", ""),
        ("", "x"),
    ] {
        let fixture = Fixture::new(&[("a.txt", before)]);
        let edit = fixture.edit(content("a.txt", after)).unwrap();
        for _ in 0..2 {
            let back = fixture.undo(&edit).unwrap();
            assert_eq!((back[0].status, fixture.text("a.txt").as_str()), (Status::Written, before));
            let again = fixture.revert(Direction::Redo, None, Some("a.txt")).unwrap();
            assert_eq!((again[0].status, fixture.text("a.txt").as_str()), (Status::Written, after));
        }
    }
}

#[test]
fn a_file_that_was_made_is_removed_with_its_folders_and_comes_back() {
    let fixture = Fixture::new(&[("other.txt", "x\n")]);
    let edit = fixture.edit(content("new/deep/a.sh", "#!/bin/sh\n")).unwrap();
    let path = fixture.dir.path().join("root/new/deep/a.sh");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o750)).unwrap();
    let back = fixture.undo(&edit).unwrap();
    assert!(back[0].is_removed() && back[0].version.is_none(), "{:?}", back[0]);
    assert!(back[0].diff().render(9999).0.contains("deleted file mode"));
    assert!(!fixture.dir.path().join("root/new").exists(), "the folders went with it");
    let undo_id = back[0].edit_id.unwrap().to_string();
    let again = fixture.revert(Direction::Undo, Some(&undo_id), None).unwrap();
    assert!(again[0].is_created());
    assert_eq!(fixture.text("new/deep/a.sh"), "#!/bin/sh\n");
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o750);
}

#[test]
fn folders_that_others_use_stay() {
    let fixture = Fixture::new(&[("other.txt", "x\n")]);
    let edit = fixture.edit(content("new/deep/a.txt", "x\n")).unwrap();
    fixture.save("new/theirs", "x");
    fixture.undo(&edit).unwrap();
    assert!(!fixture.dir.path().join("root/new/deep").exists());
    assert_eq!(fixture.text("new/theirs"), "x");
}

#[test]
fn one_edit_of_many_is_undone_and_the_others_stay() {
    let fixture = Fixture::new(&[("a.txt", FIVE)]);
    let edits: Vec<Report> = ["one", "two", "three", "four", "five"]
        .iter()
        .map(|word| {
            fixture
                .edit(request("a.txt", search(word, &format!("{word}\n{word}!")), Expect::Anything))
                .unwrap()
        })
        .collect();
    let back = fixture.undo(&edits[2]).unwrap();
    assert_eq!(fixture.text("a.txt"), "one\none!\ntwo\ntwo!\nthree\nfour\nfour!\nfive\nfive!\n");
    assert!(back[0].notes.iter().any(|note| note.contains("rebased from")), "{:?}", back[0].notes);
    fixture.revert(Direction::Redo, None, None).unwrap();
    assert_eq!(fixture.text("a.txt"), "one\none!\ntwo\ntwo!\nthree\nthree!\nfour\nfour!\nfive\nfive!\n");
}

#[test]
fn an_edit_below_a_later_one_is_not_undone() {
    let fixture = Fixture::new(&[("a.txt", FIVE)]);
    let edit = fixture.edit(request("a.txt", line(3, "THREE\n"), Expect::Anything)).unwrap();
    fixture.edit(request("a.txt", line(3, "DREI\n"), Expect::Anything)).unwrap();
    let rejection = fixture.undo(&edit).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    assert!(rejection.since.unwrap().diff.contains("-THREE\n+DREI\n"));
    assert_eq!(fixture.text("a.txt"), FIVE.replace("three", "DREI"));
}

#[test]
fn a_created_file_that_changed_is_not_removed_and_another_is_not_overwritten() {
    let fixture = Fixture::new(&[("other.txt", "x\n")]);
    let edit = fixture.edit(content("a.txt", "x\n")).unwrap();
    fixture.save("a.txt", "theirs\n");
    assert_eq!(fixture.undo(&edit).unwrap_err().code, Code::EditConflict);
    fixture.save("a.txt", "x\n");
    fixture.undo(&edit).unwrap();
    fixture.save("a.txt", "new\n");
    assert_eq!(fixture.revert(Direction::Redo, None, None).unwrap_err().code, Code::EditConflict);
    assert_eq!(fixture.text("a.txt"), "new\n");
}

#[test]
fn without_an_id_it_goes_back_step_by_step() {
    let fixture = Fixture::new(&[("a.txt", "0\n"), ("b.txt", "0\n")]);
    for (path, text) in [("a.txt", "1\n"), ("b.txt", "1\n"), ("a.txt", "2\n")] {
        fixture.edit(content(path, text)).unwrap();
    }
    let both = || (fixture.text("a.txt"), fixture.text("b.txt"));
    let undo = |path| fixture.revert(Direction::Undo, None, path);
    let redo = |path| fixture.revert(Direction::Redo, None, path);
    undo(None).unwrap();
    assert_eq!(both(), ("1\n".into(), "1\n".into()));
    undo(Some("a.txt")).unwrap();
    assert_eq!(both(), ("0\n".into(), "1\n".into()));
    assert_eq!(undo(Some("a.txt")).unwrap_err().code, Code::InvalidInput);
    undo(None).unwrap();
    assert_eq!(both(), ("0\n".into(), "0\n".into()));
    assert_eq!(undo(None).unwrap_err().code, Code::InvalidInput);
    redo(Some("a.txt")).unwrap();
    redo(Some("a.txt")).unwrap();
    assert_eq!(both(), ("2\n".into(), "0\n".into()));
    assert_eq!(redo(Some("a.txt")).unwrap_err().code, Code::InvalidInput);
    redo(None).unwrap();
    assert_eq!(both(), ("2\n".into(), "1\n".into()));
}

#[test]
fn a_second_undo_changes_nothing() {
    let fixture = Fixture::new(&[("a.txt", "0\n")]);
    let edit = fixture.edit(content("a.txt", "1\n")).unwrap();
    fixture.undo(&edit).unwrap();
    let again = fixture.undo(&edit).unwrap();
    assert_eq!((again[0].status, fixture.text("a.txt").as_str()), (Status::AlreadyApplied, "0\n"));
}

#[test]
fn a_batch_is_undone_as_a_whole_or_not_at_all() {
    let fixture = Fixture::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let batch = vec![content("a.txt", "A\n"), content("b.txt", "B\n"), content("c/c.txt", "C\n")];
    let edit = fixture.edit_all(batch).unwrap().remove(0);
    fixture.save("b.txt", "theirs\n");
    assert_eq!(fixture.undo(&edit).unwrap_err().code, Code::EditConflict);
    assert_eq!((fixture.text("a.txt"), fixture.text("c/c.txt")), ("A\n".into(), "C\n".into()));
    fixture.save("b.txt", "B\n");
    assert_eq!(fixture.undo(&edit).unwrap().len(), 3);
    assert_eq!((fixture.text("a.txt"), fixture.text("b.txt")), ("a\n".into(), "b\n".into()));
    assert!(!fixture.dir.path().join("root/c").exists());
    fixture.revert(Direction::Redo, None, None).unwrap();
    assert_eq!((fixture.text("a.txt"), fixture.text("c/c.txt")), ("A\n".into(), "C\n".into()));
}

#[test]
fn an_undo_may_restore_an_error_but_nothing_protected() {
    let fixture = Fixture::new(&[("a.py", "def f(:\n")]);
    let fixed = fixture.edit(content("a.py", "def f():\n    pass\n")).unwrap();
    let back = fixture.undo(&fixed).unwrap();
    assert_eq!(fixture.text("a.py"), "def f(:\n");
    assert!(
        back[0].verdict.findings.iter().any(|finding| !finding.blocking),
        "it is told: {:?}",
        back[0].verdict
    );
    fixture.save("quality.yaml", "paths: [{ match: '*.py', access: read }]\n");
    let refused = fixture.revert(Direction::Redo, None, Some("a.py")).unwrap_err();
    assert_eq!(refused.code, Code::Protected);
}

#[test]
fn an_empty_file_that_was_made_is_removed_as_well() {
    let fixture = Fixture::new(&[("a.txt", "0\n")]);
    fixture.edit(content("a.txt", "1\n")).unwrap();
    let batch = vec![content("pkg/__init__.py", ""), content("pkg/m.py", "x = 1\n")];
    let creation = fixture.edit_all(batch).unwrap().remove(0);
    assert!(fixture.undo(&creation).unwrap().iter().all(|report| report.is_removed()));
    assert!(!fixture.dir.path().join("root/pkg").exists());
    fixture.revert(Direction::Redo, None, None).unwrap();
    assert_eq!(
        (fixture.text("pkg/__init__.py"), fixture.text("pkg/m.py")),
        (String::new(), "x = 1\n".into())
    );
    for _ in 0..2 {
        fixture.revert(Direction::Undo, None, None).unwrap();
    }
    assert_eq!(fixture.text("a.txt"), "0\n");
}

#[test]
fn an_edit_that_made_a_byte_order_mark_is_not_undone_below_a_later_one() {
    let fixture = Fixture::new(&[("a.txt", "")]);
    let first = fixture.edit(content("a.txt", "\u{feff}one\n")).unwrap();
    fixture.edit(request("a.txt", line(1, "two\n"), Expect::Anything)).unwrap();
    let rejection = fixture.undo(&first).unwrap_err();
    assert_eq!(rejection.code, Code::EditConflict);
    assert!(rejection.message.ends_with(" was changed since: it is line 1 now"), "{}", rejection.message);
    assert_eq!(fixture.text("a.txt"), "\u{feff}two\n");
}

#[test]
fn an_ambiguous_undo_is_refused() {
    for (before, first, second) in [
        ("one\ntwo\nthree", insertion(4, "four\n"), insertion(5, "five\n")),
        ("x = 1", Edit::Content("x = 2\n".into()), insertion(2, "y = 3\n")),
        ("f() {\n}\nz\n", insertion(2, "}\n"), insertion(3, "g() {\n")),
    ] {
        let fixture = Fixture::new(&[("a.txt", before)]);
        let edit = fixture.edit(request("a.txt", first, Expect::Anything)).unwrap();
        fixture.edit(request("a.txt", second, Expect::Anything)).unwrap();
        let text = fixture.text("a.txt");
        assert_eq!(fixture.undo(&edit).unwrap_err().code, Code::EditConflict, "{before:?}");
        assert_eq!(fixture.text("a.txt"), text);
    }
}

#[test]
fn without_an_id_the_last_edit_of_all_roots_is_chosen() {
    let dir = tempfile::tempdir().unwrap();
    let roots: Vec<_> = ["one", "two", "three"].iter().map(|name| dir.path().join(name)).collect();
    for root in &roots {
        std::fs::create_dir(root).unwrap();
        std::fs::write(root.join("a.txt"), "0\n").unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let workspace = Workspace::at(&roots).with_state_dir(&dir.path().join("own")).open().unwrap();
    let texts = || -> Vec<String> {
        roots.iter().map(|root| std::fs::read_to_string(root.join("a.txt")).unwrap()).collect()
    };
    let turn =
        |direction| runtime.block_on(workspace.undo_or_redo(edits::revert(direction, None), Watch::idle()));
    let mut states = vec![texts()];
    for (number, root) in [2, 0, 1, 1, 2, 0, 1].into_iter().enumerate() {
        let path = roots[root].canonicalize().unwrap().join("a.txt");
        let request = content(path.to_str().unwrap(), &format!("{}\n", number + 1));
        runtime.block_on(workspace.edit(request, Watch::idle())).unwrap();
        states.push(texts());
    }
    for before in states.iter().rev().skip(1) {
        turn(Direction::Undo).unwrap();
        assert_eq!(texts(), *before);
    }
    assert_eq!(turn(Direction::Undo).unwrap_err().code, Code::InvalidInput);
    for after in states.iter().skip(1) {
        turn(Direction::Redo).unwrap();
        assert_eq!(texts(), *after);
    }
    assert_eq!(turn(Direction::Redo).unwrap_err().code, Code::InvalidInput);
    // What was taken back last is made again, whichever root it is in and whatever was edited since.
    turn(Direction::Undo).unwrap();
    turn(Direction::Undo).unwrap();
    turn(Direction::Redo).unwrap();
    assert_eq!(texts(), states[states.len() - 2]);
}

#[test]
fn the_commands_take_back_the_last_edit_of_all_roots() {
    let (user, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let roots = ["one", "two"].map(|name| dir.path().join(name));
    for root in &roots {
        std::fs::create_dir(root).unwrap();
        std::fs::write(root.join("a.txt"), "old\n").unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = lockgate(user.path());
        command.args(arguments);
        for root in &roots {
            command.arg("--root").arg(root);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let text = |root: usize| std::fs::read_to_string(roots[root].join("a.txt")).unwrap();
    let second = roots[1].join("a.txt");
    let second = second.to_str().unwrap();
    for path in ["a.txt", second] {
        assert_eq!(run(&["edit", "--path", path, "--content", "new\n"]).0, Some(0));
    }
    assert_eq!(run(&["undo"]).0, Some(0));
    assert_eq!((text(0).as_str(), text(1).as_str()), ("new\n", "old\n"));
    assert_eq!(run(&["undo"]).0, Some(0));
    assert_eq!(run(&["redo"]).0, Some(0));
    assert_eq!((text(0).as_str(), text(1).as_str()), ("new\n", "old\n"));
    assert_eq!(run(&["redo"]).0, Some(0));
    assert_eq!(text(1), "new\n");
    let (code, log) = run(&["log"]);
    assert_eq!((code, log.matches("a.txt").count()), (Some(0), 6), "{log}");
    assert!(log.lines().next().is_some_and(|line| line.contains(second)), "{log}");
}
