//! What others do to a file between its reading and its publishing is a conflict.

use super::*;

#[test]
fn foreign_changes_between_reading_and_publishing_are_conflicts() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 5] = [
        ("was changed", |path| fs::write(path, "other").unwrap()),
        ("was changed", |path| fs::write(path, "longer than before").unwrap()),
        ("was removed", |path| fs::remove_file(path).unwrap()),
        ("was replaced", |path| {
            fs::write(path.with_extension("tmp"), "first").unwrap();
            fs::rename(path.with_extension("tmp"), path).unwrap();
        }),
        ("became a symlink", |path| {
            fs::rename(path, path.with_extension("moved")).unwrap();
            std::os::unix::fs::symlink(path.with_extension("moved"), path).unwrap();
        }),
    ];
    for (message, change) in changes {
        let fixture = Fixture::new(&[("a.txt", "first")]);
        let place = fixture.files.admit("a.txt").unwrap();
        let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
        change(&fixture.at("a.txt"));
        let (tree, content) = (fixture.tree(), fs::read(fixture.at("a.txt")).ok());
        let error = publish(&fixture.files, &place, Some(snapshot.expected(Content::new(b"first"))), b"ours")
            .unwrap_err();
        assert_eq!(error.code, Code::EditConflict, "{}", error.message);
        assert!(
            error.message.contains(message) && error.hint.unwrap().contains(message),
            "{message}: {}",
            error.message
        );
        assert_eq!((fixture.tree(), fs::read(fixture.at("a.txt")).ok()), (tree, content), "{message}");
    }
}

#[test]
fn a_same_sized_write_with_a_restored_time_is_detected() {
    let fixture = Fixture::new(&[("a.txt", "first")]);
    let place = fixture.files.admit("a.txt").unwrap();
    let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
    let time = fs::metadata(fixture.at("a.txt")).unwrap().modified().unwrap();
    fs::write(fixture.at("a.txt"), "other").unwrap();
    fs::File::options().write(true).open(fixture.at("a.txt")).unwrap().set_modified(time).unwrap();
    assert_eq!(fs::metadata(fixture.at("a.txt")).unwrap().modified().unwrap(), time);
    let error = publish(&fixture.files, &place, Some(snapshot.expected(Content::new(b"first"))), b"ours")
        .unwrap_err();
    assert_eq!((error.code, fixture.text("a.txt").as_str()), (Code::EditConflict, "other"));
    assert_eq!(
        fs::metadata(fixture.at("a.txt")).unwrap().modified().unwrap(),
        time,
        "a refused file keeps its time"
    );
}

#[test]
fn a_file_that_appeared_is_a_conflict_and_new_folders_go() {
    let fixture = Fixture::new(&[]);
    let place = fixture.files.admit("a.txt").unwrap();
    fs::write(fixture.at("a.txt"), "faster").unwrap();
    let error = publish(&fixture.files, &place, None, b"ours").unwrap_err();
    assert_eq!((error.code, fixture.text("a.txt").as_str()), (Code::EditConflict, "faster"));
    let place = fixture.files.admit("d/e/a.txt").unwrap();
    fs::write(fixture.at("d"), "a file now").unwrap();
    assert_eq!(publish(&fixture.files, &place, None, b"ours").unwrap_err().code, Code::EditConflict);
    assert_eq!(fixture.tree(), ["a.txt", "d"]);
}

#[test]
fn a_folder_that_was_exchanged_is_a_conflict() {
    let fixture = Fixture::new(&[("d/a.txt", "1"), ("e/a.txt", "1")]);
    let place = fixture.files.admit("d/a.txt").unwrap();
    let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
    fs::rename(fixture.at("d"), fixture.at("was")).unwrap();
    fixture.link("e", "d");
    let error =
        publish(&fixture.files, &place, Some(snapshot.expected(Content::new(b"1"))), b"2").unwrap_err();
    assert_eq!((error.code, fixture.text("e/a.txt").as_str()), (Code::EditConflict, "1"));
    assert!(error.message.contains("no longer in the folder"), "{}", error.message);
    fs::remove_file(fixture.at("d")).unwrap();
    fs::rename(fixture.at("was"), fixture.at("d")).unwrap();
    let place = fixture.files.admit("d/new.txt").unwrap();
    fs::rename(fixture.at("d"), fixture.at("was")).unwrap();
    fixture.link("e", "d");
    assert_eq!(publish(&fixture.files, &place, None, b"x").unwrap_err().code, Code::EditConflict);
    assert!(!fixture.at("e/new.txt").exists(), "it would have been made in a folder that nobody admitted");
}

#[test]
fn a_folder_that_gave_way_to_something_else_is_a_conflict() {
    type Replace = fn(&Fixture);
    let replacements: [(&str, Replace); 4] = [
        ("a file", |fixture| fs::write(fixture.at("d"), "").unwrap()),
        ("a link out of the root", |fixture| fixture.link("/etc", "d")),
        ("a link up", |fixture| fixture.link("..", "d")),
        ("a loop", |fixture| fixture.link("d", "d")),
    ];
    for (what, replace) in replacements {
        let fixture = Fixture::new(&[("d/a.txt", "1"), ("e/x", "")]);
        let place = fixture.files.admit("d/a.txt").unwrap();
        let snapshot = fixture.files.read(&place, LIMIT).unwrap().unwrap();
        fs::rename(fixture.at("d"), fixture.at("was")).unwrap();
        replace(&fixture);
        let error =
            publish(&fixture.files, &place, Some(snapshot.expected(Content::new(b"1"))), b"2").unwrap_err();
        assert_eq!(error.code, Code::EditConflict, "{what}: {}", error.message);
        assert_eq!(fixture.files.read(&place, LIMIT).unwrap_err().code, Code::EditConflict, "{what}");
    }
    let fixture = Fixture::new(&[]);
    let place = fixture.files.admit("new/a.txt").unwrap();
    fs::write(fixture.at("new"), "").unwrap();
    assert_eq!(fixture.files.read(&place, LIMIT).unwrap_err().code, Code::EditConflict);
}
