//! The results of a check, in the form that all output formats use.
//!
//! Invariant: findings are sorted by severity, then by position, in every format.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::engine::{Audit, AuditRoot, ChangeKind, CheckBase, Checked, Report};
use crate::gate::{Finding, GateRun, Outcome, clean};
use crate::text::Buffer;

/// The results of a check.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The folders that [`LocatedFinding::relative_path`] is relative to.
    pub(super) tops: Vec<PathBuf>,
    /// The bases of comparison, one for each root.
    pub(super) bases: Vec<CheckBase>,
    pub(super) files: Vec<Judged>,
    /// The findings, most severe first.
    pub(super) findings: Vec<LocatedFinding>,
    /// The totals of each gate, by name.
    pub(super) gates: Vec<GateTotals>,
    /// The numbers of unchanged and of deleted files.
    pub(super) unchanged: usize,
    pub(super) deleted: usize,
    /// The files that could not be checked, each with the reason.
    pub(super) passed_over: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Judged {
    /// Path of the file, as a caller would name it.
    pub(super) path: String,
    /// Kind of change, such as `added`.
    pub(super) change: &'static str,
    /// The previous path of a renamed file.
    pub(super) from: Option<String>,
    text: Buffer,
}

/// A finding with the path of its file.
#[derive(Debug)]
pub(super) struct LocatedFinding {
    /// Path of the file, as a caller would name it.
    pub(super) path: String,
    /// Index into [`Results::tops`]; absent for an absolute path.
    pub(super) top: Option<usize>,
    /// Path of the file, relative to that folder.
    pub(super) below: String,
    pub(super) finding: Finding,
    /// Index of the checked file that contains the finding.
    file: Option<usize>,
}

/// The totals of one gate over all files.
#[derive(Debug, Default)]
pub(super) struct GateTotals {
    pub(super) gate: String,
    /// Number of runs by outcome.
    pub(super) outcomes: BTreeMap<&'static str, usize>,
    /// Duration for all files, in milliseconds.
    pub(super) ms: u64,
    /// Failures by kind, each with the first reason and the number of runs.
    pub(super) troubles: BTreeMap<&'static str, (String, usize)>,
    /// Set when the policy requires the gate and it could not run for a file.
    pub(super) blocking: bool,
    /// Set when the gate did not run because its program is not trusted.
    pub(super) withheld: bool,
}

impl Results {
    /// Collects the results of an audit; `unreadable` are paths that are not UTF-8.
    pub(super) fn of_audit(audit: Audit, unreadable: Vec<String>) -> Results {
        let Audit { grounds, files, unchanged, deleted, passed_over } = audit;
        let mut results = Results { unchanged, deleted, ..Results::default() };
        results.tops = grounds.iter().map(|ground| ground.top.clone()).collect();
        results.bases = grounds.iter().map(|ground| ground.base.clone()).collect();
        results.notes.extend(grounds.iter().filter_map(note));
        for file in files {
            let Some(ground) = grounds.get(file.ground) else { continue };
            results.take(file, ground);
        }
        let over = passed_over
            .into_iter()
            .filter_map(|passed| Some((grounds.get(passed.ground)?.told(&passed.path), passed.why)));
        results.passed_over.extend(over);
        results
            .passed_over
            .extend(unreadable.into_iter().map(|path| (path, "its name is not UTF-8".to_owned())));
        results.ordered()
    }

    /// Collects the results of checked requests.
    pub(super) fn of_reports(reports: Vec<Report>) -> Results {
        let mut results = Results::default();
        for report in reports {
            let change = if report.before.is_some() { "modified" } else { "added" };
            let (path, file) = (report.path, results.files.len());
            for finding in report.verdict.findings {
                let path = finding.elsewhere.clone().unwrap_or_else(|| path.clone());
                let file = finding.elsewhere.is_none().then_some(file);
                let top = (!path.starts_with('/')).then_some(0);
                results.findings.push(LocatedFinding { below: path.clone(), path, top, finding, file });
            }
            report.verdict.runs.into_iter().for_each(|run| results.tally(run));
            results.files.push(Judged { path, change, from: None, text: report.draft });
        }
        results.ordered()
    }

    /// True if a finding blocks or a required gate could not run.
    pub(super) fn refuses(&self) -> bool {
        self.findings.iter().any(|found| found.finding.blocking)
            || self.gates.iter().any(|gate| gate.blocking)
    }

    /// Returns the findings that count.
    pub(super) fn counted(&self) -> impl Iterator<Item = &LocatedFinding> {
        self.findings.iter().filter(|found| found.finding.counts)
    }

    /// Returns the numbers of blocking findings, of other findings that count, and of findings that existed before.
    pub(super) fn numbers(&self) -> (usize, usize, usize) {
        let blocking = self.findings.iter().filter(|found| found.finding.blocking).count();
        let counted = self.counted().filter(|found| !found.finding.blocking).count();
        (blocking, counted, self.findings.len() - blocking - counted)
    }

    /// Returns the text of the file that contains a finding, if it was checked.
    pub(super) fn text(&self, found: &LocatedFinding) -> Option<&Buffer> {
        Some(&self.files.get(found.file?)?.text)
    }

    /// Returns the number of skipped files for each reason.
    pub(super) fn passed_over_by_reason(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for (_, why) in &self.passed_over {
            *reasons.entry(why.as_str()).or_default() += 1;
        }
        reasons
    }

    fn take(&mut self, checked: Checked, ground: &AuditRoot) {
        let Checked { ground: top, path, change, text, verdict } = checked;
        let file = self.files.len();
        for finding in verdict.findings {
            let (about, file) = match &finding.elsewhere {
                Some(other) => (other.clone(), None),
                None => (path.clone(), Some(file)),
            };
            let found = LocatedFinding {
                path: ground.told(&about),
                top: Some(top),
                below: ground.below(&about),
                finding,
                file,
            };
            self.findings.push(found);
        }
        verdict.runs.into_iter().for_each(|run| self.tally(run));
        let (change, from) = match change {
            ChangeKind::Added => ("added", None),
            ChangeKind::Modified => ("modified", None),
            ChangeKind::Renamed(from) => ("renamed", Some(ground.told(&from))),
        };
        self.files.push(Judged { path: ground.told(&path), change, from, text });
    }

    fn tally(&mut self, run: GateRun) {
        let known = self.gates.iter().position(|tally| tally.gate == run.gate);
        let at = known.unwrap_or_else(|| {
            self.gates.push(GateTotals { gate: run.gate.clone(), ..GateTotals::default() });
            self.gates.len() - 1
        });
        let Some(tally) = self.gates.get_mut(at) else { return };
        *tally.outcomes.entry(run.outcome.name()).or_default() += 1;
        tally.ms += run.ms;
        tally.blocking |= run.blocking;
        tally.withheld |= run.withheld;
        let happened = match run.outcome {
            Outcome::Passed | Outcome::Found | Outcome::Fixed => return,
            Outcome::Skipped if !run.withheld => return,
            Outcome::Skipped => "not asked",
            Outcome::Unavailable => "unavailable",
            Outcome::Broken => "broken",
            Outcome::TimedOut => "timed out",
        };
        let why = run.why.unwrap_or_default();
        tally.troubles.entry(happened).or_insert((why, 0)).1 += 1;
    }

    fn ordered(mut self) -> Results {
        self.findings.sort_by(|one, other| one.rank().cmp(&other.rank()));
        self.gates.sort_by(|one, other| one.gate.cmp(&other.gate));
        self.passed_over.iter_mut().for_each(|(_, why)| *why = clean(why));
        self
    }
}

impl LocatedFinding {
    fn rank(&self) -> impl Ord + '_ {
        let Finding { blocking, counts, fresh, severity, line, column, gate, .. } = &self.finding;
        (Reverse((*blocking, *counts, *fresh)), *severity, &self.path, *line, *column, gate)
    }
}

/// Returns a note for a root without a base of comparison.
fn note(ground: &AuditRoot) -> Option<String> {
    match ground.base {
        CheckBase::Revision(..) => None,
        CheckBase::Unborn => Some("there is no commit yet, so every finding counts".to_owned()),
        CheckBase::Nothing => {
            Some(format!("{} lies in no git repository, so every finding counts", ground.top.display()))
        }
    }
}
