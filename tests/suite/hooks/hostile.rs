//! Events that nobody should send: each has a clear answer, and nothing of the project is run or written.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{PYTHON, Project, answer, claude, denial, edit};

#[test]
fn a_payload_that_is_no_event_passes_with_one_line() {
    let project = Project::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = format!("{{\"hook_event_name\": \"{}\"}}", "x".repeat((64 << 20) + 1));
    let wrong_edit = claude(&project.root(), "PreToolUse", "1", "Edit", json!([1])).to_string();
    for payload in ["", "null", "[]", "{", "{\"a\": 1}", "\u{0}", &deep, &huge, &wrong_edit] {
        let outcome = project.call(&["hook"], payload);
        let shown: String = payload.chars().take(40).collect();
        assert_eq!((outcome.exit, outcome.stdout.as_str()), (0, ""), "{shown}: {outcome:?}");
        assert!(outcome.stderr.starts_with("lockgate hook: "), "{shown}: {outcome:?}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{shown}: {outcome:?}");
        assert!(!outcome.stderr.contains("lockgate failed"), "{shown}: it panicked");
    }
    assert_eq!(project.text("app.py"), PYTHON);
}

/// Node writes half of a surrogate pair as an escape that a strict parser rejects. The control: the same without it.
#[test]
fn half_a_surrogate_pair_hides_no_edit() {
    let project = Project::new();
    let root = project.root();
    for (path, content) in [(".claude/settings.json", "{}"), ("new.py", "def f(:\n# ")] {
        for (id, half) in [("1", ""), ("2", "\\ud800")] {
            let input = json!({"file_path": root.join(path), "content": format!("{content}HALF")});
            let event = claude(&root, "PreToolUse", &format!("{path}{id}"), "Write", input);
            let outcome = project.call(&["hook"], &event.to_string().replace("HALF", half));
            assert!(!denial(&answer(&outcome)).is_empty(), "{path} {half}: {outcome:?}");
        }
    }
}

/// An event of VS Code's tool that replaces texts in several files. The control: the same with good texts.
#[test]
fn every_file_of_a_call_is_judged() {
    let project = Project::new();
    let root = project.root();
    project.write("b.py", "x = 1\n");
    project.write(".env", "x = 1\n");
    let event = |name: &str, id: &str, path: &str, new: &str| {
        let item = |path: &str, old: &str, new: &str| json!({"filePath": root.join(path), "oldString": old, "newString": new});
        let list = [item("app.py", "items)\n", "items) + 1\n"), item(path, "x = 1", new)];
        json!({"cwd": root, "sessionId": "s", "hookEventName": name, "tool_use_id": id,
            "tool_name": "multi_replace_string_in_file", "tool_input": {"explanation": "e", "replacements": list}})
    };
    for (id, path, new) in [("1", "b.py", "x = ("), ("2", ".env", "x = 2")] {
        let answer = project.hook(&event("PreToolUse", id, path, new));
        assert!(denial(&answer).contains(path), "{path}: {answer}");
    }
    assert_eq!(project.hook(&event("PreToolUse", "3", "b.py", "x = 2")), Value::Null);
    project.write("app.py", PYTHON.replace("sum(items)", "sum(items) + 1"));
    project.write("b.py", "x = 2\n");
    assert_eq!(project.hook(&event("PostToolUse", "3", "b.py", "x = 2")), Value::Null);
    assert_eq!(project.log().len(), 1);
    assert_eq!(project.call(&["undo"], "").exit, 0);
    assert_eq!((project.text("app.py").as_str(), project.text("b.py").as_str()), (PYTHON, "x = 1\n"));
}

/// A tool takes one of the paths that a call gives for its file. The control: the same with one path.
#[test]
fn every_path_that_a_call_gives_for_its_file_is_guarded() {
    let project = Project::new();
    let root = project.root();
    project.write("b.py", "x = 1\n");
    project.write("c.py", "x = 1\n");
    project.write("data.bin", "x = 1\n\0\u{1}");
    project.write(".env", "x = 1\n");
    let call = |id: &str, tool: &str, paths: &[(&str, &str)], rest: Value| {
        let mut fields = rest;
        for (name, path) in paths {
            fields[*name] = json!(root.join(path));
        }
        let input = match tool {
            "multi_replace_string_in_file" => json!({"explanation": "e", "replacements": [fields]}),
            _ => fields,
        };
        json!({"cwd": root, "sessionId": "s", "hookEventName": "PreToolUse", "tool_use_id": id, "tool_name": tool,
            "tool_input": input})
    };
    let quote = |new: &str| json!({"oldString": "x = 1", "newString": new});
    for (tool, good, bad) in [
        ("multi_replace_string_in_file", quote("x = 2"), quote("x = (")),
        ("replace_string_in_file", quote("x = 2"), quote("x = (")),
        ("create_file", json!({"content": "x = 2\n"}), json!({"content": "x = (\n"})),
    ] {
        let one = [("filePath", "b.py")];
        assert_eq!(project.hook(&call(&format!("{tool}1"), tool, &one, good.clone())), Value::Null, "{tool}");
        for (id, paths) in [
            ("2", [("filePath", "b.py"), ("path", ".env")]),
            ("3", [("filePath", ".env"), ("path", "b.py")]),
            ("4", [("filePath", "b.py/\u{0}"), ("path", ".env")]),
        ] {
            let answer = project.hook(&call(&format!("{tool}{id}"), tool, &paths, good.clone()));
            assert!(denial(&answer).contains(".env"), "{tool} {paths:?}: {answer}");
        }
        // What cannot be read does not keep the others from being judged.
        for (id, other) in
            [("7", ""), ("8", "b.py/\u{0}"), ("9", "b.py/a"), ("10", "./c.py"), ("11", "data.bin")]
        {
            let paths = [("filePath", "c.py"), ("path", other)];
            let answer = project.hook(&call(&format!("{tool}{id}"), tool, &paths, bad.clone()));
            assert!(denial(&answer).contains("c.py"), "{tool} {paths:?}: {answer}");
        }
        // The gates judge the file that the tool may take, too.
        for (id, paths) in [
            ("5", [("filePath", "note.txt"), ("path", "c.py")]),
            ("6", [("filePath", "c.py"), ("path", "b.py")]),
        ] {
            let answer = project.hook(&call(&format!("{tool}{id}"), tool, &paths, bad.clone()));
            assert!(denial(&answer).contains("c.py"), "{tool} {paths:?}: {answer}");
        }
    }
}

/// The control: the same with one name for the file.
#[test]
fn a_file_that_a_list_names_in_several_ways_is_one_file() {
    let project = Project::new();
    let named = |mut fields: Value, names: &[(&str, &Path)]| {
        for (name, path) in names {
            fields[*name] = json!(path);
        }
        fields
    };
    let absolute = project.at("app.py");
    let both = [("filePath", absolute.as_path()), ("path", Path::new("app.py"))];
    let (one, other) = both.split_at(1);
    for (old, new, expected) in [
        ("    return sum(items)\n", "return sum(items)\n", "1 finding that blocks"),
        ("return  sum(items)", "return 1", "These texts work"),
    ] {
        let quote = json!({"oldString": old, "newString": new});
        let inputs = [
            json!({"replacements": [named(quote.clone(), one)]}),
            json!({"replacements": [named(quote.clone(), &both)]}),
            named(json!({"replacements": [quote]}), &both),
            named(json!({"replacements": [named(quote.clone(), other)]}), one),
        ];
        for (at, input) in inputs.into_iter().enumerate() {
            let answer = project.hook(&json!({"cwd": project.root(), "sessionId": "s", "hookEventName": "PreToolUse",
                "tool_use_id": format!("{expected} {at}"), "tool_name": "multi_replace_string_in_file", "tool_input": input}));
            assert!(denial(&answer).contains(expected), "{at}: {answer}");
        }
    }
}

#[test]
fn a_call_that_cannot_be_read_leaves_a_line_where_others_of_its_batch_can() {
    let project = Project::new();
    let root = project.root();
    let good = edit(&root, "app.py", "return", "yield");
    for (inputs, lines) in [(vec![json!({"old_string": "x"}), good.clone()], 1), (vec![good], 0)] {
        let call = |input| json!({"tool_name": "Edit", "tool_use_id": "a", "tool_input": input, "tool_response": ""});
        let calls: Vec<Value> = inputs.into_iter().map(call).collect();
        let event =
            json!({"session_id": "s", "cwd": root, "hook_event_name": "PostToolBatch", "tool_calls": calls});
        let outcome = project.call(&["hook"], &event.to_string());
        assert_eq!((outcome.stdout.as_str(), outcome.exit), ("", 0), "{outcome:?}");
        assert_eq!(outcome.stderr.lines().count(), lines, "{outcome:?}");
        assert!(lines == 0 || outcome.stderr.contains("the input of Edit"), "{outcome:?}");
    }
}

/// The tool of the host goes by the text of the path, and not through the link. The control: an edit that can be read.
#[test]
fn an_edit_that_cannot_be_read_is_guarded_where_its_tool_writes() {
    let project = Project::new();
    let root = project.root();
    project.write("quality.yaml", "quality_gates: {}\npaths: [{match: \"gen/**\", access: read}]\n");
    for folder in ["gen", "deep/er", "deep/gen"] {
        fs::create_dir_all(project.at(folder)).unwrap();
        project.write(&format!("{folder}/app.py"), PYTHON);
    }
    symlink("deep/er", project.at("linked")).unwrap();
    for (id, flag) in [("1", json!(false)), ("2", json!(1))] {
        let mut input = edit(&root, "linked/../gen/app.py", "return", "yield");
        input["replace_all"] = flag;
        let reply = project.hook(&claude(&root, "PreToolUse", id, "Edit", input));
        assert!(denial(&reply).contains("gen/app.py may not be written"), "{id}: {reply}");
    }
    // The tool of a patch goes through the link.
    project.write("quality.yaml", "quality_gates: {}\npaths: [{match: \"deep/gen/**\", access: read}]\n");
    for (id, line) in [("3", ""), ("4", "*** Frobnicate\n")] {
        let patch = format!(
            "*** Begin Patch\n{line}*** Update File: linked/../gen/app.py\n@@\n-def total(items):\n+def t(items):\n*** End Patch"
        );
        let reply = project.hook(&json!({"session_id": "s", "turn_id": "t", "cwd": root,
            "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": patch},
            "tool_use_id": id}));
        assert!(denial(&reply).contains("deep/gen/app.py may not be written"), "{id}: {reply}");
    }
}

/// lockgate itself would not write these files; the tool of a host does.
#[test]
fn a_file_that_lockgate_would_not_write_is_judged_after_the_call() {
    let project = Project::new();
    let root = project.root();
    let set_mode = |path: &str, mode| {
        fs::set_permissions(project.at(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let write = |name: &str, id: &str, path: &str| {
        let input = json!({"file_path": root.join(path), "content": "def f(:\n"});
        project.call(&["hook"], &claude(&root, name, id, "Write", input).to_string())
    };
    let files = [("linked.py", 0o644), ("closed.py", 0o444), ("setuid.py", 0o4755)];
    for (path, mode) in files {
        project.write(path, PYTHON);
        set_mode(path, mode);
    }
    fs::hard_link(project.at("linked.py"), project.at("other.py")).unwrap();
    project.write("quality.yaml", "quality_gates:\n  python:\n    - tool: syntax\nhooks: { fail: closed }\n");
    for (path, _) in files {
        let reply = write("PreToolUse", &format!("closed {path}"), path);
        assert!(denial(&answer(&reply)).contains("fail: closed"), "{path}: {reply:?}");
    }
    fs::remove_file(project.at("quality.yaml")).unwrap();
    for (path, mode) in files {
        let before = write("PreToolUse", path, path);
        assert_eq!((before.stdout.as_str(), before.stderr.as_str()), ("", ""), "{path}");
        set_mode(path, 0o644);
        project.write(path, "def f(:\n");
        set_mode(path, mode);
        let after = write("PostToolUse", path, path);
        assert!(after.stdout.contains("judged this edit after it was written"), "{path}: {after:?}");
    }
    assert_eq!(project.log().len(), 3);
    // What is protected stays so.
    project.write(".env", "A=1\n");
    set_mode(".env", 0o444);
    fs::hard_link(project.at(".env"), project.at("plain.txt")).unwrap();
    for path in [".env", "plain.txt"] {
        let reply = write("PreToolUse", path, path);
        assert!(denial(&answer(&reply)).contains("; leave the file alone"), "{path}: {reply:?}");
    }
}

#[test]
fn an_edit_that_cannot_be_read_is_guarded_by_its_paths() {
    let project = Project::new();
    let root = project.root();
    let policy = "quality_gates:\n  python:\n    - tool: syntax\n";
    project.write("quality.yaml", policy);
    let of_claude = |name: &str, id: &str, tool: &str, input: Value| {
        project.call(&["hook"], &claude(&root, name, id, tool, input).to_string())
    };
    let every = |path: &str, flag: Value| {
        let mut input = edit(&root, path, "return", "return (");
        input["replace_all"] = flag;
        input
    };
    let of_codex = |id: &str, lines: &str| {
        let patch = format!("*** Begin Patch\n{lines}\n*** End Patch");
        let event = json!({"session_id": "s", "turn_id": "t", "cwd": root, "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": id});
        project.call(&["hook"], &event.to_string())
    };
    let cell =
        json!({"notebook_path": root.join(".claude/settings.json"), "new_source": "x", "edit_mode": "foo"});
    let protected = [
        of_claude("PreToolUse", "1", "Edit", every("quality.yaml", json!(1))),
        of_claude("PreToolUse", "2", "NotebookEdit", cell),
        of_codex("3", "*** Environment ID: local\n*** Add File: quality.yaml\n+x: 1"),
        of_codex("4", "*** Frobnicate\n*** Add File: quality.yaml\n+x: 1"),
        of_codex("5", "*** Frobnicate\n*** Update File: app.py\n*** Move to: quality.yaml\n x"),
    ];
    for reply in protected {
        assert!(denial(&answer(&reply)).contains("; leave the file alone"), "{reply:?}");
    }
    let text = of_claude("PreToolUse", "6", "Edit", every("app.py", json!("true")));
    assert!(denial(&answer(&text)).contains("1 finding that blocks"), "{text:?}");
    // The result is not known: another file passes with a line, and is judged when it is written.
    let before = of_claude("PreToolUse", "7", "Edit", every("app.py", json!(1)));
    assert_eq!(
        (before.stdout.as_str(), before.stderr.lines().count(), before.exit),
        ("", 1, 0),
        "{before:?}"
    );
    assert!(before.stderr.contains("a flag that is not true or false"), "{before:?}");
    project.write("app.py", "def f(:\n");
    let after = of_claude("PostToolUse", "7", "Edit", every("app.py", json!(1)));
    assert!(after.stdout.contains("judged this edit after it was written"), "{after:?}");
    assert_eq!(project.log().len(), 1);
    project.write("quality.yaml", format!("{policy}hooks: {{ fail: closed }}\n"));
    let closed = of_claude("PreToolUse", "8", "Edit", every("app.py", json!(1)));
    assert!(denial(&answer(&closed)).contains("fail: closed"), "{closed:?}");
}

/// Returns every value that a payload has with one of its parts replaced.
fn with_other_types(payload: &Value) -> Vec<Value> {
    fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
        if let Value::Object(fields) = value {
            for (name, inner) in fields {
                let path = format!("{at}/{name}");
                found.push(path.clone());
                paths(inner, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    paths(payload, "", &mut found);
    let others =
        [json!(null), json!(7), json!(true), json!([]), json!({}), json!("\u{0}"), json!("../../..")];
    let mut payloads = Vec::new();
    for path in found {
        for other in &others {
            let mut payload = payload.clone();
            *payload.pointer_mut(&path).unwrap() = other.clone();
            payloads.push(payload);
        }
    }
    payloads
}

#[test]
fn fields_of_wrong_types_never_fail_it() {
    let project = Project::new();
    let root = project.root();
    let input = edit(&root, "app.py", "    return sum(items)", "    return sum(items) + 1");
    let patch =
        "*** Begin Patch\n*** Update File: app.py\n@@\n-    return sum(items)\n+    return 1\n*** End Patch";
    let codex = json!({"session_id": "s", "turn_id": "t", "cwd": root, "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch", "tool_input": {"command": patch}});
    for payload in [claude(&root, "PreToolUse", "toolu_1", "Edit", input), codex] {
        let payloads = with_other_types(&payload);
        assert!(payloads.len() > 40);
        for payload in payloads {
            let outcome = project.call(&["hook"], &payload.to_string());
            assert_eq!(outcome.exit, 0, "{payload}: {outcome:?}");
            answer(&outcome);
            assert!(outcome.stderr.lines().count() <= 1, "{payload}: {outcome:?}");
            assert!(!outcome.stderr.contains("lockgate failed"), "{payload}: it panicked");
        }
    }
    assert_eq!(project.text("app.py"), PYTHON);
}

#[test]
fn fields_of_ten_megabytes_are_answered_in_time() {
    let project = Project::new();
    let root = project.root();
    project.write("x.txt", "x\n");
    let big = "word \n".repeat(10 << 20 >> 2).chars().take(10 << 20).collect::<String>();
    let write = json!({"file_path": root.join("x.txt"), "content": big});
    for payload in [
        claude(&root, "PreToolUse", "1", "Edit", edit(&root, "app.py", &big, "x")),
        claude(&root, "PreToolUse", "2", "Edit", edit(&root, "x.txt", "x", &big)),
        claude(&root, "PreToolUse", "3", "Write", write),
        json!({"session_id": "s", "cwd": root, "hook_event_name": "BeforeTool", "tool_name": "replace",
            "tool_input": {"file_path": "app.py", "old_string": big, "new_string": "x"}}),
        json!({"session_id": big, "turn_id": big, "cwd": root, "hook_event_name": "PreToolUse", "tool_name": big, "tool_input": big}),
    ] {
        let started = Instant::now();
        let outcome = project.call(&["hook"], &payload.to_string());
        assert_eq!(outcome.exit, 0, "{}", outcome.stderr);
        assert!(outcome.stdout.len() < 6000, "an answer stays short: {}", outcome.stdout.len());
        assert!(started.elapsed() < Duration::from_secs(28), "{:?}", started.elapsed());
        assert!(!outcome.stderr.contains("lockgate failed"), "it panicked");
    }
    assert_eq!((project.text("app.py").as_str(), project.text("x.txt").as_str()), (PYTHON, "x\n"));
}

#[test]
fn a_pipe_in_place_of_a_configuration_or_a_file_holds_nothing_up() {
    let project = Project::new();
    let pipe = |path: &str| {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, project.at(path), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    };
    pipe(".mcp.json");
    pipe("pipe.py");
    let broken = |path: &str| {
        let input = json!({"file_path": project.at(path), "content": "def f(:\n"});
        claude(&project.root(), "PreToolUse", path, "Write", input)
    };
    let started = Instant::now();
    assert!(denial(&project.hook(&broken("new.py"))).contains("new.py:1:"));
    let outcome = project.call(&["hook"], &broken("pipe.py").to_string());
    assert_eq!(outcome.exit, 0, "{outcome:?}");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn a_denial_of_many_findings_has_at_most_four_kilobytes_and_the_first_of_them() {
    let project = Project::new();
    let broken = format!("def f(:\n{}", "    x = (1\n".repeat(3000));
    let input = json!({"file_path": project.at("new.py"), "content": broken});
    let reply = project.hook(&claude(&project.root(), "PreToolUse", "1", "Write", input));
    let reason = denial(&reply);
    assert!(reason.len() <= 4096 && reason.contains("new.py:1:"), "{reason}");
}

#[test]
fn only_files_of_the_project_are_judged_by_whatever_name() {
    let project = Project::new();
    let root = project.root();
    let outside = root.parent().unwrap().join("outside.py");
    fs::write(&outside, PYTHON).unwrap();
    symlink(&outside, project.at("out.py")).unwrap();
    symlink("app.py", project.at("in.py")).unwrap();
    symlink(project.at("app.py"), root.parent().unwrap().join("into.py")).unwrap();
    fs::create_dir(project.at("sub")).unwrap();
    let bad = |path: &str, at: usize| {
        let mut input = edit(&root, "app.py", "    return sum(items)", "    return (sum(items)");
        input["file_path"] = path.into();
        claude(&root, "PreToolUse", &at.to_string(), "Edit", input)
    };
    let absolute = |path: &str| root.join(path).to_str().unwrap().to_owned();
    // The control: all of these name a file of the project.
    let inside = [
        absolute("app.py"),
        "app.py".to_owned(),
        "./sub/../app.py".to_owned(),
        absolute("sub/../app.py"),
        // The tools of Node resolve `..` by the text, so that a folder which does not exist is no hindrance.
        format!("/none/..{}", absolute("app.py")),
        format!("../none/../{}/app.py", root.file_name().unwrap().to_str().unwrap()),
        absolute("in.py"),
        root.parent().unwrap().join("into.py").to_str().unwrap().to_owned(),
    ];
    for (at, path) in inside.iter().enumerate() {
        let reply = project.hook(&bad(path, at));
        assert!(!denial(&reply).is_empty(), "{path}: {reply}");
    }
    let others = [
        outside.to_str().unwrap().to_owned(),
        absolute("../outside.py"),
        "../outside.py".to_owned(),
        "/etc/passwd".to_owned(),
        absolute("out.py"),
        String::new(),
        "/".to_owned(),
        "app\u{0}.py".to_owned(),
        "x".repeat(100_000),
        "sub".to_owned(),
    ];
    for (at, path) in others.iter().enumerate() {
        let outcome = project.call(&["hook"], &bad(path, 100 + at).to_string());
        assert_eq!((outcome.exit, outcome.stdout.as_str()), (0, ""), "{path:.40}: {outcome:?}");
        assert!(outcome.stderr.lines().count() <= 1, "{path:.40}: {outcome:?}");
    }
}

#[test]
fn an_agent_cannot_change_the_hooks_that_guard_it() {
    let project = Project::new();
    let root = project.root();
    project.write("conf/s.json", "{}\n");
    fs::create_dir(project.at(".claude")).unwrap();
    symlink("../conf/s.json", project.at(".claude/settings.json")).unwrap();
    let paths = [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".cursor/hooks.json",
        ".github/hooks/lockgate.json",
        ".windsurf/hooks.json",
        ".clinerules/hooks/PreToolUse",
        ".opencode/plugin/x.ts",
        ".opencode/plugins/lockgate.js",
        ".factory/hooks.json",
        ".agents/hooks.json",
        "quality.yaml",
        ".lockgate/quality.yaml",
        ".env",
        "conf/s.json",
    ];
    for (at, path) in paths.iter().enumerate() {
        let input = json!({"file_path": root.join(path), "content": "{}\n"});
        let reply = project.hook(&claude(&root, "PreToolUse", &at.to_string(), "Write", input));
        assert!(denial(&reply).contains("denied"), "{path}: {reply}");
    }
    let patch =
        "*** Begin Patch\n*** Add File: new.txt\n+x\n*** Add File: .codex/hooks.json\n+{}\n*** End Patch";
    let reply = project
        .hook(&json!({"session_id": "s", "turn_id": "t", "cwd": root, "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": "c"}));
    assert!(denial(&reply).contains(".codex/hooks.json"), "{reply}");
    // Cline ends the task rather than let this pass.
    let reply = project.hook(&json!({"hookName": "tool_call", "taskId": "t", "workspaceRoots": [root],
        "tool_call": {"id": "c", "name": "editor", "input": {"path": "quality.yaml", "new_text": "x"}}}));
    assert_eq!(reply["cancel"], true, "{reply}");
    // The control.
    let input = json!({"file_path": root.join("conf/other.json"), "content": "{}\n"});
    assert_eq!(project.hook(&claude(&root, "PreToolUse", "z", "Write", input)), Value::Null);
}

#[test]
fn two_edits_of_one_file_at_once_are_both_judged_and_recorded() {
    let project = Project::new();
    let root = project.root();
    let (good, bad) = ("    return sum(items) + 1", "    return (sum(items)");
    std::thread::scope(|scope| {
        for at in 0..4 {
            let (project, root) = (&project, &root);
            scope.spawn(move || {
                let new = if at % 2 == 0 { good } else { bad };
                let input = edit(root, "app.py", "    return sum(items)", new);
                let reply = project.hook(&claude(root, "PreToolUse", &at.to_string(), "Edit", input));
                assert_eq!(denial(&reply).is_empty(), at % 2 == 0, "{reply}");
            });
        }
    });
    for at in [0, 2] {
        let now = project.text("app.py");
        fs::write(project.at("app.py"), format!("{now}# {at}\n")).unwrap();
        let input = edit(&root, "app.py", "    return sum(items)", good);
        project.call(&["hook"], &claude(&root, "PostToolUse", &at.to_string(), "Edit", input).to_string());
    }
    assert_eq!(project.log().len(), 2);
}

/// A policy that forbids one word.
const WORD: &str = "define:\n  word: { kind: pattern, languages: ['*'], must_not_match: forbidden, message: a \
                    forbidden word }\nquality_gates:\n  '*': [{ tool: word }]\n";

#[test]
fn the_project_of_the_file_judges_wherever_the_session_is() {
    let project = Project::new();
    let outside = project.root().parent().unwrap().to_owned();
    for folder in ["root/.git", "root/sub", "other/.git", "plain"] {
        fs::create_dir_all(outside.join(folder)).unwrap();
    }
    project.write("quality.yaml", WORD);
    fs::write(outside.join("other/quality.yaml"), WORD.replace("forbidden", "unwanted")).unwrap();
    symlink(project.at("linked.txt"), outside.join("plain/dangling.txt")).unwrap();
    let write = |cwd: &Path, path: &Path, text: &str, id: &str| {
        project.hook(&claude(cwd, "PreToolUse", id, "Write", json!({"file_path": path, "content": text})))
    };
    let folders = ["root", "root/sub", "other", "plain", "gone"].map(|folder| outside.join(folder));
    for (at, cwd) in folders.iter().chain([&PathBuf::from("/"), &project.user().join("home")]).enumerate() {
        let id = |name: &str| format!("{at}-{name}");
        for path in ["new.txt", "sub/new.txt", "none/new.txt"] {
            let reply = write(cwd, &project.at(path), "forbidden\n", &id(path));
            assert!(denial(&reply).contains("a forbidden word"), "{path} from {cwd:?}: {reply}");
        }
        let reply = write(cwd, &outside.join("plain/dangling.txt"), "forbidden\n", &id("link"));
        assert!(denial(&reply).contains("a forbidden word"), "from {cwd:?}: {reply}");
        let reply = write(cwd, &project.at(".git/config"), "x\n", &id("git"));
        assert!(denial(&reply).contains(".git/**"), "from {cwd:?}: {reply}");
        // The controls: a good text, a text that only the other policy forbids, and a file of no project.
        assert_eq!(write(cwd, &project.at("new.txt"), "good\n", &id("good")), Value::Null, "{cwd:?}");
        assert_eq!(write(cwd, &project.at("new.txt"), "unwanted\n", &id("other")), Value::Null, "{cwd:?}");
        let plain = outside.join("plain/new.txt");
        assert_eq!(write(cwd, &plain, "forbidden unwanted\n", &id("plain")), Value::Null, "{cwd:?}");
    }
    // A patch with files of two projects is judged by both.
    let patch = |id: &str, first: &str, second: &str| {
        let (one, two) = (project.at("a.txt"), outside.join("other/b.txt"));
        let (one, two) = (one.display(), two.display());
        let text = format!(
            "*** Begin Patch\n*** Add File: {one}\n+{first}\n*** Add File: {two}\n+{second}\n*** End Patch"
        );
        project.hook(&json!({"session_id": "s", "turn_id": id, "cwd": outside.join("plain"),
            "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": {"command": text},
            "tool_use_id": id}))
    };
    assert_eq!(patch("p0", "unwanted", "forbidden"), Value::Null, "the control");
    for (id, first, second) in [("p1", "forbidden", "good"), ("p2", "good", "unwanted")] {
        assert!(denial(&patch(id, first, second)).contains(" word"), "{id}");
    }
}

#[test]
fn an_edit_from_elsewhere_is_recorded_in_its_project() {
    let project = Project::new();
    let outside = project.root().parent().unwrap().to_owned();
    fs::create_dir(project.at(".git")).unwrap();
    let input = edit(&project.root(), "app.py", "    return sum(items)", "    return sum(items) + 1");
    assert_eq!(project.hook(&claude(&outside, "PreToolUse", "1", "Edit", input.clone())), Value::Null);
    project.write("app.py", project.text("app.py").replace("sum(items)", "sum(items) + 1"));
    assert_eq!(project.hook(&claude(&outside, "PostToolUse", "1", "Edit", input)), Value::Null);
    assert_eq!(project.log().len(), 1);
    assert_eq!(project.call(&["undo"], "").exit, 0);
    assert_eq!(project.text("app.py"), super::PYTHON);
}

#[test]
fn a_patch_is_judged_where_its_links_lead() {
    let project = Project::new();
    let root = project.root();
    fs::create_dir_all(project.at(".husky/_")).unwrap();
    fs::create_dir(project.at("docs")).unwrap();
    symlink("../.husky/_", project.at("docs/linked")).unwrap();
    let add = |id: &str, path: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        project.hook(&json!({"session_id": "s", "turn_id": id, "cwd": root, "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": id}))
    };
    // The second folder does not exist yet: the system makes it below the target of the link.
    for (id, path) in [("1", "docs/linked/../hook.txt"), ("2", "docs/linked/../new/hook.txt")] {
        assert!(denial(&add(id, path)).contains(".husky/**"), "{path}");
    }
    // The control.
    assert_eq!(add("3", "docs/new/hook.txt"), Value::Null);
}

#[test]
fn a_file_cannot_be_moved_into_the_project_unjudged() {
    let project = Project::new();
    let outside = project.root().parent().unwrap().join("outside.py");
    fs::write(&outside, "x = 1\n").unwrap();
    let patch = format!(
        "*** Begin Patch\n*** Update File: {}\n*** Move to: new.py\n@@\n-x = 1\n+x = (\n*** End Patch",
        outside.display()
    );
    let event = |id: &str, patch: &str| {
        json!({"session_id": "s", "turn_id": id, "cwd": project.root(), "hook_event_name": "PreToolUse",
            "tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": id})
    };
    assert!(denial(&project.hook(&event("1", &patch))).contains("from outside of the project"));
    // The control: the same inside of the project is judged by its text.
    project.write("old.py", "x = 1\n");
    let inside = patch.replace(&outside.display().to_string(), "old.py");
    assert!(denial(&project.hook(&event("2", &inside))).contains("new.py"), "{inside}");
    assert_eq!(project.hook(&event("3", &inside.replace("+x = (", "+x = 2"))), Value::Null);
    // The text of a file that is too large is not read, and the denial says so.
    project.write("quality.yaml", "quality_gates: {}\nlimits: { file: 200B }\n");
    project.write("old.py", "x = 1\n".repeat(50));
    let large = project.hook(&event("4", &inside));
    let reason = denial(&large);
    assert!(reason.contains("TOO_LARGE: ") && !reason.contains("from outside"), "{large}");
}

/// Through a link that leads nowhere, a host's tool creates the file that it leads to. The control: a plain new file passes.
#[test]
fn a_link_that_leads_nowhere_is_judged_where_it_leads_to() {
    let project = Project::new();
    let root = project.root();
    for (number, (link, target, content)) in [
        ("notes.txt", ".git/hooks/post-commit", "#!/bin/sh\necho\n"),
        ("other.txt", ".env.local", "A=1\n"),
        ("settings.txt", ".claude/settings.json", "{}\n"),
        ("code.txt", "real.py", "def f(:\n"),
    ]
    .iter()
    .enumerate()
    {
        let target = root.join(target);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        symlink(&target, root.join(link)).unwrap();
        let input = json!({"file_path": root.join(link), "content": content});
        let answer = project.hook(&claude(&root, "PreToolUse", &format!("t{number}"), "Write", input));
        assert!(denial(&answer).contains("denied this edit"), "{link}: {answer}");
    }
    symlink(root.join("plain.py"), root.join("link.py")).unwrap();
    let input = json!({"file_path": root.join("link.py"), "content": "x = 1\n"});
    let before = claude(&root, "PreToolUse", "t9", "Write", input.clone());
    assert_eq!(project.hook(&before), Value::Null);
    fs::write(root.join("link.py"), "x = 1\n").unwrap();
    assert_eq!(project.hook(&claude(&root, "PostToolUse", "t9", "Write", input)), Value::Null);
    let undone = project.call(&["undo"], "");
    assert!(!root.join("plain.py").exists(), "{}", undone.stderr);
}

/// The hooks of the user and lockgate's own folders guard every project, and are in none. The control: another file of the user.
#[test]
fn an_agent_cannot_change_what_guards_all_projects_of_the_user() {
    let project = Project::new();
    let root = project.root();
    let user = project.user();
    let paths = [
        "home/.claude/settings.json",
        "home/.codex/hooks.json",
        "home/.codex/config.toml",
        "home/.gemini/settings.json",
        "config/opencode/plugins/lockgate.js",
        "state/lockgate/trust/x",
        "home/.copilot/hooks/lockgate.json",
        "home/.cursor/hooks.json",
        "home/.codeium/windsurf/hooks.json",
        "home/Documents/Cline/Hooks/PreToolUse",
    ];
    let write = |id: &str, path: PathBuf| {
        let input = json!({"file_path": path, "content": "{}\n"});
        project.hook(&claude(&root, "PreToolUse", id, "Write", input))
    };
    for path in paths {
        let reply = write(path, user.join(path));
        assert!(denial(&reply).contains("all projects of this user"), "{path}: {reply}");
    }
    fs::create_dir_all(user.join("home/.claude")).unwrap();
    symlink(user.join("home/.claude"), root.join("linked")).unwrap();
    assert!(denial(&write("link", root.join("linked/settings.json"))).contains("all projects"));
    assert_eq!(write("other", user.join("home/notes.json")), Value::Null);
}
