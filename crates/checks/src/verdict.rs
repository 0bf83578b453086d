//! The verdict of all gates about a draft.
//!
//! Invariant: there is one run for every rule, and only `passed` means that a gate ran and found nothing.
#![deny(clippy::disallowed_methods)]

use super::finding::Finding;
use lockgate_sandbox::Isolation;
use lockgate_text::Buffer;

/// The outcome of one gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The gate ran and found nothing.
    Passed,
    /// The gate ran and found something, old or new.
    Found,
    /// The gate changed the draft.
    Fixed,
    /// The gate did not run.
    Skipped,
    /// The gate's program is not available on this machine.
    Unavailable,
    /// The gate or its program failed.
    Broken,
    /// The gate reached its time limit, and was ended.
    TimedOut,
}

impl Outcome {
    /// Returns the name used in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Found => "found",
            Outcome::Fixed => "fixed",
            Outcome::Skipped => "skipped",
            Outcome::Unavailable => "unavailable",
            Outcome::Broken => "broken",
            Outcome::TimedOut => "timed_out",
        }
    }
}

/// The reason of a run without a result, where the outcome alone does not tell it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RunReason {
    /// The outcome tells the reason.
    #[default]
    Outcome,
    /// The program is not on this machine.
    NoProgram,
    /// The text is a template, which is not parsed.
    Template,
    /// The policy requires a stronger isolation than this machine has.
    WeakIsolation,
    /// The program is there, but cannot check the file in this project as it is; `why` tells the reason.
    Project,
    /// The policy requires the gate, and the program or its configuration in the project leaves the file out; `why`
    /// tells the reason.
    LeftOut,
    /// The time limit ended the run on the draft; `why` begins with that.
    TimeLimit,
    /// The fixer could not read the draft; `why` has its message about the text.
    Unread,
}

/// The run of one gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRun {
    /// The name of the gate in the policy.
    pub gate: String,
    /// The outcome of this run.
    pub outcome: Outcome,
    /// The run time in milliseconds.
    pub ms: u64,
    /// The reason that it did not run or failed; of a fixer, a description of its changes.
    pub why: Option<String>,
    /// The reason of a run without a result.
    pub reason: RunReason,
    /// Set when the edit is rejected because the policy requires this gate and it could not run.
    pub blocking: bool,
    /// The isolation of its program; `None` if no program ran.
    pub isolation: Option<Isolation>,
    /// Set when the gate was skipped because its program is not trusted.
    pub withheld: bool,
    /// Set when its findings would reject the edit, but only warn because the edit is one step of several.
    pub softened: bool,
    /// Set when it would change the draft, but only together with lines outside of the edit; `why` says so.
    pub partial: bool,
}

impl GateRun {
    /// True if the gate read the draft and judged it.
    pub fn has_judged(&self) -> bool {
        let has_result = matches!(self.outcome, Outcome::Passed | Outcome::Found | Outcome::Fixed);
        has_result || self.partial
    }
}

/// The verdict of all gates: their runs in the order of the policy, and their findings, most severe first.
#[derive(Debug, Default)]
pub struct Verdict {
    /// One run for each rule, in the order of the policy.
    pub runs: Vec<GateRun>,
    /// Blocking findings first, then those that count, then the rest; each group in the order of the policy
    /// and of the text.
    pub findings: Vec<Finding>,
    /// The draft after the fixers, if they changed it: this is the text that was judged.
    pub fixed: Option<Buffer>,
}

impl Verdict {
    /// Creates a verdict from runs and findings, and sorts the findings.
    pub fn new(runs: Vec<GateRun>, mut findings: Vec<Finding>) -> Verdict {
        findings.sort_by_key(|finding| (!finding.blocking, !finding.counts, !finding.fresh));
        Verdict { runs, findings, fixed: None }
    }

    /// Returns the verdict without blocking entries, except those of the gate `but`, for an edit that is
    /// written regardless of the others.
    #[must_use]
    pub fn softened(mut self, but: Option<&str>) -> Verdict {
        let softens = |gate: &str| but != Some(gate);
        self.findings.iter_mut().filter(|finding| softens(&finding.gate)).for_each(|it| it.blocking = false);
        self.runs.iter_mut().filter(|run| softens(&run.gate)).for_each(|it| it.blocking = false);
        self
    }

    /// True if the edit is rejected, because of a finding or because a required gate could not run.
    pub fn refuses(&self) -> bool {
        self.blocking().next().is_some() || self.runs.iter().any(|run| run.blocking)
    }

    /// Returns the findings that reject the edit.
    pub fn blocking(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.blocking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: usize, fresh: bool, blocking: bool) -> Finding {
        Finding { fresh, counts: fresh, blocking, ..Finding::new(line, 1, "seen") }
    }

    #[test]
    fn the_gravest_comes_first_and_only_blocking_ones_block() {
        let findings = vec![
            finding(1, false, false),
            finding(2, true, false),
            finding(3, true, true),
            finding(4, true, true),
        ];
        let verdict = Verdict::new(Vec::new(), findings);
        assert_eq!(verdict.findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [3, 4, 2, 1]);
        assert_eq!(verdict.blocking().map(|finding| finding.line).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn a_finding_or_a_run_that_blocks_refuses_and_a_softened_verdict_does_not() {
        let run = |blocking| GateRun {
            gate: "ruff".to_owned(),
            outcome: Outcome::Broken,
            ms: 1,
            why: None,
            reason: RunReason::Outcome,
            isolation: None,
            blocking,
            withheld: false,
            softened: false,
            partial: false,
        };
        let verdict = |run, finding| Verdict::new(vec![run], vec![finding]);
        assert!(!verdict(run(false), finding(1, true, false)).refuses());
        assert!(verdict(run(true), finding(1, true, false)).refuses());
        assert!(verdict(run(false), finding(1, true, true)).refuses());
        assert!(!verdict(run(true), finding(1, true, true)).softened(None).refuses());
    }
}
