//! Looking at what is there: a search finds what a naive reader of the files would find, whatever stands among them and
//! whoever changes them meanwhile.

mod bounded;
mod concurrent_changes;
mod naive;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::files::write;
use super::store::rights::runs_unprivileged;
use super::wire::Server;
use lockgate_store::{
    Clock, Files, Hidden, MatchReach, SearchClock, SearchLimits, SearchPattern, SearchTarget,
};
use naive::{FileHits, SearchQuery};

/// How long a search may take that is ended by its own bound, in a debug build on a busy machine.
const BOUNDED: Duration = Duration::from_secs(40);

fn search(server: &mut Server, arguments: Value) -> Value {
    let answer = server.call("search_content", &arguments);
    assert!(!answer.is_error, "{arguments}: {}", answer.text);
    answer.structured
}

fn paths(response: &Value) -> Vec<&str> {
    response["matches"].as_array().unwrap().iter().map(|found| found["path"].as_str().unwrap()).collect()
}

fn texts() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let name = prop::sample::select(vec!["a", "b", "sub/a", "sub/b.txt", "sub/deep/c", "sub.txt"]);
    let line = prop::sample::select(vec!["a", "b", "ab", "", "  a b", "é a", "aaaa", "\u{b}x", "a\rb"]);
    let end = prop::sample::select(vec!["\n", "\n", "\r\n"]);
    let text = (prop::collection::vec((line, end), 0..12), any::<bool>()).prop_map(|(lines, is_open)| {
        let mut text: String = lines.iter().flat_map(|(line, end)| [*line, *end]).collect();
        if is_open {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text.into_bytes()
    });
    prop::collection::btree_map(name.prop_map(str::to_owned), text, 0..5)
        .prop_map(|tree| tree.into_iter().collect())
}

fn search_queries() -> impl Strategy<Value = SearchQuery> {
    let pattern = prop::sample::select(vec![
        "a", "^a", "a$", "^$", "b|é", "a.*b", r"\s", r"\bb", "(?i)A{2}", "z", "x", r"a\rb",
    ]);
    (pattern, 0_usize..4, 1_usize..12).prop_map(|(pattern, context, most)| SearchQuery {
        pattern: pattern.to_owned(),
        context,
        most,
    })
}

#[test]
fn a_search_finds_what_a_naive_reader_finds() {
    let root = tempfile::tempdir().unwrap();
    let mut server = Server::start(root.path(), &[]);
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) });
    let server = std::cell::RefCell::new(&mut server);
    let result = runner.run(&(texts(), search_queries()), |(tree, query)| {
        for entry in fs::read_dir(root.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        tree.iter().for_each(|(path, text)| write(root.path().join(path), text));
        let (expected, total) = query.search(&tree);
        let arguments =
            json!({"pattern": query.pattern, "context_lines": query.context, "max_results": query.most});
        let response = search(&mut server.borrow_mut(), arguments);
        let found: Vec<FileHits> =
            response["matches"].as_array().unwrap().iter().map(FileHits::from_json).collect();
        prop_assert_eq!(&found, &expected, "{:?}", query);
        prop_assert_eq!(response["total_matches"].as_u64(), Some(total as u64));
        prop_assert_eq!(response["truncated"].as_bool(), Some(total > found.len()));
        Ok(())
    });
    result.unwrap();
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_files_that_git_knows_are_the_files_that_are_listed() {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".gitignore", "*.log\n/build\n!important.log\ndoc/*\n!doc/keep.md\n**/tmp/\na\\ b\n[xy].c\n"),
        ("sub/.gitignore", "!*.log\nlocal\n/anchored\n"),
        (".git/info/exclude", "excluded.txt\n"),
    ] {
        write(root.path().join(path), text);
    }
    git(root.path(), &["init", "-q"]);
    write(root.path().join(".git/info/exclude"), "excluded.txt\n");
    for path in [
        "a.log",
        "important.log",
        "build/x",
        "sub/build/x",
        "doc/a.md",
        "doc/keep.md",
        "doc/sub/keep.md",
        "tmp/x",
        "sub/tmp/x",
        "tmpx",
        "a b",
        "x.c",
        "z.c",
        "sub/a.log",
        "sub/local",
        "sub/anchored",
        "sub/deep/anchored",
        "sub/deep/local",
        "excluded.txt",
        "sub/excluded.txt",
        "sub/important.log",
    ] {
        write(root.path().join(path), "needle\n");
    }
    let listed = git(root.path(), &["ls-files", "--cached", "--others", "--exclude-standard"]);
    let mut expected: Vec<&str> = listed.lines().filter(|path| !path.contains(".gitignore")).collect();
    expected.sort_unstable();
    let mut server = Server::start(root.path(), &[]);
    let entries = server.call("list_content", &json!({})).structured;
    let names: Vec<&str> =
        entries["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(names, expected);
    assert_eq!(paths(&search(&mut server, json!({"pattern": "needle", "max_results": 100}))), expected);
}

#[test]
fn protected_files_are_not_read_and_fifos_do_not_block() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    for (path, text) in [
        ("root/seen.txt", &b"the needle\n"[..]),
        ("root/.env", b"the needle\n"),
        ("root/.git/config", b"the needle\n"),
        ("root/deep/id_rsa", b"the needle\n"),
        ("root/deep/tls.key", b"the needle\n"),
        ("root/.claude/settings.json", b"the needle\n"),
        ("root/binary", b"the needle\n\0\xff"),
        ("root/utf-32", b"\xff\xfe\0\0t\0\0\0"),
        ("root/half", b"\xff\xfeneedle\n\0"),
        ("theirs/theirs.txt", b"the needle\n"),
    ] {
        write(home.path().join(path), text);
    }
    symlink("../theirs", root.join("theirs")).unwrap();
    symlink("../theirs/theirs.txt", root.join("theirs.txt")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("/proc", root.join("proc")).unwrap();
    symlink("/dev/zero", root.join("zero")).unwrap();
    fs::hard_link(root.join(".env"), root.join("second.txt")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    write(root.join(std::ffi::OsStr::from_bytes(b"na\xffme/x")), "the needle\n");
    write(root.join(std::ffi::OsStr::from_bytes(b"na\xffme.txt")), "the needle\n");
    fs::File::create(root.join("huge.txt")).unwrap().set_len(1 << 40).unwrap();
    let mut server = Server::start(&root, &[]);
    for hidden in [false, true] {
        let response = search(&mut server, json!({"pattern": "needle", "hidden": hidden}));
        assert_eq!(paths(&response), ["seen.txt"], "{response}");
        assert_eq!(response["total_matches"], 1);
        assert_eq!(response["notes"], json!(["skipped: 2 of the names are not UTF-8"]));
    }
    for path in [".env", "second.txt", ".git", "deep/tls.key", "theirs", "theirs.txt", "up", "proc", "zero"] {
        let answer = server.call("search_content", &json!({"pattern": "needle", "path": path}));
        assert!(["PROTECTED", "PATH_OUTSIDE_ROOT"].contains(&answer.code()), "{path}: {}", answer.text);
        assert!(!answer.text.contains("the needle"));
    }
    for path in ["pipe", "socket", "loop"] {
        let answer = server.call("search_content", &json!({"pattern": "needle", "path": path}));
        assert_eq!(answer.code(), "NOT_A_FILE", "{path}: {}", answer.text);
    }
    let entries = server.call("list_content", &json!({})).structured;
    let names: Vec<&str> =
        entries["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["binary", "half", "huge.txt", "seen.txt", "utf-32"]);
}

#[test]
fn unreadable_files_are_counted() {
    // Root reads everything.
    if !runs_unprivileged("suite::searching::unreadable_files_are_counted", None) {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    for path in ["a/x", "b", "c"] {
        write(root.path().join(path), "needle\n");
    }
    let files = Files::open(&[root.path().to_owned()]).unwrap();
    assert_eq!(count_matches(&files, "needle"), (3, 0), "the control");
    for path in ["a", "b"] {
        fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let hits = count_matches(&files, "needle");
    fs::set_permissions(root.path().join("a"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(hits, (1, 2));
}

/// How many matches there are, and how many files and folders could not be read.
fn count_matches(files: &Files, pattern: &str) -> (usize, usize) {
    let SearchTarget::Roots(below) = files.search_target(None).unwrap() else { panic!() };
    let clock = Clock::new(Instant::now() + BOUNDED, &Patient);
    let pattern = SearchPattern::new(pattern, MatchReach::Line).unwrap();
    let bounds = SearchLimits { most: 9, largest: 1 << 20, clock: &clock };
    let hits = files.search(&below, &pattern, Hidden::Excluded, bounds);
    (hits.total, hits.skipped.unreadable)
}

/// Somebody who waits for as long as it takes.
struct Patient;

impl SearchClock for Patient {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn report(&self, _: usize, _: usize) {}
}

#[test]
fn lines_beyond_the_end_are_refused_and_an_end_beyond_it_is_not() {
    let root = tempfile::tempdir().unwrap();
    write(root.path().join("a"), "1\n2\n3");
    write(root.path().join("empty"), "");
    let mut server = Server::start(root.path(), &[]);
    for (path, start, end, code) in [
        ("a", 3, i64::MAX, ""),
        ("a", 4, 4, "RANGE_OUT_OF_BOUNDS"),
        ("a", i64::MAX, i64::MAX, "RANGE_OUT_OF_BOUNDS"),
        ("empty", 1, 1, ""),
        ("empty", 2, 2, "RANGE_OUT_OF_BOUNDS"),
    ] {
        let answer =
            server.call("read_content_lines", &json!({"path": path, "start_line": start, "end_line": end}));
        assert_eq!(answer.code(), code, "{path} {start}: {}", answer.text);
    }
}

#[test]
fn a_search_that_is_cancelled_leaves_the_server_free() {
    let root = tempfile::tempdir().unwrap();
    write(root.path().join("x"), "x\n".repeat(2 << 20));
    let mut server = Server::start(root.path(), &[]);
    let call = server.post_call("search_content", &json!({"pattern": "x.{0,900}y.{0,900}z"}));
    let cancellation =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
    server.send(cancellation.to_string().as_bytes());
    let start = Instant::now();
    assert_eq!(search(&mut server, json!({"pattern": "y"}))["total_matches"], 0);
    assert!(start.elapsed() < BOUNDED);
}
