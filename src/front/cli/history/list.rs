//! Renders journal entries as text, from the JSON answers.

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Code, Error};
use crate::front::cli::paint::{ADDED, FAINT, LABEL, REMOVED, WARNING, labelled, paint, visible};
use crate::front::cli::show;

#[derive(Debug, Deserialize)]
pub(super) struct EditList {
    edits: Vec<HistoryEdit>,
    #[serde(default)]
    truncated: bool,
}

/// An edit in the journal.
#[derive(Debug, Deserialize)]
pub(super) struct HistoryEdit {
    edit_id: String,
    at: String,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    author: String,
    kind: String,
    #[serde(default)]
    of: Option<String>,
    undone: bool,
    #[serde(default)]
    gates: String,
    files: Vec<HistoryFile>,
    #[serde(default)]
    more_files: usize,
}

/// The change of an edit to one file.
#[derive(Debug, Deserialize)]
struct HistoryFile {
    path: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    previous_version: Option<String>,
    added: usize,
    removed: usize,
    #[serde(default = "yes")]
    kept: bool,
    #[serde(default)]
    diff: Option<String>,
}

const fn yes() -> bool {
    true
}

fn read<T: for<'a> Deserialize<'a>>(answer: &Value) -> Result<T, Error> {
    T::deserialize(answer)
        .map_err(|error| Error::new(Code::Internal, format!("the answer cannot be read: {error}")))
}

impl EditList {
    /// Parses the answer of `list_edits`.
    ///
    /// Errors: `INTERNAL` when the value is not such an answer.
    pub(super) fn read(answer: &Value) -> Result<EditList, Error> {
        read(answer)
    }

    /// Renders the edits, each with its files.
    pub(super) fn render(&self) -> String {
        let mut text: String = self.edits.iter().map(HistoryEdit::render_short).collect();
        if self.edits.is_empty() {
            text += &labelled(FAINT, "nothing", "no edits found");
        }
        if self.truncated {
            text += &labelled(FAINT, "more", "there are more edits; -n N shows more of them");
        }
        text
    }
}

impl HistoryEdit {
    /// Parses one edit.
    ///
    /// Errors: `INTERNAL` when the value is not an edit.
    pub(super) fn read(answer: &Value) -> Result<HistoryEdit, Error> {
        read(answer)
    }

    fn render_short(&self) -> String {
        self.headline()
            + &self.files.iter().map(HistoryFile::line).collect::<String>()
            + &self.omitted_files()
    }

    /// Renders the edit with the diffs of its files.
    pub(super) fn render_full(&self) -> String {
        let mut text = self.headline();
        if !self.gates.is_empty() {
            text += &labelled(LABEL, "gates", visible(&self.gates));
        }
        for file in &self.files {
            text += &file.line();
            text += &match &file.diff {
                Some(diff) => show::diff(diff),
                None => labelled(WARNING, "", "its texts are not in the journal"),
            };
        }
        text + &self.omitted_files()
    }

    fn headline(&self) -> String {
        let by = if self.author.is_empty() { "" } else { " by " };
        let of = self.of.as_ref().map(|id| format!(", {} of {id}", self.kind)).unwrap_or_default();
        let undone = if self.undone { paint(WARNING, ", undone") } else { String::new() };
        let text = format!("{} {}{by}{}{of}", self.at, visible(&self.tool), visible(&self.author));
        labelled(LABEL, &self.edit_id, text + &undone)
    }

    fn omitted_files(&self) -> String {
        match self.more_files {
            0 => String::new(),
            more => labelled(FAINT, "", format!("and {more} more files")),
        }
    }
}

impl HistoryFile {
    fn line(&self) -> String {
        let verb = match (&self.previous_version, &self.version) {
            (None, _) => "created ",
            (_, None) => "removed ",
            (Some(_), Some(_)) => "",
        };
        let (added, removed) =
            (paint(ADDED, format!("+{}", self.added)), paint(REMOVED, format!("-{}", self.removed)));
        let lost = if self.kept { "" } else { ", its texts are not in the journal" };
        labelled(LABEL, "", format!("{verb}{} {added} {removed}{lost}", visible(&self.path)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(styled: &str) -> String {
        anstream::adapter::strip_str(styled).to_string()
    }

    #[test]
    fn edits_are_listed_with_their_files() {
        let file = json!({"path": "a\u{1b}.py", "version": "0123456789ab", "previous_version": "ba9876543210",
            "added": 1, "removed": 2});
        let made =
            json!({"path": "b.py", "version": "0123456789ab", "added": 3, "removed": 0, "kept": false});
        let first = json!({"edit_id": "7f3a-43", "at": "2026-01-02T03:04:05Z", "tool": "undo_edit", "author": "x 1",
            "kind": "undo", "of": "7f3a-42", "undone": false, "files": [file]});
        let second = json!({"edit_id": "7f3a-42", "at": "2026-01-02T03:04:04Z", "tool": "edit_files", "kind": "edit",
            "undone": true, "files": [made]});
        let listed = EditList::read(&json!({"edits": [first, second], "truncated": true})).unwrap();
        assert_eq!(
            plain(&listed.render()),
            "7f3a-43   2026-01-02T03:04:05Z undo_edit by x 1, undo of 7f3a-42\n          a\u{241b}.py +1 -2\n\
             7f3a-42   2026-01-02T03:04:04Z edit_files, undone\n          created b.py +3 -0, its texts are not in the journal\n\
             more      there are more edits; -n N shows more of them\n"
        );
        let none = EditList::read(&json!({"edits": []})).unwrap();
        assert_eq!(plain(&none.render()), "nothing   no edits found\n");
    }
}
