//! Findings as a program reports them, and their positions in the text that the program was given.
//!
//! Invariant: a finding in the edited text is on one of its lines, at most one character after the line's
//! end. Its text contains no terminal control characters.

use std::collections::BTreeSet;

use super::columns::ColumnWalk;
use crate::finding::sanitize;
use lockgate_policy::{Columns, Severity};
use lockgate_text::Buffer;

/// A program's finding, located in the edited text or in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolFinding {
    /// The file, relative to the root, if it is not the edited one.
    pub(crate) elsewhere: Option<String>,
    /// The line of the finding, 1-based.
    pub(crate) line: usize,
    /// The last line, if the finding covers a range of lines, as a formatter's does.
    pub(crate) end_line: Option<usize>,
    /// The column, 1-based: in characters for the edited text, in the program's unit for another file.
    pub(crate) column: usize,
    /// The program's rule, such as `E501`.
    pub(crate) code: Option<String>,
    /// The severity that the program states.
    pub(crate) severity: Severity,
    /// The message, on one line.
    pub(crate) message: String,
    /// The values that identify the finding instead of its message; empty if the message does.
    pub(crate) identity: BTreeSet<String>,
}

/// The file that a name in an output refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NamedFile {
    /// The file that is being edited.
    Edited,
    /// Another file, by the name to show.
    Other(String),
}

/// A finding as the program reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawFinding {
    /// The name of the file; absent if the program checks one file only.
    pub(super) file: Option<String>,
    /// The line, 1-based; absent for a finding about a text or a project as a whole.
    pub(super) line: Option<usize>,
    /// The last line, if the finding covers a range of lines.
    pub(super) end_line: Option<usize>,
    /// The column, 1-based, in the unit of `columns`.
    pub(super) column: Option<usize>,
    /// The unit of the column.
    pub(super) columns: Columns,
    /// The program's rule, such as `E501`.
    pub(super) code: Option<String>,
    /// The severity, if the program states one.
    pub(super) severity: Option<Severity>,
    /// The message of the program.
    pub(super) message: String,
    /// The values that identify the finding instead of its message; empty if the message does.
    pub(super) identity: BTreeSet<String>,
}

impl RawFinding {
    /// Returns a finding about the text as a whole.
    pub(super) fn whole_text(message: impl Into<String>) -> RawFinding {
        RawFinding {
            file: None,
            line: None,
            end_line: None,
            column: None,
            columns: Columns::Characters,
            code: None,
            severity: None,
            message: message.into(),
            identity: BTreeSet::new(),
        }
    }
}

/// Locates findings whose files are resolved in the text; `severity` is the default.
///
/// A finding without a line is placed on the first one, and one after the last line at the end: parsers
/// report the end of the file so.
pub(super) fn locate_in_files(
    mut raws: Vec<(RawFinding, NamedFile)>,
    severity: Severity,
    text: &Buffer,
) -> Vec<ToolFinding> {
    // In this order, the columns of one line are counted in one pass.
    raws.sort_by_key(|(raw, _)| (raw.columns as u8, raw.line.unwrap_or(1), raw.column.unwrap_or(1)));
    let mut walk = ColumnWalk::new(text.lines());
    let land = |(raw, file): (RawFinding, NamedFile)| {
        let position = (raw.line.unwrap_or(1).max(1), raw.column.unwrap_or(1).max(1));
        let elsewhere = match file {
            NamedFile::Edited => None,
            NamedFile::Other(name) => Some(sanitize(&name)),
        };
        let (line, column) = match elsewhere {
            None => walk.position(position, raw.columns),
            Some(_) => position,
        };
        let code = raw.code.as_deref().map(sanitize).filter(|code| !code.is_empty());
        let message = message_or_code(sanitize(&raw.message), code.as_deref());
        let severity = raw.severity.unwrap_or(severity);
        ToolFinding {
            elsewhere,
            line,
            end_line: raw.end_line,
            column,
            code,
            severity,
            message,
            identity: raw.identity,
        }
    };
    let mut findings: Vec<ToolFinding> = raws.into_iter().map(land).collect();
    findings.sort_by_key(|finding| (finding.elsewhere.is_some(), finding.line, finding.column));
    findings
}

/// The message; a finding without one is still reported.
fn message_or_code(message: String, code: Option<&str>) -> String {
    match code {
        _ if !message.is_empty() => message,
        Some(code) => code.to_owned(),
        None => "no message".to_owned(),
    }
}
