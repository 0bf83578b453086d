//! Renders the text form of an edit for a model: what happened, the changed lines, and the gates.
//!
//! Invariant: it says only what the next call needs. The JSON form has every field.

use super::forms::Forms;
use lockgate_checks::Outcome;
use lockgate_error::Code;
use lockgate_matching::MatchLevel;
use lockgate_protocol::{
    ChangedRegion, EditResponse, FirstDifference, Headline, MatchDetails, MatchLocation, MovedLines,
    NearestLines, ReportedFinding, ReportedGate, percent,
};

/// Gates that took less time than this, in milliseconds, are listed without their time.
const NOTICEABLE_MS: u64 = 10;

/// Renders the response. With the JSON form, which has the whole diff since another version, only its changed lines are
/// shown.
pub(super) fn render(response: &EditResponse, forms: Forms) -> String {
    let succeeded = response.is_success();
    let mut lines = first_lines(response, forms);
    lines.extend(response.resolved_path.as_ref().map(|path| format!("the path leads to {path}")));
    lines.extend(response.for_text.match_details.as_ref().and_then(match_line));
    lines.extend(response.best.iter().flat_map(|best| nearest(best, forms)));
    lines.extend(findings(response, forms));
    if !succeeded && response.for_text.changed_lines.is_none() {
        let label = match_label(response);
        lines.extend(response.match_locations.iter().map(|place| location(place, label)));
    }
    lines.extend(since(response, forms));
    if succeeded {
        lines.extend(moved(&response.line_map));
    }
    lines.extend(response.unreported().map(|warning| format!("warning: {}", warning.text)));
    lines.extend(changes(response));
    lines.extend(gates(response, forms));
    let next = response.next.iter().filter_map(|next| serde_json::to_string(next).ok());
    lines.extend(next.map(|next| format!("next: {next}")));
    lines.extend(response.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n")
}

/// Returns a number with its noun, as in `1 file` or `2 files`.
pub fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Returns a path as a word of a shell's command.
pub fn shell_word(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn joined<T>(entries: &[T], entry: impl Fn(&T) -> String) -> String {
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// Renders the result, and the code of a rejection with its hint.
fn first_lines(response: &EditResponse, forms: Forms) -> Vec<String> {
    let version = response.version.as_ref().map(|version| format!("version {version}"));
    let edit = response.edit_id.as_ref().map(|id| format!("edit {id}"));
    let ids: Vec<String> = version.iter().chain(&edit).cloned().collect();
    let message = response.message.clone().unwrap_or_default();
    if !response.is_success() {
        // The message names the first finding, which the findings below show as well.
        let shows_findings = response.findings.iter().any(|finding| finding.blocking);
        let headline = response.for_text.headline.as_ref().filter(|_| shows_findings);
        let first =
            headline.map_or(message, |Headline { preface, summary, .. }| format!("{preface}{summary}"));
        return std::iter::once(first).chain(remedy(response, version.as_deref(), forms)).collect();
    }
    match &response.for_text.headline {
        Some(Headline { summary, details, .. }) => {
            let ids = if ids.is_empty() { String::new() } else { format!(" {}", ids.join(" ")) };
            vec![format!("{summary}{ids}{details}")]
        }
        None if ids.is_empty() => vec![message],
        None => vec![message, ids.join(" ")],
    }
}

fn remedy(response: &EditResponse, version: Option<&str>, forms: Forms) -> Option<String> {
    let detail = response.detail.as_ref().filter(|detail| Some(*detail) != response.code.as_ref());
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    // Nothing was written, so the version has not changed.
    let version = version.filter(|_| forms != Forms::Text);
    let version = version.map(|version| format!(" at {version}")).unwrap_or_default();
    let hint = response.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    response.code.as_ref().map(|code| format!("{code}{detail}{version}{hint}"))
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
fn nearest(best: &NearestLines, forms: Forms) -> Vec<String> {
    let head =
        format!("best: lines {} to {}, score {}%", best.start_line, best.end_line, percent(best.score));
    let numbered = best.excerpt.iter().map(|(line, text)| format!("{line}: {text}"));
    let is_shown = |line: &usize| best.excerpt.iter().any(|(shown, text)| shown == line && !is_cut(text));
    let difference = best.first_difference.iter().map(|FirstDifference { line, column, asked, found }| {
        let is_added = asked.is_empty() && *column == 1;
        let difference = match is_added {
            true => format!("first difference: line {line} was added"),
            false => format!("first difference: line {line}, column {column}, asked {asked:?}"),
        };
        match forms {
            Forms::Text if is_shown(line) => difference,
            _ if is_added => format!("{difference}: {found:?}"),
            _ => format!("{difference}, found {found:?}"),
        }
    });
    std::iter::once(head).chain(numbered).chain(difference).collect()
}

/// True for the beginning of a long line.
fn is_cut(text: &str) -> bool {
    text.ends_with("...")
}

/// Renders the version that the file has instead of the expected one, and what changed since.
fn since(response: &EditResponse, forms: Forms) -> Vec<String> {
    let Some(since) = &response.since else { return Vec::new() };
    let diff = since.diff.as_deref().unwrap_or_default();
    let shown = match forms {
        Forms::Both | Forms::Compact => without_context(diff),
        Forms::Json | Forms::Text => diff.trim_end_matches('\n').to_owned(),
    };
    let colon = if shown.is_empty() { "" } else { ", since the version that was expected:" };
    let head = format!("the {} has version {} now{colon}", since.noun, since.version);
    std::iter::once(head).chain(Some(shown).filter(|shown| !shown.is_empty())).collect()
}

/// Returns the diff without file names and context lines.
fn without_context(diff: &str) -> String {
    let hunks = diff.find("\n@@").map_or("", |at| diff.split_at(at + 1).1);
    let changed: Vec<&str> = hunks.split_terminator('\n').filter(|line| !line.starts_with(' ')).collect();
    changed.join("\n")
}

/// Renders the changed lines, or the ranges that moved or grew if the lines are not shown. A file that the call created or
/// removed needs neither.
fn changes(response: &EditResponse) -> Vec<String> {
    match &response.for_text.changed_lines {
        None if response.created == Some(true) || response.removed == Some(true) => Vec::new(),
        Some(lines) => vec![lines.trim_end_matches('\n').to_owned()],
        None => response.edits.iter().filter_map(moved_region).collect(),
    }
}

fn moved(line_map: &[MovedLines]) -> Option<String> {
    let shift = |MovedLines { from, by }: &MovedLines| format!("from old line {from} {by:+}");
    (!line_map.is_empty()).then(|| format!("lines moved: {}", joined(line_map, shift)))
}

/// Renders the findings that count; in the text form those that say the same are one line.
fn findings(response: &EditResponse, forms: Forms) -> Vec<String> {
    let mut groups: Vec<Vec<&ReportedFinding>> = Vec::new();
    for found in response.findings.iter().filter(|finding| finding.counts) {
        let joins = |one: &&ReportedFinding| forms == Forms::Text && says_same(one, found);
        match groups.iter_mut().find(|group| group.first().is_some_and(joins)) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    groups.iter().filter_map(|group| finding_group(group, response, forms)).collect()
}

/// True if two findings differ only in their lines and columns.
fn says_same(one: &ReportedFinding, other: &ReportedFinding) -> bool {
    let at = |finding: &ReportedFinding| ReportedFinding { line: 0, column: 0, ..finding.clone() };
    at(one) == at(other)
}

/// Renders findings that say the same. In the text form, the first line of a rejection says that new findings block.
fn finding_group(group: &[&ReportedFinding], response: &EditResponse, forms: Forms) -> Option<String> {
    let first = group.first()?;
    let places = joined(group, |found| format!("{}:{}", found.line, found.column));
    let lines = if group.len() == 1 { "line" } else { "lines" };
    let is_usual = forms == Forms::Text && !response.is_success() && first.new && first.blocking;
    let newness = if is_usual { String::new() } else { format!(", {}", newness(first)) };
    let ReportedFinding { gate, severity, message, .. } = first;
    let code = first.code.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
    let file = first.path.as_ref().map(|path| format!(" of {path}")).unwrap_or_default();
    Some(format!("{lines} {places}{file} {severity}{code}: {message} ({gate}{newness})"))
}

fn newness(finding: &ReportedFinding) -> &'static str {
    match (finding.new, finding.blocking) {
        (true, true) => "new, blocking",
        (true, false) => "new",
        (false, true) => "was there before, blocking",
        (false, false) => "was there before, counts by the baseline",
    }
}

/// Returns what the places of a rejection are.
fn match_label(response: &EditResponse) -> &'static str {
    let is_ambiguous = response.code.as_deref() == Some(Code::AmbiguousMatch.name())
        || response.detail.as_deref() == Some(Code::AmbiguousMatch.name());
    if is_ambiguous { "match at line" } else { "line" }
}

fn location(MatchLocation { line, preview, symbol }: &MatchLocation, label: &str) -> String {
    let symbol = symbol.as_ref().map(|symbol| format!(" (in {symbol})")).unwrap_or_default();
    format!("{label} {line}: {preview}{symbol}")
}

/// Renders a changed range; `None` if it has the same lines before and after the edit.
pub(super) fn moved_region(region: &ChangedRegion) -> Option<String> {
    let ChangedRegion { start_line, end_line, new_start_line, new_end_line, .. } = region;
    let numbers = |first: &usize, last: &usize| {
        if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
    };
    let (old, new) = (numbers(start_line, end_line), numbers(new_start_line, new_end_line));
    match (end_line < start_line, new_end_line < new_start_line) {
        (false, true) => Some(format!("removed {old}")),
        (true, false) => Some(format!("added {new}")),
        (false, false) | (true, true) => (old != new).then(|| format!("{old} became {new}")),
    }
}

/// Renders the outcome of the gates that ran: those that passed are one list. The text form of a rejection names neither
/// these nor the gates of its findings.
fn gates(response: &EditResponse, forms: Forms) -> Option<String> {
    let is_rejection = forms == Forms::Text && !response.is_success();
    let is_shown = |run: &ReportedGate| response.findings.iter().any(|finding| finding.gate == run.gate);
    let others: Vec<&ReportedGate> = response
        .gates
        .iter()
        .filter(|run| !is_passed(run) && run.outcome != Outcome::Skipped.name())
        .filter(|run| !(is_rejection && run.outcome == Outcome::Found.name() && is_shown(run)))
        .collect();
    let colon = if others.is_empty() { "" } else { ":" };
    let others = (!others.is_empty()).then(|| joined(&others, |run| gate(run)));
    let passed = passed_gates(response).filter(|_| !is_rejection);
    let parts: Vec<String> = others.into_iter().chain(passed).collect();
    (!parts.is_empty()).then(|| format!("gates{colon} {}", parts.join("; ")))
}

/// Renders the gates that passed and the number of old findings, as in `ok (syntax, ruff 20 ms); 2 old findings`. `None`
/// if there are neither.
pub fn passed_gates(response: &EditResponse) -> Option<String> {
    let passed: Vec<&ReportedGate> = response.gates.iter().filter(is_passed).collect();
    let ok = || match response.for_text.are_gates_known {
        true => "ok".to_owned(),
        false => format!("ok ({})", joined(&passed, |run| passed_gate(run))),
    };
    let old =
        (response.for_text.old_findings > 0).then(|| counted(response.for_text.old_findings, "old finding"));
    let parts: Vec<String> = (!passed.is_empty()).then(ok).into_iter().chain(old).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the gates that passed, each with an isolation that is weaker than the default.
pub(super) fn passed_names(response: &EditResponse) -> String {
    let passed: Vec<&ReportedGate> = response.gates.iter().filter(is_passed).collect();
    joined(&passed, |run| format!("{}{}", run.gate, isolation_suffix(run)))
}

fn is_passed(run: &&ReportedGate) -> bool {
    run.outcome == Outcome::Passed.name()
}

fn passed_gate(run: &ReportedGate) -> String {
    let ReportedGate { gate, ms, .. } = run;
    let time = match *ms {
        0..NOTICEABLE_MS => String::new(),
        ms @ NOTICEABLE_MS..1000 => format!(" {ms} ms"),
        ms => format!(" {}.{} s", ms / 1000, ms % 1000 / 100),
    };
    format!("{gate}{time}{}", isolation_suffix(run))
}

/// Renders the outcome; its reason is in a note, a warning or the message.
fn gate(run: &ReportedGate) -> String {
    format!("{} {}{}", run.gate, run.outcome, isolation_suffix(run))
}

/// Renders an isolation that is weaker than the default.
fn isolation_suffix(run: &ReportedGate) -> String {
    run.isolation.as_ref().map(|level| format!(" [isolation {level}]")).unwrap_or_default()
}
