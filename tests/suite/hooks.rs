//! `lockgate hook` as hosts start it: one event on standard input, the answer on standard output, an exit code.

mod bytes;
mod history;
mod hostile;
mod patches;
mod policy;
mod recordings;
mod warm;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::files;
use super::wire::{Outcome, run_for};

const PYTHON: &str = "def total(items):\n    return sum(items)\n";

/// A project, and the user's own folders beside it.
struct Project {
    dir: TempDir,
}

impl Project {
    fn new() -> Project {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        let project = Project { dir };
        project.write("app.py", PYTHON);
        project
    }

    fn user(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("user")
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("root")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        files::write(self.at(path), bytes);
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    fn call(&self, arguments: &[&str], input: &str) -> Outcome {
        run_for(&self.user(), arguments, &self.root(), input)
    }

    /// Sends an event; gives the JSON of the answer, `null` for none. The exit code must be 0.
    #[track_caller]
    fn hook(&self, payload: &Value) -> Value {
        let outcome = self.call(&["hook"], &payload.to_string());
        assert_eq!(outcome.exit, 0, "{outcome:?}");
        answer(&outcome)
    }

    /// The history, the newest edit first.
    fn log(&self) -> Vec<Value> {
        let outcome = self.call(&["log", "--json"], "");
        assert_eq!(outcome.exit, 0, "{outcome:?}");
        let log: Value = serde_json::from_str(&outcome.stdout).unwrap();
        log["edits"].as_array().unwrap_or_else(|| panic!("{log:#}")).clone()
    }
}

#[track_caller]
fn answer(outcome: &Outcome) -> Value {
    if outcome.stdout.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{outcome:?}"))
}

/// An event of Claude Code.
fn claude(root: &Path, event: &str, id: &str, tool: &str, input: Value) -> Value {
    json!({
        "session_id": "s1", "transcript_path": "/nowhere/t.jsonl", "cwd": root, "permission_mode": "acceptEdits",
        "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": id,
    })
}

/// The input of Claude Code's `Edit`.
fn edit(root: &Path, path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": root.join(path), "old_string": old, "new_string": new, "replace_all": false})
}

/// The reason of a denial in Claude Code's form; empty for any other answer.
fn denial(answer: &Value) -> &str {
    let specific = &answer["hookSpecificOutput"];
    match specific["permissionDecision"].as_str() {
        Some("deny") => specific["permissionDecisionReason"].as_str().unwrap(),
        _ => "",
    }
}

/// What the model is told beside an edit that passes.
fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}
