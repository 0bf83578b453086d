//! Formats check results as one JSON document.

use serde_json::{Map, Value, json};

use super::results::{FindingCounts, GateTotals, LocatedFinding, Results};
use crate::cli::output_format::error_json;
use lockgate_engine::CheckBase;
use lockgate_error::Error;

/// Renders the document with a final line end.
pub(super) fn document(results: &Results) -> String {
    let FindingCounts { blocking, warnings, old } = results.finding_counts();
    let files: Vec<Value> = results
        .files
        .iter()
        .map(|file| without_nulls(json!({"path": file.path.shown, "change": file.change, "from": file.from})))
        .collect();
    let skipped: Vec<Value> =
        results.skipped.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
    let document = json!({
        "success": !results.has_blocking(),
        "status": results.status().name(),
        "bases": results.bases.iter().map(base).collect::<Vec<_>>(),
        "files": files,
        "findings": results.findings.iter().map(finding).collect::<Vec<_>>(),
        "gates": results.gates.values().map(gate).collect::<Vec<_>>(),
        "counts": {"judged": results.judged(), "unjudged": results.unjudged(), "unchanged": results.unchanged,
            "deleted": results.deleted,
            "passed_over": results.skipped.len(), "blocking": blocking, "warnings": warnings, "old": old},
        "passed_over": skipped,
        "notes": results.notes,
    });
    format!("{document}\n")
}

/// Renders a rejection as a document.
pub(super) fn render_error(error: &Error) -> String {
    format!("{}\n", error_json(error))
}

fn base(base: &CheckBase) -> Value {
    match base {
        CheckBase::Revision(name, id) => json!({"revision": name, "id": id}),
        CheckBase::NoCommits => json!({"revision": Value::Null, "why": "no commit"}),
        CheckBase::NoBase => json!({"revision": Value::Null, "why": "no repository"}),
    }
}

fn finding(found: &LocatedFinding) -> Value {
    let finding = &found.finding;
    without_nulls(json!({"gate": finding.gate, "severity": finding.severity.name(), "path": found.path.shown,
        "line": finding.line, "column": finding.column, "code": finding.code, "message": finding.message,
        "new": finding.fresh, "counts": finding.counts, "blocking": finding.blocking}))
}

fn gate(totals: &GateTotals) -> Value {
    let failures: Map<String, Value> = totals
        .failures
        .iter()
        .map(|(failure, runs)| (failure.name().to_owned(), runs.why.as_str().into()))
        .collect();
    let why = (!failures.is_empty()).then_some(Value::Object(failures));
    without_nulls(json!({"gate": totals.gate, "outcomes": totals.outcomes, "ms": totals.ms, "why": why,
        "blocking": totals.blocking.then_some(true)}))
}

/// Removes the fields of an object that are null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => value,
    }
}
