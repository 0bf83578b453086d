//! The report of one gate about a draft: its run and its weighed findings.

use std::time::Duration;

use crate::error::GateError;
use crate::finding::{Finding, sanitize};
use crate::verdict::{GateRun, Outcome, RunReason, Verdict};
use lockgate_policy::Rule;
use lockgate_sandbox::Isolation;

/// The result of one gate for a draft.
#[derive(Debug)]
pub(super) struct GateReport {
    pub(super) run: GateRun,
    findings: Vec<Finding>,
}

impl GateReport {
    /// Creates the report of a gate that ran.
    pub(super) fn found(rule: &Rule, findings: Vec<Finding>, took: Duration) -> GateReport {
        let outcome = if findings.is_empty() { Outcome::Passed } else { Outcome::Found };
        GateReport { run: run(rule, outcome, None, took), findings }
    }

    /// Creates the report of a fixer that changed the draft; `what` describes the changes.
    pub(super) fn fixed(rule: &Rule, what: String, took: Duration) -> GateReport {
        GateReport { run: run(rule, Outcome::Fixed, Some(what), took), findings: Vec::new() }
    }

    /// Creates the report of a gate that gave no answer.
    pub(super) fn from_error(rule: &Rule, error: &GateError, took: Duration) -> GateReport {
        let (outcome, reason, why) = error.outcome();
        let run = GateRun {
            blocking: rule.required && error.is_failure(),
            withheld: matches!(error, GateError::Withheld(_)),
            partial: matches!(error, GateError::Partial(_)),
            reason: match reason {
                RunReason::LeftOut if !rule.required => RunReason::Outcome,
                reason => reason,
            },
            ..run(rule, outcome, Some(sanitize(why)), took)
        };
        GateReport { run, findings: Vec::new() }
    }

    /// Adds a note, if there is one, to the reason of the run.
    pub(super) fn with_note(mut self, note: Option<&str>) -> GateReport {
        let notes: Vec<String> = self.run.why.into_iter().chain(note.map(sanitize)).collect();
        self.run.why = (!notes.is_empty()).then(|| notes.join("; "));
        self
    }

    /// Records that its findings would reject the edit if that was not one step of several.
    pub(super) fn softened(mut self) -> GateReport {
        self.run.softened = true;
        self
    }

    /// Records that the gate found errors in other files, and so may not have reached this one.
    pub(super) fn found_elsewhere(mut self, note: &str) -> GateReport {
        if self.run.outcome == Outcome::Passed {
            self.run.outcome = Outcome::Found;
        }
        self.with_note(Some(note))
    }

    /// Records the isolation of the gate's program, if it ran.
    pub(super) fn with_isolation(mut self, isolation: Isolation) -> GateReport {
        let ran = match self.run.outcome {
            Outcome::Skipped | Outcome::Unavailable => false,
            Outcome::Passed | Outcome::Found | Outcome::Fixed | Outcome::TimedOut | Outcome::Broken => true,
        };
        self.run.isolation = ran.then_some(isolation);
        self
    }

    /// True if one of its findings rejects the draft.
    pub(super) fn refuses(&self) -> bool {
        self.findings.iter().any(|finding| finding.blocking)
    }

    /// Returns a description of the first finding that rejects the draft.
    pub(super) fn rejection(&self) -> Option<String> {
        let first = self.findings.iter().find(|finding| finding.blocking)?;
        Some(format!("{} on line {}: {}", self.run.gate, first.line, first.message))
    }

    /// Combines the reports of all gates into a verdict, in the given order.
    pub(super) fn verdict(all: impl IntoIterator<Item = GateReport>) -> Verdict {
        let (mut runs, mut findings) = (Vec::new(), Vec::new());
        for report in all {
            runs.push(report.run);
            findings.extend(report.findings);
        }
        Verdict::new(runs, findings)
    }
}

fn run(rule: &Rule, outcome: Outcome, why: Option<String>, took: Duration) -> GateRun {
    GateRun {
        gate: rule.gate.name.clone(),
        outcome,
        ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        why: why.filter(|why| !why.is_empty()),
        reason: RunReason::Outcome,
        isolation: None,
        blocking: false,
        withheld: false,
        softened: false,
        partial: false,
    }
}
