//! The edits of hosts in the journal: recorded as they were written, undone and redone like any other.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{PYTHON, Project, claude, context, edit};

const NEW: &str = "def total(items):\n    return sum(items) + 1\n";

/// The events before and after an edit in each host's form, for the same edit of `app.py`.
fn pairs(project: &Project) -> Vec<(&'static str, Value, Value)> {
    let root = project.root();
    let file = project.at("app.py");
    let (old, new) = ("    return sum(items)", "    return sum(items) + 1");
    let input = edit(&root, "app.py", old, new);
    let mut after = claude(&root, "PostToolUse", "toolu_1", "Edit", input.clone());
    after["tool_response"] =
        json!({"filePath": file, "oldString": old, "newString": new, "originalFile": PYTHON});
    let patch = format!("*** Begin Patch\n*** Update File: app.py\n@@\n-{old}\n+{new}\n*** End Patch");
    let codex = |event: &str| {
        json!({"session_id": "s", "turn_id": "t", "cwd": root, "hook_event_name": event, "tool_name": "apply_patch",
            "tool_input": {"command": patch}, "tool_use_id": "call_1"})
    };
    let gemini = |event: &str, time: &str| {
        json!({"session_id": "s", "cwd": root, "hook_event_name": event, "timestamp": time, "tool_name": "replace",
            "tool_input": {"file_path": "app.py", "instruction": "x", "old_string": old, "new_string": new}})
    };
    let opencode = |event: &str| {
        json!({"hook_event_name": event, "tool": "edit", "sessionID": "s", "callID": "c1", "directory": root,
            "args": {"filePath": file, "oldString": old, "newString": new}})
    };
    let copilot = || json!({"sessionId": "s", "timestamp": 1, "cwd": root, "toolName": "edit", "toolArgs": {"path": file, "old_str": old, "new_str": new}});
    let mut copilot_after = copilot();
    copilot_after["timestamp"] = json!(2);
    copilot_after["toolResult"] = json!({"resultType": "success"});
    let cursor = |event: &str| {
        json!({"conversation_id": "c", "tool_name": "StrReplace", "tool_use_id": "u", "hook_event_name": event,
            "cursor_version": "1", "workspace_roots": [root], "tool_input": {"file_path": file, "old_string": old, "new_string": new}})
    };
    vec![
        ("claude-code", claude(&root, "PreToolUse", "toolu_1", "Edit", input), after),
        ("codex", codex("PreToolUse"), codex("PostToolUse")),
        ("gemini", gemini("BeforeTool", "1"), gemini("AfterTool", "2")),
        ("opencode", opencode("tool.execute.before"), opencode("tool.execute.after")),
        ("copilot", copilot(), copilot_after),
        ("cursor", cursor("preToolUse"), cursor("postToolUse")),
    ]
}

#[test]
fn the_edit_of_every_host_is_recorded_undone_and_redone() {
    for at in 0..6 {
        let project = Project::new();
        fs::set_permissions(project.at("app.py"), fs::Permissions::from_mode(0o640)).unwrap();
        let (host, before, after) = pairs(&project).remove(at);
        assert_eq!(project.hook(&before), Value::Null, "{host}");
        assert_eq!(project.log(), Vec::<Value>::new(), "{host}: nothing was written yet");
        fs::write(project.at("app.py"), NEW).unwrap();
        assert_eq!(project.hook(&after), Value::Null, "{host}");
        let log = project.log();
        assert_eq!(log.len(), 1, "{host}: {log:#?}");
        assert!(log[0].to_string().contains(host), "{host}: {:#}", log[0]);
        let shown = project.call(&["show", log[0]["edit_id"].as_str().unwrap()], "");
        assert!(shown.stdout.contains("+    return sum(items) + 1"), "{host}: {shown:?}");
        let undone = project.call(&["undo"], "");
        assert_eq!((undone.exit, project.text("app.py").as_str()), (0, PYTHON), "{host}: {undone:?}");
        let redone = project.call(&["redo"], "");
        assert_eq!((redone.exit, project.text("app.py").as_str()), (0, NEW), "{host}: {redone:?}");
        let mode = fs::metadata(project.at("app.py")).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o640, "{host}");
    }
}

#[test]
fn one_edit_is_judged_and_recorded_once_where_several_hooks_fire() {
    let project = Project::new();
    let input = edit(&project.root(), "app.py", "    return sum(items)", "    return sum(items) + 1");
    let before = claude(&project.root(), "PreToolUse", "toolu_1", "Edit", input.clone());
    let after = claude(&project.root(), "PostToolUse", "toolu_1", "Edit", input);
    assert_eq!(project.hook(&before), Value::Null);
    assert_eq!(project.hook(&before), Value::Null);
    fs::write(project.at("app.py"), NEW).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(project.hook(&after), Value::Null));
        }
    });
    assert_eq!(project.log().len(), 1);
    // The control: the next call of the same tool is an edit of its own.
    let input = edit(&project.root(), "app.py", "+ 1", "+ 2");
    project.hook(&claude(&project.root(), "PreToolUse", "toolu_2", "Edit", input.clone()));
    fs::write(project.at("app.py"), NEW.replace("+ 1", "+ 2")).unwrap();
    project.hook(&claude(&project.root(), "PostToolUse", "toolu_2", "Edit", input));
    assert_eq!(project.log().len(), 2);
}

#[test]
fn bytes_that_changed_outside_of_the_edit_are_reported_and_judged() {
    let project = Project::new();
    let input = edit(&project.root(), "app.py", "    return sum(items)", "    return sum(items) + 1");
    let before = claude(&project.root(), "PreToolUse", "toolu_1", "Edit", input.clone());
    let after = claude(&project.root(), "PostToolUse", "toolu_1", "Edit", input);
    project.hook(&before);
    fs::write(project.at("app.py"), format!("import os\n{NEW}")).unwrap();
    let reply = project.hook(&after);
    assert!(context(&reply).contains("app.py is not as this edit leaves it"), "{reply}");
    assert_eq!(project.log().len(), 1, "what was written is recorded all the same");
    let undone = project.call(&["undo"], "");
    assert_eq!((undone.exit, project.text("app.py").as_str()), (0, PYTHON), "{undone:?}");
    // Another program broke the text that was judged.
    let input = edit(&project.root(), "app.py", "    return sum(items)", "    return sum(items) + 1");
    project.hook(&claude(&project.root(), "PreToolUse", "toolu_3", "Edit", input.clone()));
    fs::write(project.at("app.py"), "def total(items:\n").unwrap();
    let reply = project.hook(&claude(&project.root(), "PostToolUse", "toolu_3", "Edit", input));
    assert_eq!(reply["decision"], "block", "{reply}");
    let reason = reply["reason"].as_str().unwrap();
    assert!(reason.contains("\napp.py:1:"), "the path is relative to the project: {reason}");
    let gates = project.log()[0]["gates"].to_string();
    assert!(gates.contains("syntax found"), "of what is on disk: {gates}");
}

#[test]
fn the_log_names_the_gates_of_every_file_if_one_was_changed_otherwise() {
    let project = Project::new();
    project.write("old.py", "x = 1\n");
    let patch = "*** Begin Patch\n*** Update File: old.py\n@@\n-x = 1\n+x = 2\n*** Update File: app.py\n@@\n-    return sum(items)\n+    return sum(items) + 1\n*** End Patch";
    let event = |name: &str| {
        json!({"session_id": "s", "turn_id": "t", "cwd": project.root(), "hook_event_name": name,
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": "call_1"})
    };
    assert_eq!(project.hook(&event("PreToolUse")), Value::Null);
    project.write("app.py", NEW);
    project.write("old.py", "x = (2\n");
    let reply = project.hook(&event("PostToolUse"));
    assert!(reply.to_string().contains("old.py is not as this edit leaves it"), "{reply}");
    let gates = project.log()[0]["gates"].to_string();
    assert!(gates.contains("syntax passed") && gates.contains("syntax found"), "{gates}");
}

#[test]
fn without_the_bytes_before_an_edit_cannot_be_undone() {
    let project = Project::new();
    let input = edit(&project.root(), "app.py", "    return sum(items)", "    return sum(items) + 1");
    fs::write(project.at("app.py"), NEW).unwrap();
    project.hook(&claude(&project.root(), "PostToolUse", "toolu_1", "Edit", input));
    assert_eq!(project.log().len(), 1);
    // Nor are its lines known.
    let listed = project.call(&["log"], "").stdout;
    assert!(listed.ends_with(": app.py, its texts are not in the journal\n"), "{listed}");
    let undone = project.call(&["undo"], "");
    assert_ne!(undone.exit, 0, "{undone:?}");
    assert_eq!(project.text("app.py"), NEW);
}

#[test]
fn created_deleted_and_patched_files_come_back_together() {
    let project = Project::new();
    project.write("old.py", "x = 1\n");
    let root = project.root();
    let patch = "*** Begin Patch\n*** Add File: new.py\n+y = 2\n*** Delete File: old.py\n*** Update File: app.py\n@@\n-    return sum(items)\n+    return sum(items) + 1\n*** End Patch";
    let event = |name: &str| {
        json!({"session_id": "s", "turn_id": "t", "cwd": root, "hook_event_name": name, "tool_name": "apply_patch",
            "tool_input": {"command": patch}, "tool_use_id": "call_1"})
    };
    assert_eq!(project.hook(&event("PreToolUse")), Value::Null);
    project.write("new.py", "y = 2\n");
    project.write("app.py", NEW);
    fs::remove_file(project.at("old.py")).unwrap();
    assert_eq!(project.hook(&event("PostToolUse")), Value::Null);
    assert_eq!(project.log().len(), 1, "a patch is one edit");
    let undone = project.call(&["undo"], "");
    assert_eq!(undone.exit, 0, "{undone:?}");
    assert!(!project.at("new.py").exists());
    assert_eq!((project.text("old.py").as_str(), project.text("app.py").as_str()), ("x = 1\n", PYTHON));
}

#[test]
fn of_a_payload_only_tool_host_and_edit_are_kept() {
    let project = Project::new();
    let input = edit(&project.root(), "app.py", "    return sum(items)", "    return sum(items) + 1");
    let mark = |mut event: Value| {
        for name in ["transcript_path", "prompt_id", "user_email", "model"] {
            event[name] = json!("a-private-text");
        }
        event
    };
    project.hook(&mark(claude(&project.root(), "PreToolUse", "toolu_1", "Edit", input.clone())));
    let holds = |needle: &str| {
        let mut folders = vec![project.user()];
        let mut found = false;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() => {
                        let bytes = fs::read(entry.path()).unwrap();
                        found |= bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
                    }
                    _ => {}
                }
            }
        }
        found
    };
    assert!(holds("return sum(items)"), "the control: the text before is kept until the event after");
    assert!(!holds("a-private-text"));
    fs::write(project.at("app.py"), NEW).unwrap();
    project.hook(&mark(claude(&project.root(), "PostToolUse", "toolu_1", "Edit", input)));
    assert_eq!(project.log().len(), 1);
    assert!(!holds("a-private-text"));
}

#[test]
fn opencode_is_told_of_a_rewrite_after_the_call() {
    let project = Project::new();
    let event = |name: &str| {
        json!({"hook_event_name": name, "tool": "edit", "sessionID": "s", "callID": "c1", "cwd": project.root(),
            "args": {"filePath": "app.py", "oldString": "      return sum(items)", "newString": "      return sum(items) + 1"}})
    };
    let before = project.hook(&event("tool.execute.before"));
    assert_eq!(before["args"]["newString"], "    return sum(items) + 1\n", "{before}");
    fs::write(project.at("app.py"), NEW).unwrap();
    let after = project.hook(&event("tool.execute.after"));
    assert!(after["context"].as_str().unwrap().contains("not in"), "{after}");
    assert_eq!(project.log().len(), 1);
}
