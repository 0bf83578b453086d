//! Reads findings in reviewdog's diagnostic format:
//! <https://github.com/reviewdog/reviewdog/blob/master/proto/rdf/reviewdog.proto>.

use serde_json::Value;

use super::program_output::MAX_READ;
use super::raw_finding::RawFinding;
use super::severity_words;
use super::value::{document, number_at, rule_name, text_at, value_at};
use lockgate_policy::{Columns, Severity};

/// Reads a `DiagnosticResult`. The format counts columns in UTF-8 bytes.
pub(super) fn findings(text: &str) -> Result<Vec<RawFinding>, String> {
    document(text, result)
}

fn result(root: &Value) -> Result<Vec<RawFinding>, String> {
    let Some(Value::Array(diagnostics)) = root.get("diagnostics") else {
        return Err("wrote no list of findings at `diagnostics`".to_owned());
    };
    let overall = severity(root);
    let read =
        |diagnostic| raw(diagnostic).map(|raw| RawFinding { severity: raw.severity.or(overall), ..raw });
    diagnostics.iter().take(MAX_READ).map(read).collect()
}

fn raw(diagnostic: &Value) -> Result<RawFinding, String> {
    let start = ["location", "range", "start"];
    let [line, column] = ["line", "column"].map(|part| [start.as_slice(), &[part]].concat());
    let message = text_at(diagnostic, &["message"])?.ok_or("wrote a finding without `message`")?;
    Ok(RawFinding {
        file: text_at(diagnostic, &["location", "path"])?.map(str::to_owned),
        line: number_at(diagnostic, &line, 0)?,
        column: number_at(diagnostic, &column, 0)?,
        columns: Columns::Bytes,
        code: value_at(diagnostic, &["code", "value"]).ok().flatten().and_then(rule_name),
        severity: severity(diagnostic),
        ..RawFinding::whole_text(message)
    })
}

/// Parses a name or a number of the format's `Severity`.
fn severity(value: &Value) -> Option<Severity> {
    let severity = value.get("severity")?;
    match (severity.as_str(), severity.as_u64()) {
        (Some(name), _) => severity_words::severity(name),
        (None, Some(1)) => Some(Severity::Error),
        (None, Some(2)) => Some(Severity::Warning),
        (None, Some(3)) => Some(Severity::Info),
        (None, _) => None,
    }
}
