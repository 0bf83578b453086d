//! Positive controls: a false answer is detected.

use serde_json::Value;

use super::check_answer;
use super::diffs::{check_moved_lines, diff_applies};
use crate::suite::cases::workspace::{CaseWorkspace, State, version};
use crate::suite::wire::Answer;

const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";

#[test]
fn a_wrong_diff_is_detected() {
    assert_eq!(diff_applies(DIFF, "x", Some(b"a\nb\n"), Some(b"a\nc\n")), Ok(()));
    assert!(diff_applies(DIFF, "x", Some(b"a\nb\n"), Some(b"a\nd\n")).is_err());
    assert!(diff_applies(DIFF, "x", Some(b"a\nx\n"), None).is_err());
}

#[test]
fn a_wrong_line_map_is_detected() {
    let check_shift = |by: i64| {
        let response = serde_json::json!({"edits": [{"start_line": 1, "end_line": 1}], "line_map": [{"from": 2, "by": by}]});
        check_moved_lines(&response, Some(b"a\nb\nc\n"), Some(b"1\n2\nb\nc\n"))
    };
    assert_eq!(check_shift(1), Ok(()));
    assert!(check_shift(0).is_err() && check_shift(2).is_err());
}

#[test]
fn a_false_read_response_is_detected() {
    let workspace = CaseWorkspace::new();
    std::fs::write(workspace.root().join("x"), "one\ntwo\n").unwrap();
    let broken = |version_text: String, content: &str, text: &str| {
        let structured = serde_json::json!({"path": "x", "version": version_text, "start_line": 1, "total_lines": 2, "content": content});
        let mut broken = Vec::new();
        check_answer(
            &Answer { is_error: false, structured, text: text.into() },
            &workspace,
            &State::new(),
            &mut broken,
        );
        broken.len()
    };
    let (version_text, content) = (version(b"one\ntwo\n"), "1: one\n2: two");
    assert_eq!(broken(version_text.clone(), content, content), 0);
    assert_eq!(broken(version(b"one\n"), content, content), 1);
    assert_eq!(broken(version_text.clone(), content, "1: one"), 1);
    assert_eq!(broken(version_text, "1: one\n3: two", "1: one\n3: two"), 1);
}

#[test]
fn a_false_ai_edit_answer_is_detected() {
    let workspace = CaseWorkspace::new();
    std::fs::write(workspace.root().join("x"), "new").unwrap();
    let honest = serde_json::json!({"status": "success", "outcome": "written", "success": true, "written": true,
        "message": "m", "file_path": "x", "version": version(b"new"), "created": true, "edit_id": "7f3a-1",
        "bytes_outside_edit": "unchanged"});
    let failure = serde_json::json!({"status": "failure", "outcome": "refused", "success": false, "written": false,
        "message": "m", "error": "m", "file_path": "x", "code": "INVALID_INPUT", "detail": "GATE_REFUSED"});
    let text = "nothing was written: INVALID_INPUT (GATE_REFUSED)";
    let broken = |structured: Value, is_error: bool| {
        let answer = Answer { is_error, structured, text: if is_error { text } else { "" }.into() };
        let mut broken = Vec::new();
        check_answer(&answer, &workspace, &State::new(), &mut broken);
        broken.len()
    };
    assert_eq!((broken(honest.clone(), false), broken(failure.clone(), true)), (0, 0));
    assert!(broken(honest.clone(), true) > 0 && broken(failure.clone(), false) > 0);
    for (is_error, field, false_value) in [
        (false, "outcome", Value::from("success")),
        (false, "outcome", Value::from("refused")),
        (false, "status", Value::from("failure")),
        (false, "file_path", Value::Null),
        (false, "error", Value::from("m")),
        (false, "version", Value::from("000000000000")),
        (true, "code", Value::from("GATE_REFUSED")),
        (true, "detail", Value::Null),
        (true, "error", Value::from("other")),
        (true, "status", Value::from("success")),
    ] {
        let mut false_answer = if is_error { failure.clone() } else { honest.clone() };
        false_answer[field] = false_value;
        assert!(broken(false_answer, is_error) > 0, "a lie in {field} was taken");
    }
}

#[test]
fn false_search_text_and_list_responses_are_detected() {
    let workspace = CaseWorkspace::new();
    std::fs::write(workspace.root().join("x"), "one\ntwo\nthree\n").unwrap();
    let version_text = version(b"one\ntwo\nthree\n");
    let broken = |structured: &Value, text: &str| {
        let answer = Answer { is_error: false, structured: structured.clone(), text: text.to_owned() };
        let mut broken = Vec::new();
        check_answer(&answer, &workspace, &State::new(), &mut broken);
        broken.len()
    };
    let check_rejected = |honest: &Value, text: &str, false_claims: &[(&str, Value)]| {
        assert_eq!(broken(honest, text), 0);
        for (at, false_value) in false_claims {
            let mut response = honest.clone();
            *response.pointer_mut(at).unwrap() = false_value.clone();
            assert!(broken(&response, text) > 0, "a lie in {at} was taken");
        }
    };
    let found = serde_json::json!({"total_matches": 1, "truncated": false, "matches": [{"path": "x", "version": version_text,
        "line_number": 2, "match": "two", "context_before": ["1: one"], "context_after": ["3: three"]}]});
    let false_claims = [
        ("/total_matches", Value::from(2)),
        ("/total_matches", Value::from(0)),
        ("/matches/0/version", Value::from("000000000000")),
        ("/matches/0/line_number", Value::from(1)),
        ("/matches/0/match", Value::from("tw")),
        ("/matches/0/context_before/0", Value::from("1: two")),
        ("/matches/0/context_after/0", Value::from("4: three")),
    ];
    check_rejected(&found, &format!("x (version {version_text})\n1- one\n2: two\n3- three\n"), &false_claims);
    let whole = serde_json::json!({"path": "x", "version": version_text, "total_lines": 3, "content": "one\ntwo\nthree\n"});
    let false_claims = [("/content", Value::from("one\n2\n")), ("/total_lines", Value::from(4))];
    check_rejected(&whole, "one\ntwo\nthree\n", &false_claims);
    let entries = serde_json::json!({"entries": [{"path": "x", "version": version_text, "size": 14}]});
    check_rejected(
        &entries,
        &format!("x: 14 bytes, version {version_text}"),
        &[("/entries/0/version", Value::from("000000000000"))],
    );
}

#[test]
fn a_false_edit_response_is_detected() {
    let workspace = CaseWorkspace::new();
    std::fs::write(workspace.root().join("x"), "new").unwrap();
    let mut honest = serde_json::json!({"status": "written", "success": true, "written": true, "message": "m",
        "path": "x", "version": version(b"new"), "created": true, "bytes_outside_edit": "unchanged",
        "edit_id": "7f3a-1"});
    let broken = |structured: &Value| {
        let answer = Answer { is_error: false, structured: structured.clone(), text: String::new() };
        let mut broken = Vec::new();
        check_answer(&answer, &workspace, &State::new(), &mut broken);
        broken.len()
    };
    assert_eq!(broken(&honest), 0);
    for (field, false_value) in [
        ("version", Value::from("000000000000")),
        ("written", Value::from(false)),
        ("success", Value::from(false)),
        ("bytes_outside_edit", Value::from("changed")),
        ("created", Value::Null),
        ("removed", Value::from(true)),
        ("edit_id", Value::Null),
        ("status", Value::from("done")),
        ("code", Value::from("NO_MATCH")),
    ] {
        let true_value = std::mem::replace(&mut honest[field], false_value);
        assert!(broken(&honest) > 0, "a lie in {field} was taken");
        honest[field] = true_value;
    }
}
