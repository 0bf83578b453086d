//! Renders the results of `lockgate gates test` as text and JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::{SampleOutcome, SampleReply, Tested, Trial};
use crate::front::cli::gates::gate_list::NotRun;
use crate::front::cli::paint::{ADDED, DONE, FAINT, LABEL, REFUSED, REMOVED, WARNING, labelled, paint};
use crate::front::cli::trust::shown::visible;
use crate::gate::{DiskState, Finding, Mismatch};
use crate::policy::Expected;

/// The scope of the test.
const TESTED: &str =
    "tested: the samples of each definition; not your files, nor your project's configuration";
/// Width of the longest outcome name, in characters.
const WIDEST: usize = 11;

/// Renders one gate with its problems; `width` is the width of the name.
pub(super) fn gate(tested: &Tested, width: usize) -> String {
    let outcome = tested.outcome();
    let name = paint(LABEL, format!("{:<width$}", visible(&tested.name)));
    let shown = paint(style(outcome), format!("{:<WIDEST$}", name_of(outcome)));
    let ms: u64 = tested.trials.iter().map(|trial| trial.ms).sum();
    let mut text = match &tested.held {
        None => {
            format!("{name}  {shown}  {}  {}\n", counted(&tested.trials), paint(FAINT, format!("{ms} ms")))
        }
        Some(_) => format!("{name}  {shown}\n"),
    };
    if let Some(held) = &tested.held {
        text += &note(held.why());
    }
    if outcome == SampleOutcome::Unavailable && !tested.install.is_empty() {
        text += &note(&format!("install: {}", tested.install.join(", or ")));
    }
    tested.trials.iter().for_each(|trial| text += &self::trial(trial));
    text
}

fn style(outcome: SampleOutcome) -> clap::builder::styling::Style {
    match outcome {
        SampleOutcome::Passed => DONE,
        SampleOutcome::Failed => REFUSED,
        SampleOutcome::Unavailable | SampleOutcome::Untrusted | SampleOutcome::Untested => WARNING,
    }
}

fn name_of(outcome: SampleOutcome) -> &'static str {
    match outcome {
        SampleOutcome::Passed => "passed",
        SampleOutcome::Failed => "failed",
        SampleOutcome::Unavailable => "unavailable",
        SampleOutcome::Untrusted => "needs trust",
        SampleOutcome::Untested => "untested",
    }
}

fn note(text: &str) -> String {
    format!("    {}\n", visible(text))
}

/// Renders the number of runs; a sample may run in two disk states.
fn counted(trials: &[Trial]) -> String {
    match trials.len() {
        0 => "no samples".to_owned(),
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    }
}

/// Renders a sample that differs: missing findings in red, unexpected ones in green.
fn trial(trial: &Trial) -> String {
    let title = format!("sample {}: {}{}", trial.number, trial.path, stands(trial.standing));
    match &trial.said {
        SampleReply::Agrees => String::new(),
        SampleReply::Nothing(why) => note(&title) + &note(&format!("  {why}")),
        SampleReply::Differs(Mismatch { missing, unexpected }) => {
            let side = |style, text: String| format!("      {}\n", paint(style, visible(&text)));
            let missing = missing.iter().map(|expected| side(REMOVED, format!("- {}", wanted(expected))));
            let unexpected = unexpected.iter().map(|found| side(ADDED, format!("+ {}", seen(found))));
            note(&title) + &missing.chain(unexpected).collect::<String>()
        }
    }
}

fn stands(standing: Option<DiskState>) -> &'static str {
    match standing {
        None => "",
        Some(DiskState::Empty) => ", over a file",
        Some(DiskState::Missing) => ", as a new file",
    }
}

fn wanted(expected: &Expected) -> String {
    let column = expected.column.map(|column| format!(":{column}")).unwrap_or_default();
    let severity = expected.severity.map(|severity| severity.name().to_owned());
    let parts = [severity, expected.code.clone(), expected.message.clone()];
    place(&format!("{}{column}", expected.line), parts)
}

fn seen(found: &Finding) -> String {
    let file = found.elsewhere.as_ref().map(|file| format!("{file}:")).unwrap_or_default();
    let parts = [Some(found.severity.name().to_owned()), found.code.clone(), Some(found.message.clone())];
    place(&format!("{file}{}:{}", found.line, found.column), parts)
}

fn place(place: &str, parts: [Option<String>; 3]) -> String {
    [Some(place.to_owned())].into_iter().chain(parts).flatten().collect::<Vec<_>>().join(" ")
}

pub(super) fn sum(all: &[Tested], well: bool, took: Duration) -> String {
    let named = |outcome: SampleOutcome| {
        let names: Vec<String> = all
            .iter()
            .filter(|tested| tested.outcome() == outcome)
            .map(|tested| visible(&tested.name))
            .collect();
        if names.is_empty() { String::new() } else { format!("; {} {}", name_of(outcome), names.join(", ")) }
    };
    let passed = all.iter().filter(|tested| tested.outcome() == SampleOutcome::Passed).count();
    let others = [
        SampleOutcome::Failed,
        SampleOutcome::Unavailable,
        SampleOutcome::Untrusted,
        SampleOutcome::Untested,
    ];
    let others = others.map(named).concat();
    let told =
        format!("{passed} of {} gates passed in {:.1} s{others}\n{TESTED}", all.len(), took.as_secs_f64());
    let (style, label) = match (well, passed) {
        (false, _) => (REFUSED, "failed"),
        (true, 0) => (WARNING, "untested"),
        (true, _) => (DONE, "passed"),
    };
    format!("\n{}", labelled(style, label, told))
}

/// Renders the same content as JSON.
pub(super) fn json(all: &[Tested], well: bool) -> Value {
    let gate = |tested: &Tested| {
        json!({
            "name": tested.name,
            "outcome": name_of(tested.outcome()).replace(' ', "_"),
            "why": tested.held.as_ref().map(NotRun::why),
            "ms": tested.trials.iter().map(|trial| trial.ms).sum::<u64>(),
            "samples": tested.trials.iter().map(sample).collect::<Vec<_>>(),
            "install_hints": tested.install,
        })
    };
    json!({ "passed": well, "tested": TESTED, "gates": all.iter().map(gate).collect::<Vec<_>>() })
}

fn sample(trial: &Trial) -> Value {
    let (agrees, why, missing, unexpected) = match &trial.said {
        SampleReply::Agrees => (true, None, Vec::new(), Vec::new()),
        SampleReply::Nothing(why) => (false, Some(why), Vec::new(), Vec::new()),
        SampleReply::Differs(Mismatch { missing, unexpected }) => {
            (false, None, missing.iter().map(wanted).collect(), unexpected.iter().map(seen).collect())
        }
    };
    json!({
        "sample": trial.number,
        "path": trial.path,
        "over_a_file": trial.standing.map(|standing| standing == DiskState::Empty),
        "finds": trial.finds,
        "agrees": agrees,
        "why": why,
        "missing": missing,
        "unexpected": unexpected,
        "ms": trial.ms,
    })
}
