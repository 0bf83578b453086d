//! Patches in the format of `apply_patch`: applied by `lockgate edit --patch`, and rewritten for Codex.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{PYTHON, Project, denial};

const PATCH: &str = "*** Begin Patch\n*** Add File: new.py\n+y = 2\n*** Delete File: old.py\n*** Update File: app.py\n@@ def total(items):\n-  return sum(items)\n+  return sum(items) + 1\n*** Update File: m.txt\n*** Move to: n.txt\n@@\n-b\n+B\n*** End Patch\n";

fn project() -> Project {
    let project = Project::new();
    project.write("old.py", "x = 1\n");
    project.write("m.txt", b"caf\xe9\r\nb\r\n");
    project
}

#[test]
fn a_patch_is_one_edit_of_all_its_files() {
    let project = project();
    let outcome = project.call(&["edit", "--patch", "-"], PATCH);
    assert_eq!(outcome.exit, 0, "{outcome:?}");
    assert_eq!(project.text("app.py"), "def total(items):\n    return sum(items) + 1\n");
    assert_eq!(
        (project.text("new.py").as_str(), project.bytes("n.txt").as_slice()),
        ("y = 2\n", &b"caf\xe9\r\nB\r\n"[..])
    );
    assert!(!project.at("old.py").exists() && !project.at("m.txt").exists());
    assert_eq!(project.log().len(), 1);
    assert_eq!(project.call(&["undo"], "").exit, 0);
    assert_eq!((project.text("app.py").as_str(), project.text("old.py").as_str()), (PYTHON, "x = 1\n"));
    assert_eq!(project.bytes("m.txt"), b"caf\xe9\r\nb\r\n");
    fs::write(project.at("p.patch"), PATCH).unwrap();
    let outcome = project.call(&["edit", "--patch", "p.patch", "--mode", "verify_only"], "");
    assert_eq!((outcome.exit, project.text("app.py").as_str()), (0, PYTHON), "{outcome:?}");
}

#[test]
fn a_moved_file_keeps_its_permissions() {
    let project = project();
    let mode = |name: &str| fs::metadata(project.at(name)).unwrap().permissions().mode() & 0o777;
    for bits in [0o750, 0o600] {
        fs::set_permissions(project.at("m.txt"), fs::Permissions::from_mode(bits)).unwrap();
        let outcome = project.call(&["edit", "--patch", "-"], PATCH);
        assert_eq!((outcome.exit, mode("n.txt")), (0, bits), "{outcome:?}");
        assert_eq!((project.call(&["undo"], "").exit, mode("m.txt")), (0, bits));
    }
}

#[test]
fn of_a_patch_that_does_not_fit_nothing_is_written() {
    for (from, to, exit, code) in [
        ("return sum(items)\n+", "return of something else\n+", 5, "NO_MATCH"),
        ("+y = 2", "+y = (", 1, "GATE_REFUSED"),
        ("old.py", "none.py", 3, "FILE_NOT_FOUND"),
        ("new.py", "../new.py", 4, "PATH_OUTSIDE_ROOT"),
        ("new.py", ".codex/hooks.json", 4, "PROTECTED"),
        ("*** End Patch", "*** The End", 2, "INVALID_INPUT"),
        ("new.py", "app.py", 2, "INVALID_INPUT"),
    ] {
        let project = project();
        let outcome = project.call(&["edit", "--patch", "-"], &PATCH.replacen(from, to, 1));
        assert_eq!(outcome.exit, exit, "{to}: {outcome:?}");
        assert!(outcome.stderr.contains(code) || outcome.stdout.contains(code), "{to}: {outcome:?}");
        assert_eq!(
            (project.text("app.py").as_str(), project.text("old.py").as_str()),
            (PYTHON, "x = 1\n"),
            "{to}"
        );
        assert!(!project.at("new.py").exists() && project.at("m.txt").exists(), "{to}");
    }
}

#[test]
fn the_file_that_a_patch_does_not_fit_is_named() {
    let project = Project::new();
    project.write("a.txt", "a\nb\n\nc\n\n");
    project.write("b.txt", "x\n");
    let moved = "*** Update File: app.py\n*** Move to: lib.py\n@@\n-def total(items):\n+def sums(items):\n";
    let first = "*** Update File: a.txt\n@@\n-a\n+A\n";
    for (before, chunk, code, quoted) in [
        ("", "@@\n-nothing like it\n+C\n", "NO_MATCH", "nothing like it"),
        (moved, "@@\n-nothing like it\n+C\n", "NO_MATCH", "nothing like it"),
        ("", "@@ def nope():\n-c\n+C\n", "NO_MATCH", "`@@ def nope():`"),
        (moved, "@@ def nope():\n-c\n+C\n", "NO_MATCH", "`@@ def nope():`"),
        ("", "@@\n-\n+C\n", "AMBIGUOUS_MATCH", "blank lines"),
    ] {
        let rest = "*** Update File: b.txt\n@@\n-x\n+X\n*** End Patch\n";
        let outcome = project
            .call(&["edit", "--patch", "-"], &format!("*** Begin Patch\n{before}{first}{chunk}{rest}"));
        let said = outcome.stderr.lines().next().unwrap_or_default();
        assert!(said.contains(code) && said.contains(quoted), "{chunk}: {outcome:?}");
        assert!(said.contains("a.txt") && !said.contains("b.txt") && !said.contains(".py"), "{outcome:?}");
        assert_eq!((project.text("b.txt").as_str(), project.text("app.py").as_str()), ("x\n", PYTHON));
    }
}

#[test]
fn the_chunk_that_does_not_fit_is_named_in_place_of_an_index() {
    let project = Project::new();
    project.write("a.txt", "one\nx = 1\n\nx = 1\n");
    for (chunks, code, named) in [
        ("@@\n-one\n+two\n@@\n-x = 1\n+x = 2\n", "AMBIGUOUS_MATCH", "a.txt: chunk 2 (\"x = 1\"): "),
        ("@@\n-x = 1\n+x = 2\n", "AMBIGUOUS_MATCH", "a.txt: the search text appears 2 times"),
        ("@@\n-one\n+two\n@@ nope\n-x = 1\n+x = 2\n", "NO_MATCH", "a.txt: chunk 2 (\"x = 1\"): "),
        ("@@\n-one\n+2\n@@\n-one\n+3\n", "RANGE_OVERLAP", "a.txt: Overlapping edits detected: "),
    ] {
        let patch = format!(
            "*** Begin Patch\n*** Add File: b.txt\n+b\n*** Update File: a.txt\n{chunks}*** End Patch\n"
        );
        let outcome = project.call(&["edit", "--patch", "-", "--json"], &patch);
        let answer: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!((&answer["code"], &answer["path"]), (&json!(code), &json!("a.txt")), "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(named), "{answer}");
        assert!(answer["field"].is_null() && !outcome.stdout.contains("edits["), "{answer}");
    }
}

#[test]
fn two_chunks_for_one_line_overlap_whether_the_file_moves_or_not() {
    let twice = "@@\n-b\n+B\n@@\n-b\n+C\n";
    for (moved, chunks, exit, code) in [
        ("", twice, 2, "RANGE_OVERLAP"),
        ("*** Move to: n.txt\n", twice, 2, "RANGE_OVERLAP"),
        ("*** Move to: n.txt\n", "@@\n-b\n+B\n@@\n-c\n+C\n", 0, ""),
    ] {
        let project = Project::new();
        project.write("m.txt", "a\nb\nc\n");
        let patch = format!("*** Begin Patch\n*** Update File: m.txt\n{moved}{chunks}*** End Patch\n");
        let outcome = project.call(&["edit", "--patch", "-"], &patch);
        assert_eq!(outcome.exit, exit, "{patch}: {outcome:?}");
        assert!(
            outcome.stderr.contains(code) && outcome.stderr.contains("m.txt") == (exit != 0),
            "{outcome:?}"
        );
        assert_eq!(project.at("m.txt").exists(), exit != 0, "{patch}");
    }
}

#[test]
fn a_link_is_neither_deleted_nor_moved() {
    let sections = |name: &str| {
        [
            format!("*** Delete File: {name}\n"),
            format!("*** Update File: {name}\n*** Move to: n.txt\n@@\n-one\n+two\n"),
        ]
    };
    let project = Project::new();
    project.write("real.txt", "one\n");
    fs::create_dir(project.at("sub")).unwrap();
    std::os::unix::fs::symlink("real.txt", project.at("link.txt")).unwrap();
    std::os::unix::fs::symlink("sub", project.at("folder")).unwrap();
    let apply = |section: &str| {
        project.call(&["edit", "--patch", "-"], &format!("*** Begin Patch\n{section}*** End Patch\n"))
    };
    for section in sections("link.txt") {
        let outcome = apply(&section);
        assert_eq!(outcome.exit, 3, "{section}: {outcome:?}");
        let said = &outcome.stderr;
        assert!(
            said.contains("NOT_A_FILE: ") && said.contains("link.txt is a symlink to real.txt"),
            "{said}"
        );
        assert_eq!((project.text("link.txt").as_str(), project.at("n.txt").exists()), ("one\n", false));
    }
    // The controls: a file behind a link to its folder, and lines of a file behind a link.
    for section in sections("folder/a.txt") {
        project.write("sub/a.txt", "one\n");
        let outcome = apply(&section);
        assert_eq!((outcome.exit, project.at("sub/a.txt").exists()), (0, false), "{section}: {outcome:?}");
    }
    let outcome = apply("*** Update File: link.txt\n@@\n-one\n+two\n");
    assert_eq!((outcome.exit, project.text("real.txt").as_str()), (0, "two\n"), "{outcome:?}");
}

#[test]
fn a_file_that_does_not_exist_is_named_once() {
    let patch = "*** Begin Patch\n*** Update File: none.txt\n@@\n-a\n+b\n*** End Patch\n";
    let outcome = Project::new().call(&["edit", "--patch", "-"], patch);
    assert_eq!((outcome.exit, outcome.stderr.matches("none.txt").count()), (3, 1), "{outcome:?}");
    assert!(outcome.stderr.contains("`*** Add File: `"), "{outcome:?}");
    assert!(!outcome.stderr.contains("content"), "{outcome:?}");
}

#[test]
fn the_sections_of_one_file_are_one_edit_or_refused_by_its_name() {
    let project = Project::new();
    project.write("a.txt", "a\nb\nx\na\n");
    let apply = |sections: &str| {
        project.call(&["edit", "--patch", "-"], &format!("*** Begin Patch\n{sections}*** End Patch\n"))
    };
    let update = "*** Update File: a.txt\n@@\n";
    let same = update.replace("a.txt", "./a.txt");
    let outcome = apply(&format!("{update}-b\n+B\n{same}-a\n+A\n*** End of File\n"));
    assert_eq!((outcome.exit, project.text("a.txt").as_str()), (0, "a\nB\nx\nA\n"), "{outcome:?}");
    assert_eq!(project.log().len(), 1);
    let outcome = apply("*** Delete File: a.txt\n*** Add File: a.txt\n+c\n");
    assert_eq!((outcome.exit, project.text("a.txt").as_str()), (2, "a\nB\nx\nA\n"), "{outcome:?}");
    let said = &outcome.stderr;
    assert!(said.contains("several sections for a.txt") && !said.contains("edits["), "{said}");
    assert!(said.contains("`*** Add File` also replaces the whole text"), "{said}");
}

fn codex(project: &Project, id: &str, chunk: &str) -> Value {
    let patch = format!("*** Begin Patch\n*** Update File: app.py\n@@\n{chunk}\n*** End Patch");
    project.hook(
        &json!({"session_id": "s", "turn_id": "t", "cwd": project.root(), "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": id}),
    )
}

#[test]
fn a_quote_in_several_places_is_denied_or_gets_context() {
    let project = Project::new();
    project.write("app.py", "a = 1\nx = 1\n\nb = 1\nx = 1\n\nc = 1\n");
    let reply = codex(&project, "1", "-x = 1\n+x = 2");
    assert!(denial(&reply).contains("app.py"), "{reply}");
    let reply = codex(&project, "2", "-\n+\n+d = 1");
    assert!(denial(&reply).contains("blank lines"), "{reply}");
    // That a file has one blank line only does not show that it is meant; a line of context does.
    project.write("app.py", "a = 1\n\nb = 1\n");
    assert!(denial(&codex(&project, "4", "-\n+c = 1")).contains("blank lines"));
    assert_eq!(codex(&project, "5", " a = 1\n-\n+c = 1"), Value::Null);
    project.write("app.py", "a = 1\nx = 1\n\nb = 1\nx = 1\n\nc = 1\n");
    // Drifted context that proves the place becomes exact context.
    let reply = codex(&project, "3", " b  =  1\n-x = 1\n+x = 2");
    let patch =
        reply["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap_or_else(|| panic!("{reply}"));
    assert!(patch.contains(" b = 1\n-x = 1\n+x = 2"), "{patch}");
}

/// What is not simulated is not judged: two sections for one file would pass whatever they write.
#[test]
fn a_patch_with_two_sections_for_one_file_is_denied() {
    let project = Project::new();
    let reply = |id: &str, sections: &str| {
        let patch = format!("*** Begin Patch\n{sections}\n*** End Patch");
        project.hook(
            &json!({"session_id": "s", "turn_id": "t", "cwd": project.root(), "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": id}),
        )
    };
    let first = "*** Update File: app.py\n@@\n-    return sum(items)\n+    return sum(items) + 1";
    let rest = "@@\n-    return sum(items) + 1\n+    return sum(items) + 2";
    for (id, name) in [("1", "app.py"), ("2", "./app.py"), ("3", "none/../app.py")] {
        let reply = reply(id, &format!("{first}\n*** Update File: {name}\n{rest}"));
        let denied = denial(&reply);
        assert!(denied.contains("more than once"), "{name}: {denied}");
    }
    let added = "*** Add File: new.py\n+x = 1\n*** Update File: new.py\n@@\n-x = 1\n+x = (";
    let twice = reply("4", added);
    assert!(denial(&twice).contains("more than once"), "{twice}");
    assert_eq!(reply("5", first), serde_json::Value::Null, "the control: one section is judged, and is good");
}

/// A file that becomes too large for lockgate is not judged, and the others are.
#[test]
fn a_file_that_is_too_large_hides_no_other_file_of_a_patch() {
    let project = Project::new();
    let policy = "quality_gates:\n  python:\n    - tool: syntax\nlimits: { file: 200B }\n";
    project.write("quality.yaml", policy);
    let large = format!("*** Add File: large.txt\n{}", "+a line of some length\n".repeat(20));
    let reply = |id: &str, line: &str, more: &str| {
        let update = format!("*** Update File: app.py\n@@\n-    return sum(items)\n+    return {line}\n");
        let patch = format!("*** Begin Patch\n{update}{more}*** End Patch");
        project.hook(
            &json!({"session_id": "s", "turn_id": "t", "cwd": project.root(), "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": id}),
        )
    };
    let denied = reply("1", "(", &large);
    assert!(denial(&denied).contains("app.py:2"), "{denied}");
    assert_eq!(reply("3", "1", &large), Value::Null);
    project.write("quality.yaml", format!("{policy}hooks: {{ fail: closed }}\n"));
    let closed = reply("4", "1", &large);
    assert!(denial(&closed).contains("TOO_LARGE"), "{closed}");
}

#[test]
fn the_lines_of_a_call_tell_equal_places_apart() {
    let project = Project::new();
    project.write("app.py", "def f():\n    x = 1\n    return x\n\ndef g():\n    x = 1\n    return x\n");
    let event = |id: &str, tool: &str, args: Value| {
        project.hook(&json!({"toolCall": {"id": id, "name": tool, "args": args}, "conversationId": "c",
            "workspacePaths": [project.root()]}))
    };
    let part = |old: &str, new: &str, start: usize, every: bool| {
        json!({"TargetContent": old, "ReplacementContent": new, "StartLine": start, "EndLine": start + 1,
            "AllowMultiple": every})
    };
    let single = |id: &str, part: Value| {
        let mut args = part;
        args["TargetFile"] = json!(project.at("app.py"));
        event(id, "replace_file_content", args)
    };
    for every in [false, true] {
        assert_eq!(single(&format!("1 {every}"), part("    x = 1", "    x = 2", 6, every)), Value::Null);
        let bad = single(&format!("2 {every}"), part("    x = 1", "    x = 1 1", 6, every));
        let reason = bad["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("app.py:6") && !reason.contains("app.py:2"), "{bad}");
    }
    // A call that works names the lines that it quotes.
    let drifted = single("3", part("      x = 1", "      x = 2", 6, false));
    let reason = drifted["reason"].as_str().unwrap_or_else(|| panic!("{drifted}"));
    let call = reason.split_once("\nreplace_file_content ").unwrap_or_else(|| panic!("{reason}")).1;
    let call: Value = serde_json::from_str(call).unwrap();
    assert_eq!((&call["StartLine"], &call["EndLine"]), (&json!(5), &json!(6)), "{call}");
    assert_eq!(single("4", call), Value::Null);
    let chunks = json!([
        part("    x = 1", "    x = 2\n    y = 3", 2, false),
        part("    x = 1", "    x = 1 1", 6, false)
    ]);
    let list = json!({"TargetFile": project.at("app.py"), "ReplacementChunks": chunks});
    let bad = event("5", "multi_replace_file_content", list);
    assert!(bad["reason"].as_str().unwrap_or_default().contains("app.py:7"), "{bad}");
}

/// The lines between the changes count, not those of the file.
#[test]
fn a_drifted_quote_in_a_long_file_is_corrected() {
    let project = Project::new();
    let lines: String = (0..60_000).map(|line| format!("line {line}\n")).collect();
    project.write("long.txt", lines);
    let reply =
        project.hook(&json!({"session_id": "s", "cwd": project.root(), "hook_event_name": "BeforeTool",
        "timestamp": "1", "tool_name": "replace",
        "tool_input": {"file_path": "long.txt", "old_string": "  line 70\n", "new_string": "  line x\n"}}));
    let input = &reply["hookSpecificOutput"]["tool_input"];
    assert_eq!(
        (&input["old_string"], &input["new_string"]),
        (&json!("line 70\n"), &json!("line x\n")),
        "{reply}"
    );
}

/// In a file of mixed line ends, no quote keeps those that the tool rewrites. The attempts end before the deadline.
#[test]
fn a_drifted_quote_in_a_large_file_of_mixed_line_ends_is_denied_in_time() {
    let project = Project::new();
    let line = |at: usize| format!("line {at}{}", if at.is_multiple_of(2) { "\n" } else { "\r\n" });
    project.write("quality.yaml", "quality_gates: {}\n");
    project.write("long.txt", (0..300_000).map(line).collect::<String>());
    let reply =
        project.hook(&json!({"session_id": "s", "cwd": project.root(), "hook_event_name": "BeforeTool",
        "timestamp": "1", "tool_name": "replace", "tool_input": {"file_path": "long.txt",
            "old_string": "  line 70\n  line 71\n  line 72\n",
            "new_string": "  line 70\n  line x\n  line 72\n"}}));
    let reason = reply["reason"].as_str().unwrap_or_else(|| panic!("{reply}"));
    assert!(reason.contains("cannot change these lines without changing others"), "{reason}");
}

/// The tool of a host deletes the link itself. The control: the file that it leads to.
#[test]
fn a_link_that_is_deleted_is_not_judged_as_the_file_that_it_leads_to() {
    let project = Project::new();
    project
        .write("quality.yaml", "quality_gates: { markdown: [{ tool: markdown-structure, level: block }] }\n");
    project.write("b.md", "# B\n\n[a](a.md)\n");
    let reset = || {
        project.write("a.md", "# A\n");
        drop(fs::remove_file(project.at("link.md")));
        std::os::unix::fs::symlink("a.md", project.at("link.md")).unwrap();
    };
    let reply = |id: &str, sections: &str| {
        reset();
        let patch = format!("*** Begin Patch\n{sections}*** End Patch");
        let event = json!({"session_id": "s", "turn_id": "t", "cwd": project.root(), "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": id});
        let outcome = project.call(&["hook"], &event.to_string());
        assert_eq!((outcome.stderr.as_str(), outcome.exit), ("", 0), "{sections}");
        super::answer(&outcome)
    };
    let [file, link] = ["a.md", "link.md"].map(|path| format!("*** Delete File: {path}\n"));
    let moved = "*** Update File: link.md\n*** Move to: c.md\n@@\n-# A\n+# C\n";
    assert_eq!(reply("1", &link), Value::Null);
    assert_eq!(reply("2", moved), Value::Null);
    for (id, sections) in
        [("3", file.clone()), ("4", format!("{file}{link}")), ("5", format!("{link}{file}"))]
    {
        let reply = reply(id, &sections);
        assert!(denial(&reply).contains("this file, which the call removes: b.md:3"), "{sections}: {reply}");
    }
    reset();
    let deleted = project.hook(&json!({"cursor_version": "1", "conversation_id": "c",
        "workspace_roots": [project.root()], "hook_event_name": "preToolUse", "tool_name": "Delete",
        "tool_input": {"path": project.at("link.md")}, "tool_use_id": "6"}));
    assert_ne!(deleted["permission"], "deny", "{deleted}");
    // The journal has the files, and nothing is judged again.
    reset();
    let call = |name: &str| {
        let patch = format!("*** Begin Patch\n{link}*** End Patch");
        project
            .hook(&json!({"session_id": "s", "turn_id": "t", "cwd": project.root(), "hook_event_name": name,
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": "7"}))
    };
    assert_eq!(call("PreToolUse"), Value::Null);
    fs::remove_file(project.at("link.md")).unwrap();
    assert_eq!(call("PostToolUse"), Value::Null);
    assert_eq!((project.log().len(), project.text("a.md").as_str()), (1, "# A\n"));
}

#[test]
fn a_new_text_without_the_last_line_end_of_its_quote_joins_no_lines() {
    let project = Project::new();
    project.write("app.py", "a = 1\nb = 1\nc = 1\n");
    let event = |time: &str, new: &str| {
        json!({"session_id": "s", "cwd": project.root(), "hook_event_name": "BeforeTool", "timestamp": time,
            "tool_name": "replace", "tool_input": {"file_path": "app.py", "old_string": "b = 1\n", "new_string": new}})
    };
    let reply = project.hook(&event("1", "b = 2"));
    assert_eq!(reply["hookSpecificOutput"]["tool_input"]["new_string"], "b = 2\n", "{reply}");
    assert_eq!(project.hook(&event("2", "b = 2\n")), Value::Null);
    assert_eq!(project.hook(&event("3", "")), Value::Null, "deleting a line is no drift");
}
