//! Mode `line_edits`: replaces ranges of lines. All line numbers are those before the edit.

use crate::expect::{self, ListEntry};
use crate::operations::{LineEdit, LineEditNames};
use crate::planned::{PlannedEdit, with_line_end, without_line_end};
use lockgate_error::{Code, Error, FieldValue, NextCall};
use lockgate_text::{Buffer, Change};

/// Plans the replacement of ranges of lines, listed in any order.
///
/// Errors: `RANGE_OUT_OF_BOUNDS`, `RANGE_OVERLAP`; `EDIT_CONFLICT` if `expect` does not match.
pub fn plan(edits: &[LineEdit], buffer: &Buffer) -> Result<PlannedEdit, Error> {
    let mut changes = Vec::with_capacity(edits.len());
    let mut notes = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        check_bounds(index, edit, buffer).map_err(|error| match buffer.lines().count() {
            0 => in_empty(error, edits),
            _ => error,
        })?;
    }
    check_overlap(edits, buffer.lines().count())?;
    for (index, edit) in edits.iter().enumerate() {
        check_expect(index, edit, buffer).map_err(|error| tried(error, edits, buffer))?;
        changes.push(change(index, edit, buffer, &mut notes));
    }
    let mut planned = PlannedEdit::new(buffer.plan(changes)?);
    planned.notes.splice(0..0, notes);
    Ok(planned)
}

fn check_expect(index: usize, edit: &LineEdit, buffer: &Buffer) -> Result<(), Error> {
    let field = || edit.names.path("line_edits", index, "expect");
    let entry = ListEntry { list: "line_edits", index, first: edit.start_line, last: edit.end_line };
    expect::check(edit.expect.as_deref(), buffer, entry, field)
}

/// Replaces the proposed move of one entry by a read, if the call with the moved entry would be rejected, or if another
/// entry may have to be moved as well.
fn tried(error: Error, edits: &[LineEdit], buffer: &Buffer) -> Error {
    let Some((index, by)) = expect::proposed_move(&error) else { return error };
    let mut moved = edits.to_vec();
    let Some(edit) = moved.get_mut(index) else { return error };
    edit.start_line = edit.start_line.saturating_add_signed(by);
    edit.end_line = edit.end_line.saturating_add_signed(by);
    let (first, last) = (edit.start_line, edit.end_line);
    let (result, expected) = (&edit.new_content, edit.expect.as_deref());
    if let Some(error) = expect::with_read_if_applied(&error, result, expected, first, buffer) {
        return error;
    }
    let others = moved.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
    let others: Vec<Option<&str>> = others.map(|other| other.expect.as_deref()).collect();
    let works = check_overlap(&moved, buffer.lines().count()).is_ok()
        && moved.iter().enumerate().all(|(index, edit)| check_expect(index, edit, buffer).is_ok())
        && expect::are_unique(&others, buffer);
    if works { error } else { expect::with_read(error, first, last, buffer) }
}

fn check_bounds(index: usize, edit: &LineEdit, buffer: &Buffer) -> Result<(), Error> {
    let count = buffer.lines().count();
    let (line, field) =
        if edit.start_line > count { (edit.start_line, "start_line") } else { (edit.end_line, "end_line") };
    if line <= count {
        return Ok(());
    }
    Err(Error::new(Code::RangeOutOfBounds, format!("Line {line} is out of bounds (file has {count} lines)"))
        .field(edit.names.path("line_edits", index, field))
        .with_next_if(NextCall::read_end(count)))
}

/// Adds to an error about an empty file how its text can be written. For the only edit, of line 1, the call is proposed.
fn in_empty(error: Error, edits: &[LineEdit]) -> Error {
    if edits.iter().any(|edit| edit.names == LineEditNames::Instruction) {
        return error;
    }
    let error = error.hint("the file is empty: give its whole text as `content`");
    match edits {
        [LineEdit { start_line: 1, end_line: 1, new_content, expect: None, .. }]
            if !new_content.is_empty() =>
        {
            let set = vec![("content", FieldValue::Text(new_content.clone()))];
            error.with_next(NextCall::Fields { set, unset: vec!["line_edits"] })
        }
        _ => error,
    }
}

fn check_overlap(edits: &[LineEdit], count: usize) -> Result<(), Error> {
    let mut ranges: Vec<(usize, usize)> = edits.iter().map(|edit| (edit.start_line, edit.end_line)).collect();
    ranges.sort_unstable();
    let mut pairs = ranges.iter().zip(ranges.iter().skip(1));
    match pairs.find(|((_, end), (start, _))| start <= end) {
        None => Ok(()),
        Some(((a, b), (c, d))) => Err(Error::new(
            Code::RangeOverlap,
            format!("Overlapping edits detected: lines {a}-{b} and {c}-{d}"),
        )
        .field("line_edits")
        .with_next_if(NextCall::read_around(*a, *b.max(d), count))),
    }
}

/// Returns the change of one range. A final line end is added if a line follows; at the end of the file, it is added
/// or removed so that the file ends as before, except after an empty line, which would be lost without it.
fn change(index: usize, edit: &LineEdit, buffer: &Buffer, notes: &mut Vec<String>) -> Change {
    let (lines, view) = (buffer.lines(), buffer.view());
    let span = lines.block(edit.start_line, edit.end_line);
    let text = edit.new_content.clone();
    let open = without_line_end(&text);
    let line_follows = edit.end_line < lines.count();
    let ended = line_follows || view.ends_with('\n');
    let ends_in_empty_line = open.is_some_and(|open| open.is_empty() || open.ends_with('\n'));
    match open {
        Some(open) if !ended && !ends_in_empty_line => {
            notes.push("the file still ends without a line end".to_owned());
            Change { span, text: open.to_owned() }
        }
        None if ended && !text.is_empty() => {
            if line_follows {
                let field = edit.names.path("line_edits", index, "new_content");
                notes.push(format!("{field} had no final line end; one was added"));
            }
            Change { span, text: with_line_end(&text) }
        }
        Some(_) | None => Change { span, text },
    }
}
