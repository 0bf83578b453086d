//! Renders the text form of an edit: the result in the first line, then the details.

use super::Forms;
use crate::locate::MatchLevel;
use crate::protocol::{
    ChangedRegion, EditResponse, FirstDifference, MatchDetails, MatchLocation, MovedLines, NearestLines,
    ReportedFinding, ReportedGate, percent,
};
use crate::request::EntityKind;

/// Renders the response. With the JSON form, which has the whole diff, only the changed lines are shown.
pub(super) fn render(response: &EditResponse, forms: Forms) -> String {
    let diff = response.shown_diff();
    let mut lines = vec![response.message.clone().unwrap_or_default()];
    lines.extend(remedy(response));
    lines.extend(response.resolved_path.as_ref().map(|path| format!("the path leads to {path}")));
    lines.extend(version_line(response));
    lines.extend(response.match_details.as_ref().and_then(match_line));
    lines.extend(response.best.iter().flat_map(nearest));
    lines.extend(response.findings.iter().filter(|finding| finding.counts || finding.blocking).map(finding));
    lines.extend(old_findings(response.old_findings));
    lines.extend(response.unreported().map(|warning| format!("warning: {}", warning.text)));
    if !response.is_success() || diff.is_empty() {
        lines.extend(response.match_locations.iter().map(location));
    }
    if let Some(since) = &response.since {
        let noun = response.key.entity_type.as_deref().unwrap_or(EntityKind::FILE);
        let colon = if diff.is_empty() { "" } else { ", since the version that was expected:" };
        lines.push(format!("the {noun} has version {} now{colon}", since.version));
    }
    let shown = match forms {
        Forms::Both => changes(diff),
        Forms::Json | Forms::Text => diff.trim_end_matches('\n').to_owned(),
    };
    if shown.is_empty() {
        lines.extend(response.edits.iter().map(region));
    } else {
        lines.push(shown);
    }
    if !response.line_map.is_empty() {
        let shift = |MovedLines { from, by }: &MovedLines| format!("{from}: {by:+}");
        lines.push(format!("lines moved, from old line: {}", joined(&response.line_map, shift)));
    }
    if !response.gates.is_empty() {
        lines.push(format!("gates: {}", joined(&response.gates, gate)));
    }
    let next = response.next.iter().filter_map(|next| serde_json::to_string(next).ok());
    lines.extend(next.map(|next| format!("next: {next}")));
    lines.extend(response.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}

fn joined<T>(entries: &[T], entry: impl Fn(&T) -> String) -> String {
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

fn remedy(response: &EditResponse) -> Option<String> {
    let detail = response.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let hint = response.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    response.code.as_ref().map(|code| format!("{code}{detail}{hint}"))
}

/// Renders the current version and the state of the bytes outside the edit.
fn version_line(response: &EditResponse) -> Option<String> {
    let outside = response.bytes_outside_edit.as_ref().filter(|_| response.changed != Some(false));
    let parts = [
        response.version.as_ref().map(|version| format!("version {version}")),
        response.previous_version.as_ref().map(|version| format!("was {version}")),
        response.edit_id.as_ref().map(|id| format!("edit {id}")),
        outside.map(|found| format!("bytes outside the edit {found}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Renders the match details, unless the match was exact.
fn match_line(MatchDetails { tier, score, candidates, runner_up }: &MatchDetails) -> Option<String> {
    let other =
        runner_up.map(|score| format!(", the next best place {}%", percent(score))).unwrap_or_default();
    let found =
        || format!("found by tier {tier}, score {}%, candidates {candidates}{other}", percent(*score));
    (tier != MatchLevel::Exact.name()).then(found)
}

/// Renders the most similar lines and the first difference.
fn nearest(best: &NearestLines) -> Vec<String> {
    let head =
        format!("best: lines {} to {}, score {}%", best.start_line, best.end_line, percent(best.score));
    let numbered = (best.start_line..).zip(&best.lines).map(|(line, text)| format!("{line}: {text}"));
    let difference = best.first_difference.iter().map(|FirstDifference { line, column, asked, found }| {
        format!("first difference: line {line}, column {column}, asked {asked:?}, found {found:?}")
    });
    std::iter::once(head).chain(numbered).chain(difference).collect()
}

/// Returns the diff without file names and context lines.
fn changes(diff: &str) -> String {
    let hunks = diff.find("\n@@").map_or("", |at| diff.split_at(at + 1).1);
    let changed: Vec<&str> = hunks.split_terminator('\n').filter(|line| !line.starts_with(' ')).collect();
    changed.join("\n")
}

fn finding(finding: &ReportedFinding) -> String {
    let ReportedFinding { gate, severity, line, column, message, .. } = finding;
    let code = finding.code.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
    let file = finding.path.as_ref().map(|path| format!(" of {path}")).unwrap_or_default();
    let weight = match (finding.new, finding.blocking) {
        (true, true) => "new, blocking",
        (true, false) => "new",
        (false, true) => "was there before, blocking",
        (false, false) => "was there before, counts by the baseline",
    };
    format!("line {line}:{column}{file} {severity}{code}: {message} ({gate}, {weight})")
}

/// Renders the number of findings that do not count; the JSON form lists them.
fn old_findings(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 finding was there before".to_owned()),
        count => Some(format!("{count} findings were there before")),
    }
}

fn location(MatchLocation { line, preview, symbol }: &MatchLocation) -> String {
    let symbol = symbol.as_ref().map(|symbol| format!(" (in {symbol})")).unwrap_or_default();
    format!("line {line}: {preview}{symbol}")
}

fn region(region: &ChangedRegion) -> String {
    let span = |start: usize, end: usize| {
        if end < start { format!("before {start}") } else { format!("{start}-{end}") }
    };
    let (old, new) =
        (span(region.start_line, region.end_line), span(region.new_start_line, region.new_end_line));
    format!("lines {old} became {new}")
}

fn gate(ReportedGate { gate, outcome, why, isolation, .. }: &ReportedGate) -> String {
    let why = why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let apart = isolation.as_ref().map(|level| format!(" [isolation {level}]")).unwrap_or_default();
    format!("{gate} {outcome}{why}{apart}")
}
