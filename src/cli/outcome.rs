//! Prints the result of a command that may write, in both forms, and chooses its exit code.

use std::process::ExitCode;

use super::excerpt::Excerpt;
use super::output_format::OutputFormat;
use super::verbosity::Verbosity;
use super::{paint, show};
use lockgate_engine::{Report, Status};
use lockgate_error::{Code, Error, ErrorFamily};
use lockgate_mcp::answer::{EditResult, Forms, ResponseOptions};
use lockgate_protocol::Response;

/// Prints the answer as JSON or text and returns the exit code.
///
/// Errors: `IO_FAILED` when standard output fails and nothing was written. An edit that was written is not reported as
/// rejected: sent again, it could be made twice.
pub(super) fn print(
    result: &EditResult,
    options: ResponseOptions,
    format: OutputFormat,
    verbosity: Verbosity,
) -> Result<ExitCode, Error> {
    let printed = match format {
        OutputFormat::Json => paint::print_json_line(&result.render(&options).json),
        OutputFormat::Text if verbosity == Verbosity::Quiet && result.is_success() => Ok(()),
        OutputFormat::Text => show(result, options, verbosity),
    };
    let Err(error) = printed else { return Ok(exit_code(result)) };
    let Some(message) = unprinted(result, &error) else { return Err(error) };
    paint::print_error(&message);
    Ok(ExitCode::from(error.code.family().exit_code()))
}

/// Renders the failure to print the report of an edit that was written; `None` if none was.
fn unprinted(result: &EditResult, error: &Error) -> Option<String> {
    let mut written = result.reports.as_ref().ok()?.iter().filter(|report| report.status == Status::Written);
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
    Some(paint::labelled(paint::REJECTED, "error", message) + &paint::labelled(paint::LABEL, "hint", hint))
}

/// Prints an error to standard error and a report to standard output.
fn show(result: &EditResult, options: ResponseOptions, verbosity: Verbosity) -> Result<(), Error> {
    // A person can scroll; only programs need short answers.
    let roomy = ResponseOptions { limit: *ResponseOptions::LIMITS.end(), forms: Forms::Json, ..options };
    let response = result.render(&roomy).edit_response;
    let reports = || result.reports.iter().flatten();
    let excerpt = |report: &Report| Excerpt::whole(report.change.draft.view());
    let shown = match &response {
        Some(Response::Batch(batch)) => {
            let of_file = |path: &str| reports().find(|report| report.target.path == path).map(excerpt);
            show::batch(batch, of_file, verbosity)
        }
        Some(Response::Edit(edit)) => {
            show::edit(edit, &reports().map(excerpt).collect::<Vec<_>>(), verbosity)
        }
        // The commands use no other format.
        other => return Err(Error::new(Code::Internal, format!("no response to an edit: {other:?}"))),
    };
    if result.reports.is_ok() {
        return paint::print(&shown);
    }
    paint::print_error(&shown);
    Ok(())
}

fn exit_code(result: &EditResult) -> ExitCode {
    match &result.reports {
        Ok(_) if result.is_success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(ErrorFamily::Gate.exit_code()),
        Err(error) => ExitCode::from(error.code.family().exit_code()),
    }
}
