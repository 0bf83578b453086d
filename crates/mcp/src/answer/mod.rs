//! Renders answers as JSON and as text with the same content, because some clients show their model only one of the
//! two.
//!
//! Invariant: both forms together, as sent, are no larger than the requested limit. `notes` counts the omitted parts,
//! or at least mentions them if no number fits.

mod batch;
mod entity;
mod gates;
mod history;
mod hunks;
mod message;
mod next;
mod profile;
mod read;
mod response;
mod shown_notes;
mod size_limit;
mod text;
mod timestamp;

use std::ops::RangeInclusive;

use serde_json::Value;

use lockgate_edit::request::{Entity, EntityKind};
use lockgate_engine::Report;
use lockgate_error::Error;
use lockgate_protocol::Response;
use response::FullResponse;

pub use batch::batch;
pub use history::{EditOrigin, RevertedEdit, edit_record, history, render_revert};
pub use next::{CallOffers, ToolCall};
pub use profile::{ExtraField, FieldNames, ResponseFormat, ToolProfile};
pub use read::read;
pub use response::reported_finding;
pub use shown_notes::ShownNotes;
pub use text::{first_line, passed_gates};
pub use timestamp::age;

/// Options that control the content and size of an answer.
#[derive(Debug, Clone)]
pub struct ResponseOptions {
    /// Maximum size of the answer in bytes; must lie within [`ResponseOptions::LIMITS`].
    pub limit: usize,
    /// Controls whether the diff is shown.
    pub diff: DiffDisplay,
    /// The forms in which the answer is sent.
    pub forms: Forms,
    /// What the call is for.
    pub purpose: Purpose,
    /// The target as the caller named it, for errors that do not name it.
    pub path: Option<String>,
    /// Key of the target as the caller named it, if the target is in a database.
    pub entity: Option<Entity>,
    /// Number of lines that the request quotes or supplies. Set for tools that report these as changed, even if some
    /// stay the same.
    pub quoted_line_count: Option<usize>,
    /// The names and messages of the called tool.
    pub profile: ToolProfile,
    /// The calls that a rejection may propose.
    pub offers: CallOffers,
    /// The notes that earlier answers have shown.
    pub shown_notes: ShownNotes,
}

impl ResponseOptions {
    /// Returns the path as the caller named it.
    pub fn target(&self) -> &str {
        self.path.as_deref().unwrap_or_default()
    }

    /// Returns the type of the target, such as `file`.
    pub fn noun(&self) -> &str {
        self.entity.as_ref().map_or(EntityKind::FILE, |entity| entity.kind.name())
    }

    /// The valid range of `limit`, in bytes.
    pub const LIMITS: RangeInclusive<usize> = 1024..=1_048_576;
}

impl Default for ResponseOptions {
    fn default() -> ResponseOptions {
        ResponseOptions {
            limit: 8192,
            diff: DiffDisplay::Shown,
            forms: Forms::Both,
            purpose: Purpose::Edit,
            path: None,
            entity: None,
            quoted_line_count: None,
            profile: ToolProfile::PLAIN,
            offers: CallOffers::default(),
            shown_notes: ShownNotes::default(),
        }
    }
}

/// Controls whether the diff is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffDisplay {
    /// Shows the diff as far as it fits.
    Shown,
    /// Omits the diff from the answer.
    Omitted,
}

impl DiffDisplay {
    /// Returns `Shown` for true.
    pub const fn from_shown(is_shown: bool) -> DiffDisplay {
        if is_shown { DiffDisplay::Shown } else { DiffDisplay::Omitted }
    }
}

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Changes files or entities.
    Edit,
    /// Only reads.
    Read,
}

/// The forms in which an answer is sent; the limit applies to the sent forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forms {
    /// Sends the JSON and the text.
    Both,
    /// JSON only, for clients that ignore the text.
    Json,
    /// JSON with only what the next call needs, and one line of text.
    Compact,
    /// Text only, for clients that ignore the JSON.
    Text,
}

/// An answer in all its forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// True if the request succeeded.
    pub success: bool,
    /// The typed response.
    pub response: Response,
    /// The JSON form, for programs.
    pub json: Value,
    /// The text form, for readers and models.
    pub text: String,
}

impl Answer {
    fn new(success: bool, response: Response, text: String) -> Answer {
        Answer { success, json: serde_json::to_value(&response).unwrap_or_default(), response, text }
    }

    fn of_edit(full: &FullResponse<'_>, options: &ResponseOptions) -> Answer {
        let fitted = size_limit::fit(full, options);
        Answer::new(fitted.response.is_success(), options.profile.formatted(fitted.response), fitted.text)
    }
}

/// Renders the result of a request.
pub fn render(result: &Result<Report, Error>, options: &ResponseOptions) -> Answer {
    match result {
        Ok(report) => Answer::of_edit(&FullResponse::of_report(report, options), options),
        Err(error) => render_error(error, options),
    }
}

/// Renders the answer to a rejected request.
pub fn render_error(error: &Error, options: &ResponseOptions) -> Answer {
    Answer::of_edit(&FullResponse::of_error(error, options), options)
}

#[cfg(test)]
mod tests;
