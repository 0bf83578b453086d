//! The first sentence of an answer: the result of the edit, or the reason of a rejection.

use super::entity::{display_name, key};
use super::findings::ListedFindings;
use super::forms::Forms;
use super::options::{DiffDisplay, ResponseOptions};
use super::text::counted;
use crate::tools::effect::Effect;
use lockgate_engine::{Report, Status};
use lockgate_error::{Disk, Error, ErrorFamily};
use lockgate_protocol::Headline;
use lockgate_text::Diff;

/// Prefix of the message of every rejected edit that left the file unchanged.
const NOTHING_WRITTEN: &str = "nothing was written: ";

/// Value of `bytes_outside_edit` when the bytes outside the edit are unchanged.
pub(super) const UNCHANGED: &str = "unchanged";

/// A message in parts; one edit of several shows only the body.
#[derive(Debug, Clone, Default)]
pub(super) struct Message {
    /// The statement of a rejection that nothing was written or read; empty for any other message.
    preface: &'static str,
    pub(super) body: String,
    suffix: &'static str,
}

impl Message {
    /// Creates a message without further parts.
    pub(super) fn plain(body: String) -> Message {
        Message { body, ..Message::default() }
    }

    /// Creates the message of a rejection that left the file unchanged.
    pub(super) fn rejection(body: String) -> Message {
        Message { preface: NOTHING_WRITTEN, ..Message::plain(body) }
    }

    /// Creates the message of an error in the terms of its tool, prefixed with the field at fault.
    pub(super) fn from_error(error: &Error, options: &ResponseOptions) -> Message {
        // A tool's own message is about its quote, not about the symbol.
        let is_about_symbol = error.field.as_deref() == Some("within");
        let own = (options.profile.rejection_message)(error, options).filter(|_| !is_about_symbol);
        let names_field = own.is_none() && error.names_field();
        let message = own.unwrap_or_else(|| error.message.clone());
        let body = match error.field_path() {
            Some(field) if error.code.family() == ErrorFamily::Request && !names_field => {
                format!("{field}: {message}")
            }
            Some(_) | None => message,
        };
        match (error.disk, options.effect) {
            (Disk::Untouched, Effect::Reads) => Message { preface: "not read: ", ..Message::plain(body) },
            (Disk::Untouched, Effect::Adds | Effect::Changes) => Message::rejection(body),
            (Disk::Unknown, _) => {
                let noun = options.noun();
                Message::plain(format!("it is not known whether the {noun} was written: {body}"))
            }
        }
    }

    /// Creates the message for an edit that reached a decision.
    pub(super) fn from_report(
        report: &Report,
        diff: &Diff<'_>,
        findings: &ListedFindings<'_>,
        options: &ResponseOptions,
    ) -> Message {
        let (path, change) = (target_name(report), change(report, diff));
        let replaced =
            report.matches.replacements.map(|count| format!(", {}", counted(count, "replacement")));
        let replaced = replaced.unwrap_or_default();
        match report.status {
            Status::Written => {
                let own = (options.profile.success_message)(report);
                Message::plain(own.unwrap_or_else(|| format!("{} {change}{replaced}", verb(report))))
            }
            Status::Verified => Message {
                suffix: ": strict would write this, nothing was written",
                ..Message::plain(format!("verified {change}{replaced}"))
            },
            Status::AlreadyApplied => Message {
                suffix: ", nothing was written",
                ..Message::plain(format!("{path} already has this edit: it produced the current version"))
            },
            Status::Unchanged => {
                let why =
                    report.warnings.first().map_or("the result equals the current text", String::as_str);
                Message::plain(format!("{path} is unchanged: {why}"))
            }
            Status::Refused => {
                let first = findings.errors.first().map(String::as_str).unwrap_or_default();
                let blocking = &findings.blocking;
                let verb = if blocking.iter().all(|finding| finding.fresh) { "adds" } else { "leaves" };
                Message::rejection(match blocking.len() {
                    0 => format!("the edit of {path} could not be checked: {first}"),
                    1 => format!("the edit of {path} {verb} a finding that blocks: {first}"),
                    count => {
                        format!("the edit of {path} {verb} {count} findings that block; the first: {first}")
                    }
                })
            }
        }
    }

    /// Returns the message as a reader sees it.
    pub(super) fn text(&self) -> String {
        format!("{}{}{}", self.preface, self.body, self.suffix)
    }

    /// Returns the value of `error`: the message without the statement that nothing was written or read.
    pub(super) fn reason(&self) -> String {
        format!("{}{}", self.body, self.suffix)
    }
}

/// Maximum number of lines that a headline lists.
const MAX_LISTED_LINES: usize = 10;

/// True if the answer shows the changed lines, so that it need not repeat what they say. False if they may be missing,
/// or if a program reads the answer.
pub(super) fn shows_lines(report: &Report, options: &ResponseOptions) -> bool {
    options.diff == DiffDisplay::Shown && options.forms == Forms::Text && !is_known(report)
}

/// True if the caller knows the changed lines: it created or removed the file.
pub(super) fn is_known(report: &Report) -> bool {
    report.status != Status::Refused && (report.change.before.is_none() || report.change.is_removal)
}

/// Returns the first line of the text form; `None` if it is the message.
pub(super) fn headline(
    report: &Report,
    diff: &Diff<'_>,
    blocking: usize,
    options: &ResponseOptions,
) -> Option<Headline> {
    let change = change(report, diff);
    let outside = match report.fixed_outside.as_slice() {
        [] => String::new(),
        gates => format!("; {} changed other lines, too", gates.join(", ")),
    };
    match report.status {
        Status::Written => {
            let is_shown = shows_lines(report, options) && is_only_match(report);
            let replaced = replaced(report).filter(|_| !is_shown);
            let replaced = replaced.map(|what| format!("; replaced {what}")).unwrap_or_default();
            let summary = format!("{} {change}", verb(report));
            Some(Headline { summary, details: replaced + &outside, ..Headline::default() })
        }
        Status::Verified => {
            let replaced = replaced(report).map(|what| format!("; would replace {what}")).unwrap_or_default();
            let details = format!(": strict would write this, nothing was written{replaced}{outside}");
            Some(Headline { summary: format!("verified {change}"), details, ..Headline::default() })
        }
        Status::Refused if blocking > 0 => {
            let findings = if blocking == 1 {
                "a finding blocks".to_owned()
            } else {
                format!("{blocking} findings block")
            };
            let summary = format!("{findings} the edit of {change}");
            Some(Headline { preface: NOTHING_WRITTEN, summary, ..Headline::default() })
        }
        Status::Refused | Status::AlreadyApplied | Status::Unchanged => None,
    }
}

/// True if the search text occurred once.
fn is_only_match(report: &Report) -> bool {
    report.matches.replacements == Some(1) && report.matches.total.is_none_or(|total| total == 1)
}

/// Returns the number of replaced matches, that of all matches, and their lines, as in `2 of 3 (lines 7, 9)`.
fn replaced(report: &Report) -> Option<String> {
    let count = report.matches.replacements?;
    let total = report.matches.total.map(|total| format!(" of {total}")).unwrap_or_default();
    Some(match line_list(report, count) {
        None => format!("{count}{total}"),
        Some(lines) => format!("{count}{total} ({lines})"),
    })
}

/// Returns the lines of `count` matches, each once, as in `lines 7, 9 and 3 more lines`.
fn line_list(report: &Report, count: usize) -> Option<String> {
    let mut listed: Vec<usize> = report.matches.lines.iter().map(|place| place.line).collect();
    let mut starts: Vec<usize> = report.matches.spans.iter().map(|span| *span.start()).collect();
    // The matches of several edits have no spans; if not all are in the list, the number of their lines is unknown.
    let is_complete = !starts.is_empty() || listed.len() >= count;
    listed.dedup();
    starts.dedup();
    let all = starts.len().max(listed.len());
    listed.truncate(MAX_LISTED_LINES);
    let more = match all - listed.len() {
        _ if !is_complete => " and more".to_owned(),
        0 => String::new(),
        more => format!(" and {}", counted(more, "more line")),
    };
    let word = if all == 1 && is_complete { "line" } else { "lines" };
    let listed: Vec<String> = listed.iter().map(usize::to_string).collect();
    (!listed.is_empty()).then(|| format!("{word} {}{more}", listed.join(", ")))
}

/// Returns the value of `bytes_outside_edit`.
pub(super) fn outside_edit(report: &Report) -> String {
    match report.fixed_outside.as_slice() {
        [] => UNCHANGED.to_owned(),
        gates => format!("changed by {}", gates.join(", ")),
    }
}

/// Returns a short description of an undo or redo of an edit of one file.
pub(super) fn change_summary(report: &Report) -> String {
    let change = change(report, &report.diff());
    if report.is_created() || report.is_removed() { format!("{} {change}", verb(report)) } else { change }
}

/// Returns what an edit did to its target.
fn verb(report: &Report) -> &'static str {
    match (report.is_created(), report.is_removed()) {
        (true, _) => "created",
        (_, true) => "removed",
        (false, false) => "wrote",
    }
}

/// Returns the target with the numbers of added and removed lines, as in `a.py (+1 -1)`.
fn change(report: &Report, diff: &Diff<'_>) -> String {
    format!("{} (+{} -{})", target_name(report), diff.added(), diff.removed())
}

fn target_name(report: &Report) -> String {
    display_name(&report.target.path, &key(report.target.entity.as_ref()))
}
