//! The sentence that comes first: what happened, or why it did not.

use super::ResponseOptions;
use super::entity::spelled;
use crate::engine::{Report, Status};
use crate::error::{Error, ErrorFamily};
use crate::gate::Finding;
use crate::text::Diff;

/// The beginning of the message of every refusal after which the file is as it was.
pub(super) const NOTHING: &str = "nothing was written: ";

/// What is said of the bytes outside of an edit that left them as they were.
pub(super) const UNCHANGED: &str = "unchanged";

/// The beginning of the message where that is not known.
pub(super) fn unknown(noun: &str) -> String {
    format!("it is not known whether the {noun} was written: ")
}

/// What a refusal says, in the words of its tool; with the field at fault, where a request is refused.
pub(super) fn of_error(error: &Error, shape: &ResponseOptions) -> String {
    let own = (shape.voice.refused)(error, shape);
    let said = own.unwrap_or_else(|| error.message.clone());
    match &error.field {
        Some(field) if error.code.family() == ErrorFamily::Request && !said.contains(&**field) => {
            format!("{field}: {said}")
        }
        Some(_) | None => said,
    }
}

/// What became of the bytes that the request does not speak of.
pub(super) fn outside(report: &Report) -> String {
    match report.mended_outside.as_slice() {
        [] => UNCHANGED.to_owned(),
        gates => format!("changed by {}", gates.join(", ")),
    }
}

/// What is said of a call that was carried through to a decision.
pub(super) fn of_report(
    report: &Report,
    diff: &Diff<'_>,
    blocking: &[&Finding],
    errors: &[String],
    shape: &ResponseOptions,
) -> String {
    let (path, counts) =
        (spelled(&report.path, report.entity.as_ref()), format!("(+{} -{})", diff.added(), diff.removed()));
    let replaced = match report.replacements {
        Some(1) => ", 1 replacement".to_owned(),
        Some(count) => format!(", {count} replacements"),
        None => String::new(),
    };
    match report.status {
        Status::Written => (shape.voice.written)(report).unwrap_or_else(|| match report.created {
            true => format!("created {path} {counts}"),
            false if report.removed => format!("removed {path} {counts}"),
            false => format!("wrote {path} {counts}{replaced}"),
        }),
        Status::Verified => {
            format!("verified {path} {counts}{replaced}: strict would write this, nothing was written")
        }
        Status::AlreadyApplied => {
            format!("{path} has this edit already: it made the present version, nothing was written")
        }
        Status::Unchanged => match report.warnings.first() {
            Some(warning) => format!("{path} is unchanged: {warning}"),
            None => format!("{path} is unchanged: the result equals what is there"),
        },
        Status::Refused => {
            let first = errors.first().map(String::as_str).unwrap_or_default();
            let does = if blocking.iter().all(|finding| finding.fresh) { "adds" } else { "leaves" };
            match blocking.len() {
                0 => format!("{NOTHING}the edit of {path} could not be checked: {first}"),
                1 => format!("{NOTHING}the edit of {path} {does} a finding that blocks: {first}"),
                count => format!(
                    "{NOTHING}the edit of {path} {does} {count} findings that block; the first: {first}"
                ),
            }
        }
    }
}

/// What a message of a refusal says was seen.
pub(super) fn seen(message: &str) -> &str {
    message.strip_prefix(NOTHING).unwrap_or(message)
}

/// What is said of a decision when it is one of several, and what they have in common is said once.
pub(super) fn of_part(whole: &str) -> &str {
    let without = |text: &'_ str, end: &str| text.strip_suffix(end).map_or(text.len(), str::len);
    let whole = seen(whole);
    let end = without(whole, ": strict would write this, nothing was written");
    whole.get(..end.min(without(whole, ", nothing was written"))).unwrap_or(whole)
}

/// What an edit did to a file, in short.
pub(super) fn deed(report: &Report, diff: &Diff<'_>) -> String {
    let word = match (report.created, report.removed) {
        (true, _) => "created ",
        (_, true) => "removed ",
        (false, false) => "",
    };
    format!("{word}{} (+{} -{})", spelled(&report.path, report.entity.as_ref()), diff.added(), diff.removed())
}
