//! The policy's part: which gates run, what an expired deadline means, and the keys of `hooks`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::trust::fixture::{Fixture, policy};
use super::{PYTHON, Project, claude, context, denial, edit};
use crate::suite::wire::{Outcome, lockgate, outcome};

fn good(project: &Project, id: &str) -> Value {
    let root = project.root();
    let input = edit(&root, "app.py", "    return sum(items)", "    return sum(items) + 1");
    claude(&root, "PreToolUse", id, "Edit", input)
}

fn bad(project: &Project, id: &str) -> Value {
    let root = project.root();
    let input = edit(&root, "app.py", "    return sum(items)", "    return (sum(items)");
    claude(&root, "PreToolUse", id, "Edit", input)
}

/// An event that is no edit ends before the policy is read: here, reading it would be an error.
#[test]
fn what_is_no_edit_costs_no_policy() {
    let project = Project::new();
    project.write("quality.yaml", "quality_gate: {}\n");
    let root = project.root();
    for payload in [
        claude(&root, "PreToolUse", "1", "Read", json!({"file_path": root.join("app.py")})),
        claude(&root, "PreToolUse", "2", "Bash", json!({"command": "sed -i s/a/b/ app.py"})),
        claude(&root, "Stop", "3", "", json!({})),
        claude(&root, "PreToolUse", "4", "Edit", edit(&root, "/etc/hosts", "a", "b")),
        json!({"session_id": "s", "turn_id": "t", "cwd": root, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "ls"}}),
    ] {
        let outcome = project.call(&["hook"], &payload.to_string());
        assert_eq!(
            (outcome.exit, outcome.stdout.as_str(), outcome.stderr.as_str()),
            (0, "", ""),
            "{payload}"
        );
    }
    // The control: an edit reads it, cannot be judged, and passes.
    let outcome = project.call(&["hook"], &bad(&project, "5").to_string());
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (0, ""));
    assert!(outcome.stderr.contains("POLICY_INVALID") && outcome.stderr.lines().count() == 1, "{outcome:?}");
}

#[test]
fn drift_keep_leaves_the_call_as_it_is() {
    let project = Project::new();
    let event = |time: &str| {
        json!({"session_id": "s", "cwd": project.root(), "hook_event_name": "BeforeTool", "timestamp": time,
            "tool_name": "replace", "tool_input": {"file_path": "app.py", "old_string": "      return sum(items)",
            "new_string": "      return sum(items) + 1"}})
    };
    let reply = project.hook(&event("1"));
    assert_eq!(reply["hookSpecificOutput"]["tool_input"]["old_string"], "    return sum(items)\n", "{reply}");
    project.write("quality.yaml", "quality_gates: {}\nhooks: { drift: keep }\n");
    assert_eq!(project.hook(&event("2")), Value::Null);
}

#[test]
fn cline_is_warned_or_cancelled() {
    let project = Project::new();
    let event = |id: &str| {
        json!({"hookName": "tool_call", "taskId": "t", "workspaceRoots": [project.root()], "tool_call": {"id": id,
            "name": "editor", "input": {"path": "app.py", "old_text": "    return sum(items)", "new_text": "    return (sum(items)"}}})
    };
    let reply = project.hook(&event("1"));
    assert_eq!(reply["cancel"], false, "{reply}");
    let text = reply["contextModification"].as_str().unwrap();
    assert!(text.contains("does not stop") && !text.contains("nothing was written"), "{reply}");
    project
        .write("quality.yaml", "quality_gates:\n  python:\n    - tool: syntax\nhooks: { cline: cancel }\n");
    let reply = project.hook(&event("2"));
    assert_eq!(reply["cancel"], true, "{reply}");
    assert!(reply["errorMessage"].as_str().unwrap().contains("app.py:2"), "{reply}");
}

#[test]
fn keys_of_hooks_are_checked_like_all_others() {
    for (line, expected) in [
        ("hooks: { drift: maybe }", "drift"),
        ("hooks: { deadline: 1ms }", "deadline"),
        ("hooks: { fails: open }", "fails"),
        ("hooks: 7", "hooks"),
    ] {
        let project = Project::new();
        project.write("quality.yaml", format!("quality_gates: {{}}\n{line}\n"));
        let outcome = project.call(&["hook"], &good(&project, "1").to_string());
        assert!(
            outcome.stderr.contains("POLICY_INVALID") && outcome.stderr.contains(expected),
            "{line}: {outcome:?}"
        );
    }
}

/// Sends an edit of the fixture's `app.py`.
fn event(fixture: &Fixture, session: &str, id: &str) -> Outcome {
    let root = fixture.root();
    let mut event = claude(&root, "PreToolUse", id, "Edit", edit(&root, "app.py", "x = 1", "x = 2"));
    event["session_id"] = session.into();
    let mut command = fixture.command();
    command.arg("hook").stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.to_string().as_bytes()).unwrap();
    outcome(&child.wait_with_output().unwrap())
}

#[test]
fn before_trust_only_built_in_gates_run_and_this_is_said_once_a_session() {
    let fixture = Fixture::new();
    fixture.program("bin/it");
    fixture.policy("root/quality.yaml", "[it]");
    let first = event(&fixture, "s1", "1");
    let reply: Value = serde_json::from_str(&first.stdout).unwrap_or_else(|_| panic!("{first:?}"));
    assert!(
        context(&reply).contains("did not run it") && context(&reply).contains("lockgate trust"),
        "{reply}"
    );
    assert_eq!(event(&fixture, "s1", "2").stdout, "", "once a session");
    assert!(
        event(&fixture, "s2", "3").stdout.contains("lockgate trust"),
        "the next session gets the message again"
    );
    assert_eq!(fixture.ran(), [""; 0]);
    // The control: with trust, the program runs, and its finding denies the edit.
    fixture.trust(".");
    assert_eq!(event(&fixture, "s1", "4").stdout, "");
    assert_eq!(fixture.ran().len(), 1);
    fixture.write("bin/it", "#!/bin/sh\nif grep -q 'x = 2'; then exit 1; fi\n");
    fixture.executable("bin/it");
    fixture.trust(".");
    let refused = event(&fixture, "s1", "5");
    let reply: Value = serde_json::from_str(&refused.stdout).unwrap_or_else(|_| panic!("{refused:?}"));
    assert!(denial(&reply).contains("bad"), "{reply}");
    assert_eq!(std::fs::read_to_string(fixture.at("root/app.py")).unwrap(), "x = 1\n");
}

#[test]
fn at_the_deadline_the_policy_says_what_happens() {
    for (fail, is_denied) in [("open", false), ("closed", true)] {
        let fixture = Fixture::new();
        fixture.write("bin/it", "#!/bin/sh\nsleep 60\n");
        fixture.executable("bin/it");
        fixture.write(
            "root/quality.yaml",
            &format!("{}hooks: {{ deadline: 1s, fail: {fail} }}\n", policy("[it]")),
        );
        fixture.trust(".");
        let started = Instant::now();
        let outcome = event(&fixture, "s", "1");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        assert_eq!(outcome.exit, 0, "{outcome:?}");
        assert!(
            outcome.stderr.starts_with("lockgate hook: ") && outcome.stderr.lines().count() == 1,
            "{outcome:?}"
        );
        assert_eq!(outcome.stdout.contains("fail: closed"), is_denied, "{outcome:?}");
        assert_eq!(outcome.stdout.is_empty(), !is_denied, "{outcome:?}");
    }
}

/// Sends an event and leaves its pipe open.
fn send_and_leave_open(project: &Project, event: &str) -> Outcome {
    let mut command = lockgate(&project.user());
    command.arg("hook").current_dir(project.root()).stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut open = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut open, event.as_bytes()).unwrap();
    let end = Instant::now() + Duration::from_secs(40);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it waits for the end of the event");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(open);
    outcome(&child.wait_with_output().unwrap())
}

#[test]
fn an_event_is_judged_when_it_is_whole_and_at_the_deadline_if_it_never_is() {
    let project = Project::new();
    project.write("quality.yaml", "quality_gates: { python: [{ tool: syntax }] }\n");
    let event = |id| bad(&project, id).to_string();
    for whole in [event("1"), event("2") + "\n"] {
        let answer = send_and_leave_open(&project, &whole);
        let reply: Value = serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{answer:?}"));
        assert!(denial(&reply).contains("app.py:"), "{reply}");
    }
    let mut cut = event("3");
    cut.pop();
    let cut = send_and_leave_open(&project, &cut);
    assert_eq!((cut.exit, cut.stdout.as_str()), (0, ""), "{cut:?}");
    assert!(cut.stderr.contains("within 25s"), "{cut:?}");
}

/// The project of an attacker: whatever its policy says of `hooks`, the guard that the user set up stays, until a person
/// trusts that policy. `fail`, `drift` and `cline` cannot make it laxer than the default.
#[test]
fn a_project_cannot_configure_its_own_hook_to_pass() {
    let project = Project::new();
    let policy = |hooks: &str| format!("quality_gates: {{ python: [{{ tool: syntax }}] }}\nhooks: {hooks}\n");
    let lax = policy("{ deadline: 100ms, fail: open, drift: rewrite, cline: warn, bytes: report }");
    project.write("quality.yaml", &lax);
    let big: String =
        (0..20_000).map(|number| format!("value_{number} = [{number}, ({number})]\n")).collect();
    project.write("app.py", format!("{big}{PYTHON}"));
    // The deadline of the default still holds: a large text is judged.
    let outcome = project.call(&["hook"], &bad(&project, "1").to_string());
    let reply: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"));
    assert!(denial(&reply).contains("app.py:20002"), "{outcome:?}");
    for (command, exit) in [(["trust", "status"], 8), (["trust", "--yes"], 0), (["trust", "status"], 0)] {
        let outcome = project.call(&command, "");
        assert_eq!(outcome.exit, exit, "{outcome:?}");
    }
    // The control: with trust, the deadline of the policy ends before the judgement.
    let outcome = project.call(&["hook"], &bad(&project, "2").to_string());
    assert!(outcome.stdout.is_empty() && outcome.stderr.contains("100ms"), "{outcome:?}");
    // What is at least as strict as the default counts without trust.
    project.write("quality.yaml", policy("{ fail: closed, bytes: deny, cline: cancel, drift: keep }"));
    let status = project.call(&["trust", "status"], "");
    assert!(status.exit == 0 && status.stdout.contains("trusted"), "{status:?}");
}

#[test]
fn a_missing_root_is_named_and_the_edit_passes() {
    let project = Project::new();
    let outcome = project.call(&["hook", "--root", "missing"], &bad(&project, "1").to_string());
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (0, ""), "{outcome:?}");
    assert!(outcome.stderr.contains("there is no folder missing"), "{outcome:?}");
    // The control, by the name of the host that `init` has.
    let outcome = project.call(&["hook", "claude", "--root", "."], &bad(&project, "2").to_string());
    assert!(outcome.stdout.contains("deny"), "{outcome:?}");
}

#[test]
fn the_host_may_be_named() {
    let project = Project::new();
    let payload = good(&project, "1").to_string();
    for (arguments, exit) in [(vec!["hook", "claude-code"], 0), (vec!["hook", "emacs"], 2)] {
        assert_eq!(project.call(&arguments, &payload).exit, exit);
    }
    assert_eq!(project.text("app.py"), PYTHON);
}

/// A finding that a single edit may have on the way does not deny a call of one file, and the model is told it. The
/// control: with a `level` in the policy the same call is denied.
#[test]
fn findings_that_a_single_edit_may_have_do_not_deny_a_call_of_one_file() {
    for (level, is_denied) in [("", false), (", level: block", true)] {
        let project = Project::new();
        let policy = format!(
            "define:\n  later:\n    kind: pattern\n    languages: [python]\n    must_not_match: '^import os$'\n    \
             message: not used yet\n    transitional: {{ always: ['not used yet'] }}\nquality_gates:\n  \
             python: [{{ tool: later{level} }}]\n"
        );
        project.write("quality.yaml", policy);
        let input = edit(&project.root(), "app.py", "def total", "import os\n\n\ndef total");
        let answer = project.hook(&claude(&project.root(), "PreToolUse", "t1", "Edit", input));
        let (denied, told) = (denial(&answer), context(&answer));
        assert_eq!(denied.contains("not used yet"), is_denied, "{answer}");
        assert_eq!(told.contains("not used yet (tolerated in a single edit)"), !is_denied, "{answer}");
    }
}

/// The warnings of an edit that passes reach the model. The control: an edit without any passes in silence.
#[test]
fn warnings_do_not_deny_a_call_and_the_model_is_told_them() {
    let project = Project::new();
    project.write(
        "quality.yaml",
        "define:\n  style:\n    kind: pattern\n    languages: [python]\n    must_not_match: 'TODO'\n    message: left open\n\
         quality_gates:\n  python: [{ tool: style, level: warn }]\n",
    );
    for (number, (new, is_told)) in
        [("# TODO\ndef total", true), ("# done\ndef total", false)].iter().enumerate()
    {
        let input = edit(&project.root(), "app.py", "def total", new);
        let id = format!("t{number}");
        let event = claude(&project.root(), "PreToolUse", &id, "Edit", input);
        let answer = project.hook(&event);
        assert_eq!(denial(&answer), "", "{answer}");
        assert_eq!(project.hook(&event), Value::Null, "another hook has judged it");
        assert_eq!(context(&answer).contains("warning (style): left open"), *is_told, "{answer}");
        assert_eq!(context(&answer).is_empty(), !is_told, "{answer}");
    }
}
