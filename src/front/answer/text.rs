//! Renders the text form of an answer: the result in the first line, then the details.

use super::Forms;
use super::response::{EditResponse, NearestLines};
use super::size_limit::clip;
use crate::error::{Code, Difference, EvidenceLine};
use crate::gate::{Finding, GateRun};
use crate::locate::{MatchInfo, MatchLevel};
use crate::policy::Isolation;
use crate::request::EntityKind;
use crate::text::{LineShift, Region};

/// Renders the response; no text except a note is longer than `bytes`. With the JSON form, which has the whole diff,
/// only the changed lines are shown.
pub(super) fn render(response: &EditResponse<'_>, bytes: usize, diff: &str, forms: Forms) -> String {
    let mut lines = vec![clip(&response.message, bytes)];
    lines.extend(response.code.map(|code| remedy(code, response, bytes)));
    lines.extend(response.resolved_path.map(|path| format!("the path leads to {}", clip(path, bytes))));
    lines.extend(version_line(response, bytes));
    lines.extend(response.match_info.and_then(match_line));
    lines.extend(response.best.iter().flat_map(|best| nearest(best, bytes)));
    let counted = response.findings.entries.iter().filter(|finding| finding.counts || finding.blocking);
    lines.extend(counted.map(|one| finding(one, bytes)));
    lines.extend(old_findings(response.old_findings));
    lines.extend(response.unreported().map(|warning| format!("warning: {}", clip(warning, bytes))));
    if !response.success || diff.is_empty() {
        lines.extend(response.locations.iter().map(|one| location(one, bytes)));
    }
    let noun = response.key.entity_type.unwrap_or(EntityKind::FILE);
    lines.extend(response.since.map(|since| since_line(noun, &since.version, diff)));
    let shown = match forms {
        Forms::Both => changes(diff),
        Forms::Json | Forms::Text => diff.trim_end_matches('\n').to_owned(),
    };
    if shown.is_empty() {
        lines.extend(response.regions.iter().map(region));
    } else {
        lines.push(shown);
    }
    if !response.shifts.is_empty() {
        let shifts: Vec<String> =
            response.shifts.iter().map(|LineShift { from, by }| format!("{from}: {by:+}")).collect();
        lines.push(format!("lines moved, from old line: {}", shifts.join(", ")));
    }
    if !response.runs.is_empty() {
        let runs: Vec<String> = response.runs.iter().map(|one| run(one, bytes)).collect();
        lines.push(format!("gates: {}", runs.join(", ")));
    }
    lines.extend(response.next.entries.iter().map(|next| format!("next: {next}")));
    lines.extend(response.notes.entries.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}

fn remedy(code: Code, response: &EditResponse<'_>, bytes: usize) -> String {
    let detail = response.detail.map(|detail| format!(" ({})", detail.name())).unwrap_or_default();
    let hint = response.hint.as_deref().map(|hint| format!("; {}", clip(hint, bytes))).unwrap_or_default();
    format!("{}{detail}{hint}", code.name())
}

/// Renders the current version and the state of the bytes outside the edit.
fn version_line(response: &EditResponse<'_>, bytes: usize) -> Option<String> {
    let outside = response.outside_edit.as_ref().filter(|_| response.changed);
    let parts = [
        response.version.as_ref().map(|version| format!("version {version}")),
        response.previous_version.as_ref().map(|version| format!("was {version}")),
        response.edit_id.as_ref().filter(|_| response.whole).map(|id| format!("edit {id}")),
        outside.map(|found| format!("bytes outside the edit {}", clip(found, bytes))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Renders the current version and the changes since the expected one.
fn since_line(noun: &str, version: &str, diff: &str) -> String {
    let colon = if diff.is_empty() { "" } else { ", since the version that was expected:" };
    format!("the {noun} has version {version} now{colon}")
}

/// Renders the match information, unless the match was exact.
fn match_line(match_info: MatchInfo) -> Option<String> {
    let MatchInfo { level, score, candidates, runner_up, .. } = match_info;
    let other =
        runner_up.map(|score| format!(", the next best place {}%", score.percent())).unwrap_or_default();
    let found = || {
        format!("found by tier {}, score {}%, candidates {candidates}{other}", level.name(), score.percent())
    };
    (level != MatchLevel::Exact).then(found)
}

/// Renders the most similar lines and the first difference.
fn nearest(NearestLines { best, lines }: &NearestLines<'_>, bytes: usize) -> Vec<String> {
    let head =
        format!("best: lines {} to {}, score {}%", best.start_line, best.end_line, best.score.percent());
    let numbered =
        (best.start_line..).zip(&lines.entries).map(|(line, text)| format!("{line}: {}", clip(text, bytes)));
    let difference = best.first_difference.iter().map(|Difference { line, column, expected, found }| {
        let (expected, found) = (clip(expected, bytes), clip(found, bytes));
        format!("first difference: line {line}, column {column}, asked {expected:?}, found {found:?}")
    });
    std::iter::once(head).chain(numbered).chain(difference).collect()
}

/// Returns the diff without file names and context lines.
fn changes(diff: &str) -> String {
    let hunks = diff.find("\n@@").map_or("", |at| diff.split_at(at + 1).1);
    let changed: Vec<&str> = hunks.split_terminator('\n').filter(|line| !line.starts_with(' ')).collect();
    changed.join("\n")
}

fn finding(finding: &Finding, bytes: usize) -> String {
    let code = finding.code.as_ref().map(|code| format!(" {}", clip(code, bytes))).unwrap_or_default();
    let weight = match (finding.fresh, finding.blocking) {
        (true, true) => "new, blocking",
        (true, false) => "new",
        (false, true) => "was there before, blocking",
        (false, false) => "was there before, counts by the baseline",
    };
    let file =
        finding.elsewhere.as_ref().map(|path| format!(" of {}", clip(path, bytes))).unwrap_or_default();
    format!(
        "line {}:{}{file} {}{code}: {} ({}, {weight})",
        finding.line,
        finding.column,
        finding.severity.name(),
        clip(&finding.message, bytes),
        clip(&finding.gate, bytes),
    )
}

/// Renders the number of findings that do not count; the JSON form lists them.
fn old_findings(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 finding was there before".to_owned()),
        count => Some(format!("{count} findings were there before")),
    }
}

fn location(place: &EvidenceLine, bytes: usize) -> String {
    let symbol =
        place.symbol.as_ref().map(|symbol| format!(" (in {})", clip(symbol, bytes))).unwrap_or_default();
    format!("line {}: {}{symbol}", place.line, clip(&place.preview, bytes))
}

fn region(region: &Region) -> String {
    let span = |start: usize, end: usize| {
        if end < start { format!("before {start}") } else { format!("{start}-{end}") }
    };
    let (old, new) =
        (span(region.start_line, region.end_line), span(region.new_start_line, region.new_end_line));
    format!("lines {old} became {new}")
}

fn run(run: &GateRun, bytes: usize) -> String {
    let why = run.why.as_ref().map(|why| format!(" ({})", clip(why, bytes))).unwrap_or_default();
    let isolation = run.isolation.filter(|isolation| *isolation < Isolation::Bubblewrap);
    let apart = isolation.map_or_else(String::new, |isolation| format!(" [isolation {}]", isolation.name()));
    format!("{} {}{why}{apart}", clip(&run.gate, bytes), run.outcome.name())
}
