//! The results of a check, in the form that all output formats use.
//!
//! Invariant: findings are sorted by severity, then by position, in every format.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockgate_checks::{Finding, GateRun, Outcome, RunReason, Verdict, sanitize};
use lockgate_engine::{Audit, AuditRoot, ChangeKind, CheckBase, CheckedFile, Report, relative};
use lockgate_text::Buffer;

/// The results of a check.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The folders that [`ResultPath::relative`] is relative to.
    pub(super) tops: Vec<PathBuf>,
    /// The bases of comparison, one for each root.
    pub(super) bases: Vec<CheckBase>,
    pub(super) files: Vec<FileResult>,
    /// The findings, most severe first.
    pub(super) findings: Vec<LocatedFinding>,
    /// The totals of each gate, by name.
    pub(super) gates: BTreeMap<String, GateTotals>,
    /// The numbers of unchanged and of deleted files.
    pub(super) unchanged: usize,
    pub(super) deleted: usize,
    /// The files that could not be checked, each with the reason.
    pub(super) skipped: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
}

/// The names of a file in the results.
#[derive(Debug, Clone)]
pub(super) struct ResultPath {
    /// As a caller would name it.
    pub(super) shown: String,
    /// Index into [`Results::tops`]; absent for an absolute path.
    pub(super) top_index: Option<usize>,
    /// Relative to that folder.
    pub(super) relative: String,
}

#[derive(Debug)]
pub(super) struct FileResult {
    pub(super) path: ResultPath,
    /// Kind of change, such as `added`.
    pub(super) change: &'static str,
    /// The previous path of a renamed file.
    pub(super) from: Option<String>,
    /// Set when a gate of the policy judged the file.
    pub(super) is_judged: bool,
    text: Arc<Buffer>,
}

/// A finding with the path of its file.
#[derive(Debug)]
pub(super) struct LocatedFinding {
    pub(super) path: ResultPath,
    pub(super) finding: Finding,
    /// Index into [`Results::files`] of the checked file that contains the finding.
    pub(super) file: Option<usize>,
}

/// The totals of one gate over all files.
#[derive(Debug, Default)]
pub(super) struct GateTotals {
    pub(super) gate: String,
    /// Number of runs by outcome.
    pub(super) outcomes: BTreeMap<&'static str, usize>,
    /// Duration for all files, in milliseconds.
    pub(super) ms: u64,
    pub(super) failures: BTreeMap<GateFailure, FailedRuns>,
    /// The folders of the policies whose programs are not trusted, as `lockgate trust` takes them.
    pub(super) untrusted: BTreeSet<String>,
    /// The reasons of the runs that were skipped.
    pub(super) skip_reasons: BTreeSet<String>,
    /// Set when the policy requires the gate and it could not run for a file.
    pub(super) blocking: bool,
}

/// The runs of a gate that failed in the same way.
#[derive(Debug)]
pub(super) struct FailedRuns {
    /// The reason of the first one.
    pub(super) why: String,
    pub(super) count: usize,
}

/// The kinds of failure of a gate, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GateFailure {
    Broken,
    /// The gate did not run, because its program is not trusted.
    NotRun,
    /// The policy requires the gate, and its program or the project's configuration leaves the file out.
    Skipped,
    TimedOut,
    Unavailable,
}

impl GateFailure {
    /// Returns the name in the JSON document.
    pub(super) const fn name(self) -> &'static str {
        match self {
            GateFailure::Broken => "broken",
            GateFailure::NotRun => "not_run",
            GateFailure::Skipped => "skipped",
            GateFailure::TimedOut => "timed_out",
            GateFailure::Unavailable => "unavailable",
        }
    }
}

/// Writes the words for messages.
impl fmt::Display for GateFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().replace('_', " "))
    }
}

/// The status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckStatus {
    /// A finding blocks, or a required gate could not run.
    Found,
    /// There are files, and no gate of the policy judged any of them.
    Unjudged,
    Clean,
}

impl CheckStatus {
    pub(super) const fn name(self) -> &'static str {
        match self {
            CheckStatus::Found => "found",
            CheckStatus::Unjudged => "unjudged",
            CheckStatus::Clean => "clean",
        }
    }
}

/// The numbers of findings.
pub(super) struct FindingCounts {
    pub(super) blocking: usize,
    /// Those that count and do not block.
    pub(super) warnings: usize,
    /// Those that existed before.
    pub(super) old: usize,
}

impl Results {
    /// Collects the results of an audit; `unreadable` are paths that are not UTF-8.
    pub(super) fn from_audit(audit: Audit, unreadable: Vec<String>) -> Results {
        let Audit { roots, files, unchanged, deleted, skipped } = audit;
        let mut results = Results { unchanged, deleted, ..Results::default() };
        results.tops = roots.iter().map(|root| root.top.clone()).collect();
        results.bases = roots.iter().map(|root| root.base.clone()).collect();
        results.notes.extend(roots.iter().filter_map(note));
        for CheckedFile { root_index, path, change, text, policy_folder, verdict } in files {
            let Some(root) = roots.get(root_index) else { continue };
            let locate = |path: &str| ResultPath {
                shown: root.display_path(path),
                top_index: Some(root_index),
                relative: root.path_from_top(path),
            };
            let (change, from) = match change {
                ChangeKind::Added => ("added", None),
                ChangeKind::Modified => ("modified", None),
                ChangeKind::Unchanged => ("unchanged", None),
                ChangeKind::Renamed(from) => ("renamed", Some(root.display_path(&from))),
            };
            let is_judged = verdict.runs.iter().any(GateRun::has_judged);
            let file = FileResult { path: locate(&path), change, from, is_judged, text };
            results.add_file(file, verdict, &root.display_path(&policy_folder), locate);
        }
        results.skipped.extend(
            skipped
                .into_iter()
                .filter_map(|file| Some((roots.get(file.root_index)?.display_path(&file.path), file.reason))),
        );
        results.skipped.extend(unreadable.into_iter().map(|path| (path, "its name is not UTF-8".to_owned())));
        results.sorted()
    }

    /// Collects the results of checked requests.
    pub(super) fn from_reports(reports: Vec<Report>) -> Results {
        let mut results = Results::default();
        let locate = |path: &str| ResultPath {
            shown: path.to_owned(),
            top_index: (!path.starts_with('/')).then_some(0),
            relative: path.to_owned(),
        };
        for Report { target, change, verdict, policy_folder, .. } in reports {
            let file = FileResult {
                path: locate(&target.path),
                change: if change.before.is_some() { "modified" } else { "added" },
                from: None,
                is_judged: verdict.runs.iter().any(GateRun::has_judged),
                text: change.draft,
            };
            results.add_file(file, verdict, &policy_folder, locate);
        }
        results.sorted()
    }

    /// True if a finding blocks or a required gate could not run.
    pub(super) fn has_blocking(&self) -> bool {
        self.findings.iter().any(|found| found.finding.blocking)
            || self.gates.values().any(|gate| gate.blocking)
    }

    /// Returns the number of files that a gate of the policy judged.
    pub(super) fn judged(&self) -> usize {
        self.files.iter().filter(|file| file.is_judged).count()
    }

    /// Returns the number of files that no gate of the policy judged.
    pub(super) fn unjudged(&self) -> usize {
        self.files.len() - self.judged()
    }

    /// Returns the status.
    pub(super) fn status(&self) -> CheckStatus {
        if self.has_blocking() {
            CheckStatus::Found
        } else if !self.files.is_empty() && self.judged() == 0 {
            CheckStatus::Unjudged
        } else {
            CheckStatus::Clean
        }
    }

    /// Returns the findings that count.
    pub(super) fn counting(&self) -> impl Iterator<Item = &LocatedFinding> {
        self.findings.iter().filter(|found| found.finding.counts)
    }

    /// Counts the findings.
    pub(super) fn finding_counts(&self) -> FindingCounts {
        let blocking = self.findings.iter().filter(|found| found.finding.blocking).count();
        let warnings = self.counting().filter(|found| !found.finding.blocking).count();
        FindingCounts { blocking, warnings, old: self.findings.len() - blocking - warnings }
    }

    /// Returns the text of the file that contains a finding, if it was checked.
    pub(super) fn text(&self, found: &LocatedFinding) -> Option<&Buffer> {
        Some(&self.files.get(found.file?)?.text)
    }

    /// Returns the path of a finding as it is opened from a folder, by its real path: relative to it if the folder is in
    /// the same repository or root, or above the file; else absolute.
    pub(super) fn path_from(&self, folder: Option<&Path>, found: &LocatedFinding) -> String {
        let ResultPath { shown, top_index, relative: from_top } = &found.path;
        let top = top_index.and_then(|top| self.tops.get(top));
        let (Some(top), Some(folder)) = (top, folder) else { return shown.clone() };
        if shown.starts_with('/') && !Path::new(shown).starts_with(top) {
            return shown.clone();
        }
        if let Some(base) = folder.strip_prefix(top).ok().and_then(Path::to_str) {
            return relative(base, from_top);
        }
        let file = top.join(from_top);
        file.strip_prefix(folder).unwrap_or(&file).display().to_string()
    }

    /// Returns the gates that could not run for all files.
    pub(super) fn unable_gates(&self) -> impl Iterator<Item = &GateTotals> {
        self.gates.values().filter(|totals| totals.blocking || !totals.failures.is_empty())
    }

    /// Returns the number of skipped files for each reason.
    pub(super) fn skipped_by_reason(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for (_, why) in &self.skipped {
            *reasons.entry(why.as_str()).or_default() += 1;
        }
        reasons
    }

    /// Adds a file with its verdict. `locate` names another file that a finding is about.
    fn add_file(
        &mut self,
        file: FileResult,
        verdict: Verdict,
        policy_folder: &str,
        locate: impl Fn(&str) -> ResultPath,
    ) {
        for finding in verdict.findings {
            let (path, index) = match &finding.elsewhere {
                Some(other) => (locate(other), None),
                None => (file.path.clone(), Some(self.files.len())),
            };
            self.findings.push(LocatedFinding { path, finding, file: index });
        }
        verdict.runs.into_iter().for_each(|run| self.add_run(run, policy_folder));
        self.files.push(file);
    }

    fn add_run(&mut self, run: GateRun, policy_folder: &str) {
        let new = || GateTotals { gate: run.gate.clone(), ..GateTotals::default() };
        let totals = self.gates.entry(run.gate.clone()).or_insert_with(new);
        *totals.outcomes.entry(run.outcome.name()).or_default() += 1;
        totals.ms += run.ms;
        totals.blocking |= run.blocking;
        if run.outcome == Outcome::Skipped {
            totals.skip_reasons.extend(run.why.clone());
        }
        if run.withheld {
            let folder = if policy_folder == "." { "" } else { policy_folder };
            totals.untrusted.insert(folder.to_owned());
        }
        let failure = match run.outcome {
            Outcome::Passed | Outcome::Found | Outcome::Fixed => return,
            Outcome::Skipped if run.withheld => GateFailure::NotRun,
            Outcome::Skipped if run.reason == RunReason::LeftOut => GateFailure::Skipped,
            Outcome::Skipped => return,
            Outcome::Unavailable => GateFailure::Unavailable,
            Outcome::Broken => GateFailure::Broken,
            Outcome::TimedOut => GateFailure::TimedOut,
        };
        let why = run.why.unwrap_or_default();
        totals.failures.entry(failure).or_insert(FailedRuns { why, count: 0 }).count += 1;
    }

    fn sorted(mut self) -> Results {
        self.findings.sort_by(|one, other| one.rank().cmp(&other.rank()));
        self.skipped.iter_mut().for_each(|(_, why)| *why = sanitize(why));
        self
    }
}

impl LocatedFinding {
    /// Returns the gate and the code, as in `ruff/F401`; the gate alone if there is no code.
    pub(super) fn rule(&self) -> String {
        match &self.finding.code {
            Some(code) => format!("{}/{code}", self.finding.gate),
            None => self.finding.gate.clone(),
        }
    }

    fn rank(&self) -> impl Ord + '_ {
        let Finding { blocking, counts, fresh, severity, line, column, gate, .. } = &self.finding;
        (Reverse((*blocking, *counts, *fresh)), *severity, &self.path.shown, *line, *column, gate)
    }
}

/// Returns a note for a root without a base of comparison.
fn note(root: &AuditRoot) -> Option<String> {
    match root.base {
        CheckBase::Revision(..) => None,
        CheckBase::NoCommits => Some("there is no commit yet, so every finding counts".to_owned()),
        CheckBase::NoBase => {
            Some(format!("{} is not in a git repository, so every finding counts", root.top.display()))
        }
    }
}
