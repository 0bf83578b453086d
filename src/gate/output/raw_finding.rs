//! A finding in the program's own terms, and what it means for the text that the program was given.
//!
//! Invariant: a finding in the edited text stands on one of its lines and at most one character behind that line's end;
//! its words hold nothing that steers a terminal.

use std::collections::BTreeSet;

use super::columns::ColumnWalk;
use crate::gate::finding::clean;
use crate::policy::{Columns, Severity};
use crate::text::Buffer;

/// A finding of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate) struct ToolFinding {
    /// The file that it is about, where that is not the edited one: relative to the root.
    pub(in crate::gate) elsewhere: Option<String>,
    /// 1-based line.
    pub(in crate::gate) line: usize,
    /// The last line, where the program finds a stretch of lines as a whole, as a formatter does.
    pub(in crate::gate) end_line: Option<usize>,
    /// 1-based column: in characters for the edited text, and as the program counts for another file.
    pub(in crate::gate) column: usize,
    /// The rule's name.
    pub(in crate::gate) code: Option<String>,
    /// How grave the program says it is.
    pub(in crate::gate) severity: Severity,
    /// What was seen, on one line.
    pub(in crate::gate) message: String,
    /// By what it is told apart from others in the place of its message; empty where that is the message itself.
    pub(in crate::gate) identity: BTreeSet<String>,
}

/// Which file a name in an output means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate) enum Whose {
    /// The edited one.
    Edited,
    /// Another one, by the name that an answer gives it.
    Other(String),
}

/// A finding as the program has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawFinding {
    /// The name of the file; absent where the program speaks of one file only.
    pub(super) file: Option<String>,
    /// The line, 1-based; a finding about a text or a project as a whole has none.
    pub(super) line: Option<usize>,
    /// The last line of a stretch that is found as a whole.
    pub(super) end_line: Option<usize>,
    /// The column, 1-based.
    pub(super) column: Option<usize>,
    /// In what the column is counted.
    pub(super) columns: Columns,
    /// The rule's name.
    pub(super) code: Option<String>,
    /// How grave it is, where that is said.
    pub(super) severity: Option<Severity>,
    /// What was seen.
    pub(super) message: String,
    /// By what it is told apart from others in the place of its message; empty where that is the message itself.
    pub(super) identity: BTreeSet<String>,
}

impl RawFinding {
    /// Says something of the text as a whole.
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

/// Says what findings mean for the text; `severity` is that of a finding that does not say.
///
/// A finding without a line stands on the first one, and one behind the last line at its end: parsers give the end of
/// the file so.
pub(super) fn landed(
    raws: Vec<RawFinding>,
    severity: Severity,
    text: &Buffer,
    whose: &dyn Fn(&str) -> Whose,
) -> Vec<ToolFinding> {
    let meant = |raw: RawFinding| {
        let whose = raw.file.as_deref().map_or(Whose::Edited, whose);
        (raw, whose)
    };
    landed_at(raws.into_iter().map(meant).collect(), severity, text)
}

/// The same of findings of which it is known in which file each stands.
pub(super) fn landed_at(
    mut raws: Vec<(RawFinding, Whose)>,
    severity: Severity,
    text: &Buffer,
) -> Vec<ToolFinding> {
    // In this order, the columns of one line are counted in one walk.
    raws.sort_by_key(|(raw, _)| (raw.columns as u8, raw.line.unwrap_or(1), raw.column.unwrap_or(1)));
    let mut walk = ColumnWalk::over(text.lines());
    let land = |(raw, whose): (RawFinding, Whose)| {
        let said = (raw.line.unwrap_or(1).max(1), raw.column.unwrap_or(1).max(1));
        let elsewhere = match whose {
            Whose::Edited => None,
            Whose::Other(name) => Some(clean(&name)),
        };
        let (line, column) = match elsewhere {
            None => walk.place(said, raw.columns),
            Some(_) => said,
        };
        let code = raw.code.as_deref().map(clean).filter(|code| !code.is_empty());
        let message = told(clean(&raw.message), code.as_deref());
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
    let mut seen: Vec<ToolFinding> = raws.into_iter().map(land).collect();
    seen.sort_by_key(|seen| (seen.elsewhere.is_some(), seen.line, seen.column));
    seen
}

/// A finding without words is one all the same.
fn told(message: String, code: Option<&str>) -> String {
    match code {
        _ if !message.is_empty() => message,
        Some(code) => code.to_owned(),
        None => "found, without a word why".to_owned(),
    }
}
