//! `lockgate gates test`: runs each gate on its own samples.
//!
//! A sample lists the expected findings of its gate. lockgate's own tests verify them with recorded outputs; this
//! command runs the installed programs.

mod render;
mod results;

use std::sync::Arc;
use std::time::Instant;

pub(super) use results::RequiredGates;

use super::doctor::disk_states;
use super::gate_list::{GateList, NotRun};
use super::install;
use super::parallel::parallel;
use crate::cli::output_format::OutputFormat;
use crate::cli::paint;
use crate::cli::verbosity::Verbosity;
use lockgate_checks::{
    DiskState, Finding, InstalledProgram, Outcome as GateOutcome, Watch, mismatch, run_sample,
    run_sample_in_process,
};
use lockgate_error::Error;
use lockgate_policy::{Gate, Sample};
use results::{SampleComparison, SampleOutcome, SampleResults, TestedGate, Trial};

/// Tests the gates, prints each result when it is ready, and returns true on success. A quiet command prints the gates
/// that failed, and the summary if the command fails.
pub(super) fn run(
    gate_list: &GateList,
    names: &[String],
    required: RequiredGates,
    format: OutputFormat,
    verbosity: Verbosity,
    watch: &Watch,
) -> Result<bool, Error> {
    let gates =
        if names.is_empty() { gate_list.gates.iter().collect() } else { gate_list.find_all(names)? };
    let started = Instant::now();
    let width = gates.iter().map(|gate| gate.name.chars().count()).max().unwrap_or_default();
    let (mut all, mut written) = (Vec::new(), Ok(()));
    parallel(
        &gates,
        |gate| test_gate(gate_list, gate, watch),
        |_, tested| {
            let is_shown = verbosity != Verbosity::Quiet || tested.outcome() == SampleOutcome::Failed;
            if format == OutputFormat::Text && is_shown && written.is_ok() {
                written = paint::print(&render::gate(&tested, width));
            }
            all.push(tested);
        },
    );
    written?;
    let results = SampleResults { gates: all, required, took: started.elapsed() };
    match format {
        OutputFormat::Json => paint::print_json(&render::json(&results))?,
        OutputFormat::Text if verbosity == Verbosity::Quiet && results.is_success() => {}
        OutputFormat::Text => paint::print(&render::summary(&results))?,
    }
    Ok(results.is_success())
}

fn test_gate(gate_list: &GateList, gate: &Arc<Gate>, watch: &Watch) -> TestedGate {
    let name = gate.name.clone();
    let mut tested = TestedGate { name, trials: Vec::new(), not_run: None, install: Vec::new() };
    if !gate.runs_program() {
        tested.trials = test_in_process(gate);
        return tested;
    }
    match gate_list.runnable(gate) {
        // The program exists, so no install hint is needed even if it cannot run.
        Ok(ready) => match test_program(gate, disk_states(gate), &ready, watch) {
            Ok(trials) => tested.trials = trials,
            Err(why) => tested.not_run = Some(NotRun::Unavailable(why)),
        },
        Err(not_run) => {
            tested.not_run = Some(not_run);
            tested.install = install::hints(gate.install());
        }
    }
    tested
}

fn test_in_process(gate: &Arc<Gate>) -> Vec<Trial> {
    let samples = gate.samples.iter().enumerate();
    let run = |(at, sample): (usize, &Sample)| {
        let started = Instant::now();
        trial(at, sample, None, started, run_sample_in_process(gate, sample))
    };
    samples.map(run).collect()
}

/// Runs a program on the samples, with each way in which it receives drafts. Stops after a run that reaches the time limit,
/// because each further run could take as long.
///
/// Errors: the reason why it cannot run at all.
fn test_program(
    gate: &Arc<Gate>,
    states: &[DiskState],
    ready: &InstalledProgram<'_>,
    watch: &Watch,
) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for (at, sample) in gate.samples.iter().enumerate() {
        for disk_state in states {
            let started = Instant::now();
            let found = match run_sample(gate, sample, ready, *disk_state, watch) {
                Err(error) if error.outcome == GateOutcome::Unavailable => return Err(error.why),
                found => found,
            };
            let is_late = found.as_ref().is_err_and(|error| error.outcome == GateOutcome::TimedOut);
            let found = found.map_err(|error| error.to_string());
            trials.push(trial(at, sample, Some(*disk_state), started, found));
            if is_late {
                return Ok(trials);
            }
        }
    }
    Ok(trials)
}

/// Returns the result of a sample whose run began at this time.
fn trial(
    at: usize,
    sample: &Sample,
    disk_state: Option<DiskState>,
    started: Instant,
    found: Result<Vec<Finding>, String>,
) -> Trial {
    Trial {
        number: at + 1,
        path: sample.path.clone(),
        disk_state,
        expected_count: sample.finds.len(),
        comparison: match found {
            Ok(found) => mismatch(sample, &found).map_or(SampleComparison::Agrees, SampleComparison::Differs),
            Err(why) => SampleComparison::NoResult(why),
        },
        ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;
    use lockgate_checks::Isolation;
    use lockgate_policy::Catalogue;

    /// Returns the number of runs of yamllint's samples with this shell script as the program, within the limit.
    fn run_count(script: &str, limit: Duration) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("yamllint");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let ready = InstalledProgram {
            program: &program,
            search: OsStr::new("/usr/bin:/bin"),
            cache: None,
            isolation: Isolation::None,
        };
        let gate = Catalogue::embedded().find("yamllint").unwrap();
        let watch = Watch::idle().with_end(Instant::now() + limit);
        test_program(gate, disk_states(gate), &ready, &watch).unwrap().len()
    }

    #[test]
    fn a_gate_that_reaches_its_time_limit_is_not_run_again() {
        assert_eq!(run_count("exec /bin/sleep 600", Duration::from_millis(200)), 1);
        // The control: a gate that only fails runs on each of its samples.
        let count = Catalogue::embedded().find("yamllint").unwrap().samples.len();
        assert!(count > 1);
        assert_eq!(run_count("exit 3", Duration::from_secs(60)), count);
    }
}
