//! Looking at what is there: a search finds what a naive reader of the files would find, whatever stands among them and
//! whoever changes them meanwhile.

mod naive;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::store::rights::runs_unprivileged;
use super::wire::{Answer, Server};
use lockgate::store::{Clock, Files, Hidden, Pattern, Reach, SearchBounds, Waits, Within};
use naive::{Asked, Found};

/// How long a search may take that is ended by its own bound, in a debug build on a busy machine.
const BOUNDED: Duration = Duration::from_secs(40);

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn search(server: &mut Server, arguments: Value) -> Value {
    let answer = server.call("search_content", &arguments);
    assert!(!answer.is_error, "{arguments}: {}", answer.text);
    answer.structured
}

fn paths(seen: &Value) -> Vec<&str> {
    seen["matches"].as_array().unwrap().iter().map(|found| found["path"].as_str().unwrap()).collect()
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

fn asked() -> impl Strategy<Value = Asked> {
    let pattern = prop::sample::select(vec![
        "a", "^a", "a$", "^$", "b|é", "a.*b", r"\s", r"\bb", "(?i)A{2}", "z", "x", r"a\rb",
    ]);
    (pattern, 0_usize..4, 1_usize..12).prop_map(|(pattern, context, most)| Asked {
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
    let result = runner.run(&(texts(), asked()), |(tree, asked)| {
        for entry in fs::read_dir(root.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        tree.iter().for_each(|(path, text)| write(&root.path().join(path), text));
        let (wanted, total) = asked.search(&tree);
        let arguments =
            json!({"pattern": asked.pattern, "context_lines": asked.context, "max_results": asked.most});
        let seen = search(&mut server.borrow_mut(), arguments);
        let found: Vec<Found> = seen["matches"].as_array().unwrap().iter().map(Found::told).collect();
        prop_assert_eq!(&found, &wanted, "{:?}", asked);
        prop_assert_eq!(seen["total_matches"].as_u64(), Some(total as u64));
        prop_assert_eq!(seen["truncated"].as_bool(), Some(total > found.len()));
        Ok(())
    });
    result.unwrap();
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = std::process::Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn the_files_that_git_knows_are_the_files_that_are_listed() {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".gitignore", "*.log\n/build\n!important.log\ndoc/*\n!doc/keep.md\n**/tmp/\na\\ b\n[xy].c\n"),
        ("sub/.gitignore", "!*.log\nlocal\n/anchored\n"),
        (".git/info/exclude", "excluded.txt\n"),
    ] {
        write(&root.path().join(path), text);
    }
    git(root.path(), &["init", "-q"]);
    write(&root.path().join(".git/info/exclude"), "excluded.txt\n");
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
        write(&root.path().join(path), "needle\n");
    }
    let listed = git(root.path(), &["ls-files", "--cached", "--others", "--exclude-standard"]);
    let mut wanted: Vec<&str> = listed.lines().filter(|path| !path.contains(".gitignore")).collect();
    wanted.sort_unstable();
    let mut server = Server::start(root.path(), &[]);
    let entries = server.call("list_content", &json!({})).structured;
    let names: Vec<&str> =
        entries["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(names, wanted);
    assert_eq!(paths(&search(&mut server, json!({"pattern": "needle", "max_results": 100}))), wanted);
}

#[test]
fn what_must_not_be_read_is_not_read_and_what_blocks_does_not_block() {
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
        write(&home.path().join(path), text);
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
    write(&root.join(std::ffi::OsStr::from_bytes(b"na\xffme/x")), "the needle\n");
    write(&root.join(std::ffi::OsStr::from_bytes(b"na\xffme.txt")), "the needle\n");
    fs::File::create(root.join("huge.txt")).unwrap().set_len(1 << 40).unwrap();
    let mut server = Server::start(&root, &[]);
    for hidden in [false, true] {
        let seen = search(&mut server, json!({"pattern": "needle", "hidden": hidden}));
        assert_eq!(paths(&seen), ["seen.txt"], "{seen}");
        assert_eq!(seen["total_matches"], 1);
        assert_eq!(seen["notes"], json!(["passed over: 2 of the names are not UTF-8"]));
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
fn what_may_not_be_read_is_counted() {
    // Root reads everything.
    if !runs_unprivileged("suite::looking::what_may_not_be_read_is_counted", None) {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    for path in ["a/x", "b", "c"] {
        write(&root.path().join(path), "needle\n");
    }
    let files = Files::open(&[root.path().to_owned()]).unwrap();
    assert_eq!(found(&files, "needle"), (3, 0), "the control");
    for path in ["a", "b"] {
        fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let seen = found(&files, "needle");
    fs::set_permissions(root.path().join("a"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(seen, (1, 2));
}

/// How many matches there are, and how many files and folders could not be read.
fn found(files: &Files, pattern: &str) -> (usize, usize) {
    let Within::Below(below) = files.within(None).unwrap() else { panic!() };
    let clock = Clock::new(Instant::now() + BOUNDED, &Patient);
    let pattern = Pattern::new(pattern, Reach::Line).unwrap();
    let bounds = SearchBounds { most: 9, largest: 1 << 20, clock: &clock };
    let hits = files.search(&below, &pattern, Hidden::LeftOut, bounds);
    (hits.total, hits.passed.unreadable)
}

/// A walk that looks whether a folder is a link, and then goes by its name.
fn naive_walk(root: &Path) -> String {
    let Ok(entries) = fs::read_dir(root) else { return String::new() };
    let mut text = String::new();
    for entry in entries.flatten() {
        match entry.path().symlink_metadata() {
            Ok(found) if found.is_dir() => text += &naive_walk(&entry.path()),
            Ok(found) if found.is_file() => text += &fs::read_to_string(entry.path()).unwrap_or_default(),
            _ => {}
        }
    }
    text
}

#[test]
fn a_folder_that_becomes_a_link_does_not_lead_out() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    write(&root.join("folder/ours.txt"), "ours\n");
    write(&home.path().join("theirs/ours.txt"), "theirs\n");
    let files = Files::open(std::slice::from_ref(&root)).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends = Ends(&stop);
        scope.spawn(|| {
            let (folder, away) = (root.join("folder"), home.path().join("away"));
            // Each state lasts from no time to longer than a search takes: both are met, and so is every moment between.
            for rest in (0..400).cycle().map(Duration::from_micros) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                fs::rename(&folder, &away).unwrap();
                symlink("../theirs", &folder).unwrap();
                std::thread::sleep(rest);
                fs::remove_file(&folder).unwrap();
                fs::rename(&away, &folder).unwrap();
                std::thread::sleep(rest);
            }
        });
        assert!(comes(|| found(&files, "ours").0 > 0), "the folder was never there");
        assert!((0..2000).all(|_| found(&files, "theirs").0 == 0), "a search left the root");
        assert!(comes(|| naive_walk(&root).contains("theirs")), "the control never left it");
    });
}

/// Whether it comes to be so, within [`BOUNDED`].
fn comes(mut so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + BOUNDED;
    while Instant::now() < end {
        if so() {
            return true;
        }
    }
    false
}

/// Somebody who waits for as long as it takes.
struct Patient;

impl Waits for Patient {
    fn has_left(&self) -> bool {
        false
    }

    fn hears(&self, _: usize, _: usize) {}
}

#[test]
fn a_hundred_thousand_files_and_a_loop_of_links() {
    // In memory where there is such a folder: it is not the disk that is tried here.
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    for folder in 0..100 {
        let folder = root.path().join(format!("{folder:03}"));
        fs::create_dir(&folder).unwrap();
        let first = folder.join("first");
        fs::write(&first, "one\ntwo\n").unwrap();
        // Empty files are quick to make, and take as long to walk as others.
        for file in 0..999 {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                folder.join(format!("{file:04}")),
                rustix::fs::FileType::RegularFile,
                rustix::fs::Mode::from_raw_mode(0o644),
                0,
            )
            .unwrap();
        }
        symlink("..", folder.join("up")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
    }
    let mut server = Server::start(root.path(), &[]);
    let begun = Instant::now();
    let seen = search(&mut server, json!({"pattern": ".", "max_results": 3}));
    assert!(begun.elapsed() < BOUNDED, "{:?}", begun.elapsed());
    if seen["notes"].is_null() {
        assert_eq!((&seen["total_matches"], &seen["truncated"]), (&json!(200), &json!(true)));
        assert_eq!(paths(&seen), ["000/first", "000/first", "001/first"]);
    } else {
        assert!(seen["notes"].to_string().contains("lower bound"), "{seen}");
    }
    let entries = server.call("list_content", &json!({"path_prefix": "09", "max_results": 2})).structured;
    assert_eq!(entries["entries"][1]["path"], "090/0001");
    assert_eq!(entries["truncated"], true);
}

#[test]
fn an_answer_is_bounded_however_much_is_found() {
    let root = tempfile::tempdir().unwrap();
    for file in 0..60 {
        write(&root.path().join(format!("{file:03}")), format!("{}\n", "x".repeat(400)).repeat(200));
    }
    write(&root.path().join("000"), "x".repeat(200_000));
    let mut server = Server::start(root.path(), &[]);
    for arguments in [
        json!({"pattern": "x", "max_results": 1000, "context_lines": 50}),
        json!({"pattern": "(?s).*", "max_results": 1000, "multiline": true}),
        json!({"pattern": "x*", "path": "000"}),
    ] {
        let answer = server.call("search_content", &arguments);
        assert!(answer.structured.to_string().len() + answer.text.len() < 220_000, "{arguments}");
        let first = &answer.structured["matches"][0];
        assert_eq!(first["path"], "000");
        assert_eq!(first["match"].as_str().unwrap().len(), 503);
        let shown = answer.structured["matches"].as_array().unwrap().len() as u64;
        assert_eq!(
            answer.structured["truncated"],
            json!(shown < answer.structured["total_matches"].as_u64().unwrap())
        );
    }
}

#[test]
fn patterns_that_are_hard_end_soon() {
    let root = tempfile::tempdir().unwrap();
    write(&root.path().join("a"), format!("{}b\n", "a".repeat(100_000)));
    write(&root.path().join("x"), "x".repeat(4 << 20));
    let mut server = Server::start(root.path(), &[]);
    for (pattern, code) in [
        ("(a+)+$".to_owned(), ""),
        ("(a|a)*c".to_owned(), ""),
        ("(x{1000}){1000}".to_owned(), "BAD_PATTERN"),
        ("((((x{100}){100}){100}){100})".to_owned(), "BAD_PATTERN"),
        ("x.{0,900}y.{0,900}z".to_owned(), ""),
        ("a".repeat(1 << 20), "BAD_PATTERN"),
        ("(".repeat(1 << 20), "BAD_PATTERN"),
        ("(?:".repeat(2000), "BAD_PATTERN"),
        ("a|".repeat(4000), ""),
        ("\\".to_owned(), "BAD_PATTERN"),
    ] {
        for multiline in [false, true] {
            let begun = Instant::now();
            let arguments = json!({"pattern": pattern, "multiline": multiline});
            let answer = server.call("search_content", &arguments);
            assert_eq!(answer.code(), code, "{pattern:.80}: {:.300}", answer.text);
            assert!(code.is_empty() || answer.text.contains("invalid regex: "), "{:.300}", answer.text);
            assert!(begun.elapsed() < BOUNDED, "{pattern:.80} took {:?}", begun.elapsed());
        }
    }
}

/// Lines of the file that is changed while it is looked at; few enough for all of them to be shown.
const LINES: usize = 200;

/// A state of that file: one letter on all of its lines, and a length of its own, so that none can be taken for another.
fn state(round: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(round % 26).unwrap());
    format!("{}\n", letter.to_string().repeat(50 + round % 26)).repeat(LINES)
}

/// Ends the writer, also where a look has failed.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Looks at a file while it is written; gives the texts that were seen, each of which was that of its version.
fn seen_while(written: impl Fn(usize) + Sync, root: &Path) -> Vec<String> {
    let (stop, rounds, mut texts) = (AtomicBool::new(false), AtomicUsize::new(0), Vec::new());
    let mut server = Server::start(root, &[]);
    std::thread::scope(|scope| {
        let _ends = Ends(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                written(rounds.fetch_add(1, Ordering::Relaxed));
            }
        });
        let enough = |looks: usize| looks >= 40 && rounds.load(Ordering::Relaxed) > 20;
        for _ in (0..2000).take_while(|looks| !enough(*looks)) {
            for (tool, arguments) in [
                ("search_content", json!({"pattern": "^", "max_results": 1000, "context_lines": 0})),
                ("read_content_lines", json!({"path": "a", "start_line": 1, "end_line": LINES})),
                ("get_content", json!({"path": "a"})),
            ] {
                texts.extend(text_of(&server.call(tool, &arguments)));
            }
        }
    });
    assert!(rounds.into_inner() > 20, "the file did not change often enough");
    texts
}

/// The text that an answer shows, which must be that of its version; nothing where it shows none.
fn text_of(answer: &Answer) -> Option<String> {
    let seen = &answer.structured;
    if answer.is_error {
        let codes = ["EDIT_CONFLICT", "FILE_NOT_FOUND"];
        assert!(codes.contains(&answer.code()), "{seen}");
        return None;
    }
    let (text, version) = match (seen["matches"].as_array(), seen["start_line"].as_u64()) {
        (Some(matches), _) => {
            let versions: Vec<&Value> = matches.iter().map(|found| &found["version"]).collect();
            assert!(versions.windows(2).all(|pair| pair[0] == pair[1]), "two states in one answer");
            let rows: Vec<&str> = matches.iter().map(|found| found["match"].as_str().unwrap()).collect();
            (rows.join("\n"), versions.first().map(|version| (*version).clone())?)
        }
        (None, Some(_)) => {
            let rows = seen["content"].as_str().unwrap().lines().map(|row| row.split_once(": ").unwrap().1);
            (rows.collect::<Vec<_>>().join("\n"), seen["version"].clone())
        }
        (None, None) => (seen["content"].as_str().unwrap().to_owned(), seen["version"].clone()),
    };
    let stamped = |text: &str| json!(lockgate::text::Stamp::of(text.as_bytes()).to_string()) == version;
    let ended = format!("{text}\n");
    assert!(stamped(&text) || stamped(&ended), "{version} is not the version of {text:.80}");
    Some(if stamped(&text) { text } else { ended })
}

#[test]
fn a_file_that_is_replaced_meanwhile_is_seen_in_one_state() {
    let root = tempfile::tempdir().unwrap();
    let (file, staged) = (root.path().join("a"), root.path().join(".staged"));
    fs::write(&file, state(0)).unwrap();
    let texts = seen_while(
        |round| {
            fs::write(&staged, state(round)).unwrap();
            fs::rename(&staged, &file).unwrap();
        },
        root.path(),
    );
    let states: Vec<String> = (0..26).map(state).collect();
    assert!(texts.len() > 60, "only {} answers showed something", texts.len());
    assert!(texts.iter().all(|text| states.contains(text)), "something that the file never was");
    assert!(texts.iter().any(|text| *text != texts[0]), "the file was never seen to change");
}

#[test]
fn a_file_that_is_rewritten_in_place_is_told_by_the_version_of_what_is_shown() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a");
    fs::write(&file, state(0)).unwrap();
    let texts = seen_while(
        |round| {
            fs::write(&file, state(round)).unwrap();
            // So that it can be read between two writes.
            std::thread::sleep(Duration::from_millis(5));
        },
        root.path(),
    );
    assert!(!texts.is_empty());
}

#[test]
fn lines_beyond_the_end_are_refused_and_an_end_beyond_it_is_not() {
    let root = tempfile::tempdir().unwrap();
    write(&root.path().join("a"), "1\n2\n3");
    write(&root.path().join("empty"), "");
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
    write(&root.path().join("x"), "x\n".repeat(2 << 20));
    let mut server = Server::start(root.path(), &[]);
    let call = server.post_call("search_content", &json!({"pattern": "x.{0,900}y.{0,900}z"}));
    let gone = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
    server.send(gone.to_string().as_bytes());
    let begun = Instant::now();
    assert_eq!(search(&mut server, json!({"pattern": "y"}))["total_matches"], 0);
    assert!(begun.elapsed() < BOUNDED);
}
