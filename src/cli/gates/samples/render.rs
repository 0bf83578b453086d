//! Renders the results of `lockgate gates test` as text and JSON.

use serde_json::{Value, json};

use super::results::{SampleComparison, SampleOutcome, SampleResults, TestedGate, Trial};
use crate::cli::gates::gate_list::NotRun;
use crate::cli::paint::{
    ADDED, DONE, FAINT, LABEL, REJECTED, REMOVED, WARNING, labelled, paint, visible_line,
};
use lockgate_checks::{DiskState, Finding, Mismatch};
use lockgate_mcp::answer::counted;
use lockgate_policy::Expected;

/// The scope of the test.
const TESTED: &str =
    "tested: the samples of each definition; not your files, nor your project's configuration";
/// Width of the longest outcome name, in characters.
const WIDEST: usize = 11;

/// Renders one gate with its problems; `width` is the width of the name.
pub(super) fn gate(tested: &TestedGate, width: usize) -> String {
    let outcome = tested.outcome();
    let name = paint(LABEL, format!("{:<width$}", visible_line(&tested.name)));
    let shown = paint(style(outcome), format!("{:<WIDEST$}", label(outcome)));
    let mut text = match &tested.not_run {
        None => {
            let time = paint(FAINT, format!("{} ms", tested.ms()));
            format!("{name}  {shown}  {}  {time}\n", run_count(&tested.trials))
        }
        Some(not_run) => format!("{name}  {shown}\n{}", note(not_run.why())),
    };
    if outcome == SampleOutcome::Unavailable && !tested.install.is_empty() {
        text += &note(&format!("install: {}", tested.install.join(", or ")));
    }
    tested.trials.iter().for_each(|trial| text += &self::trial(trial));
    text
}

fn style(outcome: SampleOutcome) -> clap::builder::styling::Style {
    match outcome {
        SampleOutcome::Passed => DONE,
        SampleOutcome::Failed => REJECTED,
        SampleOutcome::Unavailable | SampleOutcome::Untrusted | SampleOutcome::Untested => WARNING,
    }
}

/// Returns the name of an outcome for a person.
fn label(outcome: SampleOutcome) -> String {
    outcome.name().replace('_', " ")
}

fn note(text: &str) -> String {
    format!("    {}\n", visible_line(text))
}

/// Renders the number of runs; a sample may run in two disk states.
fn run_count(trials: &[Trial]) -> String {
    match trials.len() {
        0 => "no samples".to_owned(),
        count => counted(count, "run"),
    }
}

/// Renders a sample that differs: missing findings in red, unexpected ones in green.
fn trial(trial: &Trial) -> String {
    let title = format!("sample {}: {}{}", trial.number, trial.path, disk_state_note(trial.disk_state));
    match &trial.comparison {
        SampleComparison::Agrees => String::new(),
        SampleComparison::NoResult(why) => note(&title) + &note(&format!("  {why}")),
        SampleComparison::Differs(Mismatch { missing, unexpected }) => {
            let side = |style, text: String| format!("      {}\n", paint(style, visible_line(&text)));
            let missing =
                missing.iter().map(|expected| side(REMOVED, format!("- {}", expected_line(expected))));
            let unexpected = unexpected.iter().map(|found| side(ADDED, format!("+ {}", found_line(found))));
            note(&title) + &missing.chain(unexpected).collect::<String>()
        }
    }
}

fn disk_state_note(disk_state: Option<DiskState>) -> &'static str {
    match disk_state {
        None => "",
        Some(DiskState::Empty) => ", over a file",
        Some(DiskState::Missing) => ", as a new file",
    }
}

fn expected_line(expected: &Expected) -> String {
    let column = expected.column.map(|column| format!(":{column}")).unwrap_or_default();
    let severity = expected.severity.map(|severity| severity.name().to_owned());
    let parts = [severity, expected.code.clone(), expected.message.clone()];
    join_parts(&format!("{}{column}", expected.line), parts)
}

fn found_line(found: &Finding) -> String {
    let file = found.elsewhere.as_ref().map(|file| format!("{file}:")).unwrap_or_default();
    let parts = [Some(found.severity.name().to_owned()), found.code.clone(), Some(found.message.clone())];
    join_parts(&format!("{file}{}:{}", found.line, found.column), parts)
}

fn join_parts(place: &str, parts: [Option<String>; 3]) -> String {
    [Some(place.to_owned())].into_iter().chain(parts).flatten().collect::<Vec<_>>().join(" ")
}

pub(super) fn summary(results: &SampleResults) -> String {
    let all = &results.gates;
    let names_of = |outcome: SampleOutcome| {
        let names: Vec<String> = all
            .iter()
            .filter(|tested| tested.outcome() == outcome)
            .map(|tested| visible_line(&tested.name))
            .collect();
        if names.is_empty() { String::new() } else { format!("; {} {}", label(outcome), names.join(", ")) }
    };
    let passed = all.iter().filter(|tested| tested.outcome() == SampleOutcome::Passed).count();
    let rest = [
        SampleOutcome::Failed,
        SampleOutcome::Unavailable,
        SampleOutcome::Untrusted,
        SampleOutcome::Untested,
    ];
    let rest = rest.map(names_of).concat();
    let seconds = results.took.as_secs_f64();
    let text = format!("{passed} of {} gates passed in {seconds:.1} s{rest}\n{TESTED}", all.len());
    let (style, label) = match (results.is_success(), passed) {
        (false, _) => (REJECTED, "failed"),
        (true, 0) => (WARNING, "untested"),
        (true, _) => (DONE, "passed"),
    };
    format!("\n{}", labelled(style, label, text))
}

/// Renders the same content as JSON.
pub(super) fn json(results: &SampleResults) -> Value {
    let gate = |tested: &TestedGate| {
        json!({
            "name": tested.name,
            "outcome": tested.outcome().name(),
            "why": tested.not_run.as_ref().map(NotRun::why),
            "ms": tested.ms(),
            "samples": tested.trials.iter().map(sample).collect::<Vec<_>>(),
            "install_hints": tested.install,
        })
    };
    let gates: Vec<Value> = results.gates.iter().map(gate).collect();
    json!({ "passed": results.is_success(), "tested": TESTED, "gates": gates })
}

fn sample(trial: &Trial) -> Value {
    let (why, differs) = match &trial.comparison {
        SampleComparison::Agrees => (None, None),
        SampleComparison::Differs(mismatch) => (None, Some(mismatch)),
        SampleComparison::NoResult(why) => (Some(why), None),
    };
    let missing: Vec<String> = differs.iter().flat_map(|it| &it.missing).map(expected_line).collect();
    let unexpected: Vec<String> = differs.iter().flat_map(|it| &it.unexpected).map(found_line).collect();
    json!({
        "sample": trial.number,
        "path": trial.path,
        "over_a_file": trial.disk_state.map(|disk_state| disk_state == DiskState::Empty),
        "finds": trial.expected_count,
        "agrees": why.is_none() && differs.is_none(),
        "why": why,
        "missing": missing,
        "unexpected": unexpected,
        "ms": trial.ms,
    })
}
