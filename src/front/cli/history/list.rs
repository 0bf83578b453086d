//! Renders edits of the history as text.

use crate::front::cli::paint::{ADDED, FAINT, LABEL, REMOVED, WARNING, labelled, paint, visible};
use crate::front::cli::show;
use crate::protocol::{EditRecord, HistoryResponse, RecordedFile};

/// Renders the edits, each with its files.
pub(super) fn list(HistoryResponse { edits, truncated }: &HistoryResponse) -> String {
    let short = |edit: &EditRecord| {
        headline(edit) + &edit.files.iter().map(file_line).collect::<String>() + &omitted_files(edit)
    };
    let mut text: String = edits.iter().map(short).collect();
    if edits.is_empty() {
        text += &labelled(FAINT, "nothing", "no edits found");
    }
    if truncated.is_some() {
        text += &labelled(FAINT, "more", "there are more edits; -n N shows more of them");
    }
    text
}

/// Renders an edit with the diffs of its files.
pub(super) fn full(edit: &EditRecord) -> String {
    let mut text = headline(edit);
    if let Some(gates) = &edit.gates {
        text += &labelled(LABEL, "gates", visible(gates));
    }
    for file in &edit.files {
        text += &file_line(file);
        text += &match &file.diff {
            Some(diff) => show::diff(diff),
            None => labelled(WARNING, "", "its texts are not in the journal"),
        };
    }
    text + &omitted_files(edit)
}

fn headline(edit: &EditRecord) -> String {
    let by = edit.author.as_ref().map(|author| format!(" by {}", visible(author))).unwrap_or_default();
    let of = edit.of.as_ref().map(|id| format!(", {} of {id}", edit.kind)).unwrap_or_default();
    let undone = if edit.undone { paint(WARNING, ", undone") } else { String::new() };
    let tool = visible(edit.tool.as_deref().unwrap_or_default());
    labelled(LABEL, &edit.edit_id, format!("{} {tool}{by}{of}{undone}", edit.at))
}

fn omitted_files(edit: &EditRecord) -> String {
    edit.more_files.map(|more| labelled(FAINT, "", format!("and {more} more files"))).unwrap_or_default()
}

fn file_line(file: &RecordedFile) -> String {
    let added = paint(ADDED, format!("+{}", file.added));
    let removed = paint(REMOVED, format!("-{}", file.removed));
    let lost = file.kept.map(|_| ", its texts are not in the journal").unwrap_or_default();
    labelled(LABEL, "", format!("{}{} {added} {removed}{lost}", file.change_word(), visible(&file.path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    #[test]
    fn edits_are_listed_with_their_files() {
        let file = |path: &str, previous: Option<&str>, (added, removed), kept| RecordedFile {
            path: path.into(),
            version: Some("0123456789ab".into()),
            previous_version: previous.map(str::to_owned),
            added,
            removed,
            kept,
            ..RecordedFile::default()
        };
        let first = EditRecord {
            edit_id: "7f3a-43".into(),
            at: "2026-01-02T03:04:05Z".into(),
            tool: Some("undo_edit".into()),
            author: Some("x 1".into()),
            kind: "undo".into(),
            of: Some("7f3a-42".into()),
            files: vec![file("a\u{1b}.py", Some("ba9876543210"), (1, 2), None)],
            ..EditRecord::default()
        };
        let second = EditRecord {
            edit_id: "7f3a-42".into(),
            at: "2026-01-02T03:04:04Z".into(),
            tool: Some("edit_files".into()),
            kind: "edit".into(),
            undone: true,
            files: vec![file("b.py", None, (3, 0), Some(false))],
            ..EditRecord::default()
        };
        let listed = HistoryResponse { edits: vec![first, second], truncated: Some(true) };
        assert_eq!(
            plain(&list(&listed)),
            "7f3a-43   2026-01-02T03:04:05Z undo_edit by x 1, undo of 7f3a-42\n          a\u{241b}.py +1 -2\n\
             7f3a-42   2026-01-02T03:04:04Z edit_files, undone\n          created b.py +3 -0, its texts are not in the journal\n\
             more      there are more edits; -n N shows more of them\n"
        );
        assert_eq!(plain(&list(&HistoryResponse::default())), "nothing   no edits found\n");
    }
}
