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
