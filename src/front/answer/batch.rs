//! Renders the answer to several edits of one call: first their common fields, then the fields of each file.
//!
//! Invariant: the files share the size limit of one answer. Files that need little space are shown in full; a file
//! that is not shown at all is counted.

use serde_json::{Value, json};

use super::message::{NOTHING_WRITTEN, UNCHANGED, change_summary, short_message};
use super::response::EditResponse;
use super::{Answer, ResponseOptions, render_error, size_limit};
use crate::engine::{Report, Status};
use crate::error::{Code, Error};
use crate::text::{Diff, Region};

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
    let at = error.field.as_deref().and_then(entry_index);
    let path = at.and_then(|at| paths.get(at));
    let mut error = error.clone();
    if let Some(path) = path.filter(|path| !error.message.contains(path.as_str())) {
        error.message = format!("{path}: {}", error.message);
    }
    render_error(&error, &ResponseOptions { path: path.cloned(), ..options.clone() })
}

/// Returns the index of the `edits` entry that an error's field belongs to.
fn entry_index(field: &str) -> Option<usize> {
    field.strip_prefix("edits[")?.split_once(']')?.0.parse().ok()
}

/// The texts for a written edit and for an edit that was already applied, in this order.
type StatusNames<'a> = [&'a str; 2];

pub(super) fn render_reports(
    reports: &[Report],
    options: &ResponseOptions,
    words: Option<StatusNames<'_>>,
) -> Answer {
    let diffs: Vec<(Diff<'_>, Vec<Region>)> =
        reports.iter().map(|report| (report.diff(), report.regions())).collect();
    let responses: Vec<EditResponse<'_>> = reports
        .iter()
        .zip(&diffs)
        .map(|(report, (diff, regions))| EditResponse::of_report(report, diff, regions, options))
        .collect();
    let head = BatchHead::new(reports, &diffs, &responses, words);
    let parts: Vec<EditResponse<'_>> = responses.into_iter().map(entry_response).collect();
    let spare = size_limit::available(options)
        .saturating_sub(size_limit::size(&head.to_answer(&[], 0), options.forms) + NOTE_RESERVE);
    let shown = fit_entries(&parts, options, spare);
    let files: Vec<Answer> = shown.into_iter().flatten().collect();
    head.to_answer(&files, parts.len() - files.len())
}

fn entry_response(mut response: EditResponse<'_>) -> EditResponse<'_> {
    response.whole = false;
    response.hint = None;
    response.outside_edit = response.outside_edit.filter(|found| found != UNCHANGED);
    response.code = None;
    response.message = short_message(&response.message).to_owned();
    response
}

/// Renders the parts within `spare` bytes: refused edits first, then the smallest answers.
fn fit_entries(
    parts: &[EditResponse<'_>],
    options: &ResponseOptions,
    mut spare: usize,
) -> Vec<Option<Answer>> {
    let within = |response: &EditResponse<'_>, room: usize| {
        size_limit::fit(response, &ResponseOptions { limit: room + size_limit::ENVELOPE, ..options.clone() })
    };
    let mut waiting: Vec<(bool, usize, usize, Answer)> = parts
        .iter()
        .enumerate()
        .map(|(at, response)| {
            let full = within(response, spare);
            (response.success, entry_size(&full, options), at, full)
        })
        .collect();
    waiting.sort_by_key(|(success, cost, at, _)| (*success, *cost, *at));
    let mut shown: Vec<Option<Answer>> = parts.iter().map(|_| None).collect();
    let mut remaining = waiting.len();
    for (_, needed, at, full) in waiting {
        let share = spare / remaining.max(1);
        let Some(response) = parts.get(at) else { continue };
        let fitted = if needed <= share { full } else { within(response, share) };
        let fitted = if entry_size(&fitted, options) <= share { fitted } else { minimal_answer(response) };
        remaining -= 1;
        if let Some(rest) = spare.checked_sub(entry_size(&fitted, options))
            && let Some(slot) = shown.get_mut(at)
        {
            spare = rest;
            *slot = Some(fitted);
        }
    }
    shown
}

/// Returns the size of a part, including the separators in both forms.
fn entry_size(answer: &Answer, options: &ResponseOptions) -> usize {
    size_limit::size(answer, options.forms) + 3
}

/// Renders only the status, path and version of a file.
fn minimal_answer(response: &EditResponse<'_>) -> Answer {
    let (path, status) =
        (size_limit::clip(response.path.unwrap_or_default(), BRIEF_PATH_BYTES), response.status.name());
    let mut json = json!({ "status": status, "path": path });
    if let (Some(fields), Some(version)) = (json.as_object_mut(), &response.version) {
        fields.insert("version".to_owned(), version.as_str().into());
    }
    Answer { success: response.success, json, text: format!("{status} {path}") }
}

/// The fields that the edits have in common.
struct BatchHead {
    status: Status,
    message: String,
    hint: Option<String>,
    edit_id: Option<String>,
    path: Option<String>,
    /// Set when the bytes outside every edit were compared and are unchanged.
    untouched: bool,
}

impl BatchHead {
    fn new(
        reports: &[Report],
        diffs: &[(Diff<'_>, Vec<Region>)],
        responses: &[EditResponse<'_>],
        words: Option<StatusNames<'_>>,
    ) -> BatchHead {
        let status = status(reports);
        let rejected: Vec<&EditResponse<'_>> =
            responses.iter().filter(|response| !response.success).collect();
        let first = rejected.first();
        let message = match (first, rejected.len()) {
            (Some(only), 1) => only.message.clone(),
            (Some(first), count) => {
                let (of, first) = (responses.len(), short_message(&first.message));
                format!("{NOTHING_WRITTEN}{count} of {of} edits are refused; the first: {first}")
            }
            (None, _) => success_message(status, reports, diffs, words),
        };
        BatchHead {
            status,
            message,
            hint: first.and_then(|response| response.hint.as_deref().map(str::to_owned)),
            edit_id: reports.iter().find_map(|report| report.edit_id).map(|id| id.to_string()),
            path: first.and_then(|response| response.path.map(str::to_owned)),
            untouched: responses.iter().all(|response| response.outside_edit.as_deref() == Some(UNCHANGED)),
        }
    }

    /// Builds the answer from these parts; `missing` counts the parts that are not shown.
    fn to_answer(&self, files: &[Answer], missing: usize) -> Answer {
        let (success, message) = (self.status.is_success(), size_limit::clip(&self.message, 1000));
        let code = (!success).then(|| Code::GateRefused.name());
        let remark = match missing {
            0 => None,
            1 => Some("1 file is not shown; a larger max_bytes shows more".to_owned()),
            more => Some(format!("{more} files are not shown; a larger max_bytes shows more")),
        };
        let fields = [
            ("success", Some(success.into())),
            ("status", Some(self.status.name().into())),
            ("code", code.map(Value::from)),
            ("message", Some(message.as_str().into())),
            ("hint", self.hint.as_deref().map(Value::from)),
            ("path", self.path.as_deref().map(|path| size_limit::clip(path, 300).into())),
            ("edit_id", self.edit_id.as_deref().map(Value::from)),
            ("written", Some((self.status == Status::Written).into())),
            ("bytes_outside_edit", self.untouched.then(|| UNCHANGED.into())),
            ("files", Some(files.iter().map(|file| file.json.clone()).collect())),
            ("notes", remark.as_ref().map(|remark| json!([remark]))),
        ];
        let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let mut lines = vec![message.clone()];
        lines.extend(code.map(|code| format!("{code}; {}", self.hint.as_deref().unwrap_or_default())));
        lines.extend(self.edit_id.iter().map(|id| format!("edit {id}")));
        lines.extend(files.iter().map(|file| file.text.clone()));
        lines.extend(remark.iter().map(|remark| format!("note: {remark}")));
        Answer { success, json: Value::Object(present.collect()), text: lines.join("\n") }
    }
}

/// Returns the status of the whole call: the first in `order` that any file has.
fn status(reports: &[Report]) -> Status {
    let order = [Status::Refused, Status::Written, Status::Verified, Status::AlreadyApplied];
    let any = |status: &Status| reports.iter().any(|report| report.status == *status);
    order.into_iter().find(any).unwrap_or(Status::Unchanged)
}

/// Returns the message for edits that were not refused.
fn success_message(
    status: Status,
    reports: &[Report],
    diffs: &[(Diff<'_>, Vec<Region>)],
    words: Option<StatusNames<'_>>,
) -> String {
    let (added, removed) = diffs
        .iter()
        .fold((0, 0), |(added, removed), (diff, _)| (added + diff.added(), removed + diff.removed()));
    let concerned: Vec<&Report> = reports.iter().filter(|report| report.status == status).collect();
    let files = match (concerned.len(), reports.len()) {
        (1, 1) => "1 file".to_owned(),
        (some, all) if some == all => format!("{all} files"),
        (some, all) => format!("{some} of {all} files"),
    };
    let names: Vec<&str> =
        concerned.iter().take(MAX_NAMED_FILES).map(|report| report.path.as_str()).collect();
    let more = if concerned.len() > names.len() { ", ..." } else { "" };
    let (counts, names) = (format!("(+{added} -{removed})"), format!("{}{more}", names.join(", ")));
    match status {
        Status::Written => match words {
            Some([written_message, _]) => format!("{written_message}: {files} {counts}: {names}"),
            None => format!("wrote {files} {counts}: {names}"),
        },
        Status::Verified => {
            format!("verified {files} {counts}: strict would write this, nothing was written: {names}")
        }
        Status::AlreadyApplied => match words {
            Some([_, already_applied]) => format!("{already_applied}: {names}"),
            None => format!("{files} already have these edits, nothing was written: {names}"),
        },
        Status::Unchanged | Status::Refused => format!("{files} unchanged: {names}"),
    }
}

/// Renders one report of an undo or redo.
pub(super) fn render_revert(report: &Report, options: &ResponseOptions, words: StatusNames<'_>) -> Answer {
    let (diff, regions) = (report.diff(), report.regions());
    let mut response = EditResponse::of_report(report, &diff, &regions, options);
    let [written_message, already_applied] = words;
    match report.status {
        Status::Written => response.message = format!("{written_message}: {}", change_summary(report, &diff)),
        Status::AlreadyApplied => already_applied.clone_into(&mut response.message),
        Status::Unchanged | Status::Verified | Status::Refused => {}
    }
    size_limit::fit(&response, options)
}
