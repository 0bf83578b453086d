//! What all gates together say about a draft.
//!
//! Invariant: there is one run for every rule, and only `passed` says that a gate looked and found nothing.
#![deny(clippy::disallowed_methods)]

use super::finding::Finding;
use crate::policy::Isolation;
use crate::text::Buffer;

/// The outcome of one gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The gate looked and found nothing.
    Passed,
    /// The gate looked and found something, be it old or new.
    Found,
    /// The gate mended the draft.
    Fixed,
    /// The gate was not asked.
    Skipped,
    /// The gate's program is not to be had here.
    Unavailable,
    /// The gate failed.
    Broken,
    /// The gate gave no answer in time.
    TimedOut,
}

impl Outcome {
    /// Gives the name on the wire.
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

/// The run of one gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRun {
    /// The gate's name.
    pub gate: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The run time in milliseconds.
    pub ms: u64,
    /// Why it did not look, or could not; of one that mended the draft, what it changed.
    pub why: Option<String>,
    /// Whether the edit is refused because the gate, which the policy requires, could not look.
    pub blocking: bool,
    /// What its program was kept apart by; absent where none ran.
    pub isolation: Option<Isolation>,
    /// Whether it was skipped because nobody has allowed its program to run.
    pub withheld: bool,
    /// True where findings of it would refuse the edit, and only warn because the edit is one step of several.
    pub softened: bool,
    /// True where it would mend the draft, but only together with lines outside of the edit; `why` says so.
    pub partial: bool,
}

/// What all gates together say: their runs in the order of the policy, their findings with the gravest first.
#[derive(Debug, Default)]
pub struct Verdict {
    /// One for every rule.
    pub runs: Vec<GateRun>,
    /// Blocking ones first, then those that count, then the rest; in the order of the policy and of the text within each.
    pub findings: Vec<Finding>,
    /// The draft as the gates that mend left it, where they changed it: this is the text that was judged.
    pub fixed: Option<Buffer>,
}

impl Verdict {
    /// Orders what the gates said.
    pub fn new(runs: Vec<GateRun>, mut findings: Vec<Finding>) -> Verdict {
        findings.sort_by_key(|finding| (!finding.blocking, !finding.counts, !finding.fresh));
        Verdict { runs, findings, fixed: None }
    }

    /// The same verdict with nothing in it that blocks but what this gate says, for an edit that is written whatever
    /// the others say.
    #[must_use]
    pub fn softened(mut self, but: Option<&str>) -> Verdict {
        let softens = |gate: &str| but != Some(gate);
        self.findings.iter_mut().filter(|finding| softens(&finding.gate)).for_each(|it| it.blocking = false);
        self.runs.iter_mut().filter(|run| softens(&run.gate)).for_each(|it| it.blocking = false);
        self
    }

    /// Tells whether the edit is refused: for what was found, or because a gate that must look could not.
    pub fn refuses(&self) -> bool {
        self.blocking().next().is_some() || self.runs.iter().any(|run| run.blocking)
    }

    /// Goes through the findings that refuse the edit.
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
