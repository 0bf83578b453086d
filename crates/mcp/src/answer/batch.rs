//! Renders the answer to several edits of one call: first their common fields, then the fields of each file.
//!
//! Invariant: the files share the size limit of one answer. Files that need little space are shown in full; a file
//! that is not shown at all is counted.

use std::collections::HashSet;

use super::forms::Forms;
use super::gates::unchecked_warning;
use super::json_size;
use super::message::{Message, UNCHANGED, change_summary};
use super::offers::CallOffers;
use super::options::ResponseOptions;
use super::response::FullResponse;
use super::reverted_edit::RevertedEdit;
use super::shown_notes::is_shortened;
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

/// Maximum bytes of a path when only the path and status of a file fit.
const BRIEF_PATH_BYTES: usize = 60;

/// Renders the result of several edits; `paths` are their files as the caller named them.
pub fn batch(result: &Result<Vec<Report>, Error>, paths: &[String], options: &ResponseOptions) -> Answer {
    match result {
        Ok(reports) => render_reports(reports, options, None),
        Err(error) => rejection_of_entry(error, paths, options),
    }
}

fn rejection_of_entry(error: &Error, paths: &[String], options: &ResponseOptions) -> Answer {
    let path = error.entry_index().and_then(|at| paths.get(at));
    let mut error = error.clone();
    if let Some(path) = path.filter(|_| !error.names_target()) {
        error.message = format!("{path}: {}", error.message);
    }
    render_error(&error, &ResponseOptions { path: path.cloned(), ..options.clone() })
}

fn render_reports(reports: &[Report], options: &ResponseOptions, reverted: Option<&RevertedEdit>) -> Answer {
    let mut parts: Vec<FullResponse<'_>> =
        reports.iter().map(|report| FullResponse::of_report(report, options)).collect();
    let mut head = head(reports, &parts, reverted);
    parts.iter_mut().for_each(shorten_entry);
    if is_shortened(options.forms) {
        head.notes = take_common_notes(&mut parts);
    }
    if options.forms == Forms::Text {
        drop_repeated_warnings(&mut parts, reports);
    }
    if head.status == Status::Written.name() {
        head.notes.extend(reverted.and_then(|reverted| reverted.origin_note(options)));
    }
    let first_line = first_line(&head, &parts);
    let common = with_files(head.clone(), &first_line, Vec::new(), 0, &options.offers);
    let used = size_limit::size(&common.edit_response, &common.text, options.forms) + NOTE_RESERVE;
    let spare = size_limit::available(options).saturating_sub(used);
    let files = fit_entries(&parts, options, spare);
    let missing = parts.len() - files.len();
    with_files(head, &first_line, files, missing, &options.offers)
}

/// Returns the first line of the text: the message, or the number of rejected edits if each of them shows its findings.
fn first_line(head: &BatchResponse, parts: &[FullResponse<'_>]) -> String {
    let refused: Vec<&FullResponse<'_>> = parts.iter().filter(|part| !part.response.is_success()).collect();
    let shows_all = refused.iter().all(|part| part.response.headline.is_some());
    if refused.is_empty() || !shows_all {
        return head.message.clone();
    }
    let verb = if refused.len() == 1 { "is" } else { "are" };
    Message::rejection(format!("{} of {} edits {verb} refused", refused.len(), parts.len())).text()
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
    response.headline.iter_mut().for_each(|headline| headline.preface = "");
}

/// Renders the parts within `spare` bytes: refused edits first, then the smallest answers.
fn fit_entries(parts: &[FullResponse<'_>], options: &ResponseOptions, mut spare: usize) -> Vec<SizedEdit> {
    let within = |part: &FullResponse<'_>, room: usize| {
        size_limit::fit(part, &ResponseOptions { limit: room + size_limit::ENVELOPE, ..options.clone() })
    };
    let mut waiting: Vec<(usize, &FullResponse<'_>, SizedEdit)> =
        parts.iter().enumerate().map(|(at, part)| (at, part, within(part, spare))).collect();
    waiting.sort_by_key(|(at, _, full)| (full.response.is_success(), full.size, *at));
    let mut shown = Vec::new();
    let mut left = waiting.len();
    for (at, part, full) in waiting {
        let share = spare / left.max(1);
        let fitted = if entry_size(&full) <= share { full } else { within(part, share) };
        let fitted = if entry_size(&fitted) <= share { fitted } else { minimal(&part.response, options) };
        left -= 1;
        if let Some(rest) = spare.checked_sub(entry_size(&fitted)) {
            spare = rest;
            shown.push((at, fitted));
        }
    }
    shown.sort_by_key(|(at, _)| *at);
    shown.into_iter().map(|(_, fitted)| fitted).collect()
}

/// Returns the size of a part, including the separators in both forms.
const fn entry_size(part: &SizedEdit) -> usize {
    part.size + 3
}

/// Renders only the status, path and version of a file.
fn minimal(response: &EditResponse, options: &ResponseOptions) -> SizedEdit {
    let path = json_size::clip(response.path.as_deref().unwrap_or_default(), BRIEF_PATH_BYTES);
    let text = format!("{} {path}", response.status.as_deref().unwrap_or_default());
    let (status, version) = (response.status.clone(), response.version.clone());
    let response = EditResponse { status, path: Some(path), version, ..EditResponse::default() };
    SizedEdit { size: size_limit::size(&response, &text, options.forms), response, text }
}

/// Returns the fields that the edits have in common.
fn head(reports: &[Report], parts: &[FullResponse<'_>], reverted: Option<&RevertedEdit>) -> BatchResponse {
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
        message: json_size::clip(&message, 1000),
        hint: first.and_then(|part| part.response.hint.clone()),
        path: first.and_then(|part| part.response.path.as_deref()).map(|path| json_size::clip(path, 300)),
        edit_id: reports.iter().find_map(|report| report.edit_id).map(|id| id.to_string()),
        written: status == Status::Written,
        bytes_outside_edit: parts.iter().all(is_untouched).then(|| UNCHANGED.to_owned()),
        ..BatchResponse::default()
    }
}

/// Builds the answer from these files, with the first line of the text; `missing` counts the files that are not shown.
fn with_files(
    mut head: BatchResponse,
    first_line: &str,
    files: Vec<SizedEdit>,
    missing: usize,
    offers: &CallOffers,
) -> Answer {
    let larger = if offers.has_max_bytes { "; a larger max_bytes shows more" } else { "" };
    head.notes.extend(match missing {
        0 => None,
        1 => Some(format!("1 file is not shown{larger}")),
        more => Some(format!("{more} files are not shown{larger}")),
    });
    let mut lines = vec![first_line.to_owned()];
    lines
        .extend(head.code.iter().map(|code| format!("{code}; {}", head.hint.as_deref().unwrap_or_default())));
    lines.extend(head.edit_id.iter().map(|id| format!("edit {id}")));
    for SizedEdit { response, text, .. } in files {
        head.files.push(response);
        lines.push(text);
    }
    lines.extend(head.notes.iter().map(|note| format!("note: {note}")));
    Answer::new(Response::Batch(Box::new(head)), lines.join("\n"))
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

/// Renders the result of an undo or redo.
pub fn render_revert(
    result: &Result<Vec<Report>, Error>,
    reverted: &RevertedEdit,
    options: &ResponseOptions,
) -> Answer {
    match result.as_deref() {
        Ok([report]) => render_single_revert(report, reverted, options),
        Ok(reports) => render_reports(reports, options, Some(reverted)),
        Err(error) => render_error(error, options),
    }
}

fn render_single_revert(report: &Report, reverted: &RevertedEdit, options: &ResponseOptions) -> Answer {
    let mut full = FullResponse::of_report(report, options);
    match report.status {
        Status::Written => {
            full.response.notes.extend(reverted.origin_note(options));
            let summary = change_summary(report);
            full.set_message(Message::plain(format!("{}: {summary}", reverted.done_message())));
        }
        Status::AlreadyApplied => full.set_message(Message::plain(reverted.already_message())),
        Status::Unchanged | Status::Verified | Status::Refused => {}
    }
    Answer::of_edit(&full, options)
}
