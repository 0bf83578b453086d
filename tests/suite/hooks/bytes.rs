//! What the edit tools of hosts do to bytes, and that no byte is lost with the guard and lockgate's server.

use serde_json::{Value, json};

use super::{Project, claude, context, denial, edit};

/// The hosts whose tools were observed.
const HOSTS: [&str; 5] = ["claude-code", "codex", "gemini", "opencode", "copilot"];

/// Files with a trap, the edit of one line elsewhere, and the bytes that must be there afterwards.
const FILES: [(&str, &[u8], &[u8]); 4] = [
    ("crlf", b"a\r\nb\r\nc\r\nd\r\n", b"a\r\nB\r\nc\r\nd\r\n"),
    ("windows-1252", b"caf\xe9\nb\nc\n", b"caf\xe9\nB\nc\n"),
    ("mixed", b"a\r\nb\nc\r\nd\n", b"a\r\nB\nc\r\nd\n"),
    ("bom", b"\xef\xbb\xbfa\nb\nc", b"\xef\xbb\xbfa\nB\nc"),
];

/// What a host's tool writes for a quote of one line; `None` if it refuses. Written from what was observed, apart
/// from the simulation in the program.
fn tool(host: &str, before: &[u8], old: &str, new: &str) -> Option<Vec<u8>> {
    let lossy = String::from_utf8_lossy(before).into_owned();
    let once = |text: &str, old: &str, new: &str| {
        (text.matches(old).count() == 1).then(|| text.replacen(old, new, 1))
    };
    let after = match host {
        "claude-code" => {
            let text = std::str::from_utf8(before).ok()?;
            let crlf = text.matches("\r\n").count();
            let is_crlf = crlf > text.matches('\n').count() - crlf;
            let after =
                once(&text.replace("\r\n", "\n"), &old.replace("\r\n", "\n"), &new.replace("\r\n", "\n"))?;
            if is_crlf { after.replace('\n', "\r\n") } else { after }
        }
        "gemini" => {
            let after =
                once(&lossy.replace("\r\n", "\n"), &old.replace("\r\n", "\n"), &new.replace("\r\n", "\n"))?;
            if lossy.contains("\r\n") { after.replace('\n', "\r\n") } else { after }
        }
        "opencode" => {
            let end = |text: &str| {
                let text = text.replace("\r\n", "\n");
                if lossy.contains("\r\n") { text.replace('\n', "\r\n") } else { text }
            };
            once(&lossy, &end(old), &end(new))?
        }
        "copilot" => once(&lossy, old, new)?,
        other => panic!("{other}"),
    };
    Some(after.into_bytes())
}

/// What Codex writes for a patch of one chunk; `None` if it refuses.
fn apply_patch(before: &[u8], patch: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(before).ok()?;
    let end = if text.split_inclusive('\n').next()?.ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with('\n')) {
        last.push('\n');
    }
    let body: Vec<&str> = patch.lines().skip(2).filter(|line| !line.starts_with(['@', '*'])).collect();
    let side = |mark: char| -> Vec<&str> {
        body.iter().filter(|line| line.starts_with([' ', mark])).map(|line| &line[1..]).collect()
    };
    let (old, new) = (side('-'), side('+'));
    let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(['\n', '\r'])).collect();
    let at = bare.windows(old.len()).position(|window| window == old)?;
    let new = new.iter().map(|line| format!("{line}{end}"));
    lines.splice(at..at + old.len(), new);
    Some(lines.concat().into_bytes())
}

/// The event before an edit of the second line, with the first as context where the form has one.
fn event(host: &str, project: &Project, old: &str, new: &str) -> Value {
    let (root, file) = (project.root(), project.at("x.txt"));
    match host {
        "claude-code" => claude(&root, "PreToolUse", "toolu_1", "Edit", edit(&root, "x.txt", old, new)),
        "codex" => {
            let first = if project.bytes("x.txt").starts_with(b"caf") { "café" } else { "a" };
            let patch = format!(
                "*** Begin Patch\n*** Update File: x.txt\n@@\n {first}\n-{old}\n+{new}\n*** End Patch"
            );
            json!({"session_id": "s", "turn_id": "t", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": "apply_patch",
                "tool_input": {"command": patch}, "tool_use_id": "c"})
        }
        "gemini" => json!({"session_id": "s", "cwd": root, "hook_event_name": "BeforeTool", "timestamp": "1",
            "tool_name": "replace", "tool_input": {"file_path": "x.txt", "old_string": old, "new_string": new}}),
        "opencode" => {
            json!({"hook_event_name": "tool.execute.before", "tool": "edit", "sessionID": "s", "callID": "c",
            "directory": root, "args": {"filePath": file, "oldString": old, "newString": new}})
        }
        "copilot" => json!({"sessionId": "s", "timestamp": 1, "cwd": root, "toolName": "edit",
            "toolArgs": {"path": file, "old_str": old, "new_str": new}}),
        other => panic!("{other}"),
    }
}

/// What became of an edit.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    /// By the tool, as it was called.
    AsCalled,
    /// By the tool, with other arguments.
    Rewritten,
    /// By lockgate's own tool, with the call of the denial.
    ByOwnTool,
    /// Not at all: the tool refused it.
    ToolRefused,
}

/// The denial of an answer in any form.
fn denied(answer: &Value) -> Option<String> {
    let specific = &answer["hookSpecificOutput"];
    let is_denied = specific["permissionDecision"] == "deny"
        || answer["permissionDecision"] == "deny"
        || answer["decision"] == "deny"
        || answer["deny"].is_string();
    let texts = [
        &specific["permissionDecisionReason"],
        &answer["permissionDecisionReason"],
        &answer["reason"],
        &answer["deny"],
    ];
    is_denied.then(|| texts.iter().find_map(|text| text.as_str()).unwrap().to_owned())
}

/// The arguments with which the tool is called.
fn arguments(host: &str, event: &Value, answer: &Value) -> (Value, bool) {
    let specific = &answer["hookSpecificOutput"];
    let (other, own) = match host {
        "claude-code" | "codex" => (&specific["updatedInput"], &event["tool_input"]),
        "gemini" => (&specific["tool_input"], &event["tool_input"]),
        "opencode" => (&answer["args"], &event["args"]),
        "copilot" => (&answer["modifiedArgs"], &event["toolArgs"]),
        unknown => panic!("{unknown}"),
    };
    if other.is_null() { (own.clone(), false) } else { (other.clone(), true) }
}

/// Makes an edit as a session would: asks the hook, then calls the tool, or the call of the denial.
fn make(host: &str, project: &Project, old: &str, new: &str) -> Made {
    let event = event(host, project, old, new);
    let answer = project.hook(&event);
    let before = project.bytes("x.txt");
    if let Some(reason) = denied(&answer) {
        let call =
            reason.split_once("`safe_edit_file` with\n").unwrap_or_else(|| panic!("{host}: {reason}")).1;
        let call = call.lines().next().unwrap();
        let outcome = project.call(&["edit", "--file", "-"], call);
        assert_eq!(outcome.exit, 0, "{host}: {reason}\n{outcome:?}");
        return Made::ByOwnTool;
    }
    let (arguments, is_rewritten) = arguments(host, &event, &answer);
    let text = |names: [&str; 3]| names.iter().find_map(|name| arguments[*name].as_str()).unwrap().to_owned();
    let written = match host {
        "codex" => apply_patch(&before, arguments["command"].as_str().unwrap()),
        _ => tool(
            host,
            &before,
            &text(["old_string", "oldString", "old_str"]),
            &text(["new_string", "newString", "new_str"]),
        ),
    };
    let Some(written) = written else { return Made::ToolRefused };
    project.write("x.txt", written);
    if is_rewritten { Made::Rewritten } else { Made::AsCalled }
}

/// A project whose clients all have lockgate's server.
fn with_server() -> Project {
    let project = Project::new();
    let json = r#"{"mcpServers": {"lockgate": {"command": "lockgate", "args": ["serve"]}}}"#;
    for path in [".mcp.json", ".gemini/settings.json", "opencode.json", ".github/mcp.json"] {
        project.write(path, json);
    }
    project.write(".codex/config.toml", "[mcp_servers.lockgate]\ncommand = \"lockgate\"\n");
    project
}

#[test]
fn with_the_guard_and_the_server_no_tool_loses_a_byte() {
    use Made::{AsCalled, ByOwnTool, Rewritten, ToolRefused};
    // In the order of the files: crlf, windows-1252, mixed, bom.
    let expected = [
        ("claude-code", [AsCalled, ToolRefused, ByOwnTool, AsCalled]),
        ("codex", [AsCalled, ToolRefused, ByOwnTool, Rewritten]),
        ("gemini", [AsCalled, ByOwnTool, ByOwnTool, AsCalled]),
        ("opencode", [AsCalled, ByOwnTool, AsCalled, AsCalled]),
        ("copilot", [AsCalled, ByOwnTool, AsCalled, AsCalled]),
    ];
    for (host, outcomes) in expected {
        for ((name, before, wanted), outcome) in FILES.iter().zip(outcomes) {
            let project = with_server();
            project.write("x.txt", before);
            let made = make(host, &project, "b", "B");
            assert_eq!(made, outcome, "{host} {name}");
            let after = project.bytes("x.txt");
            let wanted = if made == ToolRefused { before } else { wanted };
            // Codex gives a last line its line end.
            let is_right = after == *wanted || host == "codex" && after == [wanted, &b"\n"[..]].concat();
            assert!(is_right, "{host} {name}: {:?}", String::from_utf8_lossy(&after));
        }
    }
}

/// The control: the same tools without the guard lose bytes, in exactly these cells.
#[test]
fn without_the_guard_the_tools_lose_bytes() {
    let mut lost = Vec::new();
    for host in HOSTS.into_iter().filter(|host| *host != "codex") {
        for (name, before, wanted) in FILES {
            if tool(host, before, "b", "B").is_some_and(|after| after != wanted) {
                lost.push((host, name));
            }
        }
    }
    let cells = [
        ("claude-code", "mixed"),
        ("gemini", "windows-1252"),
        ("gemini", "mixed"),
        ("opencode", "windows-1252"),
        ("copilot", "windows-1252"),
    ];
    assert_eq!(lost, cells);
    let patch = "*** Begin Patch\n*** Update File: x.txt\n@@\n-b\n+B\n*** End Patch";
    assert_eq!(apply_patch(b"a\r\nb\nc\r\nd\n", patch).unwrap(), b"a\r\nB\r\nc\r\nd\n");
}

#[test]
fn without_the_server_the_model_is_told_and_the_policy_can_deny() {
    let project = Project::new();
    project.write("x.txt", b"a\r\nb\nc\r\nd\n");
    let reply = project.hook(&event("claude-code", &project, "b", "B"));
    assert_eq!(denial(&reply), "", "{reply}");
    assert!(context(&reply).contains("2 CRLF line ends to LF"), "{reply}");
    project.write("quality.yaml", "quality_gates: {}\nhooks: { bytes: deny }\n");
    let mut again = event("claude-code", &project, "b", "B");
    again["tool_use_id"] = json!("toolu_2");
    let reply = project.hook(&again);
    let call = denial(&reply).split_once("on standard input:\n").unwrap_or_else(|| panic!("{reply}")).1;
    assert_eq!(project.call(&["edit", "--file", "-"], call).exit, 0);
    assert_eq!(project.bytes("x.txt"), b"a\r\nB\nc\r\nd\n");
    let project = with_server();
    project.write("x.txt", b"a\r\nb\nc\r\nd\n");
    // A project cannot switch off the guard of its own edits.
    project.write("quality.yaml", "quality_gates: {}\nhooks: { bytes: report }\n");
    let reply = project.hook(&event("claude-code", &project, "b", "B"));
    assert!(denial(&reply).contains("CRLF"), "{reply}");
    // The control: a person trusts the policy.
    let trusted = project.call(&["trust", "--yes"], "");
    assert!(trusted.exit == 0 && trusted.stdout.contains("`bytes: report`"), "{trusted:?}");
    let mut again = event("claude-code", &project, "b", "B");
    again["tool_use_id"] = json!("toolu_3");
    let reply = project.hook(&again);
    assert!(denial(&reply).is_empty() && context(&reply).contains("CRLF"), "{reply}");
}

const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"a1\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\"name\": \"stdout\", \"output_type\": \"stream\", \"text\": [\"1\\n\"]}\n   ],\n   \"source\": [\n    \"x = 1\\n\",\n    \"print(x)\"\n   ]\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

#[test]
fn the_outputs_of_a_notebook_are_kept_by_the_call_of_the_denial() {
    let project = with_server();
    project.write("n.ipynb", NOTEBOOK);
    let input =
        json!({"notebook_path": project.at("n.ipynb"), "cell_id": "a1", "new_source": "x = 2\nprint(x)"});
    let reply = project.hook(&claude(&project.root(), "PreToolUse", "toolu_1", "NotebookEdit", input));
    let reason = denial(&reply);
    assert!(reason.contains("clears outputs"), "{reply}");
    let call = reason.split_once("`safe_edit_file` with\n").unwrap_or_else(|| panic!("{reply}")).1;
    let outcome = project.call(&["edit", "--file", "-"], call.lines().next().unwrap());
    assert_eq!(outcome.exit, 0, "{outcome:?}");
    assert_eq!(project.text("n.ipynb"), NOTEBOOK.replace("x = 1", "x = 2"));
}

#[test]
fn a_notebook_without_outputs_is_not_said_to_lose_any() {
    let project = with_server();
    let cells = NOTEBOOK
        .replace("\n    {\"name\": \"stdout\", \"output_type\": \"stream\", \"text\": [\"1\\n\"]}\n   ", "");
    assert!(cells.contains("\"outputs\": [],"));
    project.write("n.ipynb", cells);
    let input = json!({"notebook_path": project.at("n.ipynb"), "cell_id": "a1", "new_source": "x = 2"});
    let reply = project.hook(&claude(&project.root(), "PreToolUse", "toolu_1", "NotebookEdit", input));
    assert!(denial(&reply).contains("rewrites the layout of the whole notebook"), "{reply}");
}

#[test]
fn a_file_that_claude_code_cannot_read_gets_the_call_that_can() {
    let project = with_server();
    project.write("x.txt", b"caf\xe9\nb\nc\n");
    let call = json!({"tool_name": "Edit", "tool_input": edit(&project.root(), "x.txt", "b", "B"), "tool_use_id": "t",
        "tool_response": "<tool_use_error>File is not valid UTF-8; nothing was written</tool_use_error>"});
    let reply = project
        .hook(&json!({"session_id": "s", "cwd": project.root(), "hook_event_name": "PostToolBatch",
        "tool_calls": [call]}));
    let call = context(&reply).split_once("`safe_edit_file` with\n").unwrap_or_else(|| panic!("{reply}")).1;
    let outcome = project.call(&["edit", "--file", "-"], call.lines().next().unwrap());
    assert_eq!(outcome.exit, 0, "{outcome:?}");
    assert_eq!(project.bytes("x.txt"), b"caf\xe9\nB\nc\n");
}

#[test]
fn a_failed_call_with_a_list_of_quotes_gets_the_texts_that_work() {
    let project = Project::new();
    let edits = json!([{"old_string": "return  sum(items)", "new_string": "return 1"}]);
    let call = json!({"tool_name": "MultiEdit", "tool_use_id": "t",
        "tool_input": {"file_path": project.at("app.py"), "edits": edits},
        "tool_response": "<tool_use_error>String to replace not found in file.</tool_use_error>"});
    let reply = project
        .hook(&json!({"session_id": "s", "cwd": project.root(), "hook_event_name": "PostToolBatch",
        "tool_calls": [call]}));
    let texts = context(&reply).split_once("These texts work:\n").unwrap_or_else(|| panic!("{reply}")).1;
    let texts: Value = serde_json::from_str(texts).unwrap();
    assert_eq!(texts, json!({"old": "    return sum(items)\n", "new": "    return 1\n"}));
}
