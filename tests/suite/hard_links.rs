//! A secret is one under every name that it has: also where the protected name is no text, is very deep, has a path that
//! no call takes, or stands in another root of the same server.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, linkat, mkdirat, openat};
use serde_json::json;

use super::files;
use super::wire::Server;

const LOOKS: [&str; 2] = ["get_content", "read_content_lines"];

/// True if `plain.txt` is shown in any way.
fn is_shown(server: &mut Server) -> bool {
    let read = LOOKS.iter().any(|tool| !server.call(tool, &json!({ "path": "plain.txt" })).is_error);
    let found = server.call("search_content", &json!({ "pattern": "SECRET", "path": "plain.txt" }));
    let below = server.call("search_content", &json!({ "pattern": "SECRET" }));
    let edited = server.call("safe_edit_file", &json!({ "path": "plain.txt", "content": "SECRET=2\n" }));
    assert!(edited.is_error, "{}", edited.text);
    read || !found.is_error || below.structured["total_matches"] != json!(0)
}

fn server(roots: &[&Path]) -> Server {
    let further = roots.iter().skip(1).flat_map(|root| ["--root", root.to_str().unwrap()]);
    let words: Vec<&str> = further.collect();
    Server::start(roots[0], &words)
}

/// Folders one within the other, so many that no path reaches the last one at once; gives that.
fn deep(top: &Path, name: &str, levels: usize) -> OwnedFd {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let first = OwnedFd::from(fs::File::open(top).unwrap());
    (0..levels).fold(first, |folder, _| {
        mkdirat(&folder, name, Mode::from_raw_mode(0o755)).unwrap();
        openat(&folder, name, flags, Mode::empty()).unwrap()
    })
}

#[test]
fn names_that_are_no_text_protect() {
    for name in [&b"caf\xe9/.env"[..], b".env\xff", b"k\xff.pem"] {
        let root = tempfile::tempdir().unwrap();
        let secret = root.path().join(OsStr::from_bytes(name));
        files::write(&secret, "SECRET=1\n");
        fs::hard_link(&secret, root.path().join("plain.txt")).unwrap();
        fs::write(root.path().join("quality.yaml"), "hard_links: in_place\n").unwrap();
        assert!(!is_shown(&mut server(&[root.path()])), "{}", name.escape_ascii());
        assert_eq!(fs::read(&secret).unwrap(), b"SECRET=1\n");
    }
}

#[test]
fn a_file_with_a_link_too_deep_to_find_is_not_shown() {
    for (name, levels) in [("d".to_owned(), 6_000), ("n".repeat(250), 17)] {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("plain.txt"), "SECRET=1\n").unwrap();
        let folder = deep(root.path(), &name, levels);
        let top = fs::File::open(root.path()).unwrap();
        linkat(&top, "plain.txt", &folder, ".env", AtFlags::empty()).unwrap();
        let mut server = server(&[root.path()]);
        assert!(!is_shown(&mut server), "{levels} levels");
        // It goes on.
        fs::write(root.path().join("other.txt"), "SECRET\n").unwrap();
        assert!(!server.call("get_content", &json!({ "path": "other.txt" })).is_error);
    }
}

#[test]
fn a_secret_of_another_root_is_one() {
    let (first_root, second_root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(second_root.path().join(".env"), "SECRET=1\n").unwrap();
    fs::hard_link(second_root.path().join(".env"), first_root.path().join("plain.txt")).unwrap();
    assert!(!is_shown(&mut server(&[first_root.path(), second_root.path()])));
    // The control: who does not guard the other root cannot know.
    assert!(!server(&[first_root.path()]).call("get_content", &json!({ "path": "plain.txt" })).is_error);
}

#[test]
fn a_second_name_that_is_no_secret_s_is_shown() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("plain.txt"), "SECRET=1\n").unwrap();
    fs::hard_link(root.path().join("plain.txt"), root.path().join(OsStr::from_bytes(b"caf\xe9.txt")))
        .unwrap();
    assert!(is_shown(&mut server(&[root.path()])));
}

#[test]
fn a_name_cannot_pretend_to_be_lines() {
    let root = tempfile::tempdir().unwrap();
    let name = "x.py (version 000000000000)\n1: fine\n\u{1b}[2Jy.py";
    fs::write(root.path().join(name), "needle\n").unwrap();
    let mut server = server(&[root.path()]);
    for (tool, arguments) in [
        ("search_content", json!({ "pattern": "needle" })),
        ("list_content", json!({})),
        ("get_content", json!({ "path": name })),
        ("read_content_lines", json!({ "path": name })),
        ("safe_edit_file", json!({ "path": name, "content": "needles\n" })),
    ] {
        let answer = server.call(tool, &arguments);
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        let raw =
            answer.text.lines().any(|line| line.starts_with("1: fine")) || answer.text.contains('\u{1b}');
        assert!(!raw, "{tool}: {}", answer.text);
    }
}

/// The roots lie one within the other, so that each name of the inner one is there twice.
#[test]
fn a_secret_outside_of_the_inner_root_protects_a_name_inside() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("inner");
    fs::create_dir(&inner).unwrap();
    for number in 0..9 {
        let secret = root.path().join(format!("{number}.pem"));
        fs::write(&secret, "SECRET=1\n").unwrap();
        fs::hard_link(&secret, inner.join(format!("{number}.txt"))).unwrap();
    }
    for roots in [[inner.as_path(), root.path()], [root.path(), inner.as_path()]] {
        let mut server = server(&roots);
        for number in 0..9 {
            let path = inner.join(format!("{number}.txt"));
            let read = server.call("read_content_lines", &json!({ "path": path }));
            assert_eq!(read.code(), "PROTECTED", "{number}: {}", read.text);
        }
    }
}

/// A program looks its settings up by their own spelling.
#[test]
fn a_link_with_a_protected_name_of_mixed_case_protects_its_target() {
    for (link, target) in
        [(".azure/accessTokens.json", "../t.json"), (".nuget/NuGet/NuGet.Config", "../../t.json")]
    {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        fs::write(root.path().join("t.json"), "{}\n").unwrap();
        let edit = json!({ "path": "t.json", "content": "{\"a\": 1}\n", "mode": "verify_only" });
        assert!(
            !server(&[root.path()]).call("safe_edit_file", &edit).is_error,
            "the control: no link leads to it"
        );
        std::os::unix::fs::symlink(target, &link).unwrap();
        let refused = server(&[root.path()]).call("safe_edit_file", &edit);
        assert_eq!(refused.code(), "PROTECTED", "{}: {}", link.display(), refused.text);
    }
}

#[test]
fn two_paths_of_one_file_are_no_two_files() {
    let root = tempfile::tempdir().unwrap();
    let text = |name: &str| fs::read_to_string(root.path().join(name)).unwrap();
    fs::write(root.path().join("a.txt"), "one\ntwo\n").unwrap();
    fs::hard_link(root.path().join("a.txt"), root.path().join("b.txt")).unwrap();
    let edits = json!({ "edits": [
        { "path": "a.txt", "search": "one", "replace": "1" },
        { "path": "b.txt", "search": "two", "replace": "2" },
    ] });
    let call = |policy: &str| {
        fs::write(root.path().join("quality.yaml"), policy).unwrap();
        server(&[root.path()]).call("edit_files", &edits)
    };
    let refused = call("hard_links: in_place\n");
    assert!(
        refused.text.contains("INVALID_INPUT") && refused.text.contains("the same file"),
        "{}",
        refused.text
    );
    assert_eq!(text("a.txt"), "one\ntwo\n");
    let split = call("hard_links: split\n");
    assert!(!split.is_error, "{}", split.text);
    assert_eq!((text("a.txt").as_str(), text("b.txt").as_str()), ("1\ntwo\n", "one\n2\n"));
}
