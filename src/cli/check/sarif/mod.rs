//! Formats check results as SARIF 2.1.0: one run, whose rules are the gates and their codes.
//!
//! Invariant: the output is valid by the OASIS schema for all file names and messages. Paths are percent-encoded by
//! bytes and relative to the top of the repository.

mod model;

use std::collections::BTreeMap;
use std::path::Path;

use self::model::{
    Artifact, Driver, Invocation, Location, Notification, Physical, ResultEntry, SarifLevel, SarifLog,
    SarifMessage, SarifRegion, SarifRule, SarifRun, SarifTool, UriBase,
};
use super::fingerprint::Fingerprints;
use super::results::{LocatedFinding, Results};
use lockgate_checks::{Finding, Severity};
use lockgate_error::{Code, Error};

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
    let entries: Vec<ResultEntry> = entries.collect();
    let unable = results.gates.iter().any(|totals| totals.blocking);
    let notifications = results.gates.iter().flat_map(|totals| {
        let level = if totals.blocking { SarifLevel::Error } else { SarifLevel::Warning };
        totals.failures.iter().map(move |(happened, (why, count))| {
            let text = format!("{} {happened} for {count} files: {why}", totals.gate);
            Notification { level, message: SarifMessage { text } }
        })
    });
    let notes = results
        .notes
        .iter()
        .map(|note| Notification { level: SarifLevel::Note, message: SarifMessage::new(note) });
    let skipped = results.skipped_by_reason().into_iter().map(|(why, count)| {
        let message = SarifMessage { text: format!("skipped {count} files: {why}") };
        Notification { level: SarifLevel::Note, message }
    });
    let invocation = Invocation {
        execution_successful: !unable,
        tool_execution_notifications: notifications.chain(notes).chain(skipped).collect(),
    };
    let rules = rules.into_iter().map(|name| rule(name)).collect();
    serialize(&SarifLog::new(run(rules, entries, invocation, bases(&results.tops))))
}

/// Renders a rejection as a document of a failed run.
///
/// Errors: those of [`document`].
pub(super) fn render_error(error: &Error) -> Result<String, Error> {
    let text = format!("{}: {}; {}", error.code.name(), error.message, error.next_step());
    let notification = Notification { level: SarifLevel::Error, message: SarifMessage { text } };
    let invocation =
        Invocation { execution_successful: false, tool_execution_notifications: vec![notification] };
    serialize(&SarifLog::new(run(Vec::new(), Vec::new(), invocation, BTreeMap::new())))
}

fn serialize(document: &SarifLog) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Error::new(Code::Internal, format!("cannot write SARIF: {error}")))?;
    Ok(text + "\n")
}

fn run(
    rules: Vec<SarifRule>,
    results: Vec<ResultEntry>,
    invocation: Invocation,
    bases: BTreeMap<String, UriBase>,
) -> SarifRun {
    let driver = Driver { name: "lockgate", semantic_version: env!("CARGO_PKG_VERSION"), rules };
    SarifRun {
        tool: SarifTool { driver },
        invocations: vec![invocation],
        original_uri_base_ids: bases,
        column_kind: "utf16CodeUnits",
        results,
    }
}

fn rule(name: &str) -> SarifRule {
    let description = match name.split_once('/') {
        Some((gate, code)) => format!("{code}, a rule of {gate}"),
        None => format!("what {name} finds"),
    };
    SarifRule {
        id: name.to_owned(),
        short_description: SarifMessage::new(&description),
        full_description: SarifMessage::new(&description),
        help: SarifMessage { text: description },
    }
}

fn entry(
    results: &Results,
    found: &LocatedFinding,
    (name, index): (&str, usize),
    fingerprints: &mut Fingerprints,
) -> ResultEntry {
    let it = &found.finding;
    let line = results.text(found).map(|text| text.lines().text(it.line));
    let start_column = line.map(|line| utf16_column(line, it.column));
    let print = fingerprints.next(found, line.unwrap_or_default());
    let message = if it.message.is_empty() { name } else { &it.message };
    ResultEntry {
        rule_id: name.to_owned(),
        rule_index: index,
        level: level(it),
        message: SarifMessage::new(message),
        locations: vec![Location {
            physical_location: Physical {
                artifact_location: Artifact { uri: uri(found), uri_base_id: found.top_index.map(base_name) },
                region: SarifRegion { start_line: it.line.max(1), start_column },
            },
        }],
        partial_fingerprints: BTreeMap::from([(Fingerprints::NAME, print)]),
        baseline_state: if it.fresh { "new" } else { "unchanged" },
    }
}

/// Returns the level of a finding; only blocking findings are errors.
fn level(finding: &Finding) -> SarifLevel {
    match (finding.blocking, finding.severity) {
        (true, _) => SarifLevel::Error,
        (false, Severity::Error | Severity::Warning) => SarifLevel::Warning,
        (false, Severity::Info) => SarifLevel::Note,
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
fn bases(tops: &[std::path::PathBuf]) -> BTreeMap<String, UriBase> {
    tops.iter().enumerate().map(|(at, top)| (base_name(at), UriBase { uri: folder_uri(top) })).collect()
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
