//! The responses of the tools that edit, undo and redo.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{EntityKey, Name};

/// The result of one edit, or the error that ended a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EditResponse {
    /// True if the request succeeded; absent for one file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// `written`, `unchanged`, `already_applied`, `verified` or `refused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Name>,
    /// The error code of a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Name>,
    /// The precise code, if `code` is one of a tool's few codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Name>,
    /// The result in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The reason of a rejection, without the statement that nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The next step after a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The field of the request that is at fault, as in `line_edits[2].end_line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The path of the target, relative to its root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The key of the target, if it is an entity.
    #[serde(flatten)]
    pub key: EntityKey,
    /// The path that a symbolic link leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_path: Option<String>,
    /// The version on disk after the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version before the call, if the call wrote another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_version: Option<String>,
    /// True if the new text is on disk; absent if that is not known, and for one file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<bool>,
    /// True if the result differs from the text before; absent where `written` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// The id of the edit in the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_id: Option<String>,
    /// The protection of the write against other programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Name>,
    /// `unchanged`, or the gates that changed bytes outside the edit; absent if nothing was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_outside_edit: Option<String>,
    /// The unified diff of the edit, or its first hunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The changes to the file since the version that the caller knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<FileChangesSince>,
    /// The number of replaced matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacements: Option<usize>,
    /// The number of removed or inserted lines, whichever is larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_changed: Option<usize>,
    /// True if the edit created the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<bool>,
    /// True if the edit removed the file; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<bool>,
    /// The lines most similar to a text that was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<NearestLines>,
    /// The call that would work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<ProposedCall>,
    /// The lines in which the search text matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_locations: Vec<MatchLocation>,
    /// The edited ranges, in the order of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<ChangedRegion>,
    /// The shifts of the lines after the edited ranges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line_map: Vec<MovedLines>,
    /// The findings that block, and the required gates that could not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The warnings, which do not block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_warnings: Vec<ReportedWarning>,
    /// The findings of the gates, most severe first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ReportedFinding>,
    /// The result of each gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<ReportedGate>,
    /// Further notes, each a whole sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The fields for the text form, which are not on the wire.
    #[serde(skip)]
    pub for_text: TextFields,
}

/// The fields of an [`EditResponse`] that only the text form shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextFields {
    /// The first line, if it is not the message.
    pub headline: Option<Headline>,
    /// The changed lines with their numbers.
    pub changed_lines: Option<String>,
    /// How the text was found; shown even without edited ranges.
    pub match_details: Option<MatchDetails>,
    /// The number of findings that do not count because they existed before.
    pub old_findings: usize,
    /// True if the caller knows the names of the gates that passed, so that the text need not name them.
    pub are_gates_known: bool,
}

/// The first line of the text form. The version and the edit id of the response stand between its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headline {
    /// That nothing was written, if that is so; an edit of several does not have it.
    pub preface: &'static str,
    /// What happened to which file, as in `wrote a.py (+1 -1)`.
    pub summary: String,
    /// What was replaced, and what else changed; may be empty.
    pub details: String,
}

impl EditResponse {
    /// The status of a rejection.
    pub const REFUSED: &'static str = "refused";

    /// True if the request succeeded.
    pub fn is_success(&self) -> bool {
        self.status.as_deref() != Some(Self::REFUSED)
    }

    /// Returns the warnings that neither the message nor a shown finding contains.
    pub fn unreported(&self) -> impl Iterator<Item = &ReportedWarning> {
        let is_shown = |warning: &ReportedWarning| warning.finding.is_some_and(|at| at < self.findings.len());
        self.validation_warnings.iter().filter(move |warning| !warning.in_message && !is_shown(warning))
    }

    /// Returns the result of a gate, if it ran.
    pub fn gate(&self, name: &str) -> Option<&ReportedGate> {
        self.gates.iter().find(|run| run.gate == name)
    }
}

/// The response of `ai_edit_code`: the fields of an edit under the names that its clients know.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AiEditResponse {
    /// `success` or `failure`.
    pub status: Name,
    /// The path of the target.
    pub file_path: String,
    /// The result in one sentence.
    pub message: String,
    /// The message of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// One of the few codes of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Name>,
    /// The precise code, if `code` stands for several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Name>,
    /// The status of the edit.
    pub outcome: Option<Name>,
    /// The other fields of the edit.
    #[serde(flatten)]
    pub edit: EditResponse,
}

impl AiEditResponse {
    /// True if the request succeeded.
    pub fn is_success(&self) -> bool {
        self.error.is_none()
    }
}

impl From<EditResponse> for AiEditResponse {
    fn from(mut edit: EditResponse) -> AiEditResponse {
        let message = edit.message.take().unwrap_or_default();
        let (status, error) =
            if edit.is_success() { ("success", None) } else { ("failure", Some(message.clone())) };
        AiEditResponse {
            status: status.into(),
            file_path: edit.path.take().unwrap_or_default(),
            message,
            error,
            code: edit.code.take(),
            detail: edit.detail.take(),
            outcome: edit.status.take(),
            edit,
        }
    }
}

/// The result of several edits of one call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchResponse {
    /// True if the call succeeded.
    pub success: bool,
    /// The status of the whole call.
    pub status: Name,
    /// The error code of a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Name>,
    /// The result in one sentence.
    pub message: String,
    /// The next step after a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The path of the first rejected edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The id that the edits have in the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_id: Option<String>,
    /// True if the new texts are on disk.
    pub written: bool,
    /// `unchanged` if the bytes outside every edit were compared and are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_outside_edit: Option<String>,
    /// The result for each file.
    pub files: Vec<EditResponse>,
    /// A note on the files that are not shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl BatchResponse {
    /// Returns the common fields as one response without files.
    pub fn summary(&self) -> EditResponse {
        EditResponse {
            success: Some(self.success),
            status: Some(self.status.clone()),
            code: self.code.clone(),
            message: Some(self.message.clone()),
            hint: self.hint.clone(),
            path: self.path.clone(),
            edit_id: self.edit_id.clone(),
            written: Some(self.written),
            bytes_outside_edit: self.bytes_outside_edit.clone(),
            notes: self.notes.clone(),
            ..EditResponse::default()
        }
    }
}

/// The changes to a file since the version that the caller knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileChangesSince {
    /// A word for the target, for the text form: `file`, or the type of the entity.
    #[serde(skip)]
    pub noun: String,
    /// The current version of the file.
    pub version: String,
    /// The unified diff since that version, or its first hunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// The lines most similar to the searched text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearestLines {
    /// The first of the lines.
    pub start_line: usize,
    /// The last of the lines, inclusive.
    pub end_line: usize,
    /// The similarity, from 0 to 1.
    pub score: f64,
    /// The texts of the first of these lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// The lines around each difference with their numbers, for the text form.
    #[serde(skip)]
    pub excerpt: Vec<(usize, String)>,
    /// The first difference from the searched text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<FirstDifference>,
}

/// The first difference between two texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstDifference {
    /// The line in the file.
    pub line: usize,
    /// The column in the line.
    pub column: usize,
    /// The requested text at this position.
    pub asked: String,
    /// The actual text at this position.
    pub found: String,
}

/// A call that would work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// The name of the tool.
    pub tool: Name,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
}

/// A line in which a search text matched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchLocation {
    /// The number of the line in the file, from 1.
    pub line: usize,
    /// The text of the line, cut to a maximum length.
    pub preview: String,
    /// The symbol around the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

/// An edited range, before and after. A range whose end is before its start is empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedRegion {
    /// The first line before the edit.
    pub start_line: usize,
    /// The last line before the edit, inclusive.
    pub end_line: usize,
    /// The first line after the edit.
    pub new_start_line: usize,
    /// The last line after the edit, inclusive.
    pub new_end_line: usize,
    /// How the text was found.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub found: Option<MatchDetails>,
}

/// How a searched text was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchDetails {
    /// The match level, from `exact` to `similar`.
    pub tier: Name,
    /// The similarity of the match, from 0 to 1.
    pub score: f64,
    /// The number of matches at this level.
    pub candidates: usize,
    /// The score of the second best match, if it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<f64>,
}

/// A shift of the lines from one line on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedLines {
    /// The first moved line, by its number before the edit.
    pub from: usize,
    /// The distance in lines; positive is down, negative is up.
    pub by: isize,
}

/// A warning of one line. On the wire it is a string.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ReportedWarning {
    /// The warning in one sentence.
    pub text: String,
    /// Set when the message of the response ends with this warning, or a note says the same.
    pub in_message: bool,
    /// The index of the finding that the warning repeats, in the list of all findings.
    pub finding: Option<usize>,
}

impl From<String> for ReportedWarning {
    fn from(text: String) -> ReportedWarning {
        ReportedWarning { text, ..ReportedWarning::default() }
    }
}

impl From<ReportedWarning> for String {
    fn from(warning: ReportedWarning) -> String {
        warning.text
    }
}

/// A finding of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedFinding {
    /// The gate that reported it.
    pub gate: String,
    /// `error`, `warning` or `info`.
    pub severity: Name,
    /// The path of the file, if it is not the edited file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line in the file.
    pub line: usize,
    /// The column in the line.
    pub column: usize,
    /// The gate's code for this kind of finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The message of the gate.
    pub message: String,
    /// True if the edit introduced the finding.
    pub new: bool,
    /// True if the finding can block an edit.
    pub blocking: bool,
    /// Set when the finding counts against the edit, as every one that blocks it does; the text form lists only these.
    #[serde(skip)]
    pub counts: bool,
}

/// The result of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedGate {
    /// The name of the gate.
    pub gate: String,
    /// The outcome, such as `passed`.
    pub outcome: Name,
    /// The run time in milliseconds.
    pub ms: u64,
    /// The reason of any outcome other than a plain pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The isolation of the gate's program, if it is not the strongest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Name>,
}

/// Returns a score from 0 to 1 in whole percent, rounded down.
pub fn percent(score: f64) -> f64 {
    ((score * 10_000.0).round() / 100.0).floor()
}
