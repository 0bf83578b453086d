//! Findings that several judgements tell of: a gate that is asked about one file may find something in another.
//!
//! Invariant: each finding is told once, and is new where any judgement found it so.

use std::collections::{HashMap, HashSet};

use super::Checked;
use crate::gate::{Finding, Severity};

/// What makes two findings one: ground, file, gate, code, place and words.
type Key = (usize, String, String, Option<String>, (usize, usize), String);

/// What is known of a finding by all that told of it.
#[derive(Clone, Copy)]
struct Known {
    severity: Severity,
    fresh: bool,
    counts: bool,
    blocking: bool,
}

/// Tells each finding once: with the file that it is about, where that was judged and has it, too.
pub(super) fn merge(files: &mut [Checked]) {
    let (mut own, mut elsewhere): (HashSet<Key>, HashMap<Key, Known>) = Default::default();
    for (file, finding) in
        files.iter().flat_map(|file| file.verdict.findings.iter().map(move |it| (file, it)))
    {
        let (key, seen) = (key(file, finding), Known::of(finding));
        if finding.elsewhere.is_none() {
            own.insert(key);
        } else {
            elsewhere.entry(key).and_modify(|known| *known = known.with(seen)).or_insert(seen);
        }
    }
    let mut told: HashSet<Key> = HashSet::new();
    for file in files {
        let keys: Vec<Key> = file.verdict.findings.iter().map(|finding| key(file, finding)).collect();
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

fn key(file: &Checked, finding: &Finding) -> Key {
    let path = finding.elsewhere.as_ref().unwrap_or(&file.path).clone();
    let place = (finding.line, finding.column);
    (file.ground, path, finding.gate.clone(), finding.code.clone(), place, finding.message.clone())
}

impl Known {
    fn of(finding: &Finding) -> Known {
        let Finding { severity, fresh, counts, blocking, .. } = *finding;
        Known { severity, fresh, counts, blocking }
    }

    fn with(self, other: Known) -> Known {
        Known {
            severity: self.severity.min(other.severity),
            fresh: self.fresh || other.fresh,
            counts: self.counts || other.counts,
            blocking: self.blocking || other.blocking,
        }
    }

    /// Makes a finding as grave as it is anywhere.
    fn mark(self, finding: &mut Finding) {
        let Known { severity, fresh, counts, blocking } = self.with(Known::of(finding));
        (finding.severity, finding.fresh, finding.counts, finding.blocking) =
            (severity, fresh, counts, blocking);
    }
}
