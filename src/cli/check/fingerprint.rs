//! Fingerprints, by which a service knows a finding again in the next check.

use std::collections::HashMap;

use super::results::LocatedFinding;
use lockgate_text::Version;

/// Gives the findings of one check their fingerprints.
#[derive(Debug, Default)]
pub(super) struct Fingerprints {
    /// How often each text that is hashed occurred.
    occurrences: HashMap<String, usize>,
}

impl Fingerprints {
    /// Name and version of the fingerprint.
    pub(super) const NAME: &'static str = "lockgateFinding/v2";

    /// Returns the fingerprint of a finding: a hash of path, gate, code, text of the line, and an index among equal ones.
    /// It depends on neither line numbers nor the wording of a message; only a finding without a code is known by its
    /// message, without digits.
    pub(super) fn next(&mut self, found: &LocatedFinding, line: &str) -> String {
        let it = &found.finding;
        let named = match &it.code {
            Some(code) => code.clone(),
            None => it.message.chars().filter(|c| !c.is_ascii_digit()).collect(),
        };
        let whole = [found.path.relative.as_str(), &it.gate, &named, line.trim()].join("\0");
        let count = self.occurrences.entry(whole.clone()).or_default();
        *count += 1;
        Version::hash(format!("{whole}\0{count}").as_bytes()).hex().chars().take(32).collect()
    }
}
