//! The first sentence of an answer: the result of the edit, or the reason of a rejection.

use super::ResponseOptions;
use super::entity::display_name;
use crate::engine::{Report, Status};
use crate::error::{Error, ErrorFamily};
use crate::gate::Finding;
use crate::text::Diff;

/// Prefix of the message of every rejection that left the file unchanged.
pub(super) const NOTHING_WRITTEN: &str = "nothing was written: ";

/// Value of `bytes_outside_edit` when the bytes outside the edit are unchanged.
pub(super) const UNCHANGED: &str = "unchanged";

/// Returns the prefix of the message when the state of the file is unknown.
pub(super) fn unknown_outcome(noun: &str) -> String {
    format!("it is not known whether the {noun} was written: ")
}

/// Returns the message of an error in the terms of its tool, prefixed with the field at fault.
pub(super) fn of_error(error: &Error, options: &ResponseOptions) -> String {
    let own = (options.profile.rejection_message)(error, options);
    let message = own.unwrap_or_else(|| error.message.clone());
    match &error.field {
        Some(field) if error.code.family() == ErrorFamily::Request && !message.contains(&**field) => {
            format!("{field}: {message}")
        }
        Some(_) | None => message,
    }
}

/// Returns the value of `bytes_outside_edit`.
pub(super) fn outside_edit(report: &Report) -> String {
    match report.fixed_outside.as_slice() {
        [] => UNCHANGED.to_owned(),
        gates => format!("changed by {}", gates.join(", ")),
    }
}

/// Returns the message for an edit that reached a decision.
pub(super) fn of_report(
    report: &Report,
    diff: &Diff<'_>,
    blocking: &[&Finding],
    errors: &[String],
    options: &ResponseOptions,
) -> String {
    let (path, counts) = (
        display_name(&report.path, report.entity.as_ref()),
        format!("(+{} -{})", diff.added(), diff.removed()),
    );
    let replaced = match report.replacements {
        Some(1) => ", 1 replacement".to_owned(),
        Some(count) => format!(", {count} replacements"),
        None => String::new(),
    };
    match report.status {
        Status::Written => {
            (options.profile.success_message)(report).unwrap_or_else(|| match report.created {
                true => format!("created {path} {counts}"),
                false if report.removed => format!("removed {path} {counts}"),
                false => format!("wrote {path} {counts}{replaced}"),
            })
        }
        Status::Verified => {
            format!("verified {path} {counts}{replaced}: strict would write this, nothing was written")
        }
        Status::AlreadyApplied => {
            format!("{path} already has this edit: it produced the current version, nothing was written")
        }
        Status::Unchanged => match report.warnings.first() {
            Some(warning) => format!("{path} is unchanged: {warning}"),
            None => format!("{path} is unchanged: the result equals the current text"),
        },
        Status::Refused => {
            let first = errors.first().map(String::as_str).unwrap_or_default();
            let verb = if blocking.iter().all(|finding| finding.fresh) { "adds" } else { "leaves" };
            match blocking.len() {
                0 => format!("{NOTHING_WRITTEN}the edit of {path} could not be checked: {first}"),
                1 => format!("{NOTHING_WRITTEN}the edit of {path} {verb} a finding that blocks: {first}"),
                count => format!(
                    "{NOTHING_WRITTEN}the edit of {path} {verb} {count} findings that block; the first: {first}"
                ),
            }
        }
    }
}

/// Strips the common prefix of rejections from a message.
pub(super) fn without_prefix(message: &str) -> &str {
    message.strip_prefix(NOTHING_WRITTEN).unwrap_or(message)
}

/// Returns the message for one edit of several, without the parts that the common message has.
pub(super) fn short_message(whole: &str) -> &str {
    let without = |text: &'_ str, end: &str| text.strip_suffix(end).map_or(text.len(), str::len);
    let whole = without_prefix(whole);
    let end = without(whole, ": strict would write this, nothing was written");
    whole.get(..end.min(without(whole, ", nothing was written"))).unwrap_or(whole)
}

/// Returns a short description of the change to a file.
pub(super) fn change_summary(report: &Report, diff: &Diff<'_>) -> String {
    let verb = match (report.created, report.removed) {
        (true, _) => "created ",
        (_, true) => "removed ",
        (false, false) => "",
    };
    format!(
        "{verb}{} (+{} -{})",
        display_name(&report.path, report.entity.as_ref()),
        diff.added(),
        diff.removed()
    )
}
