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

/// The reason that a blocking finding is tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excuse {
    /// Edits in several steps have such findings in between.
    AllowedFirst,
    /// The finding may be old: it is outside the edited lines, and a syntax error hid it before.
    BeforeUnknown,
}

impl Excuse {
    /// Returns the suffix for the finding's message.
    const fn as_str(self) -> &'static str {
        match self {
            Excuse::AllowedFirst => " (tolerated in a single edit)",
            Excuse::BeforeUnknown => " (hidden before by a syntax error)",
        }
    }
}

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
        let message = finding.message + excuse.map_or("", Excuse::as_str);
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

    fn excuse(&self, finding: &ComparedFinding, on_the_way: &[&Regex]) -> Option<Excuse> {
        let text = format!("{} {}", finding.code.as_deref().unwrap_or_default(), finding.message);
        if on_the_way.iter().any(|pattern| pattern.is_match(&text)) {
            return Some(Excuse::AllowedFirst);
        }
        match self.text_before {
            TextBefore::Hidden if !self.is_written(finding) => Some(Excuse::BeforeUnknown),
            TextBefore::Hidden | TextBefore::Plain => None,
        }
    }

    /// Returns the patterns of transitional findings that this edit may have.
    fn allowed_first(&self) -> Vec<&Regex> {
        match self.profile {
            Profile::Edit => {}
            Profile::Batch | Profile::Check => return Vec::new(),
        }
        if self.rule.explicit.level {
            return Vec::new();
        }
        let transitional = &self.rule.gate.transitional;
        let adding = &transitional.adding_imports;
        let adding = if !adding.is_empty() && self.draft.adds_import() { adding.as_slice() } else { &[] };
        transitional.always.iter().chain(adding).collect()
    }
}
