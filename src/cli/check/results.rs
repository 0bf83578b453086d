//! The results of a check, in the form that all output formats use.
//!
//! Invariant: findings are sorted by severity, then by position, in every format.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockgate_checks::{Finding, GateRun, Outcome, RunReason, sanitize};
use lockgate_engine::{Audit, AuditRoot, ChangeKind, CheckBase, CheckedFile, Report, relative};
use lockgate_text::Buffer;

/// The results of a check.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The folders that [`LocatedFinding::relative_path`] is relative to.
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

#[derive(Debug)]
pub(super) struct FileResult {
    /// Path of the file, as a caller would name it.
    pub(super) path: String,
    /// Path of the file, relative to the top of its root; see [`LocatedFinding::relative_path`].
    pub(super) relative_path: String,
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
    /// Path of the file, as a caller would name it.
    pub(super) path: String,
    /// Index into [`Results::tops`]; absent for an absolute path.
    pub(super) top_index: Option<usize>,
    /// Path of the file, relative to that folder.
    pub(super) relative_path: String,
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
    /// Failures by kind, each with the first reason and the number of runs.
    pub(super) failures: BTreeMap<GateFailure, (String, usize)>,
    /// The folders of the policies whose programs are not trusted, as `lockgate trust` takes them.
    pub(super) untrusted: BTreeSet<String>,
    /// The reasons of the runs that were skipped.
    pub(super) skip_reasons: BTreeSet<String>,
    /// Set when the policy requires the gate and it could not run for a file.
    pub(super) blocking: bool,
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
    pub(super) fn of_audit(audit: Audit, unreadable: Vec<String>) -> Results {
        let Audit { roots, files, unchanged, deleted, skipped } = audit;
        let mut results = Results { unchanged, deleted, ..Results::default() };
        results.tops = roots.iter().map(|root| root.top.clone()).collect();
        results.bases = roots.iter().map(|root| root.base.clone()).collect();
        results.notes.extend(roots.iter().filter_map(note));
        for file in files {
            let Some(root) = roots.get(file.root_index) else { continue };
            results.add_file(file, root);
        }
        let over = skipped.into_iter().filter_map(|skipped_file| {
            Some((roots.get(skipped_file.root_index)?.display_path(&skipped_file.path), skipped_file.reason))
        });
        results.skipped.extend(over);
        results.skipped.extend(unreadable.into_iter().map(|path| (path, "its name is not UTF-8".to_owned())));
        results.sorted()
    }

    /// Collects the results of checked requests.
    pub(super) fn of_reports(reports: Vec<Report>) -> Results {
        let mut results = Results::default();
        for report in reports {
            let change = if report.change.before.is_some() { "modified" } else { "added" };
            let (path, file) = (report.target.path, results.files.len());
            for finding in report.verdict.findings {
                let path = finding.elsewhere.clone().unwrap_or_else(|| path.clone());
                let file = finding.elsewhere.is_none().then_some(file);
                let top = (!path.starts_with('/')).then_some(0);
                results.findings.push(LocatedFinding {
                    relative_path: path.clone(),
                    path,
                    top_index: top,
                    finding,
                    file,
                });
            }
            let is_judged = report.verdict.runs.iter().any(GateRun::has_judged);
            for run in report.verdict.runs {
                results.add_run(run, &report.policy_folder);
            }
            results.files.push(FileResult {
                relative_path: path.clone(),
                path,
                change,
                from: None,
                is_judged,
                text: report.change.draft,
            });
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
        let top = found.top_index.and_then(|top| self.tops.get(top));
        let (Some(top), Some(folder)) = (top, folder) else { return found.path.clone() };
        let shown = Path::new(&found.path);
        if shown.is_absolute() && !shown.starts_with(top) {
            return found.path.clone();
        }
        if let Some(base) = folder.strip_prefix(top).ok().and_then(Path::to_str) {
            return relative(base, &found.relative_path);
        }
        let file = top.join(&found.relative_path);
        file.strip_prefix(folder).unwrap_or(&file).display().to_string()
    }

    /// Returns the number of skipped files for each reason.
    pub(super) fn skipped_by_reason(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for (_, why) in &self.skipped {
            *reasons.entry(why.as_str()).or_default() += 1;
        }
        reasons
    }

    fn add_file(&mut self, checked: CheckedFile, root: &AuditRoot) {
        let CheckedFile { root_index: top, path, change, text, policy_folder, verdict } = checked;
        let file = self.files.len();
        for finding in verdict.findings {
            let (about, file) = match &finding.elsewhere {
                Some(other) => (other.clone(), None),
                None => (path.clone(), Some(file)),
            };
            let found = LocatedFinding {
                path: root.display_path(&about),
                top_index: Some(top),
                relative_path: root.path_from_top(&about),
                finding,
                file,
            };
            self.findings.push(found);
        }
        let is_judged = verdict.runs.iter().any(GateRun::has_judged);
        let policy_folder = root.display_path(&policy_folder);
        verdict.runs.into_iter().for_each(|run| self.add_run(run, &policy_folder));
        let (change, from) = match change {
            ChangeKind::Added => ("added", None),
            ChangeKind::Modified => ("modified", None),
            ChangeKind::Unchanged => ("unchanged", None),
            ChangeKind::Renamed(from) => ("renamed", Some(root.display_path(&from))),
        };
        self.files.push(FileResult {
            path: root.display_path(&path),
            relative_path: root.path_from_top(&path),
            change,
            from,
            is_judged,
            text,
        });
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
        let happened = match run.outcome {
            Outcome::Passed | Outcome::Found | Outcome::Fixed => return,
            Outcome::Skipped if run.withheld => GateFailure::NotRun,
            Outcome::Skipped if run.reason == RunReason::LeftOut => GateFailure::Skipped,
            Outcome::Skipped => return,
            Outcome::Unavailable => GateFailure::Unavailable,
            Outcome::Broken => GateFailure::Broken,
            Outcome::TimedOut => GateFailure::TimedOut,
        };
        let why = run.why.unwrap_or_default();
        totals.failures.entry(happened).or_insert((why, 0)).1 += 1;
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
        (Reverse((*blocking, *counts, *fresh)), *severity, &self.path, *line, *column, gate)
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
