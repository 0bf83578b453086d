//! One call of the demo.

use serde_json::Value;

/// The expected outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoOutcome {
    /// The new text is on disk.
    Written,
    /// A gate blocks the edit, and the file is unchanged.
    Refused,
    /// The edit is only verified, and the file is unchanged.
    Verified,
}

impl DemoOutcome {
    /// Returns the status of the answer on the wire.
    pub const fn status(self) -> &'static str {
        match self {
            DemoOutcome::Written => "written",
            DemoOutcome::Refused => "refused",
            DemoOutcome::Verified => "verified",
        }
    }
}

/// One tool call of the demo.
#[derive(Debug)]
pub struct DemoStep {
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
    pub fn path(&self) -> &str {
        self.arguments.get("path").and_then(Value::as_str).unwrap_or_default()
    }
}
