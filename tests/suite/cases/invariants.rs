//! Invariants of every answer to an edit or a read, in every case.

mod diffs;
mod reads;
mod response_claims;

use serde_json::Value;

use super::entry::Kind;
use super::stored;
use super::workspace::{CaseWorkspace, State, version};
use crate::suite::wire::Answer;
use diffs::{check_moved_lines, diff_applies};
use reads::check_read;

/// The greatest length of an answer, in bytes of JSON.
const LONGEST: usize = 8 * 1024;

/// Collects each invariant that the answer to a call breaks; `before` is the state before it.
pub fn check_answer(answer: &Answer, workspace: &CaseWorkspace, before: &State, broken: &mut Vec<String>) {
    match answer.status() {
        "" if !answer.is_error => check_read(answer, workspace, broken),
        "success" | "failure" => check_ai_edit_answer(answer, workspace, before, broken),
        _ => check_edit(answer, workspace, before, broken),
    }
}

/// Collects each invariant that the answer to an edit breaks.
fn check_edit(answer: &Answer, workspace: &CaseWorkspace, before: &State, broken: &mut Vec<String>) {
    let response = &answer.structured;
    let mut check = |holds: bool, words: &str| {
        if !holds {
            broken.push(format!("a law of every answer is broken: {words}; the answer is {response}"));
        }
    };
    let status = answer.status();
    let written = status == "written";
    let refused = status == "refused";
    check(
        refused || ["written", "unchanged", "verified", "already_applied"].contains(&status),
        "a known status",
    );
    check(answer.is_error == refused, "isError is true for a rejection and only for one");
    check(response["success"] == Value::Bool(!refused), "success says the same as the status");
    check(response["code"].is_string() == refused, "a rejection has a code and a success has none");
    check(response["message"].is_string(), "there is a message");
    check(
        !refused || ["nothing was written: ", "not read: "].iter().any(|what| answer.text.starts_with(what)),
        "a rejection says that nothing was written, or that nothing was read",
    );
    check(answer.text.contains(answer.code()), "the text names the code");
    check((response["written"] == Value::Bool(true)) == written, "`written` says the same as the status");
    check(response.to_string().len() + answer.text.len() <= LONGEST, "an answer has at most 8 KB");
    check(
        !written || response["edit_id"].is_string() || notes_why(response),
        "a written edit has a name, or says why not",
    );
    if let Some(files) = response["files"].as_array() {
        check(files.iter().all(|file| file["success"].is_null()), "what all have in common is said once");
        for file in files {
            let mut file = file.clone();
            if file["bytes_outside_edit"].is_null() {
                file["bytes_outside_edit"] = response["bytes_outside_edit"].clone();
            }
            check_file(&file, response, workspace, before, &mut check);
        }
        return;
    }
    if response["path"].is_null() {
        check(refused, "a success names the path");
        return;
    }
    check_file(response, response, workspace, before, &mut check);
}

/// Collects each invariant that an answer breaks which has the form that callers of `ai_edit_code` know: what it adds, and
/// those of every edit.
fn check_ai_edit_answer(
    answer: &Answer,
    workspace: &CaseWorkspace,
    before: &State,
    broken: &mut Vec<String>,
) {
    let response = &answer.structured;
    let mut check = |holds: bool, words: &str| {
        if !holds {
            broken
                .push(format!("a law of every rendered answer is broken: {words}; the answer is {response}"));
        }
    };
    let failed = answer.status() == "failure";
    let few = ["FILE_NOT_FOUND", "PERMISSION_DENIED", "EDIT_CONFLICT", "INVALID_INPUT"];
    check(answer.is_error == failed, "isError is true for a failure and only for one");
    check(
        response["file_path"].is_string() && response["path"].is_null(),
        "file_path is always there, and path is not",
    );
    check(few.contains(&answer.code()) == failed, "a failure has one of four codes and a success has none");
    check(response["detail"].is_string() == failed, "a failure has the precise code, too");
    check(!failed || response["error"] == response["message"], "the error is the message");
    check(failed || response["error"].is_null(), "a success has no error");
    check(answer.text.contains(answer.code()), "the text names the code");
    let mut plain = answer.clone();
    for (own, name) in [("outcome", "status"), ("detail", "code"), ("file_path", "path")] {
        plain.structured[name] = response[own].clone();
    }
    if plain.structured["path"] == "" {
        plain.structured["path"] = Value::Null;
    }
    check_edit(&plain, workspace, before, broken);
}

/// The invariants of the response about one file.
fn check_file(
    response: &Value,
    whole: &Value,
    workspace: &CaseWorkspace,
    before: &State,
    check: &mut impl FnMut(bool, &str),
) {
    let (path, status) = (response["path"].as_str().unwrap_or(""), response["status"].as_str().unwrap_or(""));
    let (written, refused) = (status == "written", status == "refused");
    check(!written || outside(response), "bytes outside the edit were compared");
    let entity = stored::entity_in_answer(response, whole);
    let on_disk = workspace.text(entity.as_deref().unwrap_or(path));
    let disk_version = on_disk.as_deref().map(version);
    check(
        refused || response["version"].as_str() == disk_version.as_deref(),
        "version is what is on disk after the call",
    );
    let is_consistent =
        response["version"].is_null() || response["version"].as_str() == disk_version.as_deref();
    check(is_consistent, "a version in a rejection is what is on disk");
    let target = response["resolved_path"].as_str().unwrap_or(path);
    let old = match before.get(entity.as_deref().unwrap_or(target)).map(|entry| &entry.kind) {
        Some(Kind::File(bytes)) => Some(bytes.as_slice()),
        _ => None,
    };
    check(
        !written || response["previous_version"].as_str() == old.map(version).as_deref(),
        "previous_version",
    );
    check(!written || (response["created"] == Value::Bool(true)) == old.is_none(), "created");
    check((response["removed"] == Value::Bool(true)) == (written && on_disk.is_none()), "removed");
    if status == "already_applied" {
        // Its diff and its lines are those of the edit, which is in the past.
        return;
    }
    let diff = response["diff"].as_str().unwrap_or("");
    let new = if written { on_disk.as_deref() } else { None };
    if let Err(why) = diff_applies(diff, target, old, new) {
        check(false, &format!("git applies the diff ({why})"));
    }
    // The lines of an older version, of which the call spoke, have moved further than those of the last one.
    let is_rebased = response["notes"].to_string().contains("rebased from version");
    if let Err(why) = check_moved_lines(response, old, new)
        && !is_rebased
    {
        check(false, &format!("line_map and edits say where the lines are ({why})"));
    }
}

/// True if an edit that has no name says that it cannot be undone.
fn notes_why(response: &Value) -> bool {
    response["notes"].to_string().contains("cannot be undone")
}

fn is_in(answer: &Answer, reported: &Value) -> bool {
    answer.text.contains(reported.as_str().unwrap_or_default())
}

/// The invariants of a list of files with their versions.
fn check_versions(answer: &Answer, workspace: &CaseWorkspace, check: &mut impl FnMut(bool, &str)) {
    for (path, reported) in answer.structured["versions"].as_object().into_iter().flatten() {
        let disk_version = workspace.text(path).as_deref().map(version);
        check(reported.as_str() == disk_version.as_deref(), "version is what is on disk");
        check(
            is_in(answer, reported) && answer.text.contains(path.as_str()),
            "the text names the same files",
        );
    }
}

/// True if the answer reports the bytes outside the edit as unchanged, or as changed by fixers.
fn outside(response: &Value) -> bool {
    let gates = response["gates"].as_array().cloned().unwrap_or_default();
    let fixed: Vec<&str> =
        gates.iter().filter(|run| run["outcome"] == "fixed").filter_map(|run| run["gate"].as_str()).collect();
    let bytes_outside = response["bytes_outside_edit"].as_str().unwrap_or_default();
    bytes_outside == "unchanged"
        || (!fixed.is_empty() && bytes_outside == format!("changed by {}", fixed.join(", ")))
}
