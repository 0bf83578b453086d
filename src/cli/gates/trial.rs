//! Trials of gates that a new policy would name: the canary and the first passing sample of each gate.
//!
//! A gate passes if it finds the mistake in its canary and finds nothing in the sample. Both lie in a temporary
//! project of the gate's own samples, so no program gets a file of the project.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::doctor::{GateState, disk_states, examine};
use super::gate_list::GateList;
use super::install;
use super::parallel::parallel;
use lockgate_checks::{DiskState, Watch, mismatch, run_sample};
use lockgate_policy::Gate;

/// Time limit for all trials of a command together.
pub(in crate::cli) const LIMIT: Duration = Duration::from_secs(60);

/// The failure of a gate's trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct TrialError {
    pub(in crate::cli) why: String,
    /// The next step for a person.
    pub(in crate::cli) next_step: String,
}

/// Tries the gates in parallel and returns their results in the same order. A gate fails if its trial has not ended
/// within `limit`, counted from the start of all trials.
pub(in crate::cli) fn trials(
    gate_list: &GateList,
    gates: &[Arc<Gate>],
    limit: Duration,
    watch: &Watch,
) -> Vec<Result<(), TrialError>> {
    let end = Instant::now() + limit;
    let watch = watch.with_end(end);
    let mut results = Vec::new();
    let try_one = |gate: &Arc<Gate>| {
        let is_over = || Instant::now() >= end;
        if is_over() {
            return Err(timed_out(gate, limit));
        }
        trial(gate_list, gate, &watch)
            .map_err(|failure| if is_over() { timed_out(gate, limit) } else { failure })
    };
    parallel(gates, try_one, |_, result| results.push(result));
    results
}

fn trial(gate_list: &GateList, gate: &Arc<Gate>, watch: &Watch) -> Result<(), TrialError> {
    let (version, state) = examine(gate_list, gate, watch);
    let details = next_step(gate, version.as_deref());
    let (why, next_step) = match state {
        GateState::Works | GateState::Unproven => match passes_good_sample(gate_list, gate, watch) {
            Ok(()) => return Ok(()),
            Err(why) => (why, details),
        },
        GateState::Broken(why) => (why, details),
        // The program exists, so something else is missing: a sandbox, a language server, or a dependency.
        GateState::Unavailable(why) => {
            (why, format!("`lockgate gates show {}` says what it needs", gate.name))
        }
        GateState::Untrusted(why) => (why, "`lockgate init --trust` tries it".to_owned()),
        GateState::Unconfigured(why) => (why, format!("add a configuration of {} to the project", gate.name)),
    };
    Err(TrialError { why, next_step })
}

/// Runs the gate on its first sample without findings.
///
/// Errors: the unexpected finding, or the reason why the gate gave no result.
fn passes_good_sample(gate_list: &GateList, gate: &Arc<Gate>, watch: &Watch) -> Result<(), String> {
    let Some(sample) = gate.samples.iter().find(|sample| sample.finds.is_empty()) else { return Ok(()) };
    let ready = gate_list.runnable(gate).map_err(|not_run| not_run.why().to_owned())?;
    let disk_state = disk_states(gate).first().copied().unwrap_or(DiskState::Empty);
    let found = run_sample(gate, sample, &ready, disk_state, watch).map_err(|error| error.why)?;
    match mismatch(sample, &found).and_then(|mismatch| mismatch.unexpected.into_iter().next()) {
        None => Ok(()),
        Some(finding) => Err(format!("reports a finding in its passing sample: {}", finding.message)),
    }
}

fn timed_out(gate: &Gate, limit: Duration) -> TrialError {
    TrialError {
        why: format!("its trial had not ended after {} s, the limit of all trials", limit.as_secs_f64()),
        next_step: format!("`lockgate gates doctor {}` tries it without this limit", gate.name),
    }
}

/// Returns the next step: where to find details, and which versions to compare.
fn next_step(gate: &Gate, version: Option<&str>) -> String {
    let name = &gate.name;
    let mut next = format!("`lockgate gates test {name}` shows more");
    let recorded = gate.recorded.as_deref().map(|recorded| format!("; its definition is for {recorded}"));
    next += &recorded.unwrap_or_default();
    next += &version.map(|version| format!(", this is {version}")).unwrap_or_default();
    let install = install::hints(gate.install()).into_iter().next();
    next + &install.map(|install| format!("; another version: {install}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::cli::gates::gate_list::InsidePrograms;
    use lockgate_engine::Workspace;
    use lockgate_policy::Catalogue;

    /// A project with its own yamllint, a shell script, tried within the limit.
    fn try_script(script: &str, inside: InsidePrograms, limit: Duration) -> Result<(), TrialError> {
        let folder = tempfile::tempdir().unwrap();
        let [root, own] = ["root", "own"].map(|name| folder.path().join(name));
        let bin = root.join(".venv/bin");
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("yamllint");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let workspace = Workspace::at(&[root]).with_state_dir(&own).open().unwrap();
        let gate_list = GateList::before_policy(&workspace, inside);
        let gate = Catalogue::embedded().find("yamllint").unwrap();
        trials(&gate_list, &[Arc::clone(gate)], limit, &Watch::idle()).pop().unwrap()
    }

    /// Finds the canary as yamllint would.
    const WORKS: &str = "while read -r line; do case $line in *lockgate_canary*) echo 'stdin:1:1: [error] x (colons)'; exit 1;; esac; done";

    #[test]
    fn a_trial_ends_at_the_limit() {
        let limit = Duration::from_millis(1500);
        let started = Instant::now();
        let failure = try_script("exec /bin/sleep 600", InsidePrograms::Allowed, limit).unwrap_err();
        assert!(failure.why.contains("had not ended after 1.5 s"), "{failure:?}");
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
        // The control: within the same command, one that answers at once passes, given the time that it needs.
        assert_eq!(try_script(WORKS, InsidePrograms::Allowed, LIMIT), Ok(()));
    }

    #[test]
    fn a_program_of_the_project_is_tried_only_where_a_person_allows_it() {
        let failure = try_script(WORKS, InsidePrograms::Denied, LIMIT).unwrap_err();
        assert!(failure.why.ends_with("lies in the project, so it was not run"), "{failure:?}");
        assert_eq!(failure.next_step, "`lockgate init --trust` tries it");
        assert_eq!(try_script(WORKS, InsidePrograms::Allowed, LIMIT), Ok(()));
    }

    #[test]
    fn a_tool_passes_that_finds_its_canary_and_leaves_its_good_sample_alone() {
        for (script, why) in [
            (WORKS, None),
            ("while read -r line; do :; done", Some("finds nothing in its canary")),
            ("exit 3", Some("ended with exit code 3")),
            (
                "while read -r line; do :; done; echo 'stdin:1:1: [error] x (colons)'; exit 1",
                Some("reports a finding in its passing sample: x"),
            ),
        ] {
            let why_not = try_script(script, InsidePrograms::Allowed, LIMIT).err().map(|failure| failure.why);
            match (why, &why_not) {
                (None, None) => {}
                (Some(why), Some(message)) => assert!(message.contains(why), "{message}"),
                _ => panic!("{script}: {why_not:?}"),
            }
        }
    }
}
