//! Parses JSON with serde_json, to any depth and without building values.

use serde::de::IgnoredAny;

use super::super::delta::Belief;
use super::fault::SyntaxFault;
use super::parse::Parse;

/// Parses one value up to the first fault.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Parse::valid(Vec::new()),
        Err(error) => {
            let mut fault = fault(&error, text);
            if text.trim().is_empty() {
                // An empty file only warns: its content may follow.
                fault.belief = Belief::Doubtful;
            }
            Parse::faulty(vec![fault])
        }
    }
}

fn fault(error: &serde_json::Error, text: &str) -> SyntaxFault {
    let whole = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = whole.strip_suffix(&position).unwrap_or(&whole);
    let at = if error.is_eof() { text.len() } else { offset(text, error.line(), error.column()) };
    // serde_json reports the position before a control character, and the exact position of every other fault.
    let at = if message.starts_with("control character") { at + 1 } else { at };
    SyntaxFault::new(at, at, message)
}

/// Returns the byte offset of a serde_json position. Lines count from 1; the column counts the bytes up to and including
/// the one at fault. Column 0 is the end of the line before.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let line_starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
    let start = std::iter::once(0).chain(line_starts).nth(line.saturating_sub(1)).unwrap_or(text.len());
    match column.checked_sub(1) {
        Some(before) => start.saturating_add(before).min(text.len()),
        None => start.saturating_sub(1),
    }
}
