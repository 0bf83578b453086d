//! The stops of the tour: what is asked at each, and what has to come of it.

mod modes;
mod past;
mod programs;

use serde_json::Value;

/// What has to come of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemoOutcome {
    /// The new text is on disk.
    Written,
    /// A gate refused it, and the file's bytes are the same.
    Refused,
    /// It was only shown, and the file's bytes are the same.
    Verified,
}

impl DemoOutcome {
    /// The status of the answer on the wire.
    pub(super) const fn status(self) -> &'static str {
        match self {
            DemoOutcome::Written => "written",
            DemoOutcome::Refused => "refused",
            DemoOutcome::Verified => "verified",
        }
    }
}

/// One call of a tool.
#[derive(Debug)]
pub(super) struct DemoStep {
    /// What the stop shows.
    pub title: &'static str,
    /// What the agent has in mind.
    pub about: &'static str,
    /// The tool that is called.
    pub tool: &'static str,
    /// The call's arguments.
    pub arguments: Value,
    /// What has to come of it.
    pub outcome: DemoOutcome,
    /// The gate that the stop is about, where it runs a program that this machine may lack.
    pub gate: Option<&'static str>,
}

impl DemoStep {
    /// The file that the call is about, where it is one.
    pub(super) fn path(&self) -> &str {
        self.arguments.get("path").and_then(Value::as_str).unwrap_or_default()
    }
}

/// The tour: the four modes of editing, a quote that is not exact, a refusal, a look ahead, three gates that run programs, and
/// two files that are edited together and taken back.
pub(super) fn stops() -> Vec<DemoStep> {
    let modes =
        [modes::search(), modes::misquoted(), modes::line_edits(), modes::insert_lines(), modes::content()];
    let judged =
        [modes::refused(), modes::verified(), programs::ruff(), programs::gofmt(), programs::pyright()];
    modes.into_iter().chain(judged).chain([past::batch(), past::undo()]).collect()
}
