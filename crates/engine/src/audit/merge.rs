//! Merges the findings of several files: a gate that checks one file can report a finding in another.
//!
//! Invariant: each finding is reported once, and is new if any file's verdict has it as new.

use std::collections::{HashMap, HashSet};

use super::checked_file::CheckedFile;
use lockgate_checks::Finding;

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

/// Removes duplicate findings. Each is kept with the file that it is about, if that file was judged and has
/// it too.
pub(super) fn merge(files: &mut [CheckedFile]) {
    let (mut own, mut elsewhere): (HashSet<FindingKey>, HashMap<FindingKey, Finding>) = Default::default();
    for (file, finding) in
        files.iter().flat_map(|file| file.verdict.findings.iter().map(move |it| (file, it)))
    {
        let key = key(file, finding);
        if finding.elsewhere.is_none() {
            own.insert(key);
        } else {
            elsewhere.entry(key).and_modify(|known| raise(known, finding)).or_insert_with(|| finding.clone());
        }
    }
    let mut reported: HashSet<FindingKey> = HashSet::new();
    for file in files {
        let keys: Vec<FindingKey> = file.verdict.findings.iter().map(|finding| key(file, finding)).collect();
        let mut keys = keys.into_iter();
        file.verdict.findings.retain_mut(|finding| {
            let Some(key) = keys.next() else { return true };
            if let Some(known) = elsewhere.get(&key) {
                raise(finding, known);
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

/// Raises a finding to the highest severity that one of two verdicts gives it.
fn raise(finding: &mut Finding, other: &Finding) {
    finding.severity = finding.severity.min(other.severity);
    finding.fresh |= other.fresh;
    finding.counts |= other.counts;
    finding.blocking |= other.blocking;
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
            policy_folder: String::new(),
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
