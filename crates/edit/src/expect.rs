//! The check of the text that a request expects at a line.

use lockgate_error::{Code, Error, EvidenceLine, NextCall};
use lockgate_text::Buffer;

/// The maximum number of actual lines in an error.
const SHOWN: usize = 10;

/// The maximum number of texts that are looked for in the whole file.
const MAX_UNIQUE: usize = 50;

/// An entry of a list of edits by line number.
#[derive(Debug, Clone, Copy)]
pub struct ListEntry {
    /// The list, as in `line_edits`.
    pub list: &'static str,
    /// The index of the entry in the list.
    pub index: usize,
    /// The first line of the entry, from 1.
    pub first: usize,
    /// The last line of the entry, inclusive.
    pub last: usize,
}

/// Succeeds if the lines of an entry begin with the expected text. Trailing blanks are ignored. If the expected text is
/// elsewhere, in one place only, the error proposes that place.
pub fn check(
    expected: Option<&str>,
    buffer: &Buffer,
    entry: ListEntry,
    field: impl Fn() -> String,
) -> Result<(), Error> {
    let ListEntry { first, last, .. } = entry;
    let Some(expected) = expected else { return Ok(()) };
    let wanted = lines_of(expected);
    let actual = |line: usize| (line <= last).then(|| buffer.lines().text(line).trim_end());
    match (first..).zip(&wanted).find(|(line, wanted)| actual(*line) != Some(wanted)) {
        None => Ok(()),
        Some((line, differing)) => {
            let places =
                (first..=last).take(SHOWN).map(|line| crate::planned::evidence_line(buffer, line)).collect();
            let error = conflict(line, differing, actual(line), places).field(field());
            Err(match only_place(&wanted, &trimmed_lines(buffer)) {
                Some(moved) => with_place(error, entry, moved, buffer),
                None => with_read(error, first, last, buffer),
            })
        }
    }
}

/// Returns true if each of these entries has an expected text that is not blank, and in one place only. Otherwise, an entry
/// may be meant for other lines, although its text is at its lines as well.
pub fn are_unique(expected: &[Option<&str>], buffer: &Buffer) -> bool {
    let lines = trimmed_lines(buffer);
    let is_unique = |text: &&str| only_place(&lines_of(text), &lines).is_some();
    expected.len() <= MAX_UNIQUE && expected.iter().all(|text| text.as_ref().is_some_and(is_unique))
}

/// Returns the lines of an expected text, without trailing blanks.
fn lines_of(expected: &str) -> Vec<&str> {
    expected.strip_suffix('\n').unwrap_or(expected).split('\n').map(str::trim_end).collect()
}

fn trimmed_lines(buffer: &Buffer) -> Vec<&str> {
    buffer.lines().iter().map(str::trim_end).collect()
}

/// Returns the first line of the only place that has these lines; `None` for blank lines.
fn only_place(wanted: &[&str], lines: &[&str]) -> Option<usize> {
    let mut places = lines.windows(wanted.len()).enumerate().filter(|(_, found)| *found == wanted);
    let (at, _) = places.next().filter(|_| wanted.iter().any(|line| !line.is_empty()))?;
    places.next().is_none().then_some(at + 1)
}

/// Proposes the edit at the place where the expected text is.
fn with_place(mut error: Error, entry: ListEntry, moved: usize, buffer: &Buffer) -> Error {
    error.message.push_str(&format!("; the expected text is at line {moved}"));
    let ListEntry { list, index, first, last } = entry;
    let fits = moved + last.saturating_sub(first) <= buffer.lines().count();
    match (isize::try_from(moved), isize::try_from(first)) {
        (Ok(moved), Ok(first)) if fits => error.with_next(NextCall::Move { list, index, by: moved - first }),
        _ => with_read(error, moved, moved, buffer),
    }
}

/// Returns the index of the entry that an error proposes to move, and by how many lines.
pub fn proposed_move(error: &Error) -> Option<(usize, isize)> {
    match error.next.as_deref() {
        Some(NextCall::Move { index, by, .. }) => Some((*index, *by)),
        Some(_) | None => None,
    }
}

/// Returns the error with a read instead of a move, if `result`, the lines after the edit, is already around the expected
/// text at line `moved`. The edit was probably made before, and moving it would add its text twice.
pub fn with_read_if_applied(
    error: &Error,
    result: &str,
    expected: Option<&str>,
    moved: usize,
    buffer: &Buffer,
) -> Option<Error> {
    let (result, wanted, lines) = (lines_of(result), lines_of(expected?), trimmed_lines(buffer));
    // The expected text alone, as after the removal of lines behind it, does not show that the edit was made, and neither do
    // blank lines.
    let full_lines = |lines: &[&str]| lines.iter().filter(|line| !line.is_empty()).count();
    let adds_lines = full_lines(&result) > full_lines(&wanted);
    let mut kept = result.windows(wanted.len()).enumerate().filter(|(_, lines)| *lines == wanted);
    let line = kept.find_map(|(offset, _)| {
        let before = moved.checked_sub(offset + 1)?;
        (adds_lines && lines.get(before..)?.starts_with(&result)).then_some(before + 1)
    })?;
    let mut error = error.clone();
    error.message.push_str(&format!(", and the new text is already at line {line}"));
    let error = error.hint("if that is your edit, this entry is done");
    Some(with_read(error, line, line + result.len() - 1, buffer))
}

/// Proposes a read of the lines around a place instead of another call.
pub fn with_read(error: Error, first: usize, last: usize, buffer: &Buffer) -> Error {
    error.with_next_if(NextCall::read_around(first, last, buffer.lines().count()))
}

fn conflict(line: usize, wanted: &str, actual: Option<&str>, places: Vec<EvidenceLine>) -> Error {
    let cut = |text: &str| text.chars().take(80).collect::<String>();
    let found = match actual {
        None => "the range ends before it".to_owned(),
        Some(text) => format!("found {:?}", cut(text)),
    };
    let message = format!("line {line} does not match the request: expected {:?}, {found}", cut(wanted));
    Error::new(Code::EditConflict, message).places(places)
}
