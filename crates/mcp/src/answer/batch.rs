//! Renders the answer to several edits of one call: first their common fields, then the fields of each file.
//!
//! Invariant: the files share the size limit of one answer. A file that is not shown at all is counted.

use std::collections::HashSet;

use super::clip::{ROOMY_BYTES, clip};
use super::file_shares::fit_entries;
use super::forms::Forms;
use super::gates::unchecked_warning;
use super::message::{Message, UNCHANGED};
use super::offers::CallOffers;
use super::options::ResponseOptions;
use super::response::{DiffSource, FullResponse};
use super::reverted_edit::RevertedEdit;
use super::size_limit::{self, SizedEdit};
use super::text::counted;
use super::{Answer, render_error};
use lockgate_engine::{Report, Status};
use lockgate_error::{Code, Error};
use lockgate_protocol::{BatchResponse, EditResponse, Response};

/// Bytes reserved, in both forms, for the note that files are not shown.
const NOTE_RESERVE: usize = 160;

/// Maximum number of files that a message names.
const MAX_NAMED_FILES: usize = 4;

/// Maximum bytes of the message, from the largest to that which fits any answer.
const MESSAGE_BYTES: [usize; 5] = [1000, 500, ROOMY_BYTES, 160, 90];

/// Renders the reports of several edits, or of an undo or redo of them.
pub(super) fn render_reports(
    reports: &[Report],
    options: &ResponseOptions,
    reverted: Option<&RevertedEdit>,
) -> Answer {
    let mut parts: Vec<FullResponse<'_>> =
        reports.iter().map(|report| FullResponse::from_report(report, options)).collect();
    if let Some(reverted) = reverted {
        for (part, report) in parts.iter_mut().zip(reports) {
            if report.status == Status::AlreadyApplied {
                part.set_message(Message::plain(reverted.already_message_for(&report.target.path)));
            }
        }
    }
    let mut common = common_fields(reports, &parts, reverted);
    parts.iter_mut().for_each(shorten_entry);
    if options.forms.are_for_models() {
        common.notes = take_common_notes(&mut parts);
    }
    if options.forms == Forms::Text {
        drop_repeated_warnings(&mut parts, reports);
    }
    if common.status == Status::Written.name() {
        common.notes.extend(reverted.and_then(|reverted| reverted.origin_note(options)));
    }
    if !common.success && options.forms == Forms::Text {
        parts.iter_mut().for_each(shorten_accepted);
    }
    shorten_common(&mut common, options);
    if let Some(count) = refused_count(&parts) {
        let files = fit_entries(&parts, options, spare(&common, &count, options));
        if parts.iter().zip(&files).all(|(part, file)| is_explained(part, file.as_ref())) {
            return with_files(common, &count, files, &options.offers);
        }
    }
    let message = common.message.clone();
    let files = fit_entries(&parts, options, spare(&common, &message, options));
    with_files(common, &message, files, &options.offers)
}

/// Renders the error that ended a call with several edits; `paths` are their files as the caller named them.
pub(super) fn render_entry_error(error: &Error, paths: &[String], options: &ResponseOptions) -> Answer {
    let path = error.entry_index().and_then(|at| paths.get(at));
    let mut error = error.clone();
    if let Some(path) = path.filter(|_| !error.names_target()) {
        error.message = format!("{path}: {}", error.message);
    }
    render_error(&error, &ResponseOptions { path: path.cloned(), ..options.clone() })
}

/// Clips the message, and omits common notes, so that there is space for files.
fn shorten_common(common: &mut BatchResponse, options: &ResponseOptions) {
    let room = size_limit::available(options);
    let (message, notes) = (common.message.clone(), std::mem::take(&mut common.notes));
    for bytes in MESSAGE_BYTES {
        common.message = clip(&message, bytes);
        let most = if bytes > ROOMY_BYTES { room / 2 } else { room };
        if common_size(common, &common.message, options) <= most {
            break;
        }
    }
    let all = notes.len();
    for (shown, note) in notes.into_iter().enumerate() {
        common.notes.push(note);
        if common_size(common, &common.message, options) > room / 2 {
            common.notes.truncate(shown);
            common.notes.push(format!("not shown: {}", counted(all - shown, "note")));
            return;
        }
    }
}

/// Returns the bytes of the answer without files.
fn common_size(common: &BatchResponse, first_line: &str, options: &ResponseOptions) -> usize {
    let answer = with_files(common.clone(), first_line, Vec::new(), &options.offers);
    size_limit::size(&answer.edit_response, &answer.text, options.forms) + NOTE_RESERVE
}

/// Returns the bytes that are left for the files.
fn spare(common: &BatchResponse, first_line: &str, options: &ResponseOptions) -> usize {
    size_limit::available(options).saturating_sub(common_size(common, first_line, options))
}

/// Returns the number of rejected edits, as the first line of an answer that shows the findings of each. `None` if none
/// is rejected, or if one is rejected for another reason.
fn refused_count(parts: &[FullResponse<'_>]) -> Option<String> {
    let refused: Vec<&FullResponse<'_>> = parts.iter().filter(|part| !part.response.is_success()).collect();
    if refused.is_empty() || refused.iter().any(|part| part.response.for_text.headline.is_none()) {
        return None;
    }
    let verb = if refused.len() == 1 { "is" } else { "are" };
    let count = format!("{} of {} edits {verb} refused", refused.len(), parts.len());
    Some(Message::rejection(count).text())
}

/// True if the part is no rejection, or if its file is shown with all findings that block.
fn is_explained(part: &FullResponse<'_>, file: Option<&SizedEdit>) -> bool {
    let blocking = |response: &EditResponse| response.findings.iter().filter(|found| found.blocking).count();
    part.response.is_success()
        || file.is_some_and(|file| blocking(&file.response) == blocking(&part.response))
}

/// Takes the notes that several parts have, so that each is shown once.
fn take_common_notes(parts: &mut [FullResponse<'_>]) -> Vec<String> {
    let mut common: Vec<String> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        for note in &part.response.notes {
            let is_repeated = parts.iter().skip(at + 1).any(|other| other.response.notes.contains(note));
            if is_repeated && !common.contains(note) {
                common.push(note.clone());
            }
        }
    }
    parts.iter_mut().for_each(|part| part.response.notes.retain(|note| !common.contains(note)));
    common
}

/// Removes the warnings about gates that an earlier part has. Each part lists these gates with their outcome.
fn drop_repeated_warnings(parts: &mut [FullResponse<'_>], reports: &[Report]) {
    let runs = reports.iter().flat_map(|report| &report.verdict.runs);
    let of_gates: HashSet<String> = runs.filter_map(unchecked_warning).collect();
    let mut shown = HashSet::new();
    for part in parts {
        let warnings = &mut part.response.validation_warnings;
        warnings.retain(|warning| !of_gates.contains(&warning.text) || shown.insert(warning.text.clone()));
    }
}

/// Removes the parts that the common fields have.
fn shorten_entry(part: &mut FullResponse<'_>) {
    let response = &mut part.response;
    response.message = Some(part.message.body.clone());
    response.bytes_outside_edit.take_if(|found| found == UNCHANGED);
    (response.success, response.written, response.changed) = (None, None, None);
    (response.hint, response.code, response.edit_id) = (None, None, None);
    response.for_text.headline.iter_mut().for_each(|headline| headline.preface = "");
}

/// Removes from the text of an accepted edit of a rejected call what it would change, unless it has findings that count.
fn shorten_accepted(part: &mut FullResponse<'_>) {
    let response = &mut part.response;
    if !response.is_success() || response.findings.iter().any(|found| found.counts) {
        return;
    }
    part.diff = DiffSource::None;
    (response.edits, response.match_locations, response.line_map) = Default::default();
    (response.gates, response.findings, part.omitted) = Default::default();
    (response.for_text.match_details, response.for_text.old_findings) = Default::default();
    response.for_text.headline.iter_mut().for_each(|headline| headline.details.clear());
}

/// Returns the fields that the edits have in common.
fn common_fields(
    reports: &[Report],
    parts: &[FullResponse<'_>],
    reverted: Option<&RevertedEdit>,
) -> BatchResponse {
    let status = status(reports);
    let refused: Vec<&FullResponse<'_>> = parts.iter().filter(|part| !part.response.is_success()).collect();
    let first = refused.first();
    let message = match (first, refused.len()) {
        (Some(only), 1) => only.message.text(),
        (Some(first), count) => {
            let (of, first) = (parts.len(), &first.message.body);
            Message::rejection(format!("{count} of {of} edits are refused; the first: {first}")).text()
        }
        (None, _) => success_message(status, reports, reverted),
    };
    let is_untouched =
        |part: &FullResponse<'_>| part.response.bytes_outside_edit.as_deref() == Some(UNCHANGED);
    BatchResponse {
        success: status.is_success(),
        status: status.name().into(),
        code: (!status.is_success()).then(|| Code::GateRefused.name().into()),
        message,
        hint: first.and_then(|part| part.response.hint.clone()),
        path: first.and_then(|part| part.response.path.as_deref()).map(|path| clip(path, 300)),
        edit_id: reports.iter().find_map(|report| report.edit_id).map(|id| id.to_string()),
        written: status == Status::Written,
        bytes_outside_edit: parts.iter().all(is_untouched).then(|| UNCHANGED.to_owned()),
        ..BatchResponse::default()
    }
}

/// Builds the answer from the files, `None` for one that is not shown, with the first line of the text. The text has the
/// refused files first.
fn with_files(
    mut common: BatchResponse,
    first_line: &str,
    files: Vec<Option<SizedEdit>>,
    offers: &CallOffers,
) -> Answer {
    let larger = if offers.has_max_bytes { "; a larger max_bytes shows more" } else { "" };
    common.notes.extend(match files.iter().filter(|file| file.is_none()).count() {
        0 => None,
        1 => Some(format!("1 file is not shown{larger}")),
        more => Some(format!("{more} files are not shown{larger}")),
    });
    let mut lines = vec![first_line.to_owned()];
    lines.extend(
        common.code.iter().map(|code| format!("{code}; {}", common.hint.as_deref().unwrap_or_default())),
    );
    lines.extend(common.edit_id.iter().map(|id| format!("edit {id}")));
    let mut accepted = Vec::new();
    for SizedEdit { response, text, .. } in files.into_iter().flatten() {
        if response.is_success() { &mut accepted } else { &mut lines }.push(text);
        common.files.push(response);
    }
    lines.append(&mut accepted);
    lines.extend(common.notes.iter().map(|note| format!("note: {note}")));
    Answer::new(Response::Batch(Box::new(common)), lines.join("\n"))
}

/// Returns the status of the whole call: the first in `order` that any file has.
fn status(reports: &[Report]) -> Status {
    let order = [Status::Refused, Status::Written, Status::Verified, Status::AlreadyApplied];
    let any = |status: &Status| reports.iter().any(|report| report.status == *status);
    order.into_iter().find(any).unwrap_or(Status::Unchanged)
}

/// Returns the message for edits that were not refused.
fn success_message(status: Status, reports: &[Report], reverted: Option<&RevertedEdit>) -> String {
    let diffs = reports.iter().map(Report::diff);
    let (added, removed) = diffs.fold((0, 0), |sum, diff| (sum.0 + diff.added(), sum.1 + diff.removed()));
    let concerned: Vec<&Report> = reports.iter().filter(|report| report.status == status).collect();
    let files = match (concerned.len(), reports.len()) {
        (some, all) if some == all => counted(all, "file"),
        (some, all) => format!("{some} of {all} files"),
    };
    let named: Vec<&str> =
        concerned.iter().take(MAX_NAMED_FILES).map(|report| report.target.path.as_str()).collect();
    let more = if concerned.len() > named.len() { ", ..." } else { "" };
    let (counts, named) = (format!("(+{added} -{removed})"), format!("{}{more}", named.join(", ")));
    match status {
        Status::Written => match reverted {
            Some(reverted) => format!("{}: {files} {counts}: {named}", reverted.done_message()),
            None => format!("wrote {files} {counts}: {named}"),
        },
        Status::Verified => {
            format!("verified {files} {counts}: strict would write this, nothing was written: {named}")
        }
        Status::AlreadyApplied => match reverted {
            Some(reverted) => format!("{}: {named}", reverted.already_message()),
            None => format!("the edits of {files} were already applied, nothing was written: {named}"),
        },
        Status::Unchanged | Status::Refused => format!("{files} unchanged: {named}"),
    }
}
