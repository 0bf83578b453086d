//! Renders answers as JSON and as text with the same content, because some clients show their model only one of the
//! two: those of edits, of the history, and of errors. A tool that reads renders its own.
//!
//! Invariant: both forms of an answer to an edit, as sent, are no larger than the requested limit. `notes` counts the omitted parts,
//! or at least mentions them if no number fits.

mod batch;
mod clip;
mod diff_excerpt;
mod edit_result;
mod entity;
mod file_shares;
mod findings;
mod forms;
mod gates;
mod history;
mod message;
mod next;
mod offers;
mod options;
mod response;
mod reverted_edit;
mod shown_parts;
mod size_limit;
mod text;
mod timestamp;

use serde::Serialize;
use serde_json::Value;

use lockgate_engine::Report;
use lockgate_error::Error;
use lockgate_protocol::Response;
use response::FullResponse;

pub use edit_result::{CallKind, EditResult};
pub use entity::display_name;
pub(crate) use entity::{key, result_name};
pub use findings::reported_finding;
pub use forms::Forms;
pub use gates::trust_command;
pub(crate) use history::describe_origin;
pub use history::{history, record, record_with_diffs};
pub use offers::{CallOffers, OfferedTools, ToolCall, unknown_fields};
pub use options::{
    DiffDisplay, ExtraField, FieldNames, ResponseFormat, ResponseOptions, ToolOptions, ToolProfile,
};
pub use reverted_edit::RevertedEdit;
pub use shown_parts::ShownParts;
pub use text::{counted, passed_gates, shell_word};
pub use timestamp::age;

/// An answer in all its forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The response of an edit, or the error that ended a call; `None` if the call read something.
    pub edit_response: Option<Response>,
    /// The JSON form, for programs.
    pub json: Value,
    /// The text form, for readers and models.
    pub text: String,
}

impl Answer {
    fn new(response: Response, text: String) -> Answer {
        let json = serde_json::to_value(&response).unwrap_or_default();
        Answer { edit_response: Some(response), json, text }
    }

    /// Creates the answer of a call that reads, from its JSON form and its text form.
    pub(crate) fn from_response(response: &impl Serialize, text: String) -> Answer {
        Answer { edit_response: None, json: serde_json::to_value(response).unwrap_or_default(), text }
    }

    /// True if the request succeeded.
    pub fn is_success(&self) -> bool {
        self.edit_response.as_ref().is_none_or(Response::is_success)
    }

    fn from_full(full: &FullResponse<'_>, options: &ResponseOptions) -> Answer {
        let fitted = size_limit::fit(full, size_limit::available(options), options);
        Answer::new(options.profile.formatted(fitted.response), fitted.text)
    }
}

/// Renders the answer to one edit.
fn render_report(report: &Report, options: &ResponseOptions) -> Answer {
    Answer::from_full(&FullResponse::from_report(report, options), options)
}

/// Renders the answer to a rejected request.
pub fn render_error(error: &Error, options: &ResponseOptions) -> Answer {
    Answer::from_full(&FullResponse::from_error(error, options), options)
}

#[cfg(test)]
mod tests;
