//! Mode `insert_lines`: inserts text before lines. All line numbers are those before the edit.

use crate::expect::{self, ListEntry};
use crate::operations::{Insertion, LineEditNames};
use crate::planned::{PlannedEdit, PlannedEnd, append, has_open_line, with_line_end};
use lockgate_error::{Code, Error, NextCall};
use lockgate_text::{Buffer, Change};

/// Plans insertions. Several insertions before one line keep the order of the request. Text behind the last line is
/// returned as appended lines.
///
/// Errors: `RANGE_OUT_OF_BOUNDS`; `EDIT_CONFLICT` if `expect` does not match.
pub fn plan(insertions: &[Insertion], buffer: &Buffer) -> Result<PlannedEdit, Error> {
    let (mut changes, mut appended) = (Vec::with_capacity(insertions.len()), Vec::new());
    for (index, insertion) in insertions.iter().enumerate() {
        check_bounds(index, insertion, buffer)?;
        check_expect(index, insertion, buffer).map_err(|error| tried(error, insertions, buffer))?;
        let text = line_with_end(&insertion.content);
        if insertion.at_line > buffer.lines().count() {
            appended.push(text);
        } else {
            let at = buffer.lines().span(insertion.at_line).start;
            changes.push(Change { span: at..at, text });
        }
    }
    // Text that the file cannot hold is rejected here, where the edit's place in the call is known.
    buffer.plan(append(appended.clone(), has_open_line(buffer), buffer))?;
    let end = PlannedEnd { appended, ..PlannedEnd::default() };
    Ok(PlannedEdit { end, ..PlannedEdit::new(buffer.plan(changes)?) })
}

fn line_with_end(content: &str) -> String {
    if content.ends_with('\n') { content.to_owned() } else { with_line_end(content) }
}

fn check_bounds(index: usize, insertion: &Insertion, buffer: &Buffer) -> Result<(), Error> {
    let (last, names) = (buffer.lines().count() + 1, insertion.names);
    if insertion.at_line <= last || insertion.at_line == Insertion::END {
        return Ok(());
    }
    let message =
        format!("Line {} is out of bounds ({} may be 1-{last})", insertion.at_line, names.name("at_line"));
    let error = Error::new(Code::RangeOutOfBounds, message);
    let field = names.path("insert_lines", index, "at_line");
    let error = match names {
        LineEditNames::Lists => error.field(field),
        LineEditNames::Instruction => error.named_field(field),
    };
    let is_empty = buffer.lines().count() == 0;
    let error = if is_empty { error.hint("the file is empty: its only place is line 1") } else { error };
    Err(error.with_next_if(NextCall::read_end(last - 1)))
}

/// Checks the text of the line. After the last line there is none, so only the empty text matches.
fn check_expect(index: usize, insertion: &Insertion, buffer: &Buffer) -> Result<(), Error> {
    let (line, last) = (insertion.at_line, insertion.at_line.min(buffer.lines().count()));
    let (expected, is_end) = (insertion.expect.as_deref(), line > last);
    if is_end && expected.is_some_and(|text| text.trim_end().is_empty()) {
        return Ok(());
    }
    let field = || insertion.names.path("insert_lines", index, "expect");
    let entry = ListEntry { list: "insert_lines", index, first: line, last };
    expect::check(expected, buffer, entry, field).map_err(|error| {
        // Before a line with the expected text, the insertion would be another edit.
        let hint = "there is no line after the last one: to append, give `expect: \"\"`";
        if is_end { expect::with_read(error, line, line, buffer).hint(hint) } else { error }
    })
}

/// Replaces the proposed move of one entry by a read, if the call with the moved entry would be rejected, or if another
/// entry may have to be moved as well.
fn tried(error: Error, insertions: &[Insertion], buffer: &Buffer) -> Error {
    let Some((index, by)) = expect::proposed_move(&error) else { return error };
    let mut moved = insertions.to_vec();
    let Some(insertion) = moved.get_mut(index) else { return error };
    insertion.at_line = insertion.at_line.saturating_add_signed(by);
    let line = insertion.at_line;
    let expected = insertion.expect.as_deref();
    let result = line_with_end(&insertion.content) + expected.unwrap_or_default();
    if let Some(error) = expect::with_read_if_applied(&error, &result, expected, line, buffer) {
        return error;
    }
    // The place after the last line is the only one that expects no line.
    let is_in_text = |insertion: &&Insertion| insertion.at_line <= buffer.lines().count();
    let others = moved.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
    let others: Vec<Option<&str>> = others.filter(is_in_text).map(|other| other.expect.as_deref()).collect();
    let works = moved.iter().enumerate().all(|(index, insertion)| {
        check_bounds(index, insertion, buffer).is_ok() && check_expect(index, insertion, buffer).is_ok()
    }) && expect::are_unique(&others, buffer);
    if works { error } else { expect::with_read(error, line, line, buffer) }
}
