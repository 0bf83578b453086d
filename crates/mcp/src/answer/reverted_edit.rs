//! The texts of an undo or redo.

use super::forms::Forms;
use super::options::ResponseOptions;
use lockgate_edit::request::Direction;
use lockgate_engine::EditId;

/// The edit that was undone or redone, and the direction.
#[derive(Debug, Clone)]
pub struct RevertedEdit {
    /// The direction, undo or redo.
    pub direction: Direction,
    /// Id of the edit, if it is known.
    pub edit: Option<EditId>,
    /// Who made the edit, and when, if it is known, as in `made by claude-code 2.1, 3 minutes ago`.
    pub origin: Option<String>,
}

impl RevertedEdit {
    pub(super) fn done_message(&self) -> String {
        let edit = self.edit.map_or_else(|| "an edit".to_owned(), |id| id.to_string());
        match self.direction {
            Direction::Undo => format!("undid {edit}"),
            Direction::Redo => format!("redid {edit}"),
        }
    }

    /// Returns the message when nothing had to be done.
    pub(super) fn already_message(&self) -> String {
        let edit = self.edit.map_or_else(|| "the edit".to_owned(), |id| id.to_string());
        match self.direction {
            Direction::Undo => format!("{edit} is already undone, nothing was written"),
            Direction::Redo => format!("{edit} is not undone, nothing was written"),
        }
    }

    /// Returns the message for one of several files when nothing had to be done.
    pub(super) fn already_message_for(&self, path: &str) -> String {
        match self.direction {
            Direction::Undo => format!("the edit of {path} is already undone"),
            Direction::Redo => format!("the edit of {path} is not undone"),
        }
    }

    /// Returns the note on who made the edit, unless a model that reads only the text was shown the edit.
    pub(super) fn origin_note(&self, options: &ResponseOptions) -> Option<String> {
        let is_known = options.forms == Forms::Text
            && self.edit.is_some_and(|id| options.shown_parts.has_edit(&id.to_string()));
        let origin = self.origin.as_ref().filter(|_| !is_known)?;
        Some(format!("the edit was {origin}"))
    }
}
