//! The result of a call that may write, and its answer.

use super::batch::{render_entry_error, render_reports};
use super::message::{Message, change_summary};
use super::options::ResponseOptions;
use super::response::FullResponse;
use super::reverted_edit::RevertedEdit;
use super::{Answer, render_error, render_report};
use lockgate_engine::{Report, Status};
use lockgate_error::{Confirmation, Error};

/// The result of a call that may write.
#[derive(Debug)]
pub struct EditResult {
    /// The report of each target, or the error that ended the call.
    pub reports: Result<Vec<Report>, Error>,
    /// The kind of the call.
    pub kind: CallKind,
}

/// A kind of call that may write.
#[derive(Debug)]
pub enum CallKind {
    /// One edit.
    Single,
    /// Several edits, with their paths as the caller named them.
    Batch(Vec<String>),
    /// An undo or redo of this edit.
    Revert(RevertedEdit),
}

impl EditResult {
    /// Creates the result of a call that was rejected before anything was done.
    pub fn rejected(error: Error) -> EditResult {
        EditResult { reports: Err(error), kind: CallKind::Single }
    }

    /// Changes the error, if the result is one.
    #[must_use]
    pub fn map_error(self, change: impl FnOnce(Error) -> Error) -> EditResult {
        EditResult { reports: self.reports.map_err(change), ..self }
    }

    /// Returns the question that a person must confirm first.
    pub fn question(&self) -> Option<&Confirmation> {
        self.reports.as_ref().err()?.question.as_deref()
    }

    /// Takes the question that a person must confirm first.
    pub(crate) fn take_question(&mut self) -> Option<Box<Confirmation>> {
        self.reports.as_mut().err()?.question.take()
    }

    /// Returns the bytes that the change of one edit removes and adds; `None` for any other call.
    pub(crate) fn size(&self) -> Option<usize> {
        match (self.reports.as_deref(), &self.kind) {
            (Ok([report]), CallKind::Single) => Some(report.size()),
            _ => None,
        }
    }

    /// True if no target was refused.
    pub fn is_success(&self) -> bool {
        self.reports.as_ref().is_ok_and(|reports| reports.iter().all(|report| report.status.is_success()))
    }

    /// Renders the answer.
    pub fn render(&self, options: &ResponseOptions) -> Answer {
        match (self.reports.as_deref(), &self.kind) {
            (Ok([report]), CallKind::Single) => render_report(report, options),
            (Ok([report]), CallKind::Revert(reverted)) => render_single_revert(report, reverted, options),
            (Ok(reports), CallKind::Revert(reverted)) => render_reports(reports, options, Some(reverted)),
            (Ok(reports), CallKind::Single | CallKind::Batch(_)) => render_reports(reports, options, None),
            (Err(error), CallKind::Single) => render_error(error, options),
            (Err(error), CallKind::Batch(paths)) => render_entry_error(error, paths, options),
            (Err(error), CallKind::Revert(_)) => {
                // The conflict can be in another file of the edit than the one that the request names.
                let path = error.since.as_ref().and_then(|since| since.path.clone());
                let path = path.or_else(|| options.path.clone());
                render_error(error, &ResponseOptions { path, ..options.clone() })
            }
        }
    }
}

/// Renders the result of an undo or redo of an edit of one file.
fn render_single_revert(report: &Report, reverted: &RevertedEdit, options: &ResponseOptions) -> Answer {
    let mut full = FullResponse::from_report(report, options);
    match report.status {
        Status::Written => {
            full.response.notes.extend(reverted.origin_note(options));
            let summary = change_summary(report);
            full.set_message(Message::plain(format!("{}: {summary}", reverted.done_message())));
        }
        Status::AlreadyApplied => full.set_message(Message::plain(reverted.already_message())),
        Status::Unchanged | Status::Verified | Status::Refused => {}
    }
    Answer::from_full(&full, options)
}
