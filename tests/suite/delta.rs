//! Only what an edit brings counts: a file with ten old findings of the real ruff takes every edit that adds none, and an
//! eleventh is refused, naming only that one.

mod table;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::mcp::installed;
use super::wire::{Answer, Server};
use table::{Case, Expected, OLD, table};

/// The policy of the project: the parser, and ruff with its rules of many years.
const POLICY: &str = "quality_gates:\n  python: [{ tool: syntax }, { tool: ruff }]\n";

/// A server in a project whose policy a person trusts.
fn server(root: &Path, policy: &str) -> Server {
    fs::write(root.join("quality.yaml"), policy).unwrap();
    Server::start(root, &["--trust"])
}

/// What an answer says of findings that pass this filter: their lines and codes, in the order of the text.
fn findings(answer: &Answer, filter: impl Fn(&Value) -> bool) -> Vec<(u64, String)> {
    let all = answer.structured["findings"].as_array().cloned().unwrap_or_default();
    let mut found: Vec<(u64, String)> = all
        .iter()
        .filter(|finding| filter(finding))
        .map(|finding| (finding["line"].as_u64().unwrap(), finding["code"].as_str().unwrap_or("").to_owned()))
        .collect();
    found.sort();
    found
}

/// Sends the edit of a case to a file of its own, and says how the answer differs from what the case says.
fn wrong(server: &mut Server, root: &Path, number: usize, case: &Case) -> Option<String> {
    let (name, before) = (format!("case_{number}.py"), case.before.to_owned());
    let file = root.join(&name);
    if !before.is_empty() {
        fs::write(&file, &before).unwrap();
    }
    let mut arguments = case.edit.clone();
    arguments["path"] = json!(name);
    let answer = server.call("safe_edit_file", &arguments);
    let text = fs::read_to_string(&file).unwrap_or_default();
    let (status, expected): (&str, &[(u64, &str)]) = match &case.ends {
        Expected::Written(tolerated) => ("written", tolerated),
        Expected::Refused(new) => ("refused", new),
    };
    let refused = status == "refused";
    let new = findings(&answer, |finding| finding["new"] == json!(true));
    let blocking = findings(&answer, |finding| finding["blocking"] == json!(true));
    let expected: Vec<(u64, String)> =
        expected.iter().map(|(line, code)| (*line, (*code).to_owned())).collect();
    let errors = answer.structured["errors"].as_array().map_or(0, Vec::len);
    let ruff = answer.structured["gates"].to_string();
    let right = answer.status() == status
        && new == expected
        && blocking == if refused { expected.clone() } else { Vec::new() }
        && errors == blocking.len()
        && (text == before) == refused
        && ruff.contains(r#""gate":"ruff","outcome""#)
        && !ruff.contains("broken");
    (!right)
        .then(|| format!("{}: wanted {status} {expected:?}, got {new:?} {}", case.name, answer.structured))
}

#[test]
fn an_edit_answers_only_for_what_it_brings() {
    let Some(_) = installed("LOCKGATE_TEST_VENV", "venv", "bin/ruff") else { return };
    let root = tempfile::tempdir().unwrap();
    let mut server = server(root.path(), POLICY);
    let cases = table();
    assert!(cases.len() >= 40, "{}", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .enumerate()
        .filter_map(|(number, case)| wrong(&mut server, root.path(), number, case))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// The control: where old findings count, the very edits that add none are refused.
#[test]
fn the_same_edits_are_refused_if_old_findings_count() {
    let Some(_) = installed("LOCKGATE_TEST_VENV", "venv", "bin/ruff") else { return };
    let root = tempfile::tempdir().unwrap();
    let mut server = server(root.path(), &format!("{POLICY}baseline: file\n"));
    fs::write(root.path().join("a.py"), OLD).unwrap();
    let edit = json!({"path": "a.py", "search": "return 1\n", "replace": "return 10\n"});
    let answer = server.call("safe_edit_file", &edit);
    assert_eq!(
        (answer.code(), findings(&answer, |it| it["blocking"] == json!(true)).len()),
        ("GATE_REFUSED", 10)
    );
    let message = answer.structured["message"].as_str().unwrap();
    assert!(message.contains("leaves 10 findings that block"), "{message}");
    let interactive =
        json!({"path": "a.py", "search": "return 1\n", "replace": "return 10\n", "mode": "interactive"});
    let answer = server.call("safe_edit_file", &interactive);
    let warned = answer.structured["validation_warnings"].as_array().map(Vec::len);
    assert_eq!((answer.status(), warned), ("written", Some(10)), "{}", answer.structured);
}

/// What was hidden by a fault of syntax warns, and what the same edit adds is refused.
#[test]
fn an_edit_that_fixes_a_text_is_judged_by_the_lines_that_it_writes() {
    let Some(_) = installed("LOCKGATE_TEST_VENV", "venv", "bin/ruff") else { return };
    let root = tempfile::tempdir().unwrap();
    let mut server = server(root.path(), POLICY);
    fs::write(root.path().join("a.py"), OLD.replace("return 1\n", "return (1\n")).unwrap();
    let edit = json!({"path": "a.py", "search": "return (1\n", "replace": "return kind == None\n"});
    let answer = server.call("safe_edit_file", &edit);
    let blocking = findings(&answer, |finding| finding["blocking"] == json!(true));
    assert_eq!(
        (answer.code(), blocking),
        ("GATE_REFUSED", vec![(3, "E711".to_owned())]),
        "{}",
        answer.structured
    );
}

/// What `verify_only` shows is what `strict` would do.
#[test]
fn verify_only_fails_where_strict_would() {
    let Some(_) = installed("LOCKGATE_TEST_VENV", "venv", "bin/ruff") else { return };
    let root = tempfile::tempdir().unwrap();
    let mut server = server(root.path(), POLICY);
    fs::write(root.path().join("a.py"), OLD).unwrap();
    for (replace, status) in [("return 10\n", "verified"), ("return kind == None\n", "refused")] {
        let edit =
            |mode: &str| json!({"path": "a.py", "search": "return 1\n", "replace": replace, "mode": mode});
        let preview = server.call("safe_edit_file", &edit("verify_only"));
        assert_eq!(preview.status(), status, "{}", preview.structured);
        assert_eq!(fs::read_to_string(root.path().join("a.py")).unwrap(), OLD);
        let response = server.call("safe_edit_file", &edit("strict"));
        assert_eq!(response.structured["diff"], preview.structured["diff"]);
        assert_eq!(response.structured["errors"], preview.structured["errors"]);
        fs::write(root.path().join("a.py"), OLD).unwrap();
    }
}

/// Real programs in a chain: the formatter fixes the edit's text, the linter sees the fixed text.
#[test]
fn the_checks_see_what_the_formatter_made_of_the_draft() {
    let Some(_) = installed("LOCKGATE_TEST_VENV", "venv", "bin/ruff") else { return };
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("ruff.toml"), "[lint]\nselect = [\"E2\", \"E7\", \"W\"]\npreview = true\n")
        .unwrap();
    let policy = "quality_gates: { python: [{ tool: ruff-format, role: fix }, { tool: ruff }] }\n";
    let mut server = server(root.path(), policy);
    fs::write(root.path().join("a.py"), "x = 1\r\n").unwrap();
    let edit =
        json!({"path": "a.py", "insert_lines": [{"at_line": 2, "content": "y=[ 1,2 ]   \nz = (x==None)\n"}]});
    let answer = server.call("safe_edit_file", &edit);
    let spaces_are_gone = findings(&answer, |finding| finding["blocking"] == json!(true));
    assert_eq!(spaces_are_gone, [(3, "E711".to_owned())], "{}", answer.structured);
    let edit = json!({"path": "a.py", "insert_lines": [{"at_line": 2, "content": "y=[ 1,2 ]   \n"}]});
    let answer = server.call("safe_edit_file", &edit);
    assert_eq!(answer.status(), "written", "{}", answer.structured);
    assert_eq!(fs::read_to_string(root.path().join("a.py")).unwrap(), "x = 1\r\ny = [1, 2]\r\n");
    assert_eq!(answer.structured["notes"], json!(["ruff-format changed 1 line"]));
}
