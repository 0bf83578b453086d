//! Renders the list of edits, and a single edit in full.
//!
//! Invariant: strings from the journal (names, paths, tools) are shown without control characters.

use super::clip::clip;
use super::entity::{cut_key, display_name, key};
use super::options::ResponseOptions;
use super::timestamp::{age, rfc3339};
use super::{Answer, size_limit};
use lockgate_checks::sanitize;
use lockgate_engine::{Entry, EntryDiffs, EntryKind, FileChange};
use lockgate_protocol::{EditRecord, HistoryResponse, RecordedFile};
use lockgate_text::is_control_or_bidi;

/// Maximum bytes of a name.
const MAX_NAME_BYTES: usize = 80;

/// Maximum bytes of a path, and of an id of a key.
const MAX_PATH_BYTES: usize = 400;

/// Maximum number of files of one edit that a list names.
const MAX_LISTED_FILES: usize = 20;

/// Describes who made an edit, and when, as in `made by claude-code 2.1, 3 minutes ago`.
pub(crate) fn describe_origin(entry: &Entry) -> String {
    let by = name(&entry.meta.author).map(|author| format!("by {author}, ")).unwrap_or_default();
    format!("made {by}{}", age(entry.at))
}

/// Renders a list of at most `most` edits. The first one has fewer files if it does not fit otherwise. `next_step` returns
/// the next step after a list of this many edits that is not complete.
pub fn history(
    entries: &[Entry],
    most: usize,
    next_step: impl Fn(usize) -> &'static str,
    options: &ResponseOptions,
) -> Answer {
    let last_line = |edits: usize| format!("truncated: {}", next_step(edits));
    let (mut list, mut lines) =
        (HistoryResponse { truncated: Some(true), ..HistoryResponse::default() }, Vec::new());
    let longest = (0..=most).map(last_line).max_by_key(String::len).unwrap_or_default();
    let mut used = size_limit::size(&list, &longest, options.forms);
    for entry in entries.iter().take(most) {
        let least = if list.edits.is_empty() { 1 } else { MAX_LISTED_FILES };
        let fitting = (least..=MAX_LISTED_FILES).rev().find_map(|files| {
            let record = first_files(entry, files);
            let line = line(&record);
            let used = used + size_limit::size(&record, &line, options.forms) + 3;
            (used <= size_limit::available(options)).then_some((record, line, used))
        });
        let Some((record, line, with_record)) = fitting else { break };
        used = with_record;
        list.edits.push(record);
        lines.push(line);
    }
    list.truncated.take_if(|_| list.edits.len() == entries.len());
    lines.extend(list.truncated.map(|_| last_line(list.edits.len())));
    if lines.is_empty() {
        lines.push("no edits found".to_owned());
    }
    Answer::from_response(&list, lines.join("\n"))
}

/// Returns one edit with all of its files and their whole diffs.
pub fn record_with_diffs(EntryDiffs { entry, diffs }: &EntryDiffs) -> EditRecord {
    let mut record = first_files(entry, usize::MAX);
    for (file, diff) in record.files.iter_mut().zip(diffs) {
        file.diff.clone_from(diff);
    }
    record
}

/// Returns one edit without diffs, with at most 20 of its files.
pub fn record(entry: &Entry) -> EditRecord {
    first_files(entry, MAX_LISTED_FILES)
}

/// Returns one edit with at most `most` of its files, and without diffs.
fn first_files(entry: &Entry, most: usize) -> EditRecord {
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
        files: entry.changes.iter().take(most).map(recorded_file).collect(),
        more_files: entry.changes.len().checked_sub(most).filter(|more| *more > 0),
    }
}

fn recorded_file(change: &FileChange) -> RecordedFile {
    let mut key = key(change.entity.as_ref());
    cut_key(&mut key, MAX_PATH_BYTES);
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
            let counts = file.is_counted().then(|| format!("+{} -{}", file.added, file.removed));
            let lost = file.kept.map(|_| "cannot be undone".to_owned());
            let facts: Vec<String> = counts.into_iter().chain(lost).collect();
            let name = display_name(&file.path, &file.key);
            format!("{}{name} ({})", file.change_word(), facts.join(", "))
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
    Some(clip(&sanitize(text), MAX_NAME_BYTES)).filter(|name| !name.is_empty())
}

/// Clips a path and replaces control characters with the replacement character.
fn path(text: &str) -> String {
    let hidden = |c: char| is_control_or_bidi(c) || matches!(c, '\n' | '\t');
    let shown: String =
        text.chars().map(|c| if hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    clip(&shown, MAX_PATH_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Forms;
    use lockgate_engine::EditMeta;
    use lockgate_text::Version;
    use std::time::SystemTime;

    fn entry(number: usize, files: usize, path_bytes: usize) -> Entry {
        let version = Version::hash(b"");
        let change = |file| FileChange {
            path: format!("{file:0>path_bytes$}"),
            entity: None,
            before: Some(version),
            after: Some(version),
            added: 1,
            removed: 1,
            mode: None,
            folders: 0,
            kept: true,
        };
        let meta = EditMeta {
            tool: "edit_files".into(),
            author: "client".into(),
            request: version,
            kind: EntryKind::Edit,
            gates: String::new(),
        };
        let id = format!("7f3a-{number}").parse().unwrap();
        let changes = (0..files).map(change).collect();
        Entry { id, at: SystemTime::UNIX_EPOCH, meta, undone: false, changes }
    }

    #[test]
    fn the_first_edit_has_as_many_files_as_fit() {
        for forms in [Forms::Both, Forms::Json, Forms::Text] {
            for path_bytes in [200, 400] {
                let options = ResponseOptions { forms, ..ResponseOptions::default() };
                let entries = [entry(2, 60, path_bytes), entry(1, 60, path_bytes)];
                let answer =
                    history(&entries, 20, |_| "there are more edits; `offset` skips these", &options);
                assert!(
                    size_limit::size(&answer.json, &answer.text, forms) <= size_limit::available(&options)
                );
                let edit = &answer.json["edits"][0];
                let files = edit["files"].as_array().unwrap().len();
                assert!(files > 3, "{}", answer.json);
                assert_eq!(edit["more_files"], 60 - files);
                assert!(answer.text.starts_with("7f3a-2 ") && answer.text.contains("(+1 -1), ...\n"));
                // One more file does not fit.
                let size = size_limit::size(&answer.json, &answer.text, forms);
                let is_full = size + path_bytes + 150 > size_limit::available(&options);
                assert!(files == MAX_LISTED_FILES || is_full, "{files} files, {size} bytes");
                // The next edit is not shortened: it has the space of the next list.
                assert_eq!(answer.json["edits"].as_array().unwrap().len(), 1);
                assert_eq!(answer.json["truncated"], true);
            }
        }
    }
}
