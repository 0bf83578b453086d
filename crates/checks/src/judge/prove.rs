//! Proves with a canary, a text that must not pass, that a gate's program looked at the drafts that it calls clean.

use std::collections::{BTreeMap, BTreeSet};

use super::program::GateProgram;
use crate::canary_samples::canaries;
use crate::command::{DiskState, InstalledProgram, run_sample_within};
use crate::draft::Draft;
use crate::error::GateError;
use crate::output::ToolFinding;
use crate::path::file_name;
use crate::runtime::{ProgramKind, Proof, Subject, Traits};
use lockgate_policy::{CacheScope, Canary, CanaryKind, CanaryText, Sample, Severity};
use lockgate_text::{Buffer, Hints, Version};

/// The message for a program that finds nothing in its canary.
const BLIND: &str = "finds nothing in its canary (a text that must not pass)";
/// The note for a program that may not have reached a file.
const HIDDEN: &str = "the project fails in other files, so this one may not have been checked";
/// The message for a program that reads the file but does not check it.
const OFF: &str =
    "reads the file, but what it checks for is disabled there, by its configuration or a comment";

/// The message for a program whose canary cannot take the place of the draft.
const OWN_CONFIGURATION: &str =
    "the file has the name of the tool's own configuration, in which its canary cannot be tried";

/// The note to show with the findings of a program whose answer about a draft counts: [`HIDDEN`], if it found errors in other
/// files, which may have kept it from this one.
pub(super) type ProofNote = Option<&'static str>;

/// The result of a canary for one draft, with a finding in another file if there is one; or the reason that
/// there is no result.
type CanaryResult = Result<(Proof, Option<String>), GateError>;

/// Verifies that the program looked at the drafts with the indices `left`, which it calls clean; returns
/// a result for each draft.
pub(super) fn prove(
    program: &GateProgram<'_>,
    found: &[Vec<ToolFinding>],
    left: BTreeSet<usize>,
) -> Vec<Result<ProofNote, GateError>> {
    let mut proven: Vec<Result<ProofNote, GateError>> = program.drafts.iter().map(|_| Ok(None)).collect();
    let Some(canary) = program.rule.gate.canary.as_ref().filter(|_| !left.is_empty()) else { return proven };
    for (at, result) in prove_left(program, canary, found, left) {
        let result = match result {
            Err(GateError::Broken(_)) if is_own_configuration(program, at) => {
                Err(GateError::LeftOut(OWN_CONFIGURATION.to_owned()))
            }
            other => other,
        };
        if let Some(place) = proven.get_mut(at) {
            *place = result;
        }
    }
    proven
}

/// Returns the results for the drafts with the indices `left`: from known proofs, or else from the canary.
fn prove_left(
    program: &GateProgram<'_>,
    canary: &Canary,
    found: &[Vec<ToolFinding>],
    mut left: BTreeSet<usize>,
) -> Vec<(usize, Result<ProofNote, GateError>)> {
    let mut results = Vec::new();
    let proofs = &program.env.runtime.proofs;
    let traits = traits(program);
    let subject = |at: usize| Some((at, subject(program, at, &traits)?));
    let (places, subjects): (Vec<usize>, Vec<Subject<'_>>) = left.iter().copied().filter_map(subject).unzip();
    for (at, proof) in places.into_iter().zip(proofs.proof(&subjects)) {
        if let Some(proof) = proof {
            results.push((at, into_result(proof, None)));
            left.remove(&at);
        }
    }
    let (mut tested, mut works) = (Vec::new(), None);
    for (at, result) in try_canary(program, canary, found, left) {
        let (proof, elsewhere) = match result {
            Ok(result) => result,
            Err(error) => {
                results.push((at, Err(error.with_context("its canary"))));
                continue;
            }
        };
        // Errors that hid the mistake of the canary hid the draft as well.
        let may_hide = proof == Proof::Blind || (proof == Proof::Off && elsewhere.is_some());
        if may_hide && fails_elsewhere(found, at) {
            results.push((at, Ok(Some(HIDDEN))));
            continue;
        }
        // A mistake that shows nothing after this draft may show something after another one.
        let lasts = proof == Proof::Works || canary.append.is_none();
        if let (Some((_, subject)), true) = (subject(at), lasts) {
            tested.push((subject, proof));
        }
        let mut works = || *works.get_or_insert_with(|| works_on_its_sample(program, canary));
        let result = match (proof, elsewhere, &canary.unreached) {
            (Proof::Blind, None, Some(why)) if works() => {
                Err(GateError::Unready(format!("does not look at this file: {why}")))
            }
            (Proof::Off, None, _) if adds_switch(program, canary, at) => Err(GateError::SwitchedOff),
            (proof, elsewhere, _) => into_result(proof, elsewhere),
        };
        results.push((at, result));
    }
    proofs.keep(&tested);
    results
}

/// True if the draft at this index has the name of a configuration file of the program.
fn is_own_configuration(program: &GateProgram<'_>, at: usize) -> bool {
    let Some(draft) = program.drafts.get(at) else { return false };
    let name = file_name(draft.path);
    program.rule.gate.command().is_some_and(|command| command.config.iter().any(|file| file.name == name))
}

/// True if the edit changes the comments at the beginning of the draft at this index, which may switch the program off.
fn adds_switch(program: &GateProgram<'_>, canary: &Canary, at: usize) -> bool {
    let draft = program.drafts.get(at);
    draft.is_some_and(|draft| canary.changes_prefix(draft.before.map(Buffer::view), draft.after.view()))
}

/// Returns the traits of the drafts and the files around them that may make the program skip one of them.
fn traits(program: &GateProgram<'_>) -> Traits {
    let own = program.drafts.iter().map(|draft| (draft.path, Some(draft.after.view())));
    let overlays = program.context.overlays.iter().map(|other| (other.path, other.text.map(Buffer::view)));
    let drafts: Vec<(&str, Option<&str>)> = own.chain(overlays).collect();
    let scope = match program.tool.program.kind {
        ProgramKind::Command(command) => command.scope,
        // A server is a new process each time, which must be tried.
        ProgramKind::Server(_) => CacheScope::File,
    };
    Traits::new(&program.rule.gate, program.env.root, scope, &drafts)
}

/// Returns the subject of a proof for the draft at this index.
fn subject<'s>(program: &'s GateProgram<'_>, at: usize, traits: &'s Traits) -> Option<Subject<'s>> {
    let (cache_key, draft) = (program.cache_key.as_ref()?, program.drafts.get(at)?);
    let run =
        (program.env.runtime.isolation().name(), program.tool.search, lockgate_sandbox::temporary_folder());
    let key = Version::of_value(&(cache_key.of_file(at)?.bytes(), run));
    Some(Subject { key, root: program.env.root, traits, path: draft.path })
}

/// Tries the texts of the canary on the drafts at these indices, one kind of text after another; one run
/// has those of all.
fn try_canary(
    program: &GateProgram<'_>,
    canary: &Canary,
    found: &[Vec<ToolFinding>],
    mut left: BTreeSet<usize>,
) -> BTreeMap<usize, CanaryResult> {
    let attempts: Vec<Vec<CanaryText>> =
        program.drafts.iter().map(|draft| canary.attempts(draft.after.view())).collect();
    let kinds = attempts.iter().map(Vec::len).max().unwrap_or_default();
    let mut results = BTreeMap::new();
    let (mut elsewhere, mut broken) = (BTreeMap::new(), None);
    for kind in 0..kinds {
        let texts: Vec<Option<&CanaryText>> = attempts.iter().map(|attempts| attempts.get(kind)).collect();
        // The canary of one file can hide that of another: those that were found are removed, and the
        // rest is tried again.
        while !left.is_empty() {
            let found_in_canary = match run_canaries(program, &texts, &left) {
                Ok(found_in_canary) => found_in_canary,
                Err(GateError::Broken(why)) => {
                    broken.get_or_insert(GateError::Broken(why));
                    break;
                }
                Err(other) => {
                    results.extend(left.into_iter().map(|at| (at, Err(other.clone()))));
                    return results;
                }
            };
            let detected = |at: &usize| {
                let canary_kind = texts.get(*at).copied().flatten()?.kind;
                is_shown(canary, canary_kind, &own_findings(&found_in_canary, *at), &own_findings(found, *at))
                    .then_some((*at, canary_kind))
            };
            let detected: Vec<(usize, CanaryKind)> = left.iter().filter_map(detected).collect();
            if detected.is_empty() {
                for at in &left {
                    if let Some(other) = finding_elsewhere(program, &found_in_canary, *at) {
                        elsewhere.entry(*at).or_insert(other);
                    }
                }
                break;
            }
            for (at, canary_kind) in detected {
                left.remove(&at);
                let detected = match canary_kind {
                    CanaryKind::Analysis => (Proof::Works, None),
                    CanaryKind::Reading => (Proof::Off, elsewhere.remove(&at)),
                };
                results.insert(at, Ok(detected));
            }
        }
    }
    for at in left {
        let blind = Ok((Proof::Blind, elsewhere.remove(&at)));
        results.insert(at, broken.clone().map_or(blind, Err));
    }
    results
}

/// True if the program finds the mistake of its canary in the project of its own sample. Then it works, and a file
/// of this project in which it finds none is not part of what it checks.
fn works_on_its_sample(program: &GateProgram<'_>, canary: &Canary) -> bool {
    let cache = program.env.cache.map(|cache| cache.join("canary"));
    let (search, isolation) = (program.tool.search, program.env.isolation);
    let installed =
        InstalledProgram { program: program.tool.program.path, search, cache: cache.as_deref(), isolation };
    let gate = &program.rule.gate;
    let limit = program.limit.with_timeout(program.rule.timeout);
    let detects = |(sample, kind): (Sample, CanaryKind)| {
        let found = run_sample_within(gate, &sample, &installed, DiskState::Empty, limit).unwrap_or_default();
        found.iter().any(|finding| canary.is_found_by(kind, finding.code.as_deref(), &finding.message))
    };
    let mut samples = canaries(gate).into_iter();
    samples
        .next()
        .is_some_and(|first| program.timed(|| Ok::<bool, GateError>(detects(first))).unwrap_or_default())
}

/// Returns the findings with the drafts at these indices replaced by texts of their canary.
fn run_canaries(
    program: &GateProgram<'_>,
    texts: &[Option<&CanaryText>],
    places: &BTreeSet<usize>,
) -> Result<Vec<Vec<ToolFinding>>, GateError> {
    let canaries = texts.iter().enumerate().map(|(at, attempt)| {
        let Some(attempt) = attempt.filter(|_| places.contains(&at)) else { return Ok(None) };
        let text = Buffer::read(attempt.text.clone().into_bytes(), Hints::default());
        text.map(Some).map_err(|error| GateError::Broken(error.message))
    });
    let canaries = canaries.collect::<Result<Vec<_>, GateError>>()?;
    let texts: Vec<Option<&Buffer>> = program
        .drafts
        .iter()
        .zip(&canaries)
        .map(|(draft, canary)| Some(canary.as_ref().unwrap_or(draft.after)))
        .collect();
    program.ask_program(&texts, program.context.overlays)
}

/// Returns a finding in another file than the draft at this index: in one that it was not asked to check,
/// or an error in another draft.
fn finding_elsewhere(program: &GateProgram<'_>, found: &[Vec<ToolFinding>], at: usize) -> Option<String> {
    let describe =
        |file: &str, finding: &ToolFinding| format!("{file}:{}: {}", finding.line, finding.message);
    let mut all = found.iter().flatten();
    let other = all.find_map(|finding| Some(describe(finding.elsewhere.as_deref()?, finding)));
    let in_draft = |(place, (draft, findings)): (usize, (&Draft<'_>, &Vec<ToolFinding>))| {
        let error = findings.iter().find(|finding| is_error(finding)).filter(|_| place != at)?;
        Some(describe(draft.path, error))
    };
    other.or_else(|| program.drafts.iter().zip(found).enumerate().find_map(in_draft))
}

/// True if the findings in a canary include the mistake that was put there. Findings that are the same in
/// every text are those of the file on disk.
fn is_shown(
    canary: &Canary,
    kind: CanaryKind,
    in_canary: &[&ToolFinding],
    in_draft: &[&ToolFinding],
) -> bool {
    let shows_it = |finding: &&ToolFinding| {
        canary.is_found_by(kind, finding.code.as_deref(), &finding.message)
            && (canary.append.is_none() || !in_draft.contains(finding))
    };
    in_canary != in_draft && in_canary.iter().any(shows_it)
}

/// Returns the findings in the text itself: those in other files do not show that the program looked at this
/// one.
fn own_findings(found: &[Vec<ToolFinding>], at: usize) -> Vec<&ToolFinding> {
    found.get(at).into_iter().flatten().filter(|finding| finding.elsewhere.is_none()).collect()
}

/// True if the program found errors in other files than this one.
fn fails_elsewhere(found: &[Vec<ToolFinding>], at: usize) -> bool {
    let other = |(place, findings): (usize, &Vec<ToolFinding>)| {
        findings.iter().any(|finding| is_error(finding) && (place != at || finding.elsewhere.is_some()))
    };
    found.iter().enumerate().any(other)
}

fn is_error(finding: &ToolFinding) -> bool {
    finding.severity == Severity::Error
}

/// Converts a proof into a result; `elsewhere` is a finding in another file, if there was none in this one.
fn into_result(proof: Proof, elsewhere: Option<String>) -> Result<ProofNote, GateError> {
    match (proof, elsewhere) {
        (Proof::Works, _) => Ok(None),
        (Proof::Off, None) => Err(GateError::LeftOut(OFF.to_owned())),
        (Proof::Blind, None) => Err(GateError::Broken(BLIND.to_owned())),
        (Proof::Off | Proof::Blind, Some(other)) => {
            Err(GateError::Broken(format!("{BLIND}, but in another file: {other}")))
        }
    }
}
