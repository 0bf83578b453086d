//! Merges the findings of several files: a gate that checks one file can report a finding in another.
//!
//! Invariant: each finding is reported once, and is new if any file's verdict has it as new.

use std::collections::{HashMap, HashSet};

use super::Checked;
use crate::gate::{Finding, Severity};

/// The key of a finding: root, file, gate, code, position and message.
type FindingKey = (usize, String, String, Option<String>, (usize, usize), String);

/// The combined properties of a finding over all verdicts that report it.
#[derive(Clone, Copy)]
struct MergedFinding {
    severity: Severity,
    fresh: bool,
    counts: bool,
    blocking: bool,
}

/// Removes duplicate findings. Each is kept with the file that it is about, if that file was judged and has
/// it too.
pub(super) fn merge(files: &mut [Checked]) {
    let (mut own, mut elsewhere): (HashSet<FindingKey>, HashMap<FindingKey, MergedFinding>) =
        Default::default();
    for (file, finding) in
        files.iter().flat_map(|file| file.verdict.findings.iter().map(move |it| (file, it)))
    {
        let (key, seen) = (key(file, finding), MergedFinding::from_finding(finding));
        if finding.elsewhere.is_none() {
            own.insert(key);
        } else {
            elsewhere.entry(key).and_modify(|known| *known = known.with(seen)).or_insert(seen);
        }
    }
    let mut told: HashSet<FindingKey> = HashSet::new();
    for file in files {
        let keys: Vec<FindingKey> = file.verdict.findings.iter().map(|finding| key(file, finding)).collect();
        let mut keys = keys.into_iter();
        file.verdict.findings.retain_mut(|finding| {
            let Some(key) = keys.next() else { return true };
            if let Some(known) = elsewhere.get(&key) {
                known.mark(finding);
            }
            finding.elsewhere.is_none() || (!own.contains(&key) && told.insert(key))
        });
        file.verdict.findings.sort_by_key(|finding| (!finding.blocking, !finding.counts, !finding.fresh));
    }
}

fn key(file: &Checked, finding: &Finding) -> FindingKey {
    let path = finding.elsewhere.as_ref().unwrap_or(&file.path).clone();
    let place = (finding.line, finding.column);
    (file.ground, path, finding.gate.clone(), finding.code.clone(), place, finding.message.clone())
}

impl MergedFinding {
    fn from_finding(finding: &Finding) -> MergedFinding {
        let Finding { severity, fresh, counts, blocking, .. } = *finding;
        MergedFinding { severity, fresh, counts, blocking }
    }

    fn with(self, other: MergedFinding) -> MergedFinding {
        MergedFinding {
            severity: self.severity.min(other.severity),
            fresh: self.fresh || other.fresh,
            counts: self.counts || other.counts,
            blocking: self.blocking || other.blocking,
        }
    }

    /// Raises a finding to the highest severity that any verdict gives it.
    fn mark(self, finding: &mut Finding) {
        let MergedFinding { severity, fresh, counts, blocking } =
            self.with(MergedFinding::from_finding(finding));
        (finding.severity, finding.fresh, finding.counts, finding.blocking) =
            (severity, fresh, counts, blocking);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChangeKind;
    use super::*;
    use crate::gate::Verdict;
    use crate::text::Buffer;

    fn file(path: &str, findings: &[(Option<&str>, usize, bool)]) -> Checked {
        let finding = |(elsewhere, line, fresh): &(Option<&str>, usize, bool)| Finding {
            gate: "mypy".to_owned(),
            elsewhere: elsewhere.map(str::to_owned),
            fresh: *fresh,
            counts: *fresh,
            blocking: *fresh,
            ..Finding::new(*line, 1, "seen")
        };
        let verdict = Verdict::new(Vec::new(), findings.iter().map(finding).collect());
        Checked {
            ground: 0,
            path: path.to_owned(),
            change: ChangeKind::Modified,
            text: Buffer::default(),
            verdict,
        }
    }

    fn told(files: &[Checked]) -> Vec<(&str, Option<&str>, usize, bool)> {
        let all = files.iter().flat_map(|file| file.verdict.findings.iter().map(move |it| (file, it)));
        all.map(|(file, it)| (file.path.as_str(), it.elsewhere.as_deref(), it.line, it.blocking)).collect()
    }

    #[test]
    fn each_finding_is_told_once_and_as_grave_as_anywhere() {
        let mut files = [
            file("a", &[(None, 1, false), (None, 2, true), (Some("b"), 7, true), (Some("c"), 3, false)]),
            file("b", &[(None, 7, false), (None, 7, false), (Some("a"), 1, false), (Some("c"), 3, true)]),
        ];
        merge(&mut files);
        assert_eq!(
            told(&files),
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
    fn roots_are_told_apart() {
        let mut files = [file("a", &[(Some("c"), 3, false)]), file("b", &[(Some("c"), 3, false)])];
        files[1].ground = 1;
        merge(&mut files);
        assert_eq!(told(&files).len(), 2);
    }
}
