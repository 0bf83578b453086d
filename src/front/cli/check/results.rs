//! What a check found, in the one form from which every format is told.
//!
//! Invariant: the findings are in the order of their gravity, then of their places, whatever the format.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::engine::{Audit, AuditRoot, ChangeKind, CheckBase, Checked, Report};
use crate::gate::{Finding, GateRun, Outcome, clean};
use crate::text::Buffer;

/// What a check found.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// What the paths in `Spot::uri` are relative to.
    pub(super) tops: Vec<PathBuf>,
    /// What was compared with, each with its root where there are several.
    pub(super) bases: Vec<CheckBase>,
    /// The files that were judged.
    pub(super) files: Vec<Judged>,
    /// What was found, the gravest first.
    pub(super) findings: Vec<LocatedFinding>,
    /// What became of each gate, in the order of their names.
    pub(super) gates: Vec<GateTotals>,
    /// How many files are as they were, and how many are there no more.
    pub(super) unchanged: usize,
    pub(super) deleted: usize,
    /// What could not be judged, and why.
    pub(super) passed_over: Vec<(String, String)>,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
}

/// A file that was judged.
#[derive(Debug)]
pub(super) struct Judged {
    /// Its path as a caller would name it.
    pub(super) path: String,
    /// What happened to it, in a word.
    pub(super) change: &'static str,
    /// The name that it had.
    pub(super) from: Option<String>,
    text: Buffer,
}

/// A finding, and the file that it is about.
#[derive(Debug)]
pub(super) struct LocatedFinding {
    /// The file as a caller would name it.
    pub(super) path: String,
    /// The number of the top that `uri` is relative to; absent where it is absolute.
    pub(super) top: Option<usize>,
    /// The file's path below that top.
    pub(super) below: String,
    /// What was found.
    pub(super) finding: Finding,
    /// The judged file whose text it stands in, by its place in the list.
    file: Option<usize>,
}

/// What became of one gate over all files.
#[derive(Debug, Default)]
pub(super) struct GateTotals {
    /// The gate's name.
    pub(super) gate: String,
    /// How often it came to each outcome.
    pub(super) outcomes: BTreeMap<&'static str, usize>,
    /// How long it took for all files, in milliseconds.
    pub(super) ms: u64,
    /// The troubles in which it did not look: what happened, the first reason, how often.
    pub(super) troubles: BTreeMap<&'static str, (String, usize)>,
    /// Whether it could not look somewhere where the policy requires that it does.
    pub(super) blocking: bool,
    /// Whether it was not asked because nobody has allowed its program to run.
    pub(super) withheld: bool,
}

impl Results {
    /// The results of an audit; `unreadable` are paths that are no text.
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

    /// The results of requests that were judged.
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

    /// Whether something was found that blocks, or a required gate could not look.
    pub(super) fn refuses(&self) -> bool {
        self.findings.iter().any(|found| found.finding.blocking)
            || self.gates.iter().any(|gate| gate.blocking)
    }

    /// The findings that count.
    pub(super) fn counted(&self) -> impl Iterator<Item = &LocatedFinding> {
        self.findings.iter().filter(|found| found.finding.counts)
    }

    /// How many findings block, how many others count, and how many were there before.
    pub(super) fn numbers(&self) -> (usize, usize, usize) {
        let blocking = self.findings.iter().filter(|found| found.finding.blocking).count();
        let counted = self.counted().filter(|found| !found.finding.blocking).count();
        (blocking, counted, self.findings.len() - blocking - counted)
    }

    /// The text that a finding stands in, where it was judged.
    pub(super) fn text(&self, found: &LocatedFinding) -> Option<&Buffer> {
        Some(&self.files.get(found.file?)?.text)
    }

    /// How many files were passed over, by the reason.
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

/// What is to be said of a ground that gives nothing to compare with.
fn note(ground: &AuditRoot) -> Option<String> {
    match ground.base {
        CheckBase::Revision(..) => None,
        CheckBase::Unborn => Some("there is no commit yet, so every finding counts".to_owned()),
        CheckBase::Nothing => {
            Some(format!("{} lies in no git repository, so every finding counts", ground.top.display()))
        }
    }
}
