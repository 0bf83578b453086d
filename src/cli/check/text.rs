//! Formats check results as text: each finding with its source line, then notes, then the summary.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::env;
use std::path::Path;

use super::results::{
    CheckStatus, FailedRuns, FindingCounts, GateFailure, GateTotals, LocatedFinding, Results,
};
use crate::cli::excerpt::Excerpt;
use crate::cli::paint::{DONE, LABEL, REJECTED, WARNING, labelled, paint, visible};
use crate::cli::show;
use crate::cli::verbosity::Verbosity;
use lockgate_checks::Outcome;
use lockgate_engine::CheckBase;
use lockgate_error::Error;
use lockgate_mcp::answer::{counted, reported_finding, trust_command};
use lockgate_protocol::ReportedFinding;

/// Maximum number of findings shown.
const MAX_FINDINGS: usize = 200;

/// Maximum number of reasons shown for the skipped runs of a gate.
const MAX_SKIP_REASONS: usize = 3;

/// Maximum number of policies whose command of trust is shown for a gate.
const MAX_POLICIES: usize = 3;

/// Maximum length of a source line shown below a finding, in bytes.
const LONGEST_LINE: usize = 1000;

/// Renders each finding with its source line. Quiet output has only findings that block and gates that are required;
/// verbose output also old findings, and each gate with its runs and their time.
pub(super) fn render(results: &Results, verbosity: Verbosity) -> String {
    let shown: Vec<&LocatedFinding> = shown(results, verbosity).collect();
    let folder = env::current_dir().ok();
    let finding = |found: &&LocatedFinding| finding(results, found, folder.as_deref());
    let mut text: String = shown.iter().take(MAX_FINDINGS).map(finding).collect();
    let more = shown.len().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        text += &labelled(WARNING, "more", format!("{more} findings are not shown; --format json has all"));
    }
    text + &ending(results, verbosity)
}

/// Renders each finding on one line, as in `error a.py:3:1: ruff F401: unused import`, then the rest as [`render`] does.
pub(super) fn concise(results: &Results, verbosity: Verbosity) -> String {
    let folder = env::current_dir().ok();
    let line = |found: &LocatedFinding| {
        let path = results.path_from(folder.as_deref(), found);
        let style = if found.finding.blocking { REJECTED } else { WARNING };
        let rank = if found.finding.blocking { "error" } else { "warning" };
        format!("{} {}\n", paint(style, rank), visible(&located(&path, found)).replace('\n', " "))
    };
    shown(results, verbosity).map(line).collect::<String>() + &ending(results, verbosity)
}

/// Renders how often each code was found, the most frequent first, then the rest as [`render`] does. Quiet output counts
/// only findings that block.
pub(super) fn statistics(results: &Results, verbosity: Verbosity) -> String {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let is_counted = |found: &&LocatedFinding| verbosity != Verbosity::Quiet || found.finding.blocking;
    for found in results.counting().filter(is_counted) {
        let (count, blocking) = counts.entry(found.rule()).or_default();
        *count += 1;
        *blocking += usize::from(found.finding.blocking);
    }
    let mut sorted: Vec<(String, (usize, usize))> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, (count, _))| Reverse(*count));
    let row = |(rule, (count, blocking)): (String, (usize, usize))| {
        let style = if blocking > 0 { REJECTED } else { WARNING };
        let blocks = if blocking > 0 { format!(", {blocking} block") } else { String::new() };
        labelled(style, &count.to_string(), format!("{}{blocks}", visible(&rule)))
    };
    sorted.into_iter().map(row).collect::<String>() + &ending(results, verbosity)
}

fn shown(results: &Results, verbosity: Verbosity) -> impl Iterator<Item = &LocatedFinding> {
    results.findings.iter().filter(move |found| match verbosity {
        Verbosity::Quiet => found.finding.blocking,
        Verbosity::Normal => found.finding.counts,
        Verbosity::Verbose => true,
    })
}

/// Renders the gates that could not run, the notes and the summary.
fn ending(results: &Results, verbosity: Verbosity) -> String {
    if verbosity == Verbosity::Quiet {
        return results.gates.values().filter(|totals| totals.blocking).map(gate).collect();
    }
    let mut text: String = results.gates.values().map(gate).collect();
    if verbosity == Verbosity::Verbose {
        text += &results.gates.values().map(runs).collect::<String>();
        for (path, why) in &results.skipped {
            text += &labelled(LABEL, "note", format!("skipped {}: {}", visible(path), visible(why)));
        }
    } else {
        text += &skipped(results).map(|note| labelled(LABEL, "note", visible(&note))).collect::<String>();
    }
    for note in &results.notes {
        text += &labelled(LABEL, "note", visible(note));
    }
    let status = results.status();
    let style = match status {
        CheckStatus::Found => REJECTED,
        CheckStatus::Unjudged => WARNING,
        CheckStatus::Clean => DONE,
    };
    text + &labelled(style, status.name(), summary(results))
}

/// Renders the summary in one sentence.
pub(super) fn summary(results: &Results) -> String {
    let FindingCounts { blocking, warnings, old } = results.finding_counts();
    let mut base: Vec<String> = results.bases.iter().filter_map(base).collect();
    base.dedup();
    let against = if base.is_empty() { String::new() } else { format!(" against {}", base.join(", ")) };
    let new = match (blocking, warnings) {
        (0, 0) => "nothing new".to_owned(),
        (0, warnings) => format!("{} nothing", blocking_count(warnings)),
        (blocking, 0) => blocking_count(blocking),
        (blocking, 1) => format!("{}, 1 that does not", blocking_count(blocking)),
        (blocking, warnings) => format!("{}, {warnings} that do not", blocking_count(blocking)),
    };
    let not_run: Vec<&str> =
        results.gates.values().filter(|gate| gate.blocking).map(|gate| gate.gate.as_str()).collect();
    let unjudged = results.unjudged();
    let mut text = format!("{} judged{against}: {new}", counted(results.judged(), "file"));
    if unjudged > 0 {
        text += &format!("; no gate of the policy judged {}", counted(unjudged, "file"));
    }
    if !not_run.is_empty() {
        text += &format!("; required but could not run: {}", not_run.join(", "));
    }
    if old > 0 {
        text += &format!("; {old} old");
    }
    for (count, what) in [(results.unchanged, "unchanged"), (results.deleted, "deleted")] {
        if count > 0 {
            text += &format!("; {} {what}", counted(count, "file"));
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

fn finding(results: &Results, found: &LocatedFinding, folder: Option<&Path>) -> String {
    let it = &found.finding;
    let reported = ReportedFinding { path: None, new: it.fresh || it.counts, ..reported_finding(it) };
    let line = results.text(found).map(|text| text.lines().with_line_end(it.line).to_owned());
    let excerpt = line
        .filter(|line| !line.is_empty() && line.len() <= LONGEST_LINE)
        .map(|text| Excerpt { first_line: it.line, text });
    show::finding(&one_line(&results.path_from(folder, found)), &reported, excerpt.as_slice())
}

/// Renders the runs of a gate by outcome, with the reasons of those that were skipped, and their time together.
fn runs(totals: &GateTotals) -> String {
    let reasons = totals.skip_reasons.iter().take(MAX_SKIP_REASONS);
    let reasons: Vec<String> = reasons.map(|why| visible(why).replace('\n', " ")).collect();
    let outcome = |(outcome, count): (&&str, &usize)| {
        let has_reasons = *outcome == Outcome::Skipped.name() && !reasons.is_empty();
        let reasons = if has_reasons { format!(" ({})", reasons.join("; ")) } else { String::new() };
        format!("{outcome} {count}{reasons}")
    };
    let outcomes: Vec<String> = totals.outcomes.iter().map(outcome).collect();
    labelled(LABEL, "gate", format!("{}: {}; {} ms", totals.gate, outcomes.join(", "), totals.ms))
}

/// Describes a gate that could not run for all files, by the kinds of failure.
pub(super) fn unable(totals: &GateTotals) -> String {
    let gate = &totals.gate;
    if totals.blocking {
        let why = totals.failures.iter().map(|(failure, runs)| format!("{failure}: {}", runs.why));
        format!("{gate} is required and could not run: {}", why.collect::<Vec<_>>().join("; "))
    } else {
        format!("{gate} could not run: {}", failures(totals).collect::<Vec<_>>().join("; "))
    }
}

/// Describes each kind of failure of a gate, as in `timed out for 2 files: it took longer than 20s`.
pub(super) fn failures(totals: &GateTotals) -> impl Iterator<Item = String> {
    let describe = |(failure, FailedRuns { why, count }): (&GateFailure, &FailedRuns)| {
        format!("{failure} for {}: {why}", counted(*count, "file"))
    };
    totals.failures.iter().map(describe)
}

/// Describes the skipped files, by the reason.
pub(super) fn skipped(results: &Results) -> impl Iterator<Item = String> {
    let reasons = results.skipped_by_reason().into_iter();
    reasons.map(|(why, count)| format!("skipped {}: {why}", counted(count, "file")))
}

/// Describes the error that ended a check, for a report that has no other findings.
pub(super) fn rejection(error: &Error) -> String {
    format!("{}: {}; {}", error.code.name(), error.message, error.next_step())
}

/// Returns a finding on one line, as in `a.py:3:1: ruff F401: unused import`, with the path from the top of its root.
pub(super) fn location(found: &LocatedFinding) -> String {
    located(&found.path.relative, found)
}

fn located(path: &str, found: &LocatedFinding) -> String {
    let it = &found.finding;
    let code = it.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
    format!("{path}:{}:{}: {}{code}: {}", it.line, it.column, it.gate, it.message)
}

/// Replaces line ends in a path.
fn one_line(path: &str) -> String {
    path.replace('\n', "\u{240a}")
}

/// Renders the failures of a gate that could not run for all files.
fn gate(totals: &GateTotals) -> String {
    let style = if totals.blocking { REJECTED } else { WARNING };
    let line = |(failure, FailedRuns { why, count }): (&GateFailure, &FailedRuns)| {
        let why = if why.is_empty() { String::new() } else { format!(": {}", visible(why)) };
        let hint = match failure {
            GateFailure::NotRun => format!("; {} or --trust lets it run", visible(&trust_commands(totals))),
            GateFailure::Skipped => "; the policy requires this gate".to_owned(),
            GateFailure::Broken | GateFailure::TimedOut | GateFailure::Unavailable => String::new(),
        };
        let files = counted(*count, "file");
        labelled(style, "gate", format!("{} {failure} for {files}{why}{hint}", totals.gate))
    };
    totals.failures.iter().map(line).collect()
}

/// Returns the commands that trust the policies without which a gate did not run.
fn trust_commands(totals: &GateTotals) -> String {
    let commands = totals.untrusted.iter().take(MAX_POLICIES);
    let commands: Vec<String> = commands.map(|folder| format!("`{}`", trust_command(folder))).collect();
    let more = match totals.untrusted.len().saturating_sub(MAX_POLICIES) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    commands.join(" and ") + &more
}

fn blocking_count(count: usize) -> String {
    if count == 1 { "1 finding that blocks".to_owned() } else { format!("{count} findings that block") }
}
