//! The steps of the demo, each with its call and expected outcome.

mod history;
mod modes;
mod programs;

use serde_json::Value;

/// The expected outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemoOutcome {
    /// The new text is on disk.
    Written,
    /// A gate blocks the edit, and the file is unchanged.
    Refused,
    /// The edit is only verified, and the file is unchanged.
    Verified,
}

impl DemoOutcome {
    /// Returns the status of the answer on the wire.
    pub(super) const fn status(self) -> &'static str {
        match self {
            DemoOutcome::Written => "written",
            DemoOutcome::Refused => "refused",
            DemoOutcome::Verified => "verified",
        }
    }
}

/// One tool call of the demo.
#[derive(Debug)]
pub(super) struct DemoStep {
    pub title: &'static str,
    /// The intention of the agent.
    pub about: &'static str,
    pub tool: &'static str,
    pub arguments: Value,
    /// Expected outcome of the call.
    pub outcome: DemoOutcome,
    /// The gate of this step, if it runs a program that may not be installed.
    pub gate: Option<&'static str>,
}

impl DemoStep {
    /// Returns the file of the call; empty if it has none.
    pub(super) fn path(&self) -> &str {
        self.arguments.get("path").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Returns the steps: the edit modes, an inexact search text, a blocked edit, a verification, three gates that run
/// programs, and a batch with its undo.
pub(super) fn steps() -> Vec<DemoStep> {
    let modes =
        [modes::search(), modes::misquoted(), modes::line_edits(), modes::insert_lines(), modes::content()];
    let judged =
        [modes::refused(), modes::verified(), programs::ruff(), programs::gofmt(), programs::pyright()];
    modes.into_iter().chain(judged).chain([history::batch(), history::undo()]).collect()
}
