//! A gate's program, ready to check the texts of one file, or of all files of a call that share a run.
//!
//! Invariant: a program runs only while it holds a slot, and an answer is cached only if the program gave
//! one.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::plan::External;
use crate::command::{self, ProgramInput};
use crate::draft::{Draft, InputLocation};
use crate::error::GateError;
use crate::gate_env::GateEnv;
use crate::output::ToolFinding;
use crate::overlay::{self, DraftOverlay, DraftOverlays};
use crate::packages;
use crate::runtime::{CacheKey, CachedFindings, ProgramKind};
use crate::server;
use lockgate_policy::{CommandSpec, Rule};
use lockgate_sandbox::{Halt, Isolation, Limit};
use lockgate_text::{Buffer, Version};

/// A gate's program, with the drafts that it checks.
pub(super) struct GateProgram<'a> {
    pub(super) rule: &'a Rule,
    pub(super) tool: External<'a>,
    /// The drafts that one run checks.
    pub(super) drafts: Vec<Draft<'a>>,
    pub(super) env: &'a GateEnv<'a>,
    pub(super) context: ProgramContext<'a>,
    pub(super) limit: Limit<'a>,
    /// The time limit of all gates together.
    total: Duration,
    pub(super) cache_key: Option<CacheKey<'a>>,
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
        let paths: Vec<&str> = drafts.iter().map(|draft| draft.path).collect();
        let cache_key = CacheKey::new(rule, tool.program.kind, tool.program.path, env.root, &paths);
        let (drafts, ran) = (drafts.to_vec(), Cell::default());
        GateProgram { rule, tool, drafts, env, context, limit, total, cache_key, ran }
    }

    /// Returns the findings in the drafts, from the cache if they are still valid.
    pub(super) fn run_check(&self) -> Result<CachedFindings, GateError> {
        self.cached_findings(&self.texts_after(), self.context.overlays)
    }

    /// Returns the findings in the texts before the edit, with the other files as they were.
    pub(super) fn run_check_before(&self) -> Result<CachedFindings, GateError> {
        self.cached_findings(&self.texts_before(), self.context.text_before)
    }

    fn texts_after(&self) -> Vec<Option<&'a Buffer>> {
        self.drafts.iter().map(|draft| Some(draft.after)).collect()
    }

    fn texts_before(&self) -> Vec<Option<&'a Buffer>> {
        self.drafts.iter().map(|draft| draft.before).collect()
    }

    fn cached_findings(
        &self,
        texts: &[Option<&Buffer>],
        overlays: DraftOverlays<'_>,
    ) -> Result<CachedFindings, GateError> {
        let key = self.answer_key(texts, overlays);
        let ask = || self.ask_program(texts, overlays).map(CachedFindings::from);
        self.env.runtime.answers.get_or_make(key, ask)
    }

    /// Returns the key of the program's answer about these texts; `None` if it is not kept.
    fn answer_key(&self, texts: &[Option<&Buffer>], overlays: DraftOverlays<'_>) -> Option<Version> {
        let versions: Vec<_> = texts.iter().map(|text| text.map(Buffer::version)).collect();
        self.cache_key.as_ref()?.of_texts(&versions, overlay::version(overlays))
    }

    /// Forgets the kept answers about the drafts and the texts before, so that the program is asked again.
    pub(super) fn forget_answers(&self) {
        let ProgramContext { overlays, text_before } = self.context;
        for (texts, overlays) in [(self.texts_after(), overlays), (self.texts_before(), text_before)] {
            if let Some(key) = self.answer_key(&texts, overlays) {
                self.env.runtime.answers.forget(key);
            }
        }
    }

    /// True if the program is a language server.
    pub(super) fn is_server(&self) -> bool {
        matches!(self.tool.program.kind, ProgramKind::Server(_))
    }

    /// Runs the fixer; returns the view of the draft that it would write.
    pub(super) fn run_fixer(&self) -> Result<String, GateError> {
        let Some(draft) = self.drafts.first() else { return Err(no_draft()) };
        self.format(draft, draft.after)
    }

    fn format(&self, draft: &Draft<'a>, text: &Buffer) -> Result<String, GateError> {
        let _slot = self.env.runtime.slots.take(self.limit).map_err(|halt| self.halted(halt.into()))?;
        let limit = self.limit.with_timeout(self.rule.timeout);
        let input = self.program_input(draft, Some(text), self.context.overlays, &[]);
        self.timed(|| command::fix(&input, limit))
    }

    /// Runs the fixer on another text of the draft's file; returns the cached view if it is still valid.
    pub(super) fn formatted(&self, text: &Buffer) -> Result<Arc<str>, GateError> {
        let Some(draft) = self.drafts.first() else { return Err(no_draft()) };
        let key = self.answer_key(&[Some(text)], self.context.overlays);
        let format = || self.format(draft, text).map(Arc::from);
        self.env.runtime.formatted.get_or_make(key, format)
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
    pub(super) fn ask_program(
        &self,
        texts: &[Option<&Buffer>],
        overlays: DraftOverlays<'_>,
    ) -> Result<Vec<Vec<ToolFinding>>, GateError> {
        let existing = self.drafts.iter().zip(texts).enumerate();
        let mut existing = existing.filter_map(|(at, (draft, text))| Some((at, draft, (*text)?)));
        let mut answers: Vec<Vec<ToolFinding>> = texts.iter().map(|_| Vec::new()).collect();
        let first = match (existing.next(), self.drafts.first(), self.tool.program.kind) {
            (Some((at, draft, text)), ..) => (at, draft, Some(text)),
            // The project is checked without any of these files.
            (None, Some(draft), ProgramKind::Command(command)) if command::runs_without_file(command) => {
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
        let found = match self.tool.program.kind {
            ProgramKind::Command(_) => {
                let _slot = runtime.slots.take(self.limit).map_err(|halt| self.halted(halt.into()))?;
                let limit = self.limit.with_timeout(self.rule.timeout);
                self.timed(|| command::check_all(input, limit))
            }
            // A server call takes its slot when its turn comes.
            ProgramKind::Server(server) => self.timed(|| server::check(input, server, runtime, self.limit)),
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
        ProgramInput {
            rule: self.rule,
            program: self.tool.program.path,
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

    pub(super) fn timed<T>(&self, work: impl FnOnce() -> Result<T, GateError>) -> Result<T, GateError> {
        let start = Instant::now();
        let result = work();
        self.ran.set(self.ran.get() + start.elapsed());
        result
    }
}

fn no_draft() -> GateError {
    GateError::Broken("was given no file to check".to_owned())
}
