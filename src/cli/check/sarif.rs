//! Formats check results as SARIF 2.1.0: one run, whose rules are the gates and their codes.
//!
//! Invariant: the output is valid by the OASIS schema for all file names and messages. Paths are percent-encoded by
//! bytes and relative to the top of the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::fingerprint::Fingerprints;
use super::results::{LocatedFinding, Results};
use super::text::{failures, rejection, skipped};
use lockgate_checks::{Finding, Severity};
use lockgate_error::{Code, Error};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The levels of results and notifications.
const ERROR: &str = "error";
const WARNING: &str = "warning";
const NOTE: &str = "note";

/// Renders the results as a document with a final line end.
///
/// Errors: `INTERNAL` when the document cannot be serialized.
pub(super) fn document(results: &Results) -> Result<String, Error> {
    let rules: BTreeSet<String> = results.counting().map(LocatedFinding::rule).collect();
    let rules: Vec<String> = rules.into_iter().collect();
    let mut fingerprints = Fingerprints::default();
    let entries = results.counting().map(|found| entry(results, found, &rules, &mut fingerprints)).collect();
    let failures = results.gates.values().flat_map(|totals| {
        let level = if totals.blocking { ERROR } else { WARNING };
        failures(totals).map(move |failure| notification(level, &format!("{} {failure}", totals.gate)))
    });
    let notes = results.notes.iter().map(|note| notification(NOTE, note));
    let skipped = skipped(results).map(|note| notification(NOTE, &note));
    serialize(SarifRun {
        rules: rules.iter().map(|name| rule(name)).collect(),
        results: entries,
        is_successful: !results.gates.values().any(|totals| totals.blocking),
        notifications: failures.chain(notes).chain(skipped).collect(),
        bases: bases(&results.tops),
    })
}

/// Renders a rejection as a document of a failed run.
///
/// Errors: those of [`document`].
pub(super) fn render_error(error: &Error) -> Result<String, Error> {
    let notifications = vec![notification(ERROR, &rejection(error))];
    serialize(SarifRun { notifications, ..SarifRun::default() })
}

/// The only run of a document.
#[derive(Default)]
struct SarifRun {
    rules: Vec<Value>,
    results: Vec<Value>,
    is_successful: bool,
    /// Messages about the run itself.
    notifications: Vec<Value>,
    /// The folders that paths are relative to, by their names.
    bases: Map<String, Value>,
}

/// Writes a document with one run.
fn serialize(run: SarifRun) -> Result<String, Error> {
    let SarifRun { rules, results, is_successful, notifications, bases } = run;
    let driver = json!({ "name": "lockgate", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules });
    let invocation =
        json!({ "executionSuccessful": is_successful, "toolExecutionNotifications": notifications });
    let mut run = Map::new();
    run.insert("tool".to_owned(), json!({ "driver": driver }));
    run.insert("invocations".to_owned(), json!([invocation]));
    if !bases.is_empty() {
        run.insert("originalUriBaseIds".to_owned(), bases.into());
    }
    run.insert("columnKind".to_owned(), "utf16CodeUnits".into());
    run.insert("results".to_owned(), results.into());
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    let text = serde_json::to_string_pretty(&log)
        .map_err(|error| Error::new(Code::Internal, format!("cannot write SARIF: {error}")))?;
    Ok(text + "\n")
}

fn notification(level: &str, text: &str) -> Value {
    json!({ "level": level, "message": { "text": text } })
}

/// Returns a gate, or one code of a gate.
fn rule(name: &str) -> Value {
    let description = match name.split_once('/') {
        Some((gate, code)) => format!("{code}, a rule of {gate}"),
        None => format!("what {name} finds"),
    };
    let description = json!({ "text": description });
    json!({ "id": name, "shortDescription": description, "fullDescription": description, "help": description })
}

/// Returns a finding; `rules` are the names of all rules, sorted.
fn entry(
    results: &Results,
    found: &LocatedFinding,
    rules: &[String],
    fingerprints: &mut Fingerprints,
) -> Value {
    let it = &found.finding;
    let rule = found.rule();
    let line = results.text(found).map(|text| text.lines().text(it.line));
    let print = fingerprints.next(found, line.unwrap_or_default());
    let message = if it.message.is_empty() { &rule } else { &it.message };
    let mut file = Map::from_iter([("uri".to_owned(), uri(found).into())]);
    let mut region = Map::from_iter([("startLine".to_owned(), it.line.max(1).into())]);
    if let Some(top) = found.path.top_index {
        file.insert("uriBaseId".to_owned(), base_name(top).into());
    }
    if let Some(line) = line {
        region.insert("startColumn".to_owned(), utf16_column(line, it.column).into());
    }
    json!({
        "ruleId": rule,
        "ruleIndex": rules.binary_search(&rule).unwrap_or_default(),
        "level": level(it),
        "message": { "text": message },
        "locations": [{ "physicalLocation": { "artifactLocation": file, "region": region } }],
        "partialFingerprints": { Fingerprints::NAME: print },
        "baselineState": if it.fresh { "new" } else { "unchanged" },
    })
}

/// Returns the level of a finding; only blocking findings are errors.
fn level(finding: &Finding) -> &'static str {
    match (finding.blocking, finding.severity) {
        (true, _) => ERROR,
        (false, Severity::Error | Severity::Warning) => WARNING,
        (false, Severity::Info) => NOTE,
    }
}

/// Converts a column in characters to a column in UTF-16 units.
fn utf16_column(line: &str, column: usize) -> usize {
    line.chars().take(column.saturating_sub(1)).map(char::len_utf16).sum::<usize>() + 1
}

fn base_name(top: usize) -> String {
    match top {
        0 => "%SRCROOT%".to_owned(),
        other => format!("%SRCROOT{}%", other + 1),
    }
}

/// Returns the folders that paths are relative to; empty for checked requests.
fn bases(tops: &[PathBuf]) -> Map<String, Value> {
    tops.iter().enumerate().map(|(at, top)| (base_name(at), json!({ "uri": folder_uri(top) }))).collect()
}

fn folder_uri(folder: &Path) -> String {
    let path = encoded(folder.as_os_str().as_encoded_bytes());
    format!("file://{}/", path.trim_end_matches('/'))
}

fn uri(found: &LocatedFinding) -> String {
    let path = encoded(found.path.relative.as_bytes());
    if found.path.top_index.is_none() { format!("file://{path}") } else { path }
}

/// Percent-encodes a path, byte by byte.
fn encoded(path: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    let one = |byte: &u8| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    path.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_utf16_and_paths_those_of_a_uri() {
        assert_eq!([1, 2, 3, 9].map(|column| utf16_column("a\u{1d11e}b", column)), [1, 2, 4, 5]);
        assert_eq!(encoded("a b/ä:%\n.py".as_bytes()), "a%20b/%C3%A4%3A%25%0A.py");
        assert_eq!(folder_uri(Path::new("/w k")), "file:///w%20k/");
        assert_eq!(folder_uri(Path::new("/")), "file:///");
    }
}
