//! A root that is moved away, and another folder in its place, while a server runs.

use serde_json::{Value, json};

use super::wire::{Server, lockgate};

#[test]
fn nothing_is_read_or_written_in_a_root_that_was_replaced() {
    let (user, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [root, aside] = ["p", "p.bak"].map(|name| dir.path().join(name));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "old\n").unwrap();
    let mut server = Server::start_for(user.path(), &root, &["--tools", "all"]);
    let path = root.canonicalize().unwrap().join("a.txt");
    let path = path.to_str().unwrap();
    let calls: Vec<(&str, Value)> = vec![
        ("safe_edit_file", json!({"path": path, "content": "new\n"})),
        ("safe_edit_file", json!({"path": "a.txt", "content": "new\n"})),
        ("get_content", json!({"path": path})),
        ("read_content_lines", json!({"path": path, "start_line": 1})),
        ("search_content", json!({"pattern": "old"})),
        ("search_content", json!({"pattern": "old", "path": path})),
        ("list_content", json!({})),
        ("ai_get_code_context", json!({"target_file": path})),
        ("undo_edit", json!({})),
    ];
    // The control: with the root in its place each is answered.
    let first = server.call("safe_edit_file", &json!({"path": path, "content": "old\none\n"}));
    assert_eq!(first.status(), "written", "{}", first.text);
    assert!(!server.call("get_content", &json!({"path": path})).is_error);
    std::fs::rename(&root, &aside).unwrap();
    for replaced in [false, true] {
        if replaced {
            std::fs::create_dir(&root).unwrap();
            std::fs::write(root.join("a.txt"), "another\n").unwrap();
        }
        for (tool, arguments) in &calls {
            let answer = server.call(tool, arguments);
            assert_eq!(answer.code(), "IO_FAILED", "{replaced} {tool} {arguments}: {}", answer.text);
        }
        assert_eq!(std::fs::read_to_string(aside.join("a.txt")).unwrap(), "old\none\n");
    }
    assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "another\n");
    std::fs::remove_dir_all(&root).unwrap();
    std::fs::rename(&aside, &root).unwrap();
    assert!(!server.call("undo_edit", &json!({})).is_error);
    assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "old\n");
}

/// A gate that replaces the root while it judges: the edit that it passes is not written into the folder that was moved.
#[test]
fn a_gate_that_replaces_the_root_keeps_the_edit_from_being_written() {
    let (user, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = dir.path().canonicalize().unwrap();
    let [root, aside, go] = ["p", "p.bak", "go"].map(|name| folder.join(name));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a.txt"), "old\n").unwrap();
    let script = format!(
        "sed -n 's/.*bad.*/{{\"line\":1,\"message\":\"bad\"}}/p'; [ -e {go} ] && rm {go} && mv {root} {aside} && mkdir {root}; :",
        go = go.display(),
        root = root.display(),
        aside = aside.display()
    );
    let policy = json!({
        "define": {"moves": {
            "about": "Moves the root.", "languages": ["*"], "kind": "command", "input": "stdin",
            "command": ["sh", "-c", script], "output": {"jsonl": {"line": "line", "message": "message"}},
            "canary": "bad",
        }},
        "quality_gates": {"*": [{"tool": "moves", "required": true}]},
    });
    std::fs::write(root.join("quality.yaml"), policy.to_string()).unwrap();
    let mut command = lockgate(user.path());
    command.env("LOCKGATE_ISOLATION", "none");
    let mut server = Server::start_by(command, &root, &["--trust"]);
    // The control: the same gate passes the edit while it leaves the root alone.
    let first = server.call("safe_edit_file", &json!({"path": "a.txt", "content": "one\n"}));
    assert_eq!(first.status(), "written", "{}", first.text);
    std::fs::write(&go, "").unwrap();
    let answer = server.call("safe_edit_file", &json!({"path": "a.txt", "content": "two\n"}));
    assert_eq!(answer.code(), "IO_FAILED", "{}", answer.text);
    assert!(answer.text.contains("is no longer the folder that lockgate opened"), "{}", answer.text);
    assert!(!go.exists(), "the gate did not move the root");
    assert_eq!(std::fs::read_to_string(aside.join("a.txt")).unwrap(), "one\n");
    assert_eq!(std::fs::read_dir(&root).unwrap().count(), 0);
    let mut names: Vec<_> =
        std::fs::read_dir(&aside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.txt", "quality.yaml"]);
}
