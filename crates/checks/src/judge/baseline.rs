//! Decides which findings count against an edit, and which reject it.
//!
//! Invariant: a finding rejects only if it counts by the baseline, its gate may block, it is as severe as the
//! policy says, and nothing excuses it.
#![deny(clippy::disallowed_methods)]

use regex::Regex;

use crate::delta::{Belief, ComparedFinding, MarkedFinding};
use crate::draft::Draft;
use crate::finding::{Finding, Severity};
use lockgate_policy::{Baseline, Level, Profile, Rule};

/// The maximum number of findings of one gate, most severe first.
const MAX_FINDINGS: usize = 1000;

/// The inputs that decide the severity of a finding and if it blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights<'a> {
    pub(super) rule: &'a Rule,
    pub(super) level: Level,
    pub(super) baseline: Baseline,
    pub(super) profile: Profile,
    pub(super) draft: &'a Draft<'a>,
    pub(super) text_before: TextBefore,
}

/// The findings that a gate could see in the text before the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextBefore {
    /// Every finding that the gate can see in the text after.
    Plain,
    /// The text did not parse, which hid findings, and the edit fixes that.
    Hidden,
}

/// The end of the message of a blocking finding that is tolerated, because edits in several steps have such findings in between.
const ALLOWED_FIRST: &str = " (tolerated in a single edit)";
/// The same for a finding that may be old: it is outside the edited lines, and a syntax error hid it before.
const BEFORE_UNKNOWN: &str = " (hidden before by a syntax error)";

impl Weights<'_> {
    /// Weighs each finding.
    pub(super) fn weigh(&self, marks: Vec<MarkedFinding>) -> Vec<Finding> {
        let on_the_way = if marks.is_empty() { Vec::new() } else { self.allowed_first() };
        let weighed = marks.into_iter().map(|mark| self.weigh_one(mark, &on_the_way));
        let mut findings: Vec<Finding> = weighed.collect();
        findings.sort_by_key(|finding| (!finding.blocking, !finding.counts, !finding.fresh));
        findings.truncate(MAX_FINDINGS);
        findings
    }

    fn weigh_one(&self, mark: MarkedFinding, on_the_way: &[&Regex]) -> Finding {
        let MarkedFinding { finding, fresh } = mark;
        let severity = self.severity(&finding);
        let counts = fresh || self.counts(&finding);
        let refuses = counts && self.level == Level::Block && severity <= self.rule.fail_on;
        let excuse = if refuses { self.excuse(&finding, on_the_way) } else { None };
        let message = finding.message + excuse.unwrap_or_default();
        Finding {
            gate: self.rule.gate.name.clone(),
            severity,
            elsewhere: finding.elsewhere,
            code: finding.code,
            fresh,
            counts,
            blocking: refuses && excuse.is_none(),
            ..Finding::new(finding.line, finding.column, &message)
        }
    }

    /// Returns the severity; at most a warning if the gate only warns.
    fn severity(&self, finding: &ComparedFinding) -> Severity {
        let own = match finding.belief {
            Belief::Certain => finding.severity,
            Belief::Doubtful => finding.severity.max(Severity::Warning),
        };
        match self.level {
            Level::Block => own,
            Level::Warn => own.max(Severity::Warning),
        }
    }

    /// True if the baseline counts a finding that the text before already had.
    fn counts(&self, finding: &ComparedFinding) -> bool {
        match self.rule.baseline.unwrap_or(self.baseline) {
            Baseline::New => false,
            Baseline::EditedLines => self.is_written(finding),
            Baseline::File => finding.elsewhere.is_none(),
            Baseline::All => true,
        }
    }

    fn is_written(&self, finding: &ComparedFinding) -> bool {
        finding.elsewhere.is_none() && self.draft.wrote_any(finding.line..=finding.end_line)
    }

    fn excuse(&self, finding: &ComparedFinding, on_the_way: &[&Regex]) -> Option<&'static str> {
        let text = format!("{} {}", finding.code.as_deref().unwrap_or_default(), finding.message);
        if on_the_way.iter().any(|pattern| pattern.is_match(&text)) {
            return Some(ALLOWED_FIRST);
        }
        match self.text_before {
            TextBefore::Hidden if !self.is_written(finding) => Some(BEFORE_UNKNOWN),
            TextBefore::Hidden | TextBefore::Plain => None,
        }
    }

    /// Returns the patterns of transitional findings that this edit may have.
    fn allowed_first(&self) -> Vec<&Regex> {
        if self.profile != Profile::Edit || self.rule.explicit.level {
            return Vec::new();
        }
        let transitional = &self.rule.gate.transitional;
        let adding = &transitional.adding_imports;
        let adding = if !adding.is_empty() && self.draft.adds_import() { adding.as_slice() } else { &[] };
        transitional.always.iter().chain(adding).collect()
    }
}
