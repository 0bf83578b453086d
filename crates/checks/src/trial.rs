//! Tests a gate on this machine: runs its samples and canaries, and asks its program for the version.
//!
//! Invariant: a program is given only texts of its own definition, in a folder of its own.

use std::path::Path;
use std::sync::Arc;

use super::draft::{Draft, InputLocation};
use super::finding::Finding;
use super::gate_env::{ExecPermission, GateEnv};
use super::judge::judge;
use super::runtime::GateRuntime;
use super::verdict::{Outcome, Verdict};
use lockgate_policy::{EffectiveRules, Gate, Rule, Sample, language_of};
use lockgate_sandbox::{Isolation, Watch};
use lockgate_text::{Buffer, Hints};

/// Runs an in-process gate on a sample, as a new file or as an edit of the text before. Only the neighbours
/// that the sample names exist.
///
/// Errors: the reason that the gate gave no findings.
pub fn run_sample_in_process(gate: &Arc<Gate>, sample: &Sample) -> Result<Vec<Finding>, String> {
    let read =
        |text: &str| Buffer::read(text.as_bytes().to_vec(), Hints::default()).map_err(|error| error.message);
    let after = read(&sample.draft)?;
    let before = sample.before.as_deref().map(read).transpose()?;
    let empty = read("")?;
    let old = before.as_ref().unwrap_or(&empty);
    let plan = old.rewrite(&sample.draft).map_err(|error| error.message)?;
    let draft = Draft {
        path: &sample.path,
        language: language_of(&sample.path, sample.draft.lines().next()),
        before: before.as_ref(),
        after: &after,
        map: &plan.line_map(old, &after),
        input_location: InputLocation::of_file(before.as_ref()),
        files_exist: &|path: &str| sample.siblings.iter().any(|known| known == path),
    };
    let rule = Rule::plain(Arc::clone(gate));
    let effective_rules = EffectiveRules::new(&rule, rule.timeout);
    let (permission, runtime) =
        (ExecPermission::Untrusted("it runs a program".to_owned()), GateRuntime::default());
    let env = GateEnv {
        root: Path::new("/"),
        exec_permission: &permission,
        runtime: &runtime,
        isolation: Isolation::None,
        cache: None,
    };
    into_findings(judge(&draft, &effective_rules, &env, &Watch::idle()))
}

/// Returns the findings of the only gate in a verdict.
fn into_findings(verdict: Verdict) -> Result<Vec<Finding>, String> {
    match verdict.runs.as_slice() {
        [run] if matches!(run.outcome, Outcome::Passed | Outcome::Found) => Ok(verdict.findings),
        [run] => Err(format!("{}: {}", run.outcome.name(), run.why.as_deref().unwrap_or_default())),
        _ => Err("the gate did not run".to_owned()),
    }
}
