//! The subset of the SARIF 2.1.0 object model that lockgate writes.

use std::collections::BTreeMap;

use serde::Serialize;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A log file with one run.
#[derive(Debug, Serialize)]
pub(super) struct SarifLog {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun; 1],
}

impl SarifLog {
    /// Creates a log of one run.
    pub(super) fn new(run: SarifRun) -> SarifLog {
        SarifLog { schema: SCHEMA, version: "2.1.0", runs: [run] }
    }
}

/// The results of one run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRun {
    pub(super) tool: SarifTool,
    pub(super) invocations: Vec<Invocation>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) original_uri_base_ids: BTreeMap<String, UriBase>,
    pub(super) column_kind: &'static str,
    pub(super) results: Vec<ResultEntry>,
}

/// The tool that produced the run.
#[derive(Debug, Serialize)]
pub(super) struct SarifTool {
    pub(super) driver: Driver,
}

/// The program and its rules.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) rules: Vec<SarifRule>,
}

/// A gate, or one code of a gate.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRule {
    pub(super) id: String,
    pub(super) short_description: SarifMessage,
    pub(super) full_description: SarifMessage,
    pub(super) help: SarifMessage,
}

/// The execution of the run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<Notification>,
}

/// A message about the run itself.
#[derive(Debug, Serialize)]
pub(super) struct Notification {
    pub(super) level: SarifLevel,
    pub(super) message: SarifMessage,
}

/// The severity of a result or notification.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SarifLevel {
    Error,
    Warning,
    Note,
}

#[derive(Debug, Serialize)]
pub(super) struct SarifMessage {
    pub(super) text: String,
}

impl SarifMessage {
    pub(super) fn new(text: &str) -> SarifMessage {
        SarifMessage { text: text.to_owned() }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultEntry {
    pub(super) rule_id: String,
    pub(super) rule_index: usize,
    pub(super) level: SarifLevel,
    pub(super) message: SarifMessage,
    pub(super) locations: Vec<Location>,
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    pub(super) baseline_state: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub(super) physical_location: Physical,
}

/// The position within a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Physical {
    pub(super) artifact_location: Artifact,
    pub(super) region: SarifRegion,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Artifact {
    pub(super) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri_base_id: Option<String>,
}

/// A folder that file URIs are relative to.
#[derive(Debug, Serialize)]
pub(super) struct UriBase {
    pub(super) uri: String,
}

/// A position within a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRegion {
    pub(super) start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<usize>,
}
