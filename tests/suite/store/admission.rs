//! Which paths become places, and under which code the others are refused.

use super::*;
use rustix::fs::{CWD, FileType, Mode};
use std::time::{Duration, Instant};

#[test]
fn a_path_may_be_relative_or_absolute_under_every_name_of_its_root() {
    let fixture = Fixture::new(&[("src/a.py", "x"), ("b/c.py", "y")]);
    std::os::unix::fs::symlink(fixture.at(""), fixture.outside("link")).unwrap();
    fs::create_dir(fixture.outside("other")).unwrap();
    let given = fixture.outside("other/../link/./");
    let files = Files::open(std::slice::from_ref(&given)).unwrap();
    let spelled = [
        fixture.at("src/a.py"),
        fixture.outside("link/src/a.py"),
        given.join("src/a.py"),
        fixture.at("b/../src/a.py"),
    ];
    let key = files.admit("src/a.py").unwrap().key();
    for path in spelled {
        let place = files.admit(path.to_str().unwrap()).unwrap();
        assert_eq!(
            (place.key(), place.shown(), place.resolved()),
            (key.clone(), "src/a.py", None),
            "{path:?}"
        );
    }
    assert_eq!(files.admit("./b//../src/./a.py").unwrap().shown(), "src/a.py");
}

#[test]
fn paths_out_of_the_root_are_refused() {
    let fixture = Fixture::new(&[("a.txt", "x"), ("d/b.txt", "y")]);
    fs::write(fixture.outside("secret.txt"), "s").unwrap();
    fs::create_dir(fixture.outside("root2")).unwrap();
    fs::write(fixture.outside("root2/x.txt"), "s").unwrap();
    fixture.link("../secret.txt", "rel");
    fixture.link(fixture.outside("secret.txt"), "abs");
    fixture.link("..", "up");
    fixture.link("/etc", "etc");
    fixture.link("/proc/self", "proc");
    fixture.link("../../secret.txt", "d/rel");
    let root2 = fixture.outside("root2/x.txt");
    for path in [
        "../secret.txt",
        "d/../../secret.txt",
        "rel",
        "abs",
        "up/secret.txt",
        "up/new.txt",
        "etc/passwd",
        "etc/new",
        "proc/environ",
        "d/rel",
        "/etc/passwd",
        "/proc/self/environ",
        "/",
        root2.to_str().unwrap(),
        "../root/a.txt",
    ] {
        assert_eq!(fixture.code(path), Code::PathOutsideRoot, "{path}");
    }
    assert_eq!(fs::read_to_string(fixture.outside("secret.txt")).unwrap(), "s");
}

#[test]
fn links_inside_are_followed_relative_and_absolute() {
    let fixture = Fixture::new(&[("real/a.txt", "x")]);
    fixture.link("real/a.txt", "rel");
    fixture.link(fixture.at("real/a.txt"), "abs");
    fixture.link("real", "dir");
    fixture.link("rel", "twice");
    let key = fixture.files.admit("real/a.txt").unwrap().key();
    for path in ["rel", "abs", "dir/a.txt", "twice"] {
        let place = fixture.files.admit(path).unwrap();
        assert_eq!((place.key(), place.shown(), place.resolved()), (key.clone(), path, Some("real/a.txt")));
    }
    assert_eq!(fixture.files.admit("dir/new.txt").unwrap().resolved(), Some("real/new.txt"));
}

#[test]
fn links_that_lead_nowhere_are_refused_clearly() {
    let fixture = Fixture::new(&[]);
    fixture.link("missing.txt", "dangling");
    fixture.link("missing", "dir");
    fixture.link("loop2", "loop1");
    fixture.link("loop1", "loop2");
    for path in ["dangling", "dir/new.txt"] {
        let error = fixture.rejection(path);
        assert_eq!(error.code, Code::FileNotFound, "{path}");
        assert!(error.message.contains("symlink"), "{}", error.message);
    }
    let error = fixture.rejection("loop1");
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::NotAFile, "not a file: loop1 is a loop of symlinks")
    );
}

#[test]
fn a_long_chain_of_symlinks_is_no_loop() {
    let fixture = Fixture::new(&[("link0", "x")]);
    for number in 1..=41 {
        fixture.link(format!("link{}", number - 1), &format!("link{number}"));
    }
    assert!(fixture.files.admit("link40").is_ok(), "the control");
    let error = fixture.rejection("link41");
    assert_eq!(
        (error.code, error.message.as_str()),
        (Code::NotAFile, "not a file: link41 is behind more than 40 symlinks")
    );
}

#[test]
fn paths_without_text_are_refused_at_once() {
    let fixture = Fixture::new(&[("d/a.txt", "x")]);
    rustix::fs::mknodat(CWD, fixture.at("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(fixture.at("socket")).unwrap();
    let start = Instant::now();
    for path in ["d", "d/", "d/a.txt/", "d/a.txt/b", ".", "fifo", "socket"] {
        let error = fixture.rejection(path);
        assert_eq!(error.code, Code::NotAFile, "{path}");
        assert!(error.message.starts_with("not a file: "), "{}", error.message);
    }
    let devices = Files::open(&["/dev".into()]).unwrap();
    let kernel = Files::open(&["/proc/self".into()]).unwrap();
    assert_eq!(devices.admit("null").unwrap_err().code, Code::NotAFile);
    assert_eq!(kernel.admit("status").unwrap_err().code, Code::NotAFile);
    assert!(start.elapsed() < Duration::from_millis(100), "{:?}", start.elapsed());
}

#[test]
fn a_slash_after_a_file_name_is_named_as_the_error() {
    let fixture = Fixture::new(&[("a.txt", "x")]);
    let message = |path: &str| fixture.rejection(path).message;
    assert_eq!(message("a.txt/"), "not a file: a.txt/ ends in `/` but names a file");
    assert_eq!(message("new/"), "not a file: new/ ends in `/` but names nothing that exists");
    fs::create_dir(fixture.at("new")).unwrap();
    assert_eq!(message("new/"), "not a file: new/ is a directory");
}

#[test]
fn a_fifo_that_takes_the_file_s_place_does_not_block_reading() {
    let fixture = Fixture::new(&[("a.txt", "x")]);
    let place = fixture.files.admit("a.txt").unwrap();
    fs::remove_file(fixture.at("a.txt")).unwrap();
    rustix::fs::mknodat(CWD, fixture.at("a.txt"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let start = Instant::now();
    assert_eq!(fixture.files.read(&place, LIMIT).unwrap_err().code, Code::NotAFile);
    assert!(start.elapsed() < Duration::from_millis(100));
}

#[test]
fn impossible_and_unseemly_names_are_refused_with_their_field() {
    let fixture = Fixture::new(&[]);
    let long = format!("d/{}", "x".repeat(256));
    let assert_refused = |error: Error, path: &str| {
        assert_eq!((error.code, error.field.as_deref()), (Code::InvalidInput, Some("path")), "{path:?}");
    };
    for path in ["", "a\0b", long.as_str()] {
        assert_refused(fixture.rejection(path), path);
    }
    fs::create_dir(fixture.at("old\u{202e}")).unwrap();
    for path in ["new\u{202e}txt.py", "a\nb", "dir\u{7}/x.py", "old\u{202e}/new\u{202e}"] {
        assert_refused(fixture.files.admit(path).unwrap().check_new_name().unwrap_err(), path);
    }
    let beside = fixture.files.admit("old\u{202e}/new").unwrap();
    assert_eq!(beside.check_new_name(), Ok(()), "an old name is what it is");
}

#[test]
fn new_files_have_stable_keys_and_make_no_folders_when_admitted() {
    let fixture = Fixture::new(&[]);
    let place = fixture.files.admit("a/b/new.txt").unwrap();
    assert_eq!(place.key(), fixture.files.admit("a/./x/../b/new.txt").unwrap().key());
    assert_ne!(place.key(), fixture.files.admit("a/b/other.txt").unwrap().key());
    assert!(fixture.files.read(&place, LIMIT).unwrap().is_none());
    assert!(fixture.tree().is_empty());
    fs::create_dir(fixture.at("a")).unwrap();
    assert_ne!(place.key(), fixture.files.admit("a/b/new.txt").unwrap().key(), "the folder is there now");
}
