//! The JSON answer of an edit tool, parsed for display on the command line.
//!
//! Invariant: the command line shows only content of the wire answer, so agents and people see the same.

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Code, Error};
use crate::front::answer::{FindingLabel, unreported};

/// The answer of an edit tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct EditAnswer {
    /// True if the request succeeded.
    pub success: bool,
    /// The status of the edit, such as `written`.
    pub status: String,
    /// Error code of a rejection.
    pub code: Option<String>,
    /// The result in one sentence.
    pub message: String,
    /// The next step after a rejection.
    pub hint: Option<String>,
    /// Path of the target, relative to its root.
    pub path: Option<String>,
    /// The version that is on disk now.
    pub version: Option<String>,
    /// The version before the edit.
    pub previous_version: Option<String>,
    /// Id of the edit in the journal.
    pub edit_id: Option<String>,
    /// The changes to the file since the expected version.
    pub since: Option<ChangesSince>,
    /// The answer for each file of a batch.
    pub files: Vec<EditAnswer>,
    /// True if the new text is on disk.
    pub written: bool,
    /// `unchanged` if the bytes outside the edit were compared and are the same.
    pub bytes_outside_edit: Option<String>,
    /// Unified diff of the edit.
    pub diff: Option<String>,
    /// The lines most similar to a text that was not found.
    pub best: Option<BestMatch>,
    pub next: Option<Value>,
    pub match_locations: Vec<MatchLine>,
    /// Warnings that do not block the edit.
    pub validation_warnings: Vec<String>,
    pub findings: Vec<FindingAnswer>,
    pub gates: Vec<GateRunAnswer>,
    pub notes: Vec<String>,
}

/// The changes to a file since an earlier version.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ChangesSince {
    /// The current version of the file.
    pub version: String,
    /// Unified diff since that version, if known.
    #[serde(default)]
    pub diff: Option<String>,
}

/// The lines most similar to the searched text.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct BestMatch {
    /// First of the lines, from 1.
    pub start_line: usize,
    /// Last of the lines, inclusive.
    pub end_line: usize,
    /// Similarity, from 0 to 1.
    pub score: f64,
    #[serde(default)]
    pub lines: Vec<String>,
    /// The first difference from the searched text.
    #[serde(default)]
    pub first_difference: Option<FirstDifference>,
}

/// The first difference between two texts.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct FirstDifference {
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The requested text at this position.
    pub asked: String,
    /// The actual text at this position.
    pub found: String,
}

/// A line of the file that matched.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct MatchLine {
    /// Line number in the file, from 1.
    pub line: usize,
    /// Text of the line, cut to a maximum length.
    #[serde(default)]
    pub preview: String,
}

/// A finding of a gate.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct FindingAnswer {
    pub gate: String,
    /// Path of the file, if it is not the edited file.
    #[serde(default)]
    pub path: Option<String>,
    /// Line number in the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The gate's code for this kind of finding.
    #[serde(default)]
    pub code: Option<String>,
    pub message: String,
    /// Set when the edit introduces the finding.
    #[serde(default)]
    pub new: bool,
    /// Set when the finding can block an edit.
    #[serde(default)]
    pub blocking: bool,
}

/// The result of one gate.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct GateRunAnswer {
    pub gate: String,
    /// Outcome as on the wire, such as `passed`.
    pub outcome: String,
    /// Duration of the run in milliseconds.
    #[serde(default)]
    pub ms: u64,
    /// Reason of any outcome other than a plain pass.
    #[serde(default)]
    pub why: Option<String>,
    /// Isolation of the gate's program, if it is not the strongest one.
    #[serde(default)]
    pub isolation: Option<String>,
}

impl EditAnswer {
    /// Parses the answer of an edit tool.
    ///
    /// Errors: `INTERNAL` when the value is not such an answer.
    pub(super) fn read(answer: &Value) -> Result<EditAnswer, Error> {
        EditAnswer::deserialize(answer)
            .map_err(|error| Error::new(Code::Internal, format!("the answer cannot be read: {error}")))
    }

    /// Returns the outcome of a gate, if it ran.
    pub(super) fn outcome_of(&self, gate: &str) -> Option<&str> {
        self.gates.iter().find(|run| run.gate == gate).map(|run| run.outcome.as_str())
    }

    /// Returns the warnings that neither the message nor a finding contains.
    pub(super) fn unreported(&self) -> impl Iterator<Item = &String> {
        let findings = self.findings.iter().map(|finding| FindingLabel {
            path: finding.path.as_deref(),
            line: finding.line,
            column: finding.column,
            name: finding.code.as_ref().unwrap_or(&finding.gate),
        });
        unreported(&self.validation_warnings, &self.message, findings)
    }
}
