//! The texts for the model: findings with their lines, and what to send instead.
//!
//! Invariant: the most important comes first, because a host may cut a text; text of files is one line each, without
//! control characters.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::edit::{HostEdit, QuoteFields};
use super::event::HostCall;
use super::host::Host;
use lockgate_checks::{Finding, GateRun, Severity, Verdict, sanitize};
use lockgate_error::Error;
use lockgate_mcp::answer::{self, CallOffers, FieldNames, ResponseOptions, ToolCall, ToolProfile};
use lockgate_text::Buffer;

/// The most findings in one text.
const MAX_FINDINGS: usize = 20;
/// The most bytes of a call that is proposed.
const MAX_CALL: usize = 2500;
/// The most characters of a line that is shown.
const MAX_LINE: usize = 160;

/// A judged file: its path, its text and its verdict.
pub struct Judged<'a> {
    /// The path, as lockgate names it.
    pub path: &'a str,
    /// The text that was judged.
    pub text: &'a Buffer,
    /// The verdict of the gates.
    pub verdict: &'a Verdict,
}

/// What happened to the judged edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditState {
    /// The edit was not made.
    Denied,
    /// It is about to be made, because the host cannot stop it without ending the task.
    Warned,
    /// The edit was made before it was judged.
    Made,
}

impl EditState {
    /// Returns the start of a sentence that says what happened to the edit.
    pub const fn head(self) -> &'static str {
        match self {
            EditState::Denied => "lockgate denied this edit, and nothing was written:",
            EditState::Warned => "lockgate does not stop this edit, but it is bad:",
            EditState::Made => "lockgate judged this edit after it was written:",
        }
    }
}

/// Describes the findings that an edit adds, the blocking ones first.
pub fn findings(files: &[Judged<'_>], state: EditState) -> String {
    let blocking: Vec<_> = all_findings(files).filter(|(_, finding)| finding.blocking).collect();
    let new = match blocking.len() {
        0 => "a required gate could not run".to_owned(),
        1 => "it adds 1 finding that blocks".to_owned(),
        several => format!("it adds {several} findings that block"),
    };
    let tail = match state {
        EditState::Denied => "Send the edit without these findings.",
        EditState::Warned | EditState::Made => "Edit the file again, so that these findings are gone.",
    };
    let mut lines = vec![format!("{} {new}.", state.head())];
    lines.extend(blocking.iter().take(MAX_FINDINGS).flat_map(|(file, finding)| finding_lines(file, finding)));
    for run in files.iter().flat_map(|file| &file.verdict.runs).filter(|run| run.blocking) {
        lines.push(format!("the gate {} {}{}", run.gate, run.outcome.name(), reason(run)));
    }
    if blocking.len() > MAX_FINDINGS {
        lines.push(format!("and {} more", blocking.len() - MAX_FINDINGS));
    }
    lines.push(tail.to_owned());
    let warnings = all_findings(files).filter(|(_, finding)| finding.counts && !finding.blocking);
    lines.extend(warnings.take(3).flat_map(|(file, finding)| finding_lines(file, finding)));
    lines.join("\n")
}

/// Names the findings that an edit adds and that do not block, errors before warnings; `None` if there are none. An error does
/// not block where the edit may be one step of several.
pub fn allowed(files: &[Judged<'_>]) -> Option<String> {
    let mut findings: Vec<_> = all_findings(files)
        .filter(|(_, finding)| finding.counts && !finding.blocking && finding.severity != Severity::Info)
        .collect();
    findings.sort_by_key(|(_, finding)| finding.severity != Severity::Error);
    if findings.is_empty() {
        return None;
    }
    let mut lines = vec!["The edit is allowed, and it adds findings that do not block:".to_owned()];
    lines.extend(findings.iter().take(MAX_FINDINGS).flat_map(|(file, finding)| finding_lines(file, finding)));
    if findings.len() > MAX_FINDINGS {
        lines.push(format!("and {} more", findings.len() - MAX_FINDINGS));
    }
    Some(lines.join("\n"))
}

/// Returns the findings of all files, each with its file.
fn all_findings<'a>(files: &'a [Judged<'a>]) -> impl Iterator<Item = (&'a Judged<'a>, &'a Finding)> {
    files.iter().flat_map(|file| file.verdict.findings.iter().map(move |finding| (file, finding)))
}

fn reason(run: &GateRun) -> String {
    run.why.as_ref().map(|why| format!(": {}", sanitize(why))).unwrap_or_default()
}

fn finding_lines(file: &Judged<'_>, finding: &Finding) -> Vec<String> {
    let Finding { gate, severity, elsewhere, line, column, code, message, .. } = finding;
    let path = sanitize(elsewhere.as_deref().unwrap_or(file.path));
    let code = code.as_ref().map(|code| format!(" {}", sanitize(code))).unwrap_or_default();
    let mut lines = vec![format!("{path}:{line}:{column}: {} ({gate}{code}): {message}", severity.name())];
    let text = file.text.lines().text(*line);
    if elsewhere.is_none() && !text.trim().is_empty() {
        lines.push(format!("{line:>6} | {}", shown_line(text)));
    }
    lines
}

/// Returns a line of a file as it may be shown.
fn shown_line(text: &str) -> String {
    text.chars().filter(|c| *c == '\t' || !lockgate_text::is_control_or_bidi(*c)).take(MAX_LINE).collect()
}

/// The names of gates whose programs did not run, because the policy is not trusted.
pub fn withheld<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Option<String> {
    let mut names: Vec<&str> = verdicts
        .flat_map(|verdict| &verdict.runs)
        .filter(|run| run.withheld)
        .map(|run| run.gate.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "lockgate did not run {}, because nobody has trusted the policy of this project yet. Only built-in gates judge \
             the edits of this session, until a person runs `lockgate trust`.",
            names.join(", ")
        )
    })
}

/// Where the model can make an edit with lockgate itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnTools {
    /// The client has lockgate's server.
    Server,
    /// The client has only the command line.
    CommandLine,
}

/// Describes a call of lockgate's own tool for an edit; `None` if it is too long to be sent again. `root` is the root that
/// the command line must name, because it would find another one.
pub fn own_call(tools: OwnTools, root: Option<&Path>, arguments: &Value) -> Option<String> {
    let text = arguments.to_string();
    let fits = text.len() <= MAX_CALL;
    fits.then(|| match tools {
        OwnTools::Server => format!("Call lockgate's tool `safe_edit_file` with\n{text}"),
        OwnTools::CommandLine => {
            let root = root.map(|root| format!("--root {} ", answer::shell_word(&root.to_string_lossy())));
            let root = root.unwrap_or_default();
            format!("Run `lockgate edit {root}--file -` with this on standard input:\n{text}")
        }
    })
}

/// Describes what to do instead of an edit whose call would be too long.
pub fn smaller_parts(path: &str) -> String {
    format!(
        "Use lockgate's `safe_edit_file` or `lockgate edit` for {}, in smaller parts; both keep all other bytes.",
        sanitize(path)
    )
}

/// The arguments of `safe_edit_file` for one exact quote.
pub fn quote_arguments(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "search": old, "replace": new, "expect_matches": 1})
}

/// Describes the bytes that a host's tool would change besides the edit, and the call that keeps them.
///
/// `harm` is that of [`harm`] or [`notebook_harm`].
pub fn at_risk(host: Host, path: &str, harm: &str, call: Option<String>, state: EditState) -> String {
    let path = sanitize(path);
    let name = host.name();
    let instead = call.unwrap_or_else(|| smaller_parts(&path));
    match state {
        EditState::Denied | EditState::Warned => {
            format!("{} the edit tool of {name} {harm} in {path}.\n{instead}", state.head())
        }
        EditState::Made => format!(
            "The edit tool of {name} {harm} in {path}.\nTo keep them, do not use it for this file. {instead}"
        ),
    }
}

/// Names what a notebook loses that the tool writes anew, as a phrase after "the tool". `kept` is the notebook in which only
/// the cell changes.
pub fn notebook_harm(kept: &[u8], written: &[u8]) -> String {
    let outputs = |bytes: &[u8]| {
        let notebook: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let cells = notebook.get("cells").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        cells
            .iter()
            .filter_map(|cell| cell.get("outputs")?.as_array())
            .filter(|list| !list.is_empty())
            .count()
    };
    let harm = if outputs(written) < outputs(kept) {
        "clears outputs and rewrites the whole notebook"
    } else {
        "rewrites the layout of the whole notebook"
    };
    harm.to_owned()
}

/// Names what a rewritten text loses, as a phrase after "the tool". `before` is the text that keeps all other bytes.
pub fn harm(before: &[u8], written: &[u8]) -> String {
    let count = |bytes: &[u8], needle: &[u8]| memchr::memmem::find_iter(bytes, needle).count();
    let ends = |bytes: &[u8]| {
        let crlf = count(bytes, b"\r\n");
        (crlf, count(bytes, b"\n") - crlf)
    };
    let replaced = "\u{fffd}".as_bytes();
    if std::str::from_utf8(before).is_err() && count(written, replaced) > count(before, replaced) {
        return "destroys the characters that are not UTF-8".to_owned();
    }
    if std::str::from_utf8(before).is_err() {
        return "changes the encoding".to_owned();
    }
    match (ends(before), ends(written)) {
        ((crlf, lf), (0, _)) if crlf > 0 => {
            format!("changes {crlf} CRLF line ends to LF, beside {lf} that are LF")
        }
        ((crlf, lf), (_, 0)) if lf > 0 => {
            format!("changes {lf} LF line ends to CRLF, beside {crlf} that are CRLF")
        }
        ((before, _), (after, _)) if before != after => {
            "changes line ends that the edit does not name".to_owned()
        }
        _ => "changes bytes outside of the edit".to_owned(),
    }
}

/// Renders a rejection of a quote, with the nearest lines and the host's own call that would work.
pub fn rejection(error: &Error, path: &str, call: Option<&HostCall>) -> String {
    let mut profile = ToolProfile::PLAIN;
    let mut current_call = None;
    if let Some((fields, tool_call)) = call.and_then(repeatable_call) {
        profile.names = FieldNames { search: fields.old, replace: fields.new, ..FieldNames::PLAIN };
        current_call = Some(Arc::new(tool_call));
    }
    let options = ResponseOptions {
        limit: 3500,
        forms: answer::Forms::Text,
        diff: answer::DiffDisplay::Omitted,
        path: Some(path.to_owned()),
        profile,
        offers: CallOffers { current_call, ..CallOffers::default() },
        ..ResponseOptions::default()
    };
    format!("lockgate: {}: {}", sanitize(path), answer::render_error(error, &options).text)
}

/// Returns a call with a single quote, which may be proposed with another one, and the names of its fields.
fn repeatable_call(call: &HostCall) -> Option<(QuoteFields, ToolCall)> {
    let HostEdit::Replace { fields: Some(fields), quotes, .. } = &call.edit else { return None };
    // The nearest lines may be others than those to which the call limits its search.
    if quotes.iter().any(|quote| quote.lines.is_some()) {
        return None;
    }
    let names =
        ["Edit", "replace", "edit", "StrReplace", "replace_string_in_file", "editor", "replace_file_content"];
    let tool = names.into_iter().find(|name| *name == call.tool)?;
    let arguments = call.input.as_object()?.clone();
    Some((*fields, ToolCall { tool, arguments, schema: answer::unknown_fields, check: |_| Ok(()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harm_is_named() {
        for (before, written, expected) in [
            (&b"a\r\nb\n"[..], &b"a\nb\n"[..], "1 CRLF line ends to LF"),
            (b"a\r\nb\n", b"a\r\nb\r\n", "1 LF line ends to CRLF"),
            (b"\xe9\n", b"\xef\xbf\xbd\n", "not UTF-8"),
            (b"\xe9\n", b"e\n", "changes the encoding"),
            (b"a\r\nb\nc\r\nd\n", b"a\r\nb\r\nc\r\nd\n", "does not name"),
        ] {
            let harm = harm(before, written);
            assert!(harm.contains(expected), "{before:?}: {harm}");
        }
    }

    #[test]
    fn outputs_are_cleared_only_where_there_are_some() {
        let notebook =
            |outputs: &Value| json!({"cells": [{"outputs": outputs}, {"source": "x"}]}).to_string();
        let [full, empty] = [json!([1]), json!([])].map(|outputs| notebook(&outputs));
        for (kept, written, expected) in [
            (&full, &empty, "clears outputs"),
            (&full, &full, "rewrites the layout"),
            (&empty, &empty, "rewrites the layout"),
        ] {
            let harm = notebook_harm(kept.as_bytes(), written.as_bytes());
            assert!(harm.starts_with(expected), "{kept}: {harm}");
        }
    }

    #[test]
    fn a_call_that_is_too_long_is_not_proposed() {
        let call = own_call(OwnTools::Server, None, &quote_arguments("a", "x", "y")).unwrap();
        assert!(call.ends_with(r#"{"path":"a","search":"x","replace":"y","expect_matches":1}"#), "{call}");
        assert_eq!(
            own_call(OwnTools::CommandLine, None, &quote_arguments("a", &"x".repeat(3000), "y")),
            None
        );
    }
}
