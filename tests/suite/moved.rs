//! A root that is moved away, and another folder in its place, while a server runs.

use serde_json::{Value, json};

use super::wire::Server;

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
