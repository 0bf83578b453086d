//! Definitions that an edit takes away: told where the index knows uses of them, and where a new content drops them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::files;
use super::wire::{Answer, Server};

struct Project {
    root: tempfile::TempDir,
    server: Server,
}

impl Project {
    /// A project whose index is built, where that is asked for.
    fn new(policy: &str, files: &[(&str, &str)], is_indexed: bool) -> Project {
        let root = tempfile::tempdir().unwrap();
        fs::write(
            root.path().join("quality.yaml"),
            format!("quality_gates: {{ '*': [{{ tool: damage }}] }}\n{policy}"),
        )
        .unwrap();
        let mut project = Project { server: Server::start(root.path(), &[]), root };
        files.iter().for_each(|(path, text)| project.write(path, text));
        if is_indexed {
            project.server.call("ai_get_code_context", &json!({"symbol": "anything"}));
        }
        project
    }

    fn root(&self) -> &Path {
        self.root.path()
    }

    fn write(&self, path: &str, text: &str) {
        files::write(self.root().join(path), text);
    }

    fn search(&mut self, path: &str, search: &str, replace: &str) -> Answer {
        self.server.call("safe_edit_file", &json!({"path": path, "search": search, "replace": replace}))
    }
}

/// The messages of the findings with this code.
fn findings_with_code(answer: &Answer, code: &str) -> Vec<String> {
    let all = answer.structured["findings"].as_array().cloned().unwrap_or_default();
    let own = all.iter().filter(|finding| finding["code"] == json!(code));
    own.map(|finding| finding["message"].as_str().unwrap_or_default().to_owned()).collect()
}

const USERS: [(&str, &str); 3] = [
    ("lib/a.py", "x = 1\n\n\ndef one():\n    return x\n"),
    ("b.py", "from lib.a import one\n\nprint(one())\n"),
    ("lib/c.py", "from .a import one\n\ny = one()\nz = one()\n"),
];

#[test]
fn a_renamed_definition_is_reported_with_the_remaining_uses() {
    let mut project = Project::new("", &USERS, true);
    let answer = project.search("lib/a.py", "def one", "def two");
    assert_eq!(answer.status(), "written", "{}", answer.structured);
    let findings = findings_with_code(&answer, "used_definitions");
    assert_eq!(findings.len(), 1, "{}", answer.structured);
    assert!(
        findings[0]
            .starts_with("`one`, on line 4 before the edit, is gone, but 5 uses of it remain: lib/c.py:1, "),
        "{findings:?}"
    );
    assert!(findings[0].contains(" and 2 more; "), "{findings:?}");
    // The index knows the file as it was: what is written next has lost nothing more.
    let answer = project.search("lib/a.py", "x = 1", "x = 2");
    assert_eq!(findings_with_code(&answer, "used_definitions"), Vec::<String>::new());
}

#[test]
fn it_refuses_where_the_policy_says_so_and_keeps_quiet_where_it_is_off() {
    let mut project = Project::new("damage: { used_definitions: block }\n", &USERS, true);
    let answer = project.search("lib/a.py", "def one", "def two");
    assert_eq!(answer.structured["code"], "GATE_REFUSED", "{}", answer.structured);
    assert!(fs::read_to_string(project.root().join("lib/a.py")).unwrap().contains("def one"));
    let mut project = Project::new("damage: { used_definitions: 'off' }\n", &USERS, true);
    let answer = project.search("lib/a.py", "def one", "def two");
    assert_eq!((answer.status(), findings_with_code(&answer, "used_definitions").len()), ("written", 0));
}

#[test]
fn uses_are_not_reported_without_a_current_index() {
    let mut project = Project::new("damage: { used_definitions: block }\n", &USERS, false);
    assert_eq!(project.search("lib/a.py", "def one", "def two").status(), "written", "no index");
    let mut project = Project::new("damage: { used_definitions: block }\n", &USERS, true);
    project.write("lib/a.py", "def one():\n    return 'changed by others'\n");
    assert_eq!(project.search("lib/a.py", "def one", "def two").status(), "written", "of another text");
    let mut project = Project::new("damage: { used_definitions: block }\n", &USERS, true);
    project.write("b.py", "from lib.a import two\n");
    project.write("lib/c.py", "from .a import two\n");
    assert_eq!(project.search("lib/a.py", "def one", "def two").status(), "written", "uses that are gone");
    // As long as one of them stands as the index knows it, it is told.
    let mut project = Project::new("damage: { used_definitions: block }\n", &USERS, true);
    project.write("lib/c.py", "from .a import two\n");
    let answer = project.search("lib/a.py", "def one", "def two");
    let findings = findings_with_code(&answer, "used_definitions");
    assert!(
        findings.len() == 1 && findings[0].contains("2 uses of it remain: b.py:1, b.py:3;"),
        "{findings:?}"
    );
}

#[test]
fn a_rename_in_one_call_over_all_files_is_no_accident() {
    let edit = |path: &str| json!({"path": path, "search": "one", "replace": "two"});
    let all: Vec<Value> = USERS.iter().map(|(path, _)| edit(path)).collect();
    let mut project = Project::new("damage: { used_definitions: block }\n", &USERS, true);
    let answer = project.server.call("edit_files", &json!({"edits": all}));
    assert_eq!(answer.status(), "written", "{}", answer.structured);
    // Without the last file it is one.
    let mut project = Project::new("damage: { used_definitions: block }\n", &USERS, true);
    let answer = project.server.call("edit_files", &json!({"edits": all[..2]}));
    assert_ne!(answer.status(), "written", "{}", answer.structured);
    assert!(
        answer.structured.to_string().contains("3 uses of it remain: lib/c.py:1, lib/c.py:3, lib/c.py:4;"),
        "{}",
        answer.structured
    );
}

#[test]
fn content_that_drops_definitions_is_reported() {
    let old = "import os\n\n\nclass A:\n    def b(self):\n        return 1\n\n\ndef c():\n    return 2\n\n\ndef d():\n    return os\n";
    let new = "import os\n\n\ndef d():\n    return os\n";
    let content = |path: &str, text: &str| json!({"path": path, "content": text});
    let mut project = Project::new("", &[("a.py", old)], false);
    let answer = project.server.call("safe_edit_file", &content("a.py", new));
    assert_eq!(answer.status(), "written", "{}", answer.structured);
    let findings = findings_with_code(&answer, "dropped_definitions");
    assert!(
        findings.len() == 1 && findings[0].contains("drops 2 definitions of the old text: `A`, `c`;"),
        "{findings:?}"
    );
    // A text that is larger than those of the index is not compared.
    let large = format!("{old}# {}\n", "x".repeat(1 << 20));
    let mut project = Project::new("", &[("a.py", &large)], false);
    let answer = project.server.call("safe_edit_file", &content("a.py", new));
    assert_eq!((answer.status(), findings_with_code(&answer, "dropped_definitions").len()), ("written", 0));
    // Another draft of the call has them.
    let mut project = Project::new("", &[("a.py", old)], false);
    let moved = "class A:\n    def b(self):\n        return 1\n\n\ndef c():\n    return 2\n";
    let both = json!({"edits": [content("a.py", new), content("b.py", moved)]});
    let answer = project.server.call("edit_files", &both);
    assert_eq!(answer.status(), "written", "{}", answer.structured);
    assert!(!answer.structured.to_string().contains("dropped_definitions"), "{}", answer.structured);
    // An edit of a part means what it takes away.
    let mut project = Project::new("", &[("a.py", old)], false);
    let answer = project.search("a.py", "def c():\n    return 2\n\n\n", "");
    assert_eq!((answer.status(), findings_with_code(&answer, "dropped_definitions").len()), ("written", 0));
    // Where the policy does not want to know of it, nothing is said.
    let mut project = Project::new("damage: { dropped_definitions: 'off' }\n", &[("a.py", old)], false);
    let answer = project.server.call("safe_edit_file", &content("a.py", new));
    assert_eq!((answer.status(), findings_with_code(&answer, "dropped_definitions").len()), ("written", 0));
}

#[test]
fn a_definition_whose_line_is_still_there_is_not_dropped_by_a_syntax_error() {
    let text = "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return (2, 3)\n\n\ndef h():\n    x = 1\n    return x\n";
    let dropped = |content: &str| {
        let mut project = Project::new("", &[("a.py", text)], false);
        let answer = project.server.call("safe_edit_file", &json!({"path": "a.py", "content": content}));
        findings_with_code(&answer, "dropped_definitions").join("\n")
    };
    assert_eq!(dropped(&text.replace("(2, 3)", "(2, 3")), "");
    // The control: with the same error, a definition that is gone is still reported.
    let gone = text.replace("(2, 3)", "(2, 3").replace("def h():\n    x = 1\n    return x\n", "");
    assert!(dropped(&gone).contains("`h`"), "{}", dropped(&gone));
}
