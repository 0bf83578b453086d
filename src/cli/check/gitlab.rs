//! Formats check results as the code quality report of GitLab: <https://docs.gitlab.com/ci/testing/code_quality/>.
//!
//! Invariant: the report is an array of objects with all fields that GitLab requires, for all file names and messages.

use serde_json::{Value, json};

use super::fingerprint::Fingerprints;
use super::results::{LocatedFinding, Results};
use super::text::{rejection, unable};
use lockgate_checks::{Finding, Severity};
use lockgate_error::Error;

/// Renders the report with a final line end.
pub(super) fn document(results: &Results) -> String {
    let mut fingerprints = Fingerprints::default();
    let findings = results.counting().map(|found| {
        let line = results.text(found).map(|text| text.lines().text(found.finding.line)).unwrap_or_default();
        let fingerprint = fingerprints.next(found, line);
        entry(found, &fingerprint)
    });
    // GitLab shows only what has a place, and a gate that could not run has none: it is the first file.
    let path = results.files.first().map_or(".", |file| file.path.relative.as_str());
    let gates = results.unable_gates().map(|totals| {
        let severity = if totals.blocking { "blocker" } else { "info" };
        json!({"description": unable(totals), "check_name": totals.gate, "fingerprint": format!("gate-{}", totals.gate),
            "severity": severity, "location": {"path": path, "lines": {"begin": 1}}})
    });
    let entries: Vec<Value> = gates.chain(findings).collect();
    format!("{}\n", Value::Array(entries))
}

/// Renders a rejection as a report with one entry.
pub(super) fn render_error(error: &Error) -> String {
    let entry = json!({"description": rejection(error), "check_name": "lockgate", "fingerprint": error.code.name(),
        "severity": "blocker", "location": {"path": ".", "lines": {"begin": 1}}});
    format!("{}\n", Value::Array(vec![entry]))
}

fn entry(found: &LocatedFinding, fingerprint: &str) -> Value {
    let it = &found.finding;
    json!({"description": it.message, "check_name": found.rule(), "fingerprint": fingerprint, "severity": severity(it),
        "location": {"path": found.path.relative, "lines": {"begin": it.line.max(1)}}})
}

/// Returns the severity; only blocking findings are major.
fn severity(finding: &Finding) -> &'static str {
    match (finding.blocking, finding.severity) {
        (true, _) => "major",
        (false, Severity::Error | Severity::Warning) => "minor",
        (false, Severity::Info) => "info",
    }
}
