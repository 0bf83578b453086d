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
use lockgate_policy::{
    CanaryKind, CanaryText, EffectiveRules, Gate, Language, Languages, Rule, Sample, language_named,
    language_of,
};
use lockgate_sandbox::Isolation;
use lockgate_sandbox::Watch;
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

/// Returns the texts of a gate's canary in the order in which they are tried, each with the meaning of a
/// finding in it. They are set in the project of the gate's first good sample, which contains the program's
/// configuration. Empty if the gate has no canary, or no path to put it at.
pub fn canaries(gate: &Gate) -> Vec<(Sample, CanaryKind)> {
    let good = gate.samples.iter().find(|sample| sample.finds.is_empty());
    let path = match (good, &gate.languages) {
        (Some(good), _) => Some(good.path.clone()),
        (None, Languages::Every) => Some("canary.txt".to_owned()),
        (None, Languages::Only(names)) => {
            names.first().and_then(|name| language_named(name)).map(Language::example)
        }
    };
    let (Some(canary), Some(path)) = (&gate.canary, path) else { return Vec::new() };
    let sample = |CanaryText { text, kind: shows }: CanaryText| {
        let sample = Sample {
            path: path.clone(),
            draft: text,
            before: None,
            siblings: Vec::new(),
            with: good.map(|good| good.with.clone()).unwrap_or_default(),
            output: None,
            errors: String::new(),
            exit: 0,
            finds: Vec::new(),
        };
        (sample, shows)
    };
    canary.attempts(good.map_or("", |good| &good.draft)).into_iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_policy::Catalogue;

    #[test]
    fn every_canary_of_the_catalogue_lies_where_its_gate_looks() {
        let gates = Catalogue::embedded().gates().iter();
        let all = gates.flat_map(|gate| canaries(gate).into_iter().map(move |(sample, _)| (gate, sample)));
        let all: Vec<_> = all.collect();
        assert!(all.len() > 10, "{}", all.len());
        for (gate, sample) in all {
            assert!(gate.covers(language_of(&sample.path, None)), "{}: {}", gate.name, sample.path);
            let passed_over = gate.command().is_some_and(|command| command.files.excludes(&sample.path));
            assert!(!passed_over, "{}: {}", gate.name, sample.path);
        }
    }
}
