//! Merges the findings of several files: a gate that checks one file can report a finding in another.
//!
//! Invariant: each finding is reported once, and is new if any file's verdict has it as new.

use std::collections::{HashMap, HashSet};

use super::checked_file::CheckedFile;
use lockgate_checks::{Finding, Severity};

/// The properties that are equal for the same finding in different verdicts.
#[derive(PartialEq, Eq, Hash)]
struct FindingKey {
    root_index: usize,
    path: String,
    gate: String,
    code: Option<String>,
    line: usize,
    column: usize,
    message: String,
}

/// The combined properties of a finding over all verdicts that report it.
#[derive(Clone, Copy)]
struct MergedFinding {
    severity: Severity,
    is_new: bool,
    is_counted: bool,
    is_blocking: bool,
}

/// Removes duplicate findings. Each is kept with the file that it is about, if that file was judged and has
/// it too.
pub(super) fn merge(files: &mut [CheckedFile]) {
    let (mut own, mut elsewhere): (HashSet<FindingKey>, HashMap<FindingKey, MergedFinding>) =
        Default::default();
    for (file, finding) in
        files.iter().flat_map(|file| file.verdict.findings.iter().map(move |it| (file, it)))
    {
        let (key, merged) = (key(file, finding), MergedFinding::from_finding(finding));
        if finding.elsewhere.is_none() {
            own.insert(key);
        } else {
            elsewhere.entry(key).and_modify(|known| *known = known.merge_with(merged)).or_insert(merged);
        }
    }
    let mut reported: HashSet<FindingKey> = HashSet::new();
    for file in files {
        let keys: Vec<FindingKey> = file.verdict.findings.iter().map(|finding| key(file, finding)).collect();
        let mut keys = keys.into_iter();
        file.verdict.findings.retain_mut(|finding| {
            let Some(key) = keys.next() else { return true };
            if let Some(known) = elsewhere.get(&key) {
                known.mark(finding);
            }
            finding.elsewhere.is_none() || (!own.contains(&key) && reported.insert(key))
        });
        file.verdict.findings.sort_by_key(|finding| (!finding.blocking, !finding.counts, !finding.fresh));
    }
}

fn key(file: &CheckedFile, finding: &Finding) -> FindingKey {
    FindingKey {
        root_index: file.root_index,
        path: finding.elsewhere.as_ref().unwrap_or(&file.path).clone(),
        gate: finding.gate.clone(),
        code: finding.code.clone(),
        line: finding.line,
        column: finding.column,
        message: finding.message.clone(),
    }
}

impl MergedFinding {
    fn from_finding(finding: &Finding) -> MergedFinding {
        let Finding { severity, fresh: is_new, counts: is_counted, blocking: is_blocking, .. } = *finding;
        MergedFinding { severity, is_new, is_counted, is_blocking }
    }

    fn merge_with(self, other: MergedFinding) -> MergedFinding {
        MergedFinding {
            severity: self.severity.min(other.severity),
            is_new: self.is_new || other.is_new,
            is_counted: self.is_counted || other.is_counted,
            is_blocking: self.is_blocking || other.is_blocking,
        }
    }

    /// Raises a finding to the highest severity that any verdict gives it.
    fn mark(self, finding: &mut Finding) {
        let MergedFinding { severity, is_new: fresh, is_counted: counts, is_blocking: blocking } =
            self.merge_with(MergedFinding::from_finding(finding));
        (finding.severity, finding.fresh, finding.counts, finding.blocking) =
            (severity, fresh, counts, blocking);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChangeKind;
    use super::*;
    use lockgate_checks::Verdict;
    use std::sync::Arc;

    fn file(path: &str, findings: &[(Option<&str>, usize, bool)]) -> CheckedFile {
        let finding = |(elsewhere, line, fresh): &(Option<&str>, usize, bool)| Finding {
            gate: "mypy".to_owned(),
            elsewhere: elsewhere.map(str::to_owned),
            fresh: *fresh,
            counts: *fresh,
            blocking: *fresh,
            ..Finding::new(*line, 1, "seen")
        };
        let verdict = Verdict::new(Vec::new(), findings.iter().map(finding).collect());
        CheckedFile {
            root_index: 0,
            path: path.to_owned(),
            change: ChangeKind::Modified,
            text: Arc::default(),
            verdict,
        }
    }

    fn merged_findings(files: &[CheckedFile]) -> Vec<(&str, Option<&str>, usize, bool)> {
        let all = files.iter().flat_map(|file| file.verdict.findings.iter().map(move |it| (file, it)));
        all.map(|(file, it)| (file.path.as_str(), it.elsewhere.as_deref(), it.line, it.blocking)).collect()
    }

    #[test]
    fn each_finding_appears_once_with_its_highest_severity() {
        let mut files = [
            file("a", &[(None, 1, false), (None, 2, true), (Some("b"), 7, true), (Some("c"), 3, false)]),
            file("b", &[(None, 7, false), (None, 7, false), (Some("a"), 1, false), (Some("c"), 3, true)]),
        ];
        merge(&mut files);
        assert_eq!(
            merged_findings(&files),
            [
                ("a", None, 2, true),
                ("a", Some("c"), 3, true),
                ("a", None, 1, false),
                ("b", None, 7, true),
                ("b", None, 7, true)
            ]
        );
    }

    #[test]
    fn roots_are_distinguished() {
        let mut files = [file("a", &[(Some("c"), 3, false)]), file("b", &[(Some("c"), 3, false)])];
        files[1].root_index = 1;
        merge(&mut files);
        assert_eq!(merged_findings(&files).len(), 2);
    }
}
