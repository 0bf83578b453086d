//! The input of planning besides the edit, and its result.

use lockgate_error::{Error, EvidenceLine};
use lockgate_matching::MatchInfo;
use lockgate_text::{Buffer, Change, Plan, Syntax};
use std::ops::RangeInclusive;

/// The maximum number of matched lines that a report lists.
pub(crate) const MAX_MATCH_LINES: usize = 20;

/// The limits of the work on one edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditLimits {
    /// The maximum size of the result in bytes. A result that would certainly exceed it is not built in memory.
    pub bytes: u64,
    /// The maximum number of pattern steps.
    pub steps: u64,
}

/// The facts about a file that planning depends on.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext<'a> {
    /// The noun for the text in messages: `file`, or the type of an entity.
    pub noun: &'a str,
    /// The path relative to the root.
    pub path: &'a str,
    /// The file's language, by its name in the catalogue.
    pub language: Option<&'a str>,
    /// Reads the structure of texts, where it is needed.
    pub syntax: &'a dyn Syntax,
    /// The limits of the work.
    pub limits: EditLimits,
}

/// The matches of a search; empty for another edit mode.
#[derive(Debug, Clone, Default)]
pub struct SearchMatches {
    /// The number of replaced matches.
    pub replacements: Option<usize>,
    /// The number of matches in the searched text, replaced or not; `None` if counting them took too many steps.
    pub total: Option<usize>,
    /// The lines of the matches, at most 20.
    pub lines: Vec<EvidenceLine>,
    /// The first and the last line of each match, in ascending order.
    pub spans: Vec<RangeInclusive<usize>>,
    /// Details of the match, for a literal search.
    pub info: Option<MatchInfo>,
}

/// Changes at the end of a text that depend on what the other edits of the call leave there. They are not in the plan
/// until [`PlannedEdit::with_end`] adds them.
#[derive(Debug, Default)]
pub(crate) struct PlannedEnd {
    /// Set when an open last line is removed. The line above is then the open one: it loses its line end, unless lines are
    /// appended.
    pub(crate) loses_line_end: bool,
    /// Lines to append.
    pub(crate) appended: Vec<String>,
}

impl PlannedEnd {
    /// Joins the ends of several edits, in their order.
    pub(crate) fn join(ends: impl Iterator<Item = PlannedEnd>) -> PlannedEnd {
        ends.fold(PlannedEnd::default(), |mut joined, end| {
            joined.loses_line_end |= end.loses_line_end;
            joined.appended.extend(end.appended);
            joined
        })
    }
}

/// A plan, with details of how it was made.
#[derive(Debug)]
pub struct PlannedEdit {
    /// The byte splices of the edit.
    pub plan: Plan,
    /// Notes for the caller, such as an added line end.
    pub notes: Vec<String>,
    /// Problems that do not stop the call.
    pub warnings: Vec<String>,
    /// The matches, for a search.
    pub matches: SearchMatches,
    /// The new content, if its encoding differs from the old one.
    pub new_buffer: Option<Buffer>,
    /// The changes at the end of the text that depend on the other edits of the call.
    pub(crate) end: PlannedEnd,
}

impl PlannedEdit {
    pub(crate) fn new(plan: Plan) -> PlannedEdit {
        PlannedEdit {
            notes: plan.notes().to_vec(),
            plan,
            warnings: Vec::new(),
            matches: SearchMatches::default(),
            new_buffer: None,
            end: PlannedEnd::default(),
        }
    }

    /// Adds the changes at the end of the text to the plan, and appended lines behind everything else that it adds there.
    /// What else it does there decides whether the last line must be ended first.
    ///
    /// Errors: `NOT_ENCODABLE`; `INTERNAL` if the plan is invalid.
    pub(crate) fn with_end(mut self, buffer: &Buffer) -> Result<PlannedEdit, Error> {
        let PlannedEnd { loses_line_end, appended: lines } = std::mem::take(&mut self.end);
        if lines.is_empty() {
            if loses_line_end {
                self.plan = self.plan.without_last_line_end(buffer);
            }
            return Ok(self);
        }
        let is_open = leaves_open_line(&self.plan, buffer)?;
        if is_open {
            self.notes
                .push("the last line had no line end; one was added before the appended text".to_owned());
        }
        let appended = buffer.plan(append(lines, is_open, buffer))?;
        self.plan = Plan::join(buffer, [self.plan, appended].into_iter())?;
        Ok(self)
    }

    /// Returns an empty plan with a warning, for a search without a match that is not an error.
    ///
    /// Errors: `INTERNAL` if the empty plan is invalid.
    pub fn no_match(buffer: &Buffer, warning: String) -> Result<PlannedEdit, Error> {
        let planned = PlannedEdit::new(buffer.plan(Vec::new())?);
        let matches = SearchMatches { replacements: Some(0), ..SearchMatches::default() };
        Ok(PlannedEdit { warnings: vec![warning], matches, ..planned })
    }
}

/// Returns the changes that append lines; if the last line of the text is open, it is ended first.
pub(crate) fn append(mut lines: Vec<String>, is_open: bool, buffer: &Buffer) -> Vec<Change> {
    if let Some(first) = lines.first_mut().filter(|_| is_open) {
        first.insert(0, '\n');
    }
    let end = buffer.view().len();
    lines.into_iter().map(|text| Change { span: end..end, text }).collect()
}

/// Returns new text without its final line end; `None` if it has none.
pub(crate) fn without_line_end(text: &str) -> Option<&str> {
    let open = text.strip_suffix('\n')?;
    Some(open.strip_suffix('\r').unwrap_or(open))
}

/// Adds a line end to new text without a final newline. A `\r` at its end is the first half of it.
pub(crate) fn with_line_end(text: &str) -> String {
    text.strip_suffix('\r').unwrap_or(text).to_owned() + "\n"
}

/// Returns true if the last line of a text has no line end.
pub(crate) fn has_open_line(buffer: &Buffer) -> bool {
    !buffer.view().is_empty() && !buffer.lines().ends_with_newline()
}

/// Returns true if the last line has no line end once the plan is applied.
fn leaves_open_line(plan: &Plan, buffer: &Buffer) -> Result<bool, Error> {
    match plan.splices().last() {
        Some(last) if last.span.end == buffer.bytes().len() => Ok(has_open_line(&buffer.apply(plan)?)),
        Some(_) | None => Ok(has_open_line(buffer)),
    }
}

/// Returns a line for a report: its number and at most 60 of its characters.
pub(crate) fn evidence_line(buffer: &Buffer, line: usize) -> EvidenceLine {
    let preview = buffer.lines().text(line).trim_end().chars().take(60).collect();
    EvidenceLine { line, preview, symbol: None }
}
