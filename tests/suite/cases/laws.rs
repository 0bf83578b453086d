//! What holds of every answer to an edit or a look, whatever the case is about.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::stored;
use super::thing::Kind;
use super::world::{State, World, version};
use crate::suite::wire::Answer;

/// The greatest length of an answer, in bytes of JSON.
const LONGEST: usize = 8 * 1024;

/// A diff longer than this may have been cut, so it is not applied.
const WHOLE_DIFF: usize = 5 * 1024;

/// Collects each law that the answer to a call breaks; `before` is what stood there before it.
pub fn hold(answer: &Answer, world: &World, before: &State, broken: &mut Vec<String>) {
    match answer.status() {
        "" if !answer.is_error => hold_look(answer, world, broken),
        "success" | "failure" => hold_dressed(answer, world, before, broken),
        _ => hold_edit(answer, world, before, broken),
    }
}

/// Collects each law that the answer to an edit breaks.
fn hold_edit(answer: &Answer, world: &World, before: &State, broken: &mut Vec<String>) {
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
fn hold_dressed(answer: &Answer, world: &World, before: &State, broken: &mut Vec<String>) {
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
fn hold_file(seen: &Value, whole: &Value, world: &World, before: &State, law: &mut impl FnMut(bool, &str)) {
    let (path, status) = (seen["path"].as_str().unwrap_or(""), seen["status"].as_str().unwrap_or(""));
    let (written, refused) = (status == "written", status == "refused");
    law(!written || outside(seen), "bytes outside the edit were compared");
    let entity = stored::told(seen, whole);
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
    let carried = seen["notes"].to_string().contains("carried over from version");
    if let Err(why) = lines_moved_as_told(seen, old, new)
        && !carried
    {
        law(false, &format!("line_map and edits say where the lines are ({why})"));
    }
}

/// Whether an edit that has no name says that it cannot be taken back.
fn notes_why(seen: &Value) -> bool {
    seen["notes"].to_string().contains("cannot be taken back")
}

/// Collects each law that the answer to a look breaks: it shows what is on disk, in both forms.
fn hold_look(answer: &Answer, world: &World, broken: &mut Vec<String>) {
    let seen = &answer.structured;
    let mut law = |holds: bool, words: &str| {
        if !holds {
            broken.push(format!("a law of every look is broken: {words}; the answer is {seen:.400}"));
        }
    };
    let there = |told: &Value| {
        let entity = stored::told(told, seen);
        entity.as_deref().or(told["path"].as_str()).and_then(|name| world.text(name))
    };
    let is_version =
        |told: &Value| told["version"].as_str() == there(told).as_deref().map(version).as_deref();
    for entry in list(seen, "entries") {
        law(entry["version"].is_null() || is_version(&entry), "version is what is on disk");
        law(
            is_in(answer, &entry["path"]) && is_in(answer, &entry["version"]),
            "the text names the same files",
        );
    }
    let matches = list(seen, "matches");
    for found in &matches {
        law(is_version(found), "version is what is on disk");
        law(
            is_in(answer, &found["path"]) && is_in(answer, &found["version"]),
            "the text names the same files",
        );
        hold_match(found, there(found).and_then(|bytes| view(&bytes)), answer, &mut law);
    }
    if seen["matches"].is_array() {
        let (shown, total) = (matches.len() as u64, seen["total_matches"].as_u64().unwrap_or(0));
        law(shown <= total, "no more is shown than there is");
        law(shown == total || seen["truncated"] == Value::Bool(true), "what is left out is said");
    }
    law(seen["outline"].is_null() || is_version(seen), "version is what is on disk");
    hold_versions(answer, world, &mut law);
    if let Some(content) = seen["content"].as_str() {
        law(is_version(seen), "version is what is on disk");
        law(answer.text.contains(content), "the text shows the same lines");
        hold_content(seen, content, there(seen).and_then(|bytes| view(&bytes)), &mut law);
    }
}

/// The laws of lines, or of a whole text: they are what is on disk.
fn hold_content(seen: &Value, content: &str, lines: Option<Vec<String>>, law: &mut impl FnMut(bool, &str)) {
    let Some(lines) = lines else { return };
    law(seen["total_lines"].as_u64() == Some(lines.len() as u64), "total_lines is what is on disk");
    let Some(first) = seen["start_line"].as_u64() else {
        let whole = lines.join("\n");
        return law(
            whole.starts_with(content.strip_suffix('\n').unwrap_or(content)),
            "the text is what is on disk",
        );
    };
    let shown: Vec<&str> = if content.is_empty() { Vec::new() } else { content.split('\n').collect() };
    let cut = seen["truncated"] == Value::Bool(true);
    let right = |(row, number): (&&str, u64)| is_numbered(row, number, ": ", &lines) || cut;
    law(shown.iter().zip(first..).all(right), "every line has its number");
}

/// The laws of one match: each line that is shown is that line on disk, with its number, and the text shows it, too.
fn hold_match(found: &Value, lines: Option<Vec<String>>, answer: &Answer, law: &mut impl FnMut(bool, &str)) {
    let first = found["line_number"].as_u64().unwrap_or(0);
    let last = found["end_line"].as_u64().unwrap_or(first);
    let rows: Vec<&str> = found["match"].as_str().unwrap_or_default().split('\n').collect();
    let strings = |key: &str| {
        list(found, key).iter().map(|row| row.as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    let (before, after) = (strings("context_before"), strings("context_after"));
    let numbers = first.saturating_sub(before.len() as u64)..first;
    let Some(lines) = lines else { return };
    let right = |(row, number): (&String, u64)| is_numbered(row, number, ": ", &lines);
    law(before.iter().zip(numbers).all(right), "each line before a match is that line on disk");
    law(after.iter().zip(last + 1..).all(right), "each line behind a match is that line on disk");
    let is_shown = |(row, number): (&&str, u64)| {
        is_numbered(&format!("{number}: {row}"), number, ": ", &lines)
            && answer.text.contains(&format!("{number}: {row}\n"))
    };
    law(
        rows.iter().take((last - first + 1) as usize).zip(first..).all(is_shown),
        "each line of a match is that line on disk",
    );
}

/// Whether a row is this line with its number; a long line may be shown in part, with `...` for what is missing.
fn is_numbered(row: &str, number: u64, mark: &str, lines: &[String]) -> bool {
    let Some(shown) = row.strip_prefix(&format!("{number}{mark}")) else { return false };
    let Some(line) = usize::try_from(number).ok().and_then(|number| lines.get(number.wrapping_sub(1))) else {
        return false;
    };
    let part = shown.strip_prefix("...").unwrap_or(shown);
    let part = part.strip_suffix("...").unwrap_or(part);
    shown == line || (part.chars().count() == 500 && line.contains(part))
}

fn list(seen: &Value, key: &str) -> Vec<Value> {
    seen[key].as_array().cloned().unwrap_or_default()
}

fn is_in(answer: &Answer, told: &Value) -> bool {
    answer.text.contains(told.as_str().unwrap_or_default())
}

/// The lines of a file as they are shown; nothing where it is in an encoding that only lockgate reads.
fn view(bytes: &[u8]) -> Option<Vec<String>> {
    let wide = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|unit| read([unit[0], unit[1]])).collect();
        String::from_utf16(&units).ok()
    };
    let text = match bytes {
        [0xFF, 0xFE, ..] => wide(u16::from_le_bytes)?,
        [0xFE, 0xFF, ..] => wide(u16::from_be_bytes)?,
        _ => String::from_utf8(bytes.to_vec()).ok()?,
    };
    Some(lines(text.as_bytes()).into_iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect())
}

/// The laws of a list of files with their versions.
fn hold_versions(answer: &Answer, world: &World, law: &mut impl FnMut(bool, &str)) {
    for (path, told) in answer.structured["versions"].as_object().into_iter().flatten() {
        let there = world.text(path).as_deref().map(version);
        law(told.as_str() == there.as_deref(), "version is what is on disk");
        law(is_in(answer, told) && answer.text.contains(path.as_str()), "the text names the same files");
    }
}

/// Whether the bytes outside of the edit are said to be the same, or to be changed by gates that mended the draft.
fn outside(seen: &Value) -> bool {
    let gates = seen["gates"].as_array().cloned().unwrap_or_default();
    let fixed: Vec<&str> =
        gates.iter().filter(|run| run["outcome"] == "fixed").filter_map(|run| run["gate"].as_str()).collect();
    let said = seen["bytes_outside_edit"].as_str().unwrap_or_default();
    said == "unchanged" || (!fixed.is_empty() && said == format!("changed by {}", fixed.join(", ")))
}

/// Whether every line that no edit names is where `line_map` says.
fn lines_moved_as_told(seen: &Value, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), String> {
    let (Some(old), Some(new)) = (old, new) else { return Ok(()) };
    let list = |key: &str| seen[key].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let (edits, shifts) = (list("edits"), list("line_map"));
    let cut = seen["notes"].to_string().contains("not shown");
    if cut || old.contains(&0) {
        return Ok(());
    }
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old), lines(new));
    for (line, text) in (1..).zip(&old) {
        if edits.iter().any(|edit| (number(&edit["start_line"])..=number(&edit["end_line"])).contains(&line))
        {
            continue;
        }
        let by = shifts
            .iter()
            .rfind(|shift| number(&shift["from"]) <= line)
            .map_or(0, |shift| number(&shift["by"]));
        let there = usize::try_from(line + by - 1).ok().and_then(|at| new.get(at));
        if there != Some(text) {
            return Err(format!("line {line} should be {by} lines further on"));
        }
    }
    Ok(())
}

/// The lines, without their ends and without a byte order mark.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let end = |line: &'_ [u8]| line.len() - usize::from(line.ends_with(b"\r"));
    if bytes.is_empty() {
        Vec::new()
    } else {
        whole.split(|byte| *byte == b'\n').map(|line| &line[..end(line)]).collect()
    }
}

/// Whether `git apply` takes the diff, and makes of the old text the new one where that is known.
fn diff_applies(diff: &str, path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), String> {
    let text = |bytes: Option<&[u8]>| bytes.is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
    if diff.is_empty() || diff.len() > WHOLE_DIFF || !text(old) || !text(new) {
        return Ok(());
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(path);
    std::fs::create_dir_all(file.parent().unwrap_or(folder.path())).unwrap();
    if let Some(old) = old {
        std::fs::write(&file, old).unwrap();
    }
    git_apply(folder.path(), diff)?;
    let applied = std::fs::read(&file).ok();
    if (new.is_some() || diff.contains("\ndeleted file mode")) && applied.as_deref() != new {
        let (applied, new) = (applied.unwrap_or_default(), new.unwrap_or_default());
        return Err(format!("it gives {:?} instead of {:?}", show(&applied), show(new)));
    }
    Ok(())
}

fn show(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&bytes[..bytes.len().min(200)])
}

fn git_apply(folder: &Path, diff: &str) -> Result<(), String> {
    let mut child = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "-"])
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("git is needed for the tests: {error}"))?;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), diff.as_bytes()).ok();
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{} in\n{diff}", String::from_utf8_lossy(&output.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";

    #[test]
    fn a_diff_that_does_not_fit_or_gives_something_else_is_seen() {
        assert_eq!(diff_applies(DIFF, "x", Some(b"a\nb\n"), Some(b"a\nc\n")), Ok(()));
        assert!(diff_applies(DIFF, "x", Some(b"a\nb\n"), Some(b"a\nd\n")).is_err());
        assert!(diff_applies(DIFF, "x", Some(b"a\nx\n"), None).is_err());
    }

    #[test]
    fn a_line_that_is_elsewhere_is_seen() {
        let told = |by: i64| {
            let seen = serde_json::json!({"edits": [{"start_line": 1, "end_line": 1}], "line_map": [{"from": 2, "by": by}]});
            lines_moved_as_told(&seen, Some(b"a\nb\nc\n"), Some(b"1\n2\nb\nc\n"))
        };
        assert_eq!(told(1), Ok(()));
        assert!(told(0).is_err() && told(2).is_err());
    }

    #[test]
    fn a_look_that_lies_is_seen() {
        let world = World::new();
        std::fs::write(world.root().join("x"), "one\ntwo\n").unwrap();
        let broken = |stamp: String, content: &str, text: &str| {
            let structured = serde_json::json!({"path": "x", "version": stamp, "start_line": 1, "total_lines": 2, "content": content});
            let mut broken = Vec::new();
            hold(
                &Answer { is_error: false, structured, text: text.into() },
                &world,
                &State::new(),
                &mut broken,
            );
            broken.len()
        };
        let (stamp, content) = (version(b"one\ntwo\n"), "1: one\n2: two");
        assert_eq!(broken(stamp.clone(), content, content), 0);
        assert_eq!(broken(version(b"one\n"), content, content), 1);
        assert_eq!(broken(stamp.clone(), content, "1: one"), 1);
        assert_eq!(broken(stamp, "1: one\n3: two", "1: one\n3: two"), 1);
    }

    #[test]
    fn a_dressed_answer_that_lies_is_seen() {
        let world = World::new();
        std::fs::write(world.root().join("x"), "new").unwrap();
        let honest = serde_json::json!({"status": "success", "outcome": "written", "success": true, "written": true,
            "message": "m", "file_path": "x", "version": version(b"new"), "created": true, "edit_id": "7f3a-1",
            "bytes_outside_edit": "unchanged"});
        let failure = serde_json::json!({"status": "failure", "outcome": "refused", "success": false, "written": false,
            "message": "m", "error": "m", "file_path": "x", "code": "INVALID_INPUT", "detail": "GATE_REFUSED"});
        let text = "INVALID_INPUT (GATE_REFUSED) nothing was written";
        let broken = |structured: Value, is_error: bool| {
            let answer = Answer { is_error, structured, text: if is_error { text } else { "" }.into() };
            let mut broken = Vec::new();
            hold(&answer, &world, &State::new(), &mut broken);
            broken.len()
        };
        assert_eq!((broken(honest.clone(), false), broken(failure.clone(), true)), (0, 0));
        assert!(broken(honest.clone(), true) > 0 && broken(failure.clone(), false) > 0);
        for (is_error, field, lie) in [
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
            let mut told = if is_error { failure.clone() } else { honest.clone() };
            told[field] = lie;
            assert!(broken(told, is_error) > 0, "a lie in {field} was taken");
        }
    }

    #[test]
    fn a_search_a_text_and_a_list_that_lie_are_seen() {
        let world = World::new();
        std::fs::write(world.root().join("x"), "one\ntwo\nthree\n").unwrap();
        let stamp = version(b"one\ntwo\nthree\n");
        let broken = |structured: &Value, text: &str| {
            let answer = Answer { is_error: false, structured: structured.clone(), text: text.to_owned() };
            let mut broken = Vec::new();
            hold(&answer, &world, &State::new(), &mut broken);
            broken.len()
        };
        let lies = |honest: &Value, text: &str, told: &[(&str, Value)]| {
            assert_eq!(broken(honest, text), 0);
            for (at, lie) in told {
                let mut seen = honest.clone();
                *seen.pointer_mut(at).unwrap() = lie.clone();
                assert!(broken(&seen, text) > 0, "a lie in {at} was taken");
            }
        };
        let found = serde_json::json!({"total_matches": 1, "truncated": false, "matches": [{"path": "x", "version": stamp,
            "line_number": 2, "match": "two", "context_before": ["1: one"], "context_after": ["3: three"]}]});
        let told = [
            ("/total_matches", Value::from(2)),
            ("/total_matches", Value::from(0)),
            ("/matches/0/version", Value::from("000000000000")),
            ("/matches/0/line_number", Value::from(1)),
            ("/matches/0/match", Value::from("tw")),
            ("/matches/0/context_before/0", Value::from("1: two")),
            ("/matches/0/context_after/0", Value::from("4: three")),
        ];
        lies(&found, &format!("x (version {stamp})\n1- one\n2: two\n3- three\n"), &told);
        let whole = serde_json::json!({"path": "x", "version": stamp, "total_lines": 3, "content": "one\ntwo\nthree\n"});
        let told = [("/content", Value::from("one\n2\n")), ("/total_lines", Value::from(4))];
        lies(&whole, "one\ntwo\nthree\n", &told);
        let entries = serde_json::json!({"entries": [{"path": "x", "version": stamp, "size": 14}]});
        lies(
            &entries,
            &format!("x: 14 bytes, version {stamp}"),
            &[("/entries/0/version", Value::from("000000000000"))],
        );
    }

    #[test]
    fn an_answer_that_lies_is_seen() {
        let world = World::new();
        std::fs::write(world.root().join("x"), "new").unwrap();
        let mut honest = serde_json::json!({"status": "written", "success": true, "written": true, "message": "m",
            "path": "x", "version": version(b"new"), "created": true, "bytes_outside_edit": "unchanged",
            "edit_id": "7f3a-1"});
        let broken = |structured: &Value| {
            let answer = Answer { is_error: false, structured: structured.clone(), text: String::new() };
            let mut broken = Vec::new();
            hold(&answer, &world, &State::new(), &mut broken);
            broken.len()
        };
        assert_eq!(broken(&honest), 0);
        for (field, lie) in [
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
            let truth = std::mem::replace(&mut honest[field], lie);
            assert!(broken(&honest) > 0, "a lie in {field} was taken");
            honest[field] = truth;
        }
    }
}
