//! Reads findings in SARIF 2.1.0: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html>.
//!
//! Numbers such as 3.27.9 in comments are its sections.

mod files;
mod rules;

use serde_json::Value;

use self::files::ArtifactTable;
use self::rules::RuleTable;
use super::program_output::MAX_READ;
use super::raw_finding::RawFinding;
use super::value::{document, list, number_at, text_at};
use crate::finding::sanitize;
use lockgate_policy::{Columns, Severity};

/// Reads a log; `columns` is the unit of columns in a run that does not state it.
pub(super) fn findings(text: &str, columns: Columns) -> Result<Vec<RawFinding>, String> {
    document(text, |log| parse_log(log, columns))
}

fn parse_log(log: &Value, columns: Columns) -> Result<Vec<RawFinding>, String> {
    let Some(runs) = list(log, "runs").filter(|runs| !runs.is_empty()) else {
        return Err("wrote a log without `runs`".to_owned());
    };
    let mut raws = Vec::new();
    for run in runs {
        let left = MAX_READ.saturating_sub(raws.len());
        raws.extend(RunLog::new(run, columns).findings(left)?);
    }
    Ok(raws)
}

struct RunLog<'v> {
    run: &'v Value,
    rules: RuleTable<'v>,
    files: ArtifactTable<'v>,
    columns: Columns,
}

impl<'v> RunLog<'v> {
    fn new(run: &'v Value, columns: Columns) -> RunLog<'v> {
        // 3.14.17
        let columns = match run.get("columnKind").and_then(Value::as_str) {
            Some("utf16CodeUnits") => Columns::Utf16,
            Some("unicodeCodePoints") => Columns::Characters,
            Some(_) | None => columns,
        };
        RunLog { run, rules: RuleTable::from_run(run), files: ArtifactTable::from_run(run), columns }
    }

    fn findings(&self, most: usize) -> Result<Vec<RawFinding>, String> {
        // 3.14.23: without `results`, the run looked at nothing.
        let results = list(self.run, "results").ok_or("wrote a run without `results`")?;
        let mut counts = results.iter().filter(|result| is_finding(result)).peekable();
        // Some tools report failure when they have findings. A tool that names an error did not check
        // everything.
        if let Some(why) = self.failure().filter(|_| counts.peek().is_none() || self.names_error()) {
            return Err(why);
        }
        counts.take(most).map(|result| self.raw(result)).collect()
    }

    /// The reason of a failed run (3.20.14), if it gives one (3.20.21).
    fn failure(&self) -> Option<String> {
        let invocation = self.failed_invocations().next()?;
        let why = text_at(invocation, &["toolExecutionNotifications", "message", "text"]).ok().flatten();
        Some(format!("reports that it failed: {}", why.map_or("without a reason".to_owned(), sanitize)))
    }

    /// Returns true if a failed run has an error of its execution (3.20.21, 3.58.6).
    fn names_error(&self) -> bool {
        let is_error = |note: &Value| note.get("level").and_then(Value::as_str) == Some("error");
        let notes = |it| list(it, "toolExecutionNotifications").unwrap_or_default();
        self.failed_invocations().flat_map(notes).any(is_error)
    }

    fn failed_invocations(&self) -> impl Iterator<Item = &'v Value> {
        let invocations = list(self.run, "invocations").unwrap_or_default();
        invocations.iter().filter(|it| it.get("executionSuccessful") == Some(&Value::Bool(false)))
    }

    fn raw(&self, result: &'v Value) -> Result<RawFinding, String> {
        let rule = self.rules.rule_for(result);
        let place = result.pointer("/locations/0/physicalLocation").unwrap_or(&Value::Null);
        let message = rule.message(result).ok_or("wrote a result with neither a text nor a rule")?;
        Ok(RawFinding {
            file: place.get("artifactLocation").and_then(|location| self.files.name(location)),
            line: number_at(place, &["region", "startLine"], 0)?,
            column: number_at(place, &["region", "startColumn"], 0)?,
            columns: self.columns,
            code: rule.id.map(str::to_owned),
            severity: Some(severity(rule.level(result))),
            ..RawFinding::whole_text(message)
        })
    }
}

/// Returns true if a result is a finding. Excluded are passes (3.27.9), suppressed results (3.27.23, 3.35.3),
/// and absent ones (3.27.24).
fn is_finding(result: &Value) -> bool {
    let is = |value: &Value, key: &str, words: &[&str]| {
        value.get(key).and_then(Value::as_str).is_some_and(|word| words.contains(&word))
    };
    let suppressions = list(result, "suppressions").unwrap_or_default();
    let refused = suppressions.iter().any(|it| is(it, "status", &["underReview", "rejected"]));
    let suppressed = !suppressions.is_empty() && !refused;
    !suppressed
        && !is(result, "kind", &["pass", "notApplicable"])
        && !is(result, "baselineState", &["absent"])
}

/// Maps a SARIF level (3.27.10) to a severity.
fn severity(level: &str) -> Severity {
    match level {
        "error" => Severity::Error,
        "note" | "none" => Severity::Info,
        _ => Severity::Warning,
    }
}
