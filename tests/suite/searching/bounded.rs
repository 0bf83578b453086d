//! However much there is and whatever is asked, an answer comes, and it is bounded.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Instant;

use serde_json::json;

use super::{BOUNDED, paths, search, write};
use crate::suite::wire::Server;

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
    let start = Instant::now();
    let response = search(&mut server, json!({"pattern": ".", "max_results": 3}));
    assert!(start.elapsed() < BOUNDED, "{:?}", start.elapsed());
    if response["notes"].is_null() {
        assert_eq!((&response["total_matches"], &response["truncated"]), (&json!(200), &json!(true)));
        assert_eq!(paths(&response), ["000/first", "000/first", "001/first"]);
    } else {
        assert!(response["notes"].to_string().contains("lower bound"), "{response}");
    }
    let entries = server.call("list_content", &json!({"path_prefix": "09", "max_results": 2})).structured;
    assert_eq!(entries["entries"][1]["path"], "090/0001");
    assert_eq!(entries["truncated"], true);
}

#[test]
fn an_answer_is_bounded_however_much_is_found() {
    let root = tempfile::tempdir().unwrap();
    for file in 0..60 {
        write(root.path().join(format!("{file:03}")), format!("{}\n", "x".repeat(400)).repeat(200));
    }
    write(root.path().join("000"), "x".repeat(200_000));
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
    write(root.path().join("a"), format!("{}b\n", "a".repeat(100_000)));
    write(root.path().join("x"), "x".repeat(4 << 20));
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
            let start = Instant::now();
            let arguments = json!({"pattern": pattern, "multiline": multiline});
            let answer = server.call("search_content", &arguments);
            assert_eq!(answer.code(), code, "{pattern:.80}: {:.300}", answer.text);
            assert!(code.is_empty() || answer.text.contains("invalid regex: "), "{:.300}", answer.text);
            assert!(start.elapsed() < BOUNDED, "{pattern:.80} took {:?}", start.elapsed());
        }
    }
}
