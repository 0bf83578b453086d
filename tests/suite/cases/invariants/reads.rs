//! What holds of every answer to a look.

use serde_json::Value;

use super::diffs::lines;
use super::{check_versions, is_in, stored};
use crate::suite::cases::workspace::{CaseWorkspace, version};
use crate::suite::wire::Answer;

/// Collects each invariant that the answer to a read breaks: it shows what is on disk, in both forms.
pub fn check_read(answer: &Answer, workspace: &CaseWorkspace, broken: &mut Vec<String>) {
    let response = &answer.structured;
    let mut check = |holds: bool, words: &str| {
        if !holds {
            broken.push(format!("a law of every look is broken: {words}; the answer is {response:.400}"));
        }
    };
    let disk_text = |reported: &Value| {
        let entity = stored::entity_in_answer(reported, response);
        entity.as_deref().or(reported["path"].as_str()).and_then(|name| workspace.text(name))
    };
    let is_version = |reported: &Value| {
        reported["version"].as_str() == disk_text(reported).as_deref().map(version).as_deref()
    };
    for entry in list(response, "entries") {
        check(entry["version"].is_null() || is_version(&entry), "version is what is on disk");
        check(
            is_in(answer, &entry["path"]) && is_in(answer, &entry["version"]),
            "the text names the same files",
        );
    }
    let matches = list(response, "matches");
    for found in &matches {
        check(is_version(found), "version is what is on disk");
        check(
            is_in(answer, &found["path"]) && is_in(answer, &found["version"]),
            "the text names the same files",
        );
        check_match(found, disk_text(found).and_then(|bytes| view(&bytes)), answer, &mut check);
    }
    if response["matches"].is_array() {
        let (shown, total) = (matches.len() as u64, response["total_matches"].as_u64().unwrap_or(0));
        check(shown <= total, "no more is shown than there is");
        check(shown == total || response["truncated"] == Value::Bool(true), "what is left out is said");
    }
    check(response["outline"].is_null() || is_version(response), "version is what is on disk");
    check_versions(answer, workspace, &mut check);
    if let Some(content) = response["content"].as_str() {
        check(is_version(response), "version is what is on disk");
        check(answer.text.contains(content), "the text shows the same lines");
        check_content(response, content, disk_text(response).and_then(|bytes| view(&bytes)), &mut check);
    }
}

/// The invariants of lines, or of a whole text: they are what is on disk.
fn check_content(
    response: &Value,
    content: &str,
    lines: Option<Vec<String>>,
    check: &mut impl FnMut(bool, &str),
) {
    let Some(lines) = lines else { return };
    check(response["total_lines"].as_u64() == Some(lines.len() as u64), "total_lines is what is on disk");
    let Some(first) = response["start_line"].as_u64() else {
        let whole = lines.join("\n");
        return check(
            whole.starts_with(content.strip_suffix('\n').unwrap_or(content)),
            "the text is what is on disk",
        );
    };
    let shown: Vec<&str> = if content.is_empty() { Vec::new() } else { content.split('\n').collect() };
    let cut = response["truncated"] == Value::Bool(true);
    let right = |(row, number): (&&str, u64)| is_numbered(row, number, ": ", &lines) || cut;
    check(shown.iter().zip(first..).all(right), "every line has its number");
}

/// The invariants of one match: each line that is shown is that line on disk, with its number, and the text shows it, too.
fn check_match(
    found: &Value,
    lines: Option<Vec<String>>,
    answer: &Answer,
    check: &mut impl FnMut(bool, &str),
) {
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
    check(before.iter().zip(numbers).all(right), "each line before a match is that line on disk");
    check(after.iter().zip(last + 1..).all(right), "each line behind a match is that line on disk");
    let is_shown = |(row, number): (&&str, u64)| {
        is_numbered(&format!("{number}: {row}"), number, ": ", &lines)
            && answer.text.contains(&format!("{number}: {row}\n"))
    };
    check(
        rows.iter().take((last - first + 1) as usize).zip(first..).all(is_shown),
        "each line of a match is that line on disk",
    );
}

/// True if a row is this line with its number; a long line may be shown in part, with `...` for what is missing.
fn is_numbered(row: &str, number: u64, marker: &str, lines: &[String]) -> bool {
    let Some(shown) = row.strip_prefix(&format!("{number}{marker}")) else { return false };
    let Some(line) = usize::try_from(number).ok().and_then(|number| lines.get(number.wrapping_sub(1))) else {
        return false;
    };
    let part = shown.strip_prefix("...").unwrap_or(shown);
    let part = part.strip_suffix("...").unwrap_or(part);
    shown == line || (part.chars().count() == 500 && line.contains(part))
}

fn list(response: &Value, key: &str) -> Vec<Value> {
    response[key].as_array().cloned().unwrap_or_default()
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
