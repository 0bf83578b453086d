//! `lockgate gates doctor`: tests if the gates work on this machine.
//!
//! A program works if it finds the mistake in its canary. It runs on the canary texts as it would on a draft, with
//! the isolation of the policy, in a temporary project with only the files of the gate's first passing sample.
//!
//! A gate of a policy that a person trusts, or that runs no code of the repository, must then give a result for one
//! file of the project as well. Without trust, no code or configuration of a repository is loaded.

mod checkup;
mod render;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

pub(super) use checkup::GateState;

use super::gate_list::{GateList, NotRun};
use super::install;
use super::parallel::parallel;
use crate::cli::output_format::OutputFormat;
use crate::cli::paint;
use crate::cli::verbosity::Verbosity;
use checkup::{Checkup, all_ok};
use lockgate_checks::{
    DiskState, Finding, InstalledProgram, Outcome, SampleError, Watch, canaries, run_sample, version,
};
use lockgate_engine::ProjectTrial;
use lockgate_error::Error;
use lockgate_policy::{Canary, CanaryKind, Gate, Input, Sample};

/// Reason for a program that finds nothing in its canary.
const FINDS_NOTHING: &str = "finds nothing in its canary (a text that must not pass)";
/// Reason for a program that finds only the text that does not parse.
const ONLY_PARSES: &str = "parses its canary, but misses the mistake that only its own analysis can find";

/// Tests the gates, prints the results, and returns true if all gates work that the policy or the caller names. If they
/// do, a quiet command prints nothing.
pub(super) fn run(
    gate_list: &GateList,
    names: &[String],
    format: OutputFormat,
    verbosity: Verbosity,
    watch: &Watch,
) -> Result<bool, Error> {
    let gates = gates_to_test(gate_list, names)?;
    let mut checkups = Vec::new();
    parallel(&gates, |gate| checkup(gate_list, gate, names, watch), |_, result| checkups.push(result));
    try_in_project(gate_list, &mut checkups, watch)?;
    match format {
        OutputFormat::Json => paint::print_json(&render::json(gate_list, &checkups))?,
        OutputFormat::Text if verbosity == Verbosity::Quiet && all_ok(&checkups) => {}
        OutputFormat::Text => paint::print(&render::text(gate_list, &checkups, names))?,
    }
    Ok(all_ok(&checkups))
}

/// Runs the working gates of the policy on files of the project, and corrects the states of those that fail.
fn try_in_project(gate_list: &GateList, checkups: &mut [Checkup], watch: &Watch) -> Result<(), Error> {
    let trusted =
        gate_list.root_policy.as_ref().is_some_and(|root_policy| root_policy.untrusted_reason.is_none());
    let Some(workspace) = gate_list.workspace.as_ref().filter(|_| trusted) else { return Ok(()) };
    let works = checkups.iter().filter(|checkup| checkup.is_enabled && checkup.state.is_ok());
    let names: Vec<&str> = works.map(|checkup| checkup.name.as_str()).collect();
    for trial in workspace.try_in_project(&names, watch)? {
        let Some(checkup) = checkups.iter_mut().find(|checkup| checkup.name == trial.run.gate) else {
            continue;
        };
        if let Some(state) = failed_state(&trial) {
            checkup.state = state;
        }
        checkup.ms += trial.run.ms;
        checkup.in_project = Some(trial);
    }
    Ok(())
}

/// Returns the state of a gate that gave no result for a file of the project.
fn failed_state(trial: &ProjectTrial) -> Option<GateState> {
    let why = || {
        let why = trial.run.why.as_deref().unwrap_or("gave no result");
        format!("{why} (on {} of this project)", trial.path)
    };
    match trial.run.outcome {
        // A program may skip the file that was chosen and check the others.
        Outcome::Passed | Outcome::Found | Outcome::Fixed | Outcome::Skipped => None,
        outcome @ (Outcome::Unavailable | Outcome::Broken | Outcome::TimedOut) => {
            Some(no_answer_state(SampleError { outcome, why: why() }))
        }
    }
}

/// Returns the gates to test: the named ones, or those of the policy and those whose programs are installed.
fn gates_to_test<'a>(gate_list: &'a GateList, names: &[String]) -> Result<Vec<&'a Arc<Gate>>, Error> {
    let names: BTreeSet<&str> =
        gate_list.find_all(names)?.into_iter().map(|gate| gate.name.as_str()).collect();
    let is_due = |gate: &&Arc<Gate>| {
        if names.is_empty() {
            gate.runs_program() && (gate_list.is_enabled(gate) || gate_list.program(gate).is_some())
        } else {
            names.contains(gate.name.as_str())
        }
    };
    Ok(gate_list.gates.iter().filter(is_due).collect())
}

/// Tests a gate. If the caller names gates, only those are tested.
fn checkup(gate_list: &GateList, gate: &Arc<Gate>, names: &[String], watch: &Watch) -> Checkup {
    let started = Instant::now();
    let (version, state) =
        if gate.runs_program() { examine(gate_list, gate, watch) } else { (None, GateState::Works) };
    Checkup {
        name: gate.name.clone(),
        is_required: !names.is_empty() || gate_list.is_enabled(gate),
        is_enabled: gate_list.is_enabled(gate),
        program: gate_list.program(gate).map(|program| program.program.display().to_string()),
        version,
        state,
        in_project: None,
        ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        install: if gate_list.program(gate).is_none() { install::hints(gate.install()) } else { Vec::new() },
    }
}

/// Returns the version of a gate's program and the state of the gate.
pub(super) fn examine(gate_list: &GateList, gate: &Arc<Gate>, watch: &Watch) -> (Option<String>, GateState) {
    let ready = match gate_list.runnable(gate) {
        Ok(ready) => ready,
        Err(NotRun::Unavailable(tried)) => return (None, GateState::Unavailable(tried)),
        Err(NotRun::Untrusted(why)) => return (None, GateState::Untrusted(why)),
    };
    let (version, failure) = match version(gate.probe(), ready.program, ready.search, watch) {
        Ok(version) => (version, None),
        Err(why) => (None, Some(why)),
    };
    match (test_canary(gate, &ready, watch), failure) {
        (GateState::Unproven, Some(why)) => (version, GateState::Broken(why)),
        (state, _) => (version, state),
    }
}

/// Runs the gate on each canary text, with each way in which it receives drafts.
fn test_canary(gate: &Arc<Gate>, ready: &InstalledProgram<'_>, watch: &Watch) -> GateState {
    let texts = canaries(gate);
    let Some(canary) = gate.canary.as_ref().filter(|_| !texts.is_empty()) else { return GateState::Unproven };
    let mut states = disk_states(gate).iter().map(|disk_state| {
        let run = |sample: &Sample| run_sample(gate, sample, ready, *disk_state, watch);
        test_canary_texts(canary, &texts, run)
    });
    states.find(|state| !matches!(state, GateState::Works)).unwrap_or(GateState::Works)
}

/// Runs the gate on the canary texts, in their order, until it finds one.
fn test_canary_texts(
    canary: &Canary,
    texts: &[(Sample, CanaryKind)],
    run: impl Fn(&Sample) -> Result<Vec<Finding>, SampleError>,
) -> GateState {
    let mut failure = None;
    for (sample, kind) in texts {
        let found = match run(sample) {
            Ok(found) => found,
            Err(error) if error.outcome == Outcome::Broken => {
                failure.get_or_insert(error.why);
                continue;
            }
            Err(error) => return no_answer_state(error),
        };
        let is_canary = |finding: &Finding| {
            let (code, message) = (finding.code.as_deref(), finding.message.as_str());
            finding.elsewhere.is_none() && canary.is_found_by(*kind, code, message)
        };
        if found.iter().any(is_canary) {
            return match kind {
                CanaryKind::Analysis => GateState::Works,
                CanaryKind::Reading => GateState::Broken(ONLY_PARSES.to_owned()),
            };
        }
    }
    GateState::Broken(failure.unwrap_or_else(|| match texts.len() {
        1 => FINDS_NOTHING.to_owned(),
        _ => {
            format!("{FINDS_NOTHING}; tried: a mistake behind a draft, the mistake alone, a text that does not parse")
        }
    }))
}

/// Returns the state for a gate that gave no result for its canary.
fn no_answer_state(SampleError { outcome, why }: SampleError) -> GateState {
    match outcome {
        Outcome::Skipped => GateState::Unconfigured(why),
        Outcome::Unavailable => GateState::Unavailable(why),
        Outcome::Passed | Outcome::Found | Outcome::Fixed | Outcome::Broken | Outcome::TimedOut => {
            GateState::Broken(why)
        }
    }
}

/// Returns the disk states to test; a gate that reads standard input needs only one.
pub(super) fn disk_states(gate: &Gate) -> &'static [DiskState] {
    match gate.command().map(|command| command.input) {
        Some(Input::Stdin) => &[DiskState::Empty],
        Some(Input::Shadow | Input::Staged) | None => &[DiskState::Empty, DiskState::Missing],
    }
}
