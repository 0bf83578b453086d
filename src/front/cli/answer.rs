//! The parts of an answer that people are told, read from the answer that programs get.
//!
//! Invariant: the command line shows nothing that is not in the wire answer, so what an agent sees and what a person
//! sees cannot differ.

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Code, Error};
use crate::front::answer::{FindingLabel, unsaid};

/// An answer of an edit tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct EditAnswer {
    /// Whether the caller got what was asked for.
    pub success: bool,
    /// What happened to the target.
    pub status: String,
    /// The code of a refusal.
    pub code: Option<String>,
    /// What happened, in a sentence.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The target, relative to its root.
    pub path: Option<String>,
    /// The version that is on disk now.
    pub version: Option<String>,
    /// The version before.
    pub previous_version: Option<String>,
    /// The name under which the edit is remembered.
    pub edit_id: Option<String>,
    /// What happened to the file since the version that the caller knows.
    pub since: Option<ToldSince>,
    /// What became of each file, where they are several.
    pub files: Vec<EditAnswer>,
    /// Whether the new text is on disk.
    pub written: bool,
    /// Whether the bytes outside of the edit were found to be the same.
    pub bytes_outside_edit: Option<String>,
    /// The unified diff.
    pub diff: Option<String>,
    /// What comes nearest to a text that was not found.
    pub best: Option<ToldBest>,
    /// The call that is proposed.
    pub next: Option<Value>,
    /// Where a search matched.
    pub match_locations: Vec<ToldPlace>,
    /// What does not stop the call.
    pub validation_warnings: Vec<String>,
    /// What the gates found.
    pub findings: Vec<ToldFinding>,
    /// Which gates ran.
    pub gates: Vec<ToldRun>,
    /// What the caller should know.
    pub notes: Vec<String>,
}

/// What happened to a file since a version of it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToldSince {
    /// The version that the file has now.
    pub version: String,
    /// The unified diff, where it is known.
    #[serde(default)]
    pub diff: Option<String>,
}

/// The lines that come nearest to what was searched.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToldBest {
    /// The first of them, from 1.
    pub start_line: usize,
    /// The last of them, inclusive.
    pub end_line: usize,
    /// How alike they are, from 0 to 1.
    pub score: f64,
    /// The lines.
    #[serde(default)]
    pub lines: Vec<String>,
    /// Where they first differ from what was searched.
    #[serde(default)]
    pub first_difference: Option<ToldDifference>,
}

/// Where two texts first differ.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToldDifference {
    /// The line in the file, from 1.
    pub line: usize,
    /// The column in it, from 1, in characters.
    pub column: usize,
    /// What the request has there.
    pub asked: String,
    /// What the file has there.
    pub found: String,
}

/// A line of the file.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToldPlace {
    /// Its number, from 1.
    pub line: usize,
    /// Its text, cut.
    #[serde(default)]
    pub preview: String,
}

/// A finding of a gate.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToldFinding {
    /// The gate that found it.
    pub gate: String,
    /// The file, where that is not the edited one.
    #[serde(default)]
    pub path: Option<String>,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1, in characters.
    pub column: usize,
    /// The gate's name for this kind of finding.
    #[serde(default)]
    pub code: Option<String>,
    /// What was found.
    pub message: String,
    /// Whether the edit brings it.
    #[serde(default)]
    pub new: bool,
    /// Whether it is of the kind that stops an edit.
    #[serde(default)]
    pub blocking: bool,
}

/// A gate that was asked.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToldRun {
    /// Its name.
    pub gate: String,
    /// What came of it.
    pub outcome: String,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub ms: u64,
    /// Why it did not simply pass.
    #[serde(default)]
    pub why: Option<String>,
    /// What its program was kept apart by, where that is not the best.
    #[serde(default)]
    pub isolation: Option<String>,
}

impl EditAnswer {
    /// Reads the answer of an edit tool.
    ///
    /// Errors: `INTERNAL` when it is not one.
    pub(super) fn read(answer: &Value) -> Result<EditAnswer, Error> {
        EditAnswer::deserialize(answer)
            .map_err(|trouble| Error::new(Code::Internal, format!("the answer cannot be read: {trouble}")))
    }

    /// What came of a gate, where it was asked.
    pub(super) fn outcome_of(&self, gate: &str) -> Option<&str> {
        self.gates.iter().find(|run| run.gate == gate).map(|run| run.outcome.as_str())
    }

    /// The warnings that nothing else says: neither the message, nor a finding, which is shown with its source line.
    pub(super) fn unsaid(&self) -> impl Iterator<Item = &String> {
        let findings = self.findings.iter().map(|finding| FindingLabel {
            path: finding.path.as_deref(),
            line: finding.line,
            column: finding.column,
            name: finding.code.as_ref().unwrap_or(&finding.gate),
        });
        unsaid(&self.validation_warnings, &self.message, findings)
    }
}
