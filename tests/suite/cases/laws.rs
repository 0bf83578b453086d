//! What holds of every answer to an edit or a look, whatever the case is about.

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

/// Collects each law that the answer to a call breaks; `before` is what stood there before it.
pub fn hold(answer: &Answer, world: &CaseWorkspace, before: &State, broken: &mut Vec<String>) {
    match answer.status() {
        "" if !answer.is_error => check_read(answer, world, broken),
        "success" | "failure" => check_ai_edit_answer(answer, world, before, broken),
        _ => hold_edit(answer, world, before, broken),
    }
}

/// Collects each law that the answer to an edit breaks.
fn hold_edit(answer: &Answer, world: &CaseWorkspace, before: &State, broken: &mut Vec<String>) {
    let seen = &answer.structured;
    let mut law = |holds: bool, words: &str| {
        if !holds {
            broken.push(format!("a law of every answer is broken: {words}; the answer is {seen}"));
        }
    };
    let status = answer.status();
    let written = status == "written";
    let refused = status == "refused";
    law(
        refused || ["written", "unchanged", "verified", "already_applied"].contains(&status),
        "a known status",
    );
    law(answer.is_error == refused, "isError is true for a refusal and only for one");
    law(seen["success"] == Value::Bool(!refused), "success says the same as the status");
    law(seen["code"].is_string() == refused, "a refusal has a code and a success has none");
    law(seen["message"].is_string(), "there is a message");
    law(!refused || answer.text.contains("nothing was written"), "a refusal says that nothing was written");
    law(answer.text.contains(answer.code()), "the text names the code");
    law((seen["written"] == Value::Bool(true)) == written, "`written` says the same as the status");
    law(seen.to_string().len() + answer.text.len() <= LONGEST, "an answer has at most 8 KB");
    law(
        !written || seen["edit_id"].is_string() || notes_why(seen),
        "a written edit has a name, or says why not",
    );
    if let Some(files) = seen["files"].as_array() {
        law(files.iter().all(|file| file["success"].is_null()), "what all have in common is said once");
        for file in files {
            let mut file = file.clone();
            if file["bytes_outside_edit"].is_null() {
                file["bytes_outside_edit"] = seen["bytes_outside_edit"].clone();
            }
            hold_file(&file, seen, world, before, &mut law);
        }
        return;
    }
    if seen["path"].is_null() {
        law(refused, "a success names the path");
        return;
    }
    hold_file(seen, seen, world, before, &mut law);
}

/// Collects each law that an answer breaks which has the form that callers of `ai_edit_code` know: what it adds, and
/// those of every edit.
fn check_ai_edit_answer(answer: &Answer, world: &CaseWorkspace, before: &State, broken: &mut Vec<String>) {
    let seen = &answer.structured;
    let mut law = |holds: bool, words: &str| {
        if !holds {
            broken.push(format!("a law of every dressed answer is broken: {words}; the answer is {seen}"));
        }
    };
    let failed = answer.status() == "failure";
    let few = ["FILE_NOT_FOUND", "PERMISSION_DENIED", "EDIT_CONFLICT", "INVALID_INPUT"];
    law(answer.is_error == failed, "isError is true for a failure and only for one");
    law(
        seen["file_path"].is_string() && seen["path"].is_null(),
        "file_path is always there, and path is not",
    );
    law(few.contains(&answer.code()) == failed, "a failure has one of four codes and a success has none");
    law(seen["detail"].is_string() == failed, "a failure has the precise code, too");
    law(!failed || seen["error"] == seen["message"], "the error is the message");
    law(failed || seen["error"].is_null(), "a success has no error");
    law(answer.text.contains(answer.code()), "the text names the code");
    let mut plain = answer.clone();
    for (own, name) in [("outcome", "status"), ("detail", "code"), ("file_path", "path")] {
        plain.structured[name] = seen[own].clone();
    }
    if plain.structured["path"] == "" {
        plain.structured["path"] = Value::Null;
    }
    hold_edit(&plain, world, before, broken);
}

/// The laws of what is said about one file.
fn hold_file(
    seen: &Value,
    whole: &Value,
    world: &CaseWorkspace,
    before: &State,
    law: &mut impl FnMut(bool, &str),
) {
    let (path, status) = (seen["path"].as_str().unwrap_or(""), seen["status"].as_str().unwrap_or(""));
    let (written, refused) = (status == "written", status == "refused");
    law(!written || outside(seen), "bytes outside the edit were compared");
    let entity = stored::entity_in_answer(seen, whole);
    let on_disk = world.text(entity.as_deref().unwrap_or(path));
    let there = on_disk.as_deref().map(version);
    law(refused || seen["version"].as_str() == there.as_deref(), "version is what is on disk after the call");
    let told = seen["version"].is_null() || seen["version"].as_str() == there.as_deref();
    law(told, "a version in a refusal is what is on disk");
    let target = seen["resolved_path"].as_str().unwrap_or(path);
    let old = match before.get(entity.as_deref().unwrap_or(target)).map(|entry| &entry.kind) {
        Some(Kind::File(bytes)) => Some(bytes.as_slice()),
        _ => None,
    };
    law(!written || seen["previous_version"].as_str() == old.map(version).as_deref(), "previous_version");
    law(!written || (seen["created"] == Value::Bool(true)) == old.is_none(), "created");
    law((seen["removed"] == Value::Bool(true)) == (written && on_disk.is_none()), "removed");
    if status == "already_applied" {
        // Its diff and its lines are those of the edit, which is in the past.
        return;
    }
    let diff = seen["diff"].as_str().unwrap_or("");
    let new = if written { on_disk.as_deref() } else { None };
    if let Err(why) = diff_applies(diff, target, old, new) {
        law(false, &format!("git applies the diff ({why})"));
    }
    // The lines of an older version, of which the call spoke, have moved further than those of the last one.
    let carried = seen["notes"].to_string().contains("rebased from version");
    if let Err(why) = check_moved_lines(seen, old, new)
        && !carried
    {
        law(false, &format!("line_map and edits say where the lines are ({why})"));
    }
}

/// True if an edit that has no name says that it cannot be undone.
fn notes_why(seen: &Value) -> bool {
    seen["notes"].to_string().contains("cannot be undone")
}

fn is_in(answer: &Answer, told: &Value) -> bool {
    answer.text.contains(told.as_str().unwrap_or_default())
}

/// The laws of a list of files with their versions.
fn hold_versions(answer: &Answer, world: &CaseWorkspace, law: &mut impl FnMut(bool, &str)) {
    for (path, told) in answer.structured["versions"].as_object().into_iter().flatten() {
        let there = world.text(path).as_deref().map(version);
        law(told.as_str() == there.as_deref(), "version is what is on disk");
        law(is_in(answer, told) && answer.text.contains(path.as_str()), "the text names the same files");
    }
}

/// True if the answer reports the bytes outside the edit as unchanged, or as changed by fixers.
fn outside(seen: &Value) -> bool {
    let gates = seen["gates"].as_array().cloned().unwrap_or_default();
    let fixed: Vec<&str> =
        gates.iter().filter(|run| run["outcome"] == "fixed").filter_map(|run| run["gate"].as_str()).collect();
    let said = seen["bytes_outside_edit"].as_str().unwrap_or_default();
    said == "unchanged" || (!fixed.is_empty() && said == format!("changed by {}", fixed.join(", ")))
}
