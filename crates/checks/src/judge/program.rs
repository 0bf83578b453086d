//! A gate's program, ready to check the texts of one file, or of all files of a call that share a run.
//!
//! Invariant: a program runs only while it holds a slot, and an answer is cached only if the program gave
//! one.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::plan::{External, ProgramMode};
use crate::canary_samples::canaries;
use crate::command::{self, DiskState, InstalledProgram, ProgramInput, run_sample_within};
use crate::draft::{Draft, InputLocation};
use crate::error::GateError;
use crate::gate_env::GateEnv;
use crate::output::ToolFinding;
use crate::overlay::{self, DraftOverlay, DraftOverlays};
use crate::packages;
use crate::runtime::{ANSWER_LIFETIME, CacheInputs, CacheKey, CachedFindings, Proof, Subject, Traits};
use crate::server;
use lockgate_policy::{CacheScope, Canary, CanaryKind, CanaryText, CommandSpec, Rule, Sample, Severity};
use lockgate_sandbox::Isolation;
use lockgate_sandbox::{Halt, Limit};
use lockgate_text::{Buffer, Hints, Version};

/// The message for a program that finds nothing in its canary.
const BLIND: &str = "finds nothing in its canary (a text that must not pass)";
/// The note for a program that may not have reached a file.
const HIDDEN: &str = "the project fails in other files, so this one may not have been checked";
/// The message for a program that reads the file but does not check it.
const OFF: &str =
    "reads the file, but what it checks for is disabled there, by its configuration or a comment";

/// The proof that a program's answer about a draft counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proven {
    /// The program found something in the draft or in its canary, or has no canary.
    Works,
    /// The program found errors in other files, which may have kept it from this one.
    Hidden,
}

impl Proven {
    /// Returns the note to show with the findings.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Proven::Works => None,
            Proven::Hidden => Some(HIDDEN),
        }
    }
}

/// A gate's program, with the drafts that it checks.
pub(super) struct GateProgram<'a> {
    rule: &'a Rule,
    tool: External<'a>,
    /// The drafts that one run checks.
    drafts: Vec<Draft<'a>>,
    env: &'a GateEnv<'a>,
    overlays: DraftOverlays<'a>,
    /// The texts before the edit of the other drafts, if they are not on disk.
    text_before: DraftOverlays<'a>,
    limit: Limit<'a>,
    /// The time limit of all gates together.
    total: Duration,
    cache_key: Option<CacheKey<'a>>,
    ran: Cell<Duration>,
}

/// The other drafts that a program sees.
#[derive(Clone, Copy)]
pub(super) struct ProgramContext<'a> {
    /// The other drafts of the call.
    pub(super) overlays: DraftOverlays<'a>,
    /// The texts before the edit of those drafts, if they are not on disk.
    pub(super) text_before: DraftOverlays<'a>,
}

/// The result of a canary for one draft, with a finding in another file if there is one; or the reason that
/// there is no result.
type CanaryResult = Result<(Proof, Option<String>), GateError>;

impl<'a> GateProgram<'a> {
    /// Prepares a program for these drafts. `limit` is that of all gates together, and `total` its length.
    pub(super) fn new(
        rule: &'a Rule,
        tool: External<'a>,
        drafts: &[Draft<'a>],
        env: &'a GateEnv<'a>,
        context: ProgramContext<'a>,
        (limit, total): (Limit<'a>, Duration),
    ) -> GateProgram<'a> {
        let (inputs, program) = match tool.mode {
            ProgramMode::Command(command, program) => (CacheInputs::Command(command), program),
            ProgramMode::Server(server, program) => (CacheInputs::Server(server), program),
        };
        let paths: Vec<&str> = drafts.iter().map(|draft| draft.path).collect();
        let cache_key = CacheKey::new(rule, inputs, program, env.root, &paths);
        let ProgramContext { overlays, text_before } = context;
        let (drafts, ran) = (drafts.to_vec(), Cell::default());
        GateProgram { rule, tool, drafts, env, overlays, text_before, limit, total, cache_key, ran }
    }

    pub(super) fn rule(&self) -> &'a Rule {
        self.rule
    }

    /// Returns the drafts that the program checks.
    pub(super) fn drafts(&self) -> &[Draft<'a>] {
        &self.drafts
    }

    /// Returns the findings in the drafts, from the cache if they are still valid.
    pub(super) fn run_check(&self) -> Result<CachedFindings, GateError> {
        let texts: Vec<Option<&Buffer>> = self.drafts.iter().map(|draft| Some(draft.after)).collect();
        self.cached_findings(&texts, self.overlays)
    }

    /// Returns the findings in the texts before the edit, with the other files as they were.
    pub(super) fn run_check_before(&self) -> Result<CachedFindings, GateError> {
        let texts: Vec<Option<&Buffer>> = self.drafts.iter().map(|draft| draft.before).collect();
        self.cached_findings(&texts, self.text_before)
    }

    fn cached_findings(
        &self,
        texts: &[Option<&Buffer>],
        overlays: DraftOverlays<'_>,
    ) -> Result<CachedFindings, GateError> {
        let answers = &self.env.runtime.answers;
        let key = self.answer_key(texts, overlays);
        if let Some(answer) = key.and_then(|key| answers.get(key, Instant::now())) {
            return Ok(answer);
        }
        let start = Instant::now();
        let answer: CachedFindings = self.ask_program(texts, overlays)?.into();
        if let Some(key) = key {
            answers.keep(key, &answer, start + ANSWER_LIFETIME);
        }
        Ok(answer)
    }

    /// Returns the key of the program's answer about these texts; `None` if it is not kept.
    fn answer_key(&self, texts: &[Option<&Buffer>], overlays: DraftOverlays<'_>) -> Option<Version> {
        let versions: Vec<_> = texts.iter().map(|text| text.map(Buffer::version)).collect();
        self.cache_key.as_ref()?.of_texts(&versions, overlay::version(overlays))
    }

    /// Forgets the kept answers about the drafts and the texts before, so that the program is asked again.
    pub(super) fn forget_answers(&self) {
        let after = self.drafts.iter().map(|draft| Some(draft.after)).collect();
        let before = self.drafts.iter().map(|draft| draft.before).collect();
        let both: [(Vec<Option<&Buffer>>, _); 2] = [(after, self.overlays), (before, self.text_before)];
        for (texts, overlays) in both {
            if let Some(key) = self.answer_key(&texts, overlays) {
                self.env.runtime.answers.forget(key);
            }
        }
    }

    /// True if the program is a language server.
    pub(super) fn is_server(&self) -> bool {
        matches!(self.tool.mode, ProgramMode::Server(..))
    }

    /// Runs the fixer; returns the view of the draft that it would write.
    pub(super) fn run_fixer(&self) -> Result<String, GateError> {
        let Some(draft) = self.drafts.first() else { return Err(no_draft()) };
        let _slot = self.env.runtime.slots.take(self.limit).map_err(|halt| self.halted(halt.into()))?;
        let limit = self.limit.with_timeout(self.rule.timeout);
        let input = self.program_input(draft, Some(draft.after), self.overlays, &[]);
        self.timed(|| command::fix(&input, limit))
    }

    /// Runs the fixer on another text of the draft's file; returns the cached view if it is still valid.
    pub(super) fn formatted(&self, text: &Buffer) -> Result<Arc<str>, GateError> {
        let Some(draft) = self.drafts.first() else { return Err(no_draft()) };
        let runtime = self.env.runtime;
        let key = self.answer_key(&[Some(text)], self.overlays);
        if let Some(view) = key.and_then(|key| runtime.formatted.get(key, Instant::now())) {
            return Ok(view);
        }
        let start = Instant::now();
        let _slot = runtime.slots.take(self.limit).map_err(|halt| self.halted(halt.into()))?;
        let limit = self.limit.with_timeout(self.rule.timeout);
        let input = self.program_input(draft, Some(text), self.overlays, &[]);
        let view: Arc<str> = self.timed(|| command::fix(&input, limit))?.into();
        if let Some(key) = key {
            runtime.formatted.keep(key, &view, start + ANSWER_LIFETIME);
        }
        Ok(view)
    }

    /// Verifies that the program looked at the drafts with the indices `left`, which it calls clean; returns
    /// a result for each draft.
    pub(super) fn prove(
        &self,
        found: &[Vec<ToolFinding>],
        mut left: BTreeSet<usize>,
    ) -> Vec<Result<Proven, GateError>> {
        let mut proven: Vec<Result<Proven, GateError>> =
            self.drafts.iter().map(|_| Ok(Proven::Works)).collect();
        let Some(canary) = &self.rule.gate.canary else { return proven };
        if left.is_empty() {
            return proven;
        }
        let mut set = |at: usize, what: Result<Proven, GateError>| {
            if let Some(place) = proven.get_mut(at) {
                *place = what;
            }
        };
        let proofs = &self.env.runtime.proofs;
        let traits = self.traits();
        let subject = |at: usize| Some((at, self.subject(at, &traits)?));
        let (places, subjects): (Vec<usize>, Vec<Subject<'_>>) =
            left.iter().copied().filter_map(subject).unzip();
        for (at, proof) in places.into_iter().zip(proofs.proof(&subjects)) {
            if let Some(proof) = proof {
                set(at, into_result(proof, None));
                left.remove(&at);
            }
        }
        let (mut tested, mut works) = (Vec::new(), None);
        for (at, result) in self.try_canary(canary, found, left) {
            let (proof, elsewhere) = match result {
                Ok(result) => result,
                Err(error) => {
                    set(at, Err(error.with_context("its canary")));
                    continue;
                }
            };
            // Errors that hid the mistake of the canary hid the draft as well.
            let may_hide = proof == Proof::Blind || (proof == Proof::Off && elsewhere.is_some());
            if may_hide && fails_elsewhere(found, at) {
                set(at, Ok(Proven::Hidden));
                continue;
            }
            // A mistake that shows nothing after this draft may show something after another one.
            let lasts = proof == Proof::Works || canary.append.is_none();
            if let (Some((_, subject)), true) = (subject(at), lasts) {
                tested.push((subject, proof));
            }
            if let (Proof::Blind, None, Some(why)) = (proof, &elsewhere, &canary.unreached)
                && *works.get_or_insert_with(|| self.works_on_its_sample(canary))
            {
                set(at, Err(GateError::Unready(format!("does not look at this file: {why}"))));
                continue;
            }
            let adds_switch = self
                .drafts
                .get(at)
                .is_some_and(|draft| canary.keeps_other(draft.before.map(Buffer::view), draft.after.view()));
            let result = match (proof, &elsewhere) {
                (Proof::Off, None) if adds_switch => Err(GateError::SwitchedOff),
                _ => into_result(proof, elsewhere),
            };
            set(at, result);
        }
        proofs.keep(&tested);
        proven
    }

    /// Returns the traits of the drafts and the files around them that may make the program skip one of them.
    fn traits(&self) -> Traits {
        let own = self.drafts.iter().map(|draft| (draft.path, Some(draft.after.view())));
        let overlays = self.overlays.iter().map(|other| (other.path, other.text.map(Buffer::view)));
        let drafts: Vec<(&str, Option<&str>)> = own.chain(overlays).collect();
        let scope = match self.tool.mode {
            ProgramMode::Command(command, _) => command.scope,
            // A server is a new process each time, which must be tried.
            ProgramMode::Server(..) => CacheScope::File,
        };
        Traits::new(&self.rule.gate, self.env.root, scope, &drafts)
    }

    /// Returns the subject of a proof for the draft at this index.
    fn subject<'s>(&'s self, at: usize, traits: &'s Traits) -> Option<Subject<'s>> {
        let (cache_key, draft) = (self.cache_key.as_ref()?, self.drafts.get(at)?);
        let run =
            (self.env.runtime.isolation().name(), self.tool.search, lockgate_sandbox::temporary_folder());
        let key = Version::of_value(&(cache_key.of_file(at)?.bytes(), run));
        Some(Subject { key, root: self.env.root, traits, path: draft.path })
    }

    /// Tries the texts of the canary on the drafts at these indices, one kind of text after another; one run
    /// has those of all.
    fn try_canary(
        &self,
        canary: &Canary,
        found: &[Vec<ToolFinding>],
        mut left: BTreeSet<usize>,
    ) -> BTreeMap<usize, CanaryResult> {
        let attempts: Vec<Vec<CanaryText>> =
            self.drafts.iter().map(|draft| canary.attempts(draft.after.view())).collect();
        let kinds = attempts.iter().map(Vec::len).max().unwrap_or_default();
        let mut results = BTreeMap::new();
        let (mut elsewhere, mut broken) = (BTreeMap::new(), None);
        for kind in 0..kinds {
            let texts: Vec<Option<&CanaryText>> =
                attempts.iter().map(|attempts| attempts.get(kind)).collect();
            // The canary of one file can hide that of another: those that were found are removed, and the
            // rest is tried again.
            while !left.is_empty() {
                let found_in_canary = match self.run_canaries(&texts, &left) {
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
                    is_shown(
                        canary,
                        canary_kind,
                        &own_findings(&found_in_canary, *at),
                        &own_findings(found, *at),
                    )
                    .then_some((*at, canary_kind))
                };
                let detected: Vec<(usize, CanaryKind)> = left.iter().filter_map(detected).collect();
                if detected.is_empty() {
                    for at in &left {
                        if let Some(other) = self.finding_elsewhere(&found_in_canary, *at) {
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
    fn works_on_its_sample(&self, canary: &Canary) -> bool {
        let (ProgramMode::Command(_, program) | ProgramMode::Server(_, program)) = self.tool.mode;
        let cache = self.env.cache.map(|cache| cache.join("canary"));
        let (search, isolation) = (self.tool.search, self.env.isolation);
        let installed = InstalledProgram { program, search, cache: cache.as_deref(), isolation };
        let gate = &self.rule.gate;
        let limit = self.limit.with_timeout(self.rule.timeout);
        let detects = |(sample, kind): (Sample, CanaryKind)| {
            let found =
                run_sample_within(gate, &sample, &installed, DiskState::Empty, limit).unwrap_or_default();
            found.iter().any(|finding| canary.is_found_by(kind, finding.code.as_deref(), &finding.message))
        };
        let mut samples = canaries(gate).into_iter();
        samples
            .next()
            .is_some_and(|first| self.timed(|| Ok::<bool, GateError>(detects(first))).unwrap_or_default())
    }

    /// Returns the findings with the drafts at these indices replaced by texts of their canary.
    fn run_canaries(
        &self,
        texts: &[Option<&CanaryText>],
        places: &BTreeSet<usize>,
    ) -> Result<Vec<Vec<ToolFinding>>, GateError> {
        let canaries = texts.iter().enumerate().map(|(at, attempt)| {
            let Some(attempt) = attempt.filter(|_| places.contains(&at)) else { return Ok(None) };
            let text = Buffer::read(attempt.text.clone().into_bytes(), Hints::default());
            text.map(Some).map_err(|error| GateError::Broken(error.message))
        });
        let canaries = canaries.collect::<Result<Vec<_>, GateError>>()?;
        let texts: Vec<Option<&Buffer>> = self
            .drafts
            .iter()
            .zip(&canaries)
            .map(|(draft, canary)| Some(canary.as_ref().unwrap_or(draft.after)))
            .collect();
        self.ask_program(&texts, self.overlays)
    }

    /// Returns a finding in another file than the draft at this index: in one that it was not asked to check,
    /// or an error in another draft.
    fn finding_elsewhere(&self, found: &[Vec<ToolFinding>], at: usize) -> Option<String> {
        let describe =
            |file: &str, finding: &ToolFinding| format!("{file}:{}: {}", finding.line, finding.message);
        let mut all = found.iter().flatten();
        let other = all.find_map(|finding| Some(describe(finding.elsewhere.as_deref()?, finding)));
        let in_draft = |(place, (draft, findings)): (usize, (&Draft<'_>, &Vec<ToolFinding>))| {
            let error = findings.iter().find(|finding| is_error(finding)).filter(|_| place != at)?;
            Some(describe(draft.path, error))
        };
        other.or_else(|| self.drafts.iter().zip(found).enumerate().find_map(in_draft))
    }

    /// Returns the isolation of the program.
    pub(super) fn isolation(&self) -> Isolation {
        self.env.runtime.isolation()
    }

    /// Returns the time that the program has run.
    pub(super) fn ran(&self) -> Duration {
        self.ran.get()
    }

    /// Runs the program on these texts, `None` for a draft that does not exist; returns the findings in each.
    fn ask_program(
        &self,
        texts: &[Option<&Buffer>],
        overlays: DraftOverlays<'_>,
    ) -> Result<Vec<Vec<ToolFinding>>, GateError> {
        let existing = self.drafts.iter().zip(texts).enumerate();
        let mut existing = existing.filter_map(|(at, (draft, text))| Some((at, draft, (*text)?)));
        let mut answers: Vec<Vec<ToolFinding>> = texts.iter().map(|_| Vec::new()).collect();
        let first = match (existing.next(), self.drafts.first(), self.tool.mode) {
            (Some((at, draft, text)), ..) => (at, draft, Some(text)),
            // The project is checked without any of these files.
            (None, Some(draft), ProgramMode::Command(command, _)) if command::runs_without_file(command) => {
                (0, draft, None)
            }
            (None, ..) => return Ok(answers),
        };
        let rest: Vec<(usize, DraftOverlay<'_>)> =
            existing.map(|(at, draft, text)| (at, self.overlay(draft, Some(text)))).collect();
        let is_missing = |(draft, text): &(&Draft<'a>, &Option<&Buffer>)| {
            text.is_none() && draft.input_location == InputLocation::OverFile && draft.path != first.1.path
        };
        let missing: Vec<DraftOverlay<'_>> = self
            .drafts
            .iter()
            .zip(texts)
            .filter(is_missing)
            .map(|(draft, _)| self.overlay(draft, None))
            .collect();
        let also: Vec<&DraftOverlay<'_>> = rest.iter().map(|(_, other)| other).collect();
        let all: Vec<&DraftOverlay<'_>> =
            also.iter().copied().chain(&missing).chain(overlays.iter().copied()).collect();
        let (at, draft, text) = first;
        let input = self.program_input(draft, text, &all, &also);
        let found = self.run(&input)?;
        let places = std::iter::once(at).chain(rest.iter().map(|(at, _)| *at));
        for (at, findings) in places.zip(found) {
            if let Some(answer) = answers.get_mut(at) {
                *answer = findings;
            }
        }
        Ok(answers)
    }

    fn run(&self, input: &ProgramInput<'_>) -> Result<Vec<Vec<ToolFinding>>, GateError> {
        let runtime = self.env.runtime;
        let found = match self.tool.mode {
            ProgramMode::Command(..) => {
                let _slot = runtime.slots.take(self.limit).map_err(|halt| self.halted(halt.into()))?;
                let limit = self.limit.with_timeout(self.rule.timeout);
                self.timed(|| command::check_all(input, limit))
            }
            // A server call takes its slot when its turn comes.
            ProgramMode::Server(server, _) => {
                self.timed(|| server::check(input, server, runtime, self.limit))
            }
        };
        let mut found = found.map_err(|error| self.halted(error))?;
        packages::explain(input, &mut found);
        Ok(found)
    }

    /// Adds the limit that ran out to the error of a timeout.
    fn halted(&self, error: GateError) -> GateError {
        let name = &self.rule.gate.name;
        let limit = if Instant::now() >= self.limit.end() {
            format!("all gates of the call have {:?} (`limits.total`)", self.total)
        } else {
            format!("the gate has {:?} (`timeout` of `{name}`)", self.rule.timeout)
        };
        let has_cache = self.rule.gate.command().is_some_and(CommandSpec::keeps_cache);
        let next = if has_cache { "; its first run fills its cache: retry, or raise the limit" } else { "" };
        match error {
            GateError::Halted(Halt::TimedOut) => GateError::TimedOut(format!("timed out: {limit}{next}")),
            GateError::TimedOut(why) => GateError::TimedOut(format!("{why}: {limit}")),
            GateError::TimedOutOn(why) => GateError::TimedOutOn(format!("{why}: {limit}")),
            other => other,
        }
    }

    fn program_input<'s>(
        &'s self,
        draft: &Draft<'s>,
        text: Option<&'s Buffer>,
        overlays: DraftOverlays<'s>,
        also: DraftOverlays<'s>,
    ) -> ProgramInput<'s> {
        let (ProgramMode::Command(_, program) | ProgramMode::Server(_, program)) = self.tool.mode;
        ProgramInput {
            rule: self.rule,
            program,
            search: self.tool.search,
            root: self.env.root,
            path: draft.path,
            language: draft.language,
            text: text.unwrap_or(draft.after),
            on_disk: draft.input_location == InputLocation::OverFile,
            is_removed: text.is_none(),
            overlays,
            batched: also,
            isolation: self.env.isolation,
            ceiling: self.env.runtime.ceiling,
            cache: self.env.cache,
            versions: &self.env.runtime.versions,
        }
    }

    fn overlay<'s>(&'s self, draft: &Draft<'s>, text: Option<&'s Buffer>) -> DraftOverlay<'s> {
        let (root, path, language) = (self.env.root, draft.path, draft.language);
        DraftOverlay { root, path, language, text }
    }

    fn timed<T>(&self, work: impl FnOnce() -> Result<T, GateError>) -> Result<T, GateError> {
        let start = Instant::now();
        let result = work();
        self.ran.set(self.ran.get() + start.elapsed());
        result
    }
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
fn into_result(proof: Proof, elsewhere: Option<String>) -> Result<Proven, GateError> {
    match (proof, elsewhere) {
        (Proof::Works, _) => Ok(Proven::Works),
        (Proof::Off, None) => Err(GateError::Skipped(OFF.to_owned())),
        (Proof::Blind, None) => Err(GateError::Broken(BLIND.to_owned())),
        (Proof::Off | Proof::Blind, Some(other)) => {
            Err(GateError::Broken(format!("{BLIND}, but in another file: {other}")))
        }
    }
}

fn no_draft() -> GateError {
    GateError::Broken("was given no file to check".to_owned())
}
