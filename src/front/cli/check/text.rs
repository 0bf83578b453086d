//! Formats check results as text: each finding with its source line, then notes, then the summary.

use super::results::{GateFailure, GateTotals, LocatedFinding, Results};
use crate::engine::CheckBase;
use crate::front::answer::reported_finding;
use crate::front::cli::excerpt::Excerpt;
use crate::front::cli::paint::{DONE, LABEL, REJECTED, WARNING, labelled, visible};
use crate::front::cli::show;
use crate::protocol::ReportedFinding;

/// Maximum number of findings shown.
const MAX_FINDINGS: usize = 200;

/// Maximum length of a source line shown below a finding, in bytes.
const LONGEST_LINE: usize = 1000;

pub(super) fn render(results: &Results) -> String {
    let mut text: String =
        results.counting().take(MAX_FINDINGS).map(|found| finding(results, found)).collect();
    let more = results.counting().count().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        text += &labelled(WARNING, "more", format!("{more} findings are not shown; --format json has all"));
    }
    text += &results.gates.iter().map(gate).collect::<String>();
    for (why, count) in results.skipped_by_reason() {
        text += &labelled(LABEL, "note", format!("skipped {}: {}", files(count), visible(why)));
    }
    for note in &results.notes {
        text += &labelled(LABEL, "note", visible(note));
    }
    let (style, label) = if results.has_blocking() { (REJECTED, "found") } else { (DONE, "clean") };
    text + &labelled(style, label, summary(results))
}

/// Renders the summary in one sentence.
pub(super) fn summary(results: &Results) -> String {
    let (blocking, counted, old) = results.numbers();
    let base: Vec<String> = results.bases.iter().filter_map(base).collect();
    let against = if base.is_empty() { String::new() } else { format!(" against {}", base.join(", ")) };
    let new = match (blocking, counted) {
        (0, 0) => "nothing new".to_owned(),
        (0, warnings) => format!("{} nothing", blocking_count(warnings)),
        (blocking, 0) => blocking_count(blocking),
        (blocking, warnings) => format!("{}, {warnings} that do not", blocking_count(blocking)),
    };
    let not_run: Vec<&str> =
        results.gates.iter().filter(|gate| gate.blocking).map(|gate| gate.gate.as_str()).collect();
    let mut text = format!("{} judged{against}: {new}", files(results.files.len()));
    if !not_run.is_empty() {
        text += &format!("; required but could not run: {}", not_run.join(", "));
    }
    if old > 0 {
        text += &format!("; {old} old");
    }
    for (count, what) in [(results.unchanged, "unchanged"), (results.deleted, "deleted")] {
        if count > 0 {
            text += &format!("; {} {what}", files(count));
        }
    }
    visible(&text).replace('\n', " ")
}

fn base(base: &CheckBase) -> Option<String> {
    match base {
        CheckBase::Revision(name, id) => Some(format!("{name} ({})", id.get(..10).unwrap_or(id))),
        CheckBase::NoCommits | CheckBase::NoBase => None,
    }
}

fn finding(results: &Results, found: &LocatedFinding) -> String {
    let it = &found.finding;
    let reported = ReportedFinding { path: None, new: it.fresh || it.counts, ..reported_finding(it) };
    let line = results.text(found).map(|text| text.lines().with_line_end(it.line).to_owned());
    let excerpt = line
        .filter(|line| !line.is_empty() && line.len() <= LONGEST_LINE)
        .map(|text| Excerpt { first_line: it.line, text });
    show::finding(&one_line(&found.path), &reported, excerpt.as_slice())
}

/// Replaces line ends in a path.
fn one_line(path: &str) -> String {
    path.replace('\n', "\u{240a}")
}

/// Renders the failures of a gate that could not run for all files.
fn gate(totals: &GateTotals) -> String {
    let style = if totals.blocking { REJECTED } else { WARNING };
    let line = |(happened, (why, count)): (&GateFailure, &(String, usize))| {
        let why = if why.is_empty() { String::new() } else { format!(": {}", visible(why)) };
        let hint = match happened {
            GateFailure::NotRun => "; `lockgate trust` or --trust lets it run",
            GateFailure::Broken | GateFailure::TimedOut | GateFailure::Unavailable => "",
        };
        labelled(style, "gate", format!("{} {happened} for {}{why}{hint}", totals.gate, files(*count)))
    };
    totals.failures.iter().map(line).collect()
}

fn files(count: usize) -> String {
    format!("{count} {}", if count == 1 { "file" } else { "files" })
}

fn blocking_count(count: usize) -> String {
    if count == 1 { "1 finding that blocks".to_owned() } else { format!("{count} findings that block") }
}
