//! What all gates together say about a draft.
//!
//! Invariant: there is one run for every rule that was asked, and only `passed` says that a gate looked and found
//! nothing.
#![deny(clippy::disallowed_methods)]

use super::finding::Finding;

/// What became of one gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The gate looked and found nothing.
    Passed,
    /// The gate looked and found something, be it old or new.
    Found,
    /// The gate was not asked.
    Skipped,
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
            Outcome::Skipped => "skipped",
            Outcome::Broken => "broken",
            Outcome::TimedOut => "timed_out",
        }
    }
}

/// How one gate ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The gate's name.
    pub gate: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Why it did not look, or could not.
    pub why: Option<String>,
}

/// What all gates together say: their runs in the order of the policy, their findings with the gravest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// One for every rule.
    pub runs: Vec<Run>,
    /// Blocking ones first, then new ones, then old ones; in the order of the policy and of the text within each.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Orders what the gates said.
    pub fn new(runs: Vec<Run>, mut findings: Vec<Finding>) -> Verdict {
        findings.sort_by_key(|finding| (!finding.blocking, !finding.fresh));
        Verdict { runs, findings }
    }

    /// The same verdict with nothing in it that blocks, for an edit that is written whatever the gates say.
    #[must_use]
    pub fn softened(mut self) -> Verdict {
        self.findings.iter_mut().for_each(|finding| finding.blocking = false);
        self
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
        Finding { fresh, blocking, ..Finding::new(line, 1, "seen") }
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
}
