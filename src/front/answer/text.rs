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
pub(super) fn render(facts: &EditResponse<'_>, bytes: usize, diff: &str, forms: Forms) -> String {
    let mut lines = vec![clip(&facts.message, bytes)];
    lines.extend(facts.code.map(|code| remedy(code, facts, bytes)));
    lines.extend(facts.resolved_path.map(|path| format!("the path leads to {}", clip(path, bytes))));
    lines.extend(version_line(facts, bytes));
    lines.extend(facts.match_info.and_then(match_line));
    lines.extend(facts.best.iter().flat_map(|best| nearest(best, bytes)));
    let counted = facts.findings.entries.iter().filter(|finding| finding.counts || finding.blocking);
    lines.extend(counted.map(|one| finding(one, bytes)));
    lines.extend(old_findings(facts.old_findings));
    lines.extend(facts.unreported().map(|warning| format!("warning: {}", clip(warning, bytes))));
    if !facts.success || diff.is_empty() {
        lines.extend(facts.locations.iter().map(|one| location(one, bytes)));
    }
    let noun = facts.key.entity_type.unwrap_or(EntityKind::FILE);
    lines.extend(facts.since.map(|since| since_line(noun, &since.version, diff)));
    let shown = match forms {
        Forms::Both => changes(diff),
        Forms::Json | Forms::Text => diff.trim_end_matches('\n').to_owned(),
    };
    if shown.is_empty() {
        lines.extend(facts.regions.iter().map(region));
    } else {
        lines.push(shown);
    }
    if !facts.shifts.is_empty() {
        let shifts: Vec<String> =
            facts.shifts.iter().map(|LineShift { from, by }| format!("{from}: {by:+}")).collect();
        lines.push(format!("lines moved, from old line: {}", shifts.join(", ")));
    }
    if !facts.runs.is_empty() {
        let runs: Vec<String> = facts.runs.iter().map(|one| run(one, bytes)).collect();
        lines.push(format!("gates: {}", runs.join(", ")));
    }
    lines.extend(facts.next.entries.iter().map(|next| format!("next: {next}")));
    lines.extend(facts.notes.entries.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}

fn remedy(code: Code, facts: &EditResponse<'_>, bytes: usize) -> String {
    let detail = facts.detail.map(|detail| format!(" ({})", detail.name())).unwrap_or_default();
    let hint = facts.hint.as_deref().map(|hint| format!("; {}", clip(hint, bytes))).unwrap_or_default();
    format!("{}{detail}{hint}", code.name())
}

/// Renders the current version and the state of the bytes outside the edit.
fn version_line(facts: &EditResponse<'_>, bytes: usize) -> Option<String> {
    let outside = facts.outside_edit.as_ref().filter(|_| facts.changed);
    let parts = [
        facts.version.as_ref().map(|version| format!("version {version}")),
        facts.previous_version.as_ref().map(|version| format!("was {version}")),
        facts.edit_id.as_ref().filter(|_| facts.whole).map(|id| format!("edit {id}")),
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
fn match_line(receipt: MatchInfo) -> Option<String> {
    let MatchInfo { level: tier, score, candidates, runner_up, .. } = receipt;
    let other =
        runner_up.map(|score| format!(", the next best place {}%", score.percent())).unwrap_or_default();
    let found = || {
        format!("found by tier {}, score {}%, candidates {candidates}{other}", tier.name(), score.percent())
    };
    (tier != MatchLevel::Exact).then(found)
}

/// Renders the most similar lines and the first difference.
fn nearest(NearestLines { best, lines }: &NearestLines<'_>, bytes: usize) -> Vec<String> {
    let head =
        format!("best: lines {} to {}, score {}%", best.start_line, best.end_line, best.score.percent());
    let numbered =
        (best.start_line..).zip(&lines.entries).map(|(line, text)| format!("{line}: {}", clip(text, bytes)));
    let difference =
        best.first_difference.iter().map(|Difference { line, column, expected: asked, found }| {
            let (asked, found) = (clip(asked, bytes), clip(found, bytes));
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
