//! An edit in one of the modes, as a caller asks for it; one file for each mode.

mod content;
mod insert_lines;
mod line_edits;
mod restore;
mod search_replace;
mod several;

use crate::operations::{Insertion, LineEdit, LineEditNames, Search};
use crate::planned::{PlanContext, PlannedEdit};
use lockgate_error::Error;
use lockgate_text::Buffer;

/// An edit in exactly one of the four modes, or an edit that restores an earlier state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Edit {
    /// The whole new text of the file, with its line ends.
    Content(String),
    /// New text for ranges of lines; all line numbers are those before the edit.
    Lines(Vec<LineEdit>),
    /// New text before lines; all line numbers are those before the edit.
    Insert(Vec<Insertion>),
    /// New text for the matches of a search.
    Search(Search),
    /// The exact bytes of an earlier version.
    Restore(Vec<u8>),
    /// Removes the file, as the undo of its creation does.
    Remove,
    /// Several edits, all of them on the text before the call. They must not overlap.
    Several(Vec<EditPart>),
}

/// One of several edits of a text.
pub type EditPart = several::Part<Edit>;

/// Plans an edit of a text. All parts of the edit are planned, or none.
///
/// Errors: those of each mode, and `NOT_ENCODABLE` if the file's encoding cannot represent the new text.
pub fn plan(edit: &Edit, buffer: &Buffer, context: PlanContext<'_>) -> Result<PlannedEdit, Error> {
    match edit {
        Edit::Content(content) => content::plan(content, buffer, context.limits.bytes),
        Edit::Lines(edits) => line_edits::plan(edits, buffer),
        Edit::Insert(insertions) => insert_lines::plan(insertions, buffer),
        Edit::Search(search) => search_replace::plan(search, buffer, context),
        Edit::Restore(bytes) => restore::plan(bytes, buffer),
        Edit::Remove => restore::remove(buffer),
        Edit::Several(parts) => {
            several::plan(parts, buffer, Edit::is_whole, |edit| plan(edit, buffer, context))
        }
    }
}

impl Edit {
    /// Returns a phrase for what the edit would do to an existing file, or `None` if the edit has the whole text, so that it needs no file.
    pub fn needs_file_to(&self) -> Option<&'static str> {
        match self {
            Edit::Several(parts) if parts.iter().any(|part| part.edit.is_whole()) => None,
            Edit::Content(_) | Edit::Restore(_) => None,
            Edit::Several(_) => Some("apply edits to"),
            Edit::Lines(_) => Some("apply line edits to"),
            Edit::Insert(_) => Some("insert lines into"),
            Edit::Search(_) => Some("search in"),
            Edit::Remove => Some("remove"),
        }
    }

    /// Returns true if the edit refers to lines by number.
    pub fn counts_lines(&self) -> bool {
        match self {
            Edit::Several(parts) => parts.iter().any(|part| part.edit.counts_lines()),
            Edit::Lines(_) | Edit::Insert(_) | Edit::Search(Search { lines: Some(_), .. }) => true,
            Edit::Content(_) | Edit::Search(_) | Edit::Restore(_) | Edit::Remove => false,
        }
    }

    /// Returns true if the edit concerns the whole text, so that any other change of the file matters.
    pub fn is_whole(&self) -> bool {
        match self {
            Edit::Several(parts) => parts.iter().any(|part| part.edit.is_whole()),
            Edit::Content(_) | Edit::Remove => true,
            Edit::Lines(_) | Edit::Insert(_) | Edit::Search(_) | Edit::Restore(_) => false,
        }
    }

    /// Returns the path of the first `expect` that an edit by line numbers leaves out.
    pub fn missing_expect(&self) -> Option<String> {
        let missing = |list, mut entries: Vec<(&Option<String>, LineEditNames)>| {
            let at = entries.iter().position(|(expect, _)| expect.is_none())?;
            let (_, names) = entries.swap_remove(at);
            Some(names.path(list, at, "expect"))
        };
        match self {
            Edit::Lines(edits) => {
                missing("line_edits", edits.iter().map(|edit| (&edit.expect, edit.names)).collect())
            }
            Edit::Insert(edits) => {
                missing("insert_lines", edits.iter().map(|edit| (&edit.expect, edit.names)).collect())
            }
            Edit::Content(_) | Edit::Search(_) | Edit::Restore(_) | Edit::Remove | Edit::Several(_) => None,
        }
    }

    /// Returns the mode's name on the wire.
    pub const fn mode(&self) -> &'static str {
        match self {
            Edit::Content(_) => "content",
            Edit::Lines(_) => "line_edits",
            Edit::Insert(_) => "insert_lines",
            Edit::Search(_) => "search/replace",
            Edit::Restore(_) => "restore",
            Edit::Remove => "remove",
            Edit::Several(_) => "edits",
        }
    }
}
