//! Reads the diagnostics of a language server: LSP 3.17, `Diagnostic`.

use serde_json::Value;

use super::program_output::MAX_FINDINGS;
use super::raw_finding::{NamedFile, RawFinding, ToolFinding, locate_in_files};
use crate::error::GateError;
use lockgate_policy::{Columns, Message, ServerSpec, Severity};
use lockgate_text::Buffer;

/// Returns the findings of these diagnostics, in the order of the text; columns are counted in the server's
/// unit.
///
/// Hints are dropped: editors show them as greyed-out text, and no command reports them.
pub(crate) fn diagnostic_findings(
    items: &[Value],
    server: &ServerSpec,
    columns: Columns,
    text: &Buffer,
) -> Result<Vec<ToolFinding>, GateError> {
    if items.len() > MAX_FINDINGS {
        return Err(GateError::Broken(format!("reported more than {MAX_FINDINGS} findings")));
    }
    let raws = items.iter().filter_map(|item| raw(item, server, columns).transpose());
    let raws = raws.map(|raw| Ok((raw?, NamedFile::Edited))).collect::<Result<Vec<_>, _>>();
    Ok(locate_in_files(raws.map_err(GateError::Broken)?, Severity::Error, text))
}

/// Reads one diagnostic; `None` if it does not count.
fn raw(item: &Value, server: &ServerSpec, columns: Columns) -> Result<Option<RawFinding>, String> {
    let severity = match item.get("severity").and_then(Value::as_u64) {
        Some(4) => return Ok(None),
        Some(2) => Severity::Warning,
        Some(3) => Severity::Info,
        // A severity that the protocol does not define hides nothing.
        None | Some(_) => Severity::Error,
    };
    let source = item.get("source").and_then(Value::as_str).unwrap_or_default();
    if !server.diagnostics.sources.is_empty()
        && !server.diagnostics.sources.iter().any(|known| known == source)
    {
        return Ok(None);
    }
    let start = item.pointer("/range/start");
    let number = |name: &str| -> Option<usize> {
        let number = start?.get(name)?.as_u64()?.min(u64::from(u32::MAX));
        usize::try_from(number).ok()?.checked_add(1)
    };
    let (Some(line), Some(column)) = (number("line"), number("character")) else {
        return Err("wrote a diagnostic without a position".to_owned());
    };
    let Some(message) = message_text(item.get("message")) else {
        return Err("wrote a diagnostic without a message".to_owned());
    };
    let message = match server.diagnostics.message {
        Message::Whole => message,
        Message::FirstLine => message.lines().next().unwrap_or_default(),
    };
    Ok(Some(RawFinding {
        line: Some(line),
        column: Some(column),
        columns,
        code: code(item).map(|code| server.diagnostics.code.replace("{code}", &code)),
        severity: Some(severity),
        ..RawFinding::whole_text(message)
    }))
}

/// The text of a message, which is a string or a `MarkupContent`.
fn message_text(message: Option<&Value>) -> Option<&str> {
    let message = message?;
    message.as_str().or_else(|| message.get("value")?.as_str())
}

fn code(item: &Value) -> Option<String> {
    let code = item.get("code")?;
    match (code.as_str(), code.as_i64()) {
        (Some(code), _) => Some(code.to_owned()).filter(|code| !code.is_empty()),
        (None, Some(number)) => Some(number.to_string()),
        (None, None) => None,
    }
}
