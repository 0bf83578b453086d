//! Reads findings from lines, by a pattern with named groups.

use regex::{Captures, Regex};

use super::notes;
use super::program_output::MAX_READ;
use super::raw_finding::RawFinding;
use super::severity_words::severity;
use super::value::{excerpt, number, number_error};
use lockgate_policy::Columns;

/// Reads a finding from each line that is not blank. Lines that `ignore` matches and known notes of programs
/// are skipped; any other line that the pattern does not match is an error.
///
/// A finding may quote the text. So a line that `is_ours` assigns to an edited text is never skipped for its
/// form, and neither is one before a carriage return.
pub(super) fn findings(
    text: &str,
    pattern: &Regex,
    ignore: Option<&Regex>,
    columns: Columns,
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<RawFinding>, String> {
    let is_finding = |line: &str| pattern.is_match(line);
    let is_own = |line: &str| {
        let file = |groups: Captures<'_>| groups.name("file").is_some_and(|file| is_ours(file.as_str()));
        pattern.captures(line).is_some_and(file)
    };
    let read = |line| match pattern.captures(line) {
        Some(groups) => Some(raw(&groups, line, columns)),
        None if notes::is_note(line) => None,
        None => Some(Err(format!("wrote a line that is not a finding: {}", excerpt(line)))),
    };
    notes::lines_and_findings(text, ignore, &is_finding, &is_own).filter_map(read).take(MAX_READ).collect()
}

/// Reads a finding from each match, which may span several lines, and ignores the text between matches.
pub(super) fn among(text: &str, pattern: &Regex, columns: Columns) -> Result<Vec<RawFinding>, String> {
    let matches = pattern.captures_iter(text).filter(|groups| !groups.get_match().as_str().trim().is_empty());
    matches.take(MAX_READ).map(|groups| raw(&groups, groups.get_match().as_str(), columns)).collect()
}

/// Builds a finding from a match; `whole` is its message if no group has one.
fn raw(groups: &Captures<'_>, whole: &str, columns: Columns) -> Result<RawFinding, String> {
    let text = |name: &str| groups.name(name).map(|group| group.as_str()).filter(|text| !text.is_empty());
    let count = |name: &str| -> Result<Option<usize>, String> {
        text(name).map(|digits| number(digits).ok_or_else(|| number_error(name, digits))).transpose()
    };
    Ok(RawFinding {
        file: text("file").map(str::to_owned),
        line: count("line")?,
        column: count("column")?,
        columns,
        code: text("code").map(str::to_owned),
        severity: text("severity").and_then(severity),
        ..RawFinding::whole_text(text("message").unwrap_or(whole))
    })
}
