//! The input of planning besides the edit, and its result.

use lockgate_error::{Error, EvidenceLine};
use lockgate_matching::MatchInfo;
use lockgate_text::{Buffer, Plan, Syntax};

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
    /// Details of the match, for a literal search.
    pub info: Option<MatchInfo>,
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
}

impl PlannedEdit {
    pub(crate) fn new(plan: Plan, mut notes: Vec<String>) -> PlannedEdit {
        notes.extend_from_slice(plan.notes());
        PlannedEdit { plan, notes, warnings: Vec::new(), matches: SearchMatches::default(), new_buffer: None }
    }

    /// Returns an empty plan with a warning, for a search without a match that is not an error.
    ///
    /// Errors: `INTERNAL` if the empty plan is invalid.
    pub fn no_match(buffer: &Buffer, warning: String) -> Result<PlannedEdit, Error> {
        let planned = PlannedEdit::new(buffer.plan(Vec::new())?, Vec::new());
        let matches = SearchMatches { replacements: Some(0), ..SearchMatches::default() };
        Ok(PlannedEdit { warnings: vec![warning], matches, ..planned })
    }
}

/// Returns a line for a report: its number and at most 60 of its characters.
pub(crate) fn evidence_line(buffer: &Buffer, line: usize) -> EvidenceLine {
    let preview = buffer.lines().text(line).trim_end().chars().take(60).collect();
    EvidenceLine { line, preview, symbol: None }
}
