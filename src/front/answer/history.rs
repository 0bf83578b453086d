//! Renders undo and redo, the list of edits, and a single edit in full.
//!
//! Invariant: strings from the journal (names, paths, tools) are shown without control characters.

use serde_json::{Map, Value, json};

use super::entity::{EntityKeyParts, display_name};
use super::timestamp::rfc3339;
use super::{Answer, ResponseOptions, batch, render_error, size_limit};
use crate::engine::{EditId, Entry, EntryDiffs, EntryKind, FileChange, Report};
use crate::error::Error;
use crate::gate::sanitize;
use crate::request::Direction;
use crate::text::is_control_or_bidi;

/// Maximum bytes of a name and of a path.
const MAX_SHOWN_BYTES: (usize, usize) = (80, 400);

/// Maximum number of files of one edit that a list names.
const MAX_LISTED_FILES: usize = 20;

/// The edit that was undone or redone, and the direction.
#[derive(Debug, Clone, Copy)]
pub struct RevertedEdit {
    /// The direction, undo or redo.
    pub direction: Direction,
    /// Id of the edit, if it is known.
    pub edit: Option<EditId>,
}

impl RevertedEdit {
    fn done_message(self) -> String {
        let edit = self.edit.map_or_else(|| "an edit".to_owned(), |id| id.to_string());
        match self.direction {
            Direction::Undo => format!("undid {edit}"),
            Direction::Redo => format!("redid {edit}"),
        }
    }

    /// Returns the message when nothing had to be done.
    fn already_message(self) -> String {
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
    reverted: RevertedEdit,
    options: &ResponseOptions,
) -> Answer {
    match result.as_deref() {
        Ok([report]) => {
            batch::render_revert(report, options, [&reverted.done_message(), &reverted.already_message()])
        }
        Ok(reports) => batch::render_reports(
            reports,
            options,
            Some([&reverted.done_message(), &reverted.already_message()]),
        ),
        Err(error) => render_error(error, options),
    }
}

/// Renders a list of at most `most` edits.
pub fn history(result: &Result<Vec<Entry>, Error>, most: usize, options: &ResponseOptions) -> Answer {
    let entries = match result {
        Ok(entries) => entries,
        Err(error) => return render_error(error, options),
    };
    let (mut edits, mut lines, mut used) =
        (Vec::new(), Vec::new(), size_limit::size(&list(&[], &[], true), options.forms));
    for entry in entries.iter().take(most) {
        let (json, line) = (entry_json(entry), line(entry));
        let one = Answer { success: true, json: json.clone(), text: line.clone() };
        used += size_limit::size(&one, options.forms) + 3;
        if used > size_limit::available(options) {
            break;
        }
        edits.push(json);
        lines.push(line);
    }
    let truncated = edits.len() < entries.len();
    list(&edits, &lines, truncated)
}

fn list(edits: &[Value], lines: &[String], truncated: bool) -> Answer {
    let mut json = json!({ "edits": edits });
    let mut lines = lines.to_vec();
    if let (Some(fields), true) = (json.as_object_mut(), truncated) {
        fields.insert("truncated".to_owned(), Value::Bool(true));
        lines.push("truncated: there are more edits".to_owned());
    }
    if lines.is_empty() {
        lines.push("no edits found".to_owned());
    }
    Answer { success: true, json, text: lines.join("\n") }
}

/// Renders one edit in full, with the diffs of its files.
pub fn render_edit(result: &Result<EntryDiffs, Error>, options: &ResponseOptions) -> Answer {
    let EntryDiffs { entry, diffs } = match result {
        Ok(remembered) => remembered,
        Err(error) => return render_error(error, options),
    };
    let mut json = entry_json(entry);
    let mut text = line(entry);
    if let Some(files) = json.get_mut("files").and_then(Value::as_array_mut) {
        for (file, diff) in files.iter_mut().zip(diffs) {
            let Some(fields) = file.as_object_mut() else { continue };
            match diff {
                Some(diff) => {
                    fields.insert("diff".to_owned(), diff.as_str().into());
                    text = format!("{text}\n{}", diff.trim_end_matches('\n'));
                }
                None => text += "\nnote: the texts of a file are not in the journal",
            }
        }
    }
    Answer { success: true, json, text }
}

fn entry_json(entry: &Entry) -> Value {
    let (kind, of) = kind(entry);
    let fields = [
        ("edit_id", Some(entry.id.to_string().into())),
        ("at", Some(rfc3339(entry.at).into())),
        ("tool", non_empty(&name(&entry.meta.tool))),
        ("author", non_empty(&name(&entry.meta.author))),
        ("kind", Some(kind.into())),
        ("of", of.map(|id| id.to_string().into())),
        ("undone", Some(entry.undone.into())),
        ("gates", non_empty(&name(&entry.meta.gates))),
        ("files", Some(entry.changes.iter().take(MAX_LISTED_FILES).map(change_json).collect())),
        ("more_files", entry.changes.len().checked_sub(MAX_LISTED_FILES + 1).map(|more| (more + 1).into())),
    ];
    Value::Object(present_fields(fields))
}

fn change_json(change: &FileChange) -> Value {
    let [entity_type, app_id, organization_id] =
        EntityKeyParts::new(change.entity.as_ref()).fields(MAX_SHOWN_BYTES.1);
    let fields = [
        ("path", Some(path(&change.path).into())),
        entity_type,
        app_id,
        organization_id,
        ("version", change.after.map(|version| version.to_string().into())),
        ("previous_version", change.before.map(|version| version.to_string().into())),
        ("added", Some(change.added.into())),
        ("removed", Some(change.removed.into())),
        ("kept", (!change.kept).then_some(Value::Bool(false))),
    ];
    Value::Object(present_fields(fields))
}

fn present_fields<const COUNT: usize>(fields: [(&str, Option<Value>); COUNT]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn non_empty(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| text.into())
}

/// Renders an edit as one line.
fn line(entry: &Entry) -> String {
    let files = entry.changes.iter().take(MAX_LISTED_FILES).map(|change| {
        let verb = match (change.before, change.after) {
            (None, _) => "created ",
            (_, None) => "removed ",
            (Some(_), Some(_)) => "",
        };
        let lost = if change.kept { "" } else { ", cannot be undone" };
        let key = change.entity.as_ref();
        format!(
            "{verb}{} (+{} -{}{lost})",
            display_name(&path(&change.path), key),
            change.added,
            change.removed
        )
    });
    let files = files.collect::<Vec<_>>().join(", ");
    let more = if entry.changes.len() > MAX_LISTED_FILES { ", ..." } else { "" };
    let by = match (name(&entry.meta.tool), name(&entry.meta.author)) {
        (tool, author) if author.is_empty() => tool,
        (tool, author) => format!("{tool} by {author}"),
    };
    let of = match kind(entry) {
        (_, None) => String::new(),
        (kind, Some(id)) => format!(", {kind} of {id}"),
    };
    let undone = if entry.undone { ", undone" } else { "" };
    format!("{} {} {by}{of}{undone}: {files}{more}", entry.id, rfc3339(entry.at))
}

fn kind(entry: &Entry) -> (&'static str, Option<EditId>) {
    match entry.meta.kind {
        EntryKind::Edit => ("edit", None),
        EntryKind::Undo(of) => ("undo", Some(of)),
        EntryKind::Redo(of) => ("redo", Some(of)),
    }
}

/// Cleans and clips a name that a client gave.
fn name(text: &str) -> String {
    size_limit::clip(&sanitize(text), MAX_SHOWN_BYTES.0)
}

/// Clips a path and replaces control characters with the replacement character.
fn path(text: &str) -> String {
    let hidden = |c: char| is_control_or_bidi(c) || matches!(c, '\n' | '\t');
    let shown: String =
        text.chars().map(|c| if hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    size_limit::clip(&shown, MAX_SHOWN_BYTES.1)
}
