//! The result of a command that may write: its answer in both forms and its exit code.

use std::process::ExitCode;

use super::excerpt::Excerpt;
use super::output_format::OutputFormat;
use super::verbosity::Verbosity;
use super::{paint, show};
use lockgate_engine::{Report, Status};
use lockgate_error::{Code, Confirmation, Error, ErrorFamily};
use lockgate_mcp::answer::{self, Answer, Forms, ResponseOptions, RevertedEdit};
use lockgate_protocol::Response;

/// The result of a command that may write.
#[derive(Debug)]
pub(super) enum CommandOutcome {
    Single(Box<Result<Report, Error>>),
    /// Several edits, with the paths as the caller named them.
    Batch(Result<Vec<Report>, Error>, Vec<String>),
    Reverted(Result<Vec<Report>, Error>, RevertedEdit),
}

impl CommandOutcome {
    /// Creates the result of a request that was rejected before anything was done.
    pub(super) fn rejected(error: Error) -> CommandOutcome {
        CommandOutcome::Single(Box::new(Err(error)))
    }

    /// Changes the error, if the result is one.
    pub(super) fn map_error(self, change: impl FnOnce(Error) -> Error) -> CommandOutcome {
        match self {
            CommandOutcome::Single(result) => CommandOutcome::Single(Box::new(result.map_err(change))),
            CommandOutcome::Batch(result, paths) => CommandOutcome::Batch(result.map_err(change), paths),
            CommandOutcome::Reverted(result, reverted) => {
                CommandOutcome::Reverted(result.map_err(change), reverted)
            }
        }
    }

    /// Prints the answer as JSON or text and returns the exit code.
    ///
    /// Errors: `IO_FAILED` when standard output fails and nothing was written. An edit that was written is not reported as
    /// rejected: sent again, it could be made twice.
    pub(super) fn print(
        &self,
        options: ResponseOptions,
        format: OutputFormat,
        verbosity: Verbosity,
    ) -> Result<ExitCode, Error> {
        let printed = match format {
            OutputFormat::Json => paint::print_json_line(&self.answer(&options).json),
            OutputFormat::Text if verbosity == Verbosity::Quiet && self.is_success() => Ok(()),
            OutputFormat::Text => self.show(options, verbosity),
        };
        let Err(error) = printed else { return Ok(self.exit_code()) };
        let Some(message) = self.unprinted(&error) else { return Err(error) };
        paint::print_error(&message);
        Ok(ExitCode::from(error.code.family().exit_code()))
    }

    /// Renders the failure to print the report of an edit that was written; `None` if none was.
    fn unprinted(&self, error: &Error) -> Option<String> {
        let mut written = self.reports().ok()?.iter().filter(|report| report.status == Status::Written);
        let id = written.next()?.edit_id;
        let (edit, look) = match id {
            Some(id) => (format!("edit {id}"), format!("`lockgate show {id}` shows the edit")),
            None => ("the edit".to_owned(), "read the file".to_owned()),
        };
        let message = format!(
            "{}: {edit} was written, but not its report: {}",
            error.code.name(),
            paint::visible(&error.message)
        );
        let hint = format!("do not send the request again; {look}");
        Some(
            paint::labelled(paint::REJECTED, "error", message) + &paint::labelled(paint::LABEL, "hint", hint),
        )
    }

    /// Prints an error to standard error and a report to standard output.
    fn show(&self, options: ResponseOptions, verbosity: Verbosity) -> Result<(), Error> {
        // A person can scroll; only programs need short answers.
        let roomy = ResponseOptions { limit: *ResponseOptions::LIMITS.end(), forms: Forms::Json, ..options };
        let response = self.answer(&roomy).edit_response;
        let excerpts: Vec<Excerpt> = self
            .reports()
            .iter()
            .copied()
            .flatten()
            .map(|report| Excerpt::whole(report.change.draft.view()))
            .collect();
        let shown = match &response {
            Some(Response::Batch(batch)) => show::batch(batch, &excerpts, verbosity),
            Some(Response::Edit(edit)) => show::edit(edit, &excerpts, verbosity),
            // The commands use no other format.
            other => return Err(Error::new(Code::Internal, format!("no response to an edit: {other:?}"))),
        };
        if self.reports().is_ok() {
            return paint::print(&shown);
        }
        paint::print_error(&shown);
        Ok(())
    }

    fn answer(&self, options: &ResponseOptions) -> Answer {
        match self {
            CommandOutcome::Single(result) => answer::render(result, options),
            CommandOutcome::Batch(result, paths) => answer::batch(result, paths, options),
            CommandOutcome::Reverted(result, reverted) => answer::render_revert(result, reverted, options),
        }
    }

    fn reports(&self) -> Result<&[Report], &Error> {
        match self {
            CommandOutcome::Single(result) => result.as_ref().as_ref().map(std::slice::from_ref),
            CommandOutcome::Batch(result, _) | CommandOutcome::Reverted(result, _) => result.as_deref(),
        }
    }

    /// Returns the confirmation that a person must give first.
    pub(super) fn confirmation(&self) -> Option<&Confirmation> {
        self.reports().err()?.question.as_deref()
    }

    fn is_success(&self) -> bool {
        self.reports().is_ok_and(|reports| reports.iter().all(|report| report.status.is_success()))
    }

    fn exit_code(&self) -> ExitCode {
        match self.reports() {
            Ok(_) if self.is_success() => ExitCode::SUCCESS,
            Ok(_) => ExitCode::from(ErrorFamily::Gate.exit_code()),
            Err(error) => ExitCode::from(error.code.family().exit_code()),
        }
    }
}
