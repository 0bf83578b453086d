//! Formats check results as SARIF 2.1.0: one run, whose rules are the gates and their codes.
//!
//! Invariant: the output is valid by the OASIS schema for all file names and messages. Paths are percent-encoded by
//! bytes and relative to the top of the repository.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::fingerprint::Fingerprints;
use super::results::{LocatedFinding, Results};
use lockgate_checks::{Finding, Severity};
use lockgate_error::{Code, Error};
use lockgate_mcp::answer::counted;

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
    let names: Vec<String> = results.counting().map(LocatedFinding::rule).collect();
    let mut rules: Vec<&String> = names.iter().collect();
    rules.sort_unstable();
    rules.dedup();
    let mut fingerprints = Fingerprints::default();
    let entries = results.counting().zip(&names).map(|(found, name)| {
        let index = rules.binary_search(&name).unwrap_or_default();
        entry(results, found, (name, index), &mut fingerprints)
    });
    let entries: Vec<Value> = entries.collect();
    let unable = results.gates.values().any(|totals| totals.blocking);
    let failures = results.gates.values().flat_map(|totals| {
        let level = if totals.blocking { ERROR } else { WARNING };
        totals.failures.iter().map(move |(happened, (why, count))| {
            notification(level, &format!("{} {happened} for {}: {why}", totals.gate, counted(*count, "file")))
        })
    });
    let notes = results.notes.iter().map(|note| notification(NOTE, note));
    let skipped = results.skipped_by_reason().into_iter();
    let skipped =
        skipped.map(|(why, count)| notification(NOTE, &format!("skipped {}: {why}", counted(count, "file"))));
    let rules = rules.into_iter().map(|name| rule(name)).collect();
    let notifications = failures.chain(notes).chain(skipped).collect();
    serialize(&run(rules, entries, (!unable, notifications), bases(&results.tops)))
}

/// Renders a rejection as a document of a failed run.
///
/// Errors: those of [`document`].
pub(super) fn render_error(error: &Error) -> Result<String, Error> {
    let text = format!("{}: {}; {}", error.code.name(), error.message, error.next_step());
    serialize(&run(Vec::new(), Vec::new(), (false, vec![notification(ERROR, &text)]), Map::new()))
}

/// Writes a log file with one run.
fn serialize(run: &Value) -> Result<String, Error> {
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    let text = serde_json::to_string_pretty(&log)
        .map_err(|error| Error::new(Code::Internal, format!("cannot write SARIF: {error}")))?;
    Ok(text + "\n")
}

/// Returns a run with its rules and results, whether it was successful, and messages about the run itself.
fn run(
    rules: Vec<Value>,
    results: Vec<Value>,
    (successful, notifications): (bool, Vec<Value>),
    bases: Map<String, Value>,
) -> Value {
    let driver = json!({ "name": "lockgate", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules });
    let invocation =
        json!({ "executionSuccessful": successful, "toolExecutionNotifications": notifications });
    let mut run = Map::new();
    run.insert("tool".to_owned(), json!({ "driver": driver }));
    run.insert("invocations".to_owned(), json!([invocation]));
    if !bases.is_empty() {
        run.insert("originalUriBaseIds".to_owned(), bases.into());
    }
    run.insert("columnKind".to_owned(), "utf16CodeUnits".into());
    run.insert("results".to_owned(), results.into());
    run.into()
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

fn entry(
    results: &Results,
    found: &LocatedFinding,
    (name, index): (&str, usize),
    fingerprints: &mut Fingerprints,
) -> Value {
    let it = &found.finding;
    let line = results.text(found).map(|text| text.lines().text(it.line));
    let print = fingerprints.next(found, line.unwrap_or_default());
    let message = if it.message.is_empty() { name } else { &it.message };
    let mut file = Map::from_iter([("uri".to_owned(), uri(found).into())]);
    let mut region = Map::from_iter([("startLine".to_owned(), it.line.max(1).into())]);
    if let Some(top) = found.top_index {
        file.insert("uriBaseId".to_owned(), base_name(top).into());
    }
    if let Some(line) = line {
        region.insert("startColumn".to_owned(), utf16_column(line, it.column).into());
    }
    json!({
        "ruleId": name,
        "ruleIndex": index,
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
    let path = encoded(found.relative_path.as_bytes());
    if found.top_index.is_none() { format!("file://{path}") } else { path }
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
