//! Renders undo and redo, the list of edits, and a single edit in full.
//!
//! Invariant: strings from the journal (names, paths, tools) are shown without control characters.

use std::time::SystemTime;

use super::batch::{self, RevertWords};
use super::entity::{cut_key, display_name, key};
use super::forms::Forms;
use super::json_size;
use super::options::ResponseOptions;
use super::timestamp::{age, rfc3339};
use super::{Answer, render_error, size_limit};
use lockgate_checks::sanitize;
use lockgate_edit::request::Direction;
use lockgate_engine::{EditId, Entry, EntryDiffs, EntryKind, FileChange, Report};
use lockgate_error::Error;
use lockgate_protocol::{EditRecord, HistoryResponse, RecordedFile};
use lockgate_text::is_control_or_bidi;

/// Maximum bytes of a name and of a path.
const MAX_SHOWN_BYTES: (usize, usize) = (80, 400);

/// Maximum number of files of one edit that a list names.
const MAX_LISTED_FILES: usize = 20;

/// The line of a list that is not complete.
const TRUNCATED: &str = "truncated: there are more edits; `offset` skips these";

/// The edit that was undone or redone, and the direction.
#[derive(Debug, Clone)]
pub struct RevertedEdit {
    /// The direction, undo or redo.
    pub direction: Direction,
    /// Id of the edit, if it is known.
    pub edit: Option<EditId>,
    /// Who made the edit, and when, if it is known.
    pub origin: Option<EditOrigin>,
}

/// Who made an edit, and when.
#[derive(Debug, Clone)]
pub struct EditOrigin {
    /// The author as the journal names it.
    pub author: String,
    /// The time of the edit.
    pub at: SystemTime,
}

impl EditOrigin {
    /// Describes the origin, as in `made by claude-code 2.1, 3 minutes ago`.
    fn describe(&self) -> String {
        let by = name(&self.author).map(|author| format!("by {author}, ")).unwrap_or_default();
        format!("made {by}{}", age(self.at))
    }
}

impl RevertedEdit {
    fn done_message(&self) -> String {
        let edit = self.edit.map_or_else(|| "an edit".to_owned(), |id| id.to_string());
        match self.direction {
            Direction::Undo => format!("undid {edit}"),
            Direction::Redo => format!("redid {edit}"),
        }
    }

    /// Returns the message when nothing had to be done.
    fn already_message(&self) -> String {
        let edit = self.edit.map_or_else(|| "the edit".to_owned(), |id| id.to_string());
        match self.direction {
            Direction::Undo => format!("{edit} is already undone, nothing was written"),
            Direction::Redo => format!("{edit} is not undone, nothing was written"),
        }
    }
}

/// Renders the result of an undo or redo.
pub fn render_revert(
    result: &Result<Vec<Report>, Error>,
    reverted: &RevertedEdit,
    options: &ResponseOptions,
) -> Answer {
    match result.as_deref() {
        Ok(reports) => {
            let is_known = options.forms == Forms::Text
                && reverted.edit.is_some_and(|id| options.shown_notes.has_edit(&id.to_string()));
            let words = RevertWords {
                done: reverted.done_message(),
                already: reverted.already_message(),
                origin: reverted.origin.as_ref().filter(|_| !is_known).map(EditOrigin::describe),
            };
            match reports {
                [report] => batch::render_revert(report, options, &words),
                reports => batch::render_reports(reports, options, Some(&words)),
            }
        }
        Err(error) => render_error(error, options),
    }
}

/// Renders a list of at most `most` edits.
pub fn history(entries: &[Entry], most: usize, options: &ResponseOptions) -> Answer {
    let (mut list, mut lines) =
        (HistoryResponse { truncated: Some(true), ..HistoryResponse::default() }, Vec::new());
    let mut used = size_limit::size(&list, TRUNCATED, options.forms);
    for entry in entries.iter().take(most) {
        let record = record(entry);
        let line = line(&record);
        used += size_limit::size(&record, &line, options.forms) + 3;
        if used > size_limit::available(options) {
            break;
        }
        list.edits.push(record);
        lines.push(line);
    }
    list.truncated.take_if(|_| list.edits.len() == entries.len());
    lines.extend(list.truncated.map(|_| TRUNCATED.to_owned()));
    if lines.is_empty() {
        lines.push("no edits found".to_owned());
    }
    Answer::from_response(&list, lines.join("\n"))
}

/// Returns one edit with the diffs of its files.
pub fn record_with_diffs(EntryDiffs { entry, diffs }: &EntryDiffs) -> EditRecord {
    let mut record = record(entry);
    for (file, diff) in record.files.iter_mut().zip(diffs) {
        file.diff.clone_from(diff);
    }
    record
}

/// Returns one edit without diffs.
pub fn record(entry: &Entry) -> EditRecord {
    let (kind, of) = match entry.meta.kind {
        EntryKind::Edit => ("edit", None),
        EntryKind::Undo(of) => ("undo", Some(of)),
        EntryKind::Redo(of) => ("redo", Some(of)),
    };
    EditRecord {
        edit_id: entry.id.to_string(),
        at: rfc3339(entry.at),
        tool: name(&entry.meta.tool),
        author: name(&entry.meta.author),
        kind: kind.into(),
        of: of.map(|id| id.to_string()),
        undone: entry.undone,
        gates: name(&entry.meta.gates),
        files: entry.changes.iter().take(MAX_LISTED_FILES).map(recorded_file).collect(),
        more_files: entry.changes.len().checked_sub(MAX_LISTED_FILES).filter(|more| *more > 0),
    }
}

fn recorded_file(change: &FileChange) -> RecordedFile {
    let mut key = key(change.entity.as_ref());
    cut_key(&mut key, MAX_SHOWN_BYTES.1);
    RecordedFile {
        path: path(&change.path),
        key,
        version: change.after.map(|version| version.to_string()),
        previous_version: change.before.map(|version| version.to_string()),
        added: change.added,
        removed: change.removed,
        kept: (!change.kept).then_some(false),
        diff: None,
    }
}

/// Renders an edit as one line.
fn line(record: &EditRecord) -> String {
    let EditRecord { edit_id, at, tool, author, kind, of, undone, files, more_files, .. } = record;
    let files: Vec<String> = files
        .iter()
        .map(|file| {
            let lost = file.kept.map(|_| ", cannot be undone").unwrap_or_default();
            let name = display_name(&file.path, &file.key);
            format!("{}{name} (+{} -{}{lost})", file.change_word(), file.added, file.removed)
        })
        .collect();
    let more = more_files.map(|_| ", ...").unwrap_or_default();
    let tool = tool.as_deref().unwrap_or_default();
    let by = author.as_ref().map(|author| format!(" by {author}")).unwrap_or_default();
    let of = of.as_ref().map(|id| format!(", {kind} of {id}")).unwrap_or_default();
    let undone = if *undone { ", undone" } else { "" };
    format!("{edit_id} {at} {tool}{by}{of}{undone}: {}{more}", files.join(", "))
}

/// Cleans and clips a name that a client gave; `None` if nothing is left.
fn name(text: &str) -> Option<String> {
    Some(json_size::clip(&sanitize(text), MAX_SHOWN_BYTES.0)).filter(|name| !name.is_empty())
}

/// Clips a path and replaces control characters with the replacement character.
fn path(text: &str) -> String {
    let hidden = |c: char| is_control_or_bidi(c) || matches!(c, '\n' | '\t');
    let shown: String =
        text.chars().map(|c| if hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    json_size::clip(&shown, MAX_SHOWN_BYTES.1)
}
