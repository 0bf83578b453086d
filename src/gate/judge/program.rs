//! A gate's program, ready to be asked about the texts of one file.
//!
//! Invariant: a program runs only while it holds a slot, and an answer is kept only when the program gave one.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::seats::{Tool, Voice};
use crate::gate::command::{self, Ask};
use crate::gate::company::{self, Company};
use crate::gate::draft::{Draft, Stands};
use crate::gate::means::Means;
use crate::gate::output::Seen;
use crate::gate::server;
use crate::gate::silence::Silence;
use crate::gate::watch::Limit;
use crate::gate::workshop::{Answer, Basis, Proof, Rests};
use crate::policy::{Attempt, Canary, Isolation, Rule, Shows};
use crate::text::{Buffer, Hints};

/// What is said of a program that finds nothing in its canary.
const BLIND: &str = "finds nothing in its canary (a text that must not pass)";

/// What is said of a program that reads the file, but does not judge it.
const OFF: &str =
    "reads the file, but what it is asked for is switched off there, by its configuration or a comment";

/// A gate's program, ready to be asked about the texts of one file.
pub(super) struct Program<'a> {
    pub(super) rule: &'a Rule,
    tool: Tool<'a>,
    draft: Draft<'a>,
    means: &'a Means<'a>,
    company: Company<'a>,
    limit: Limit<'a>,
    basis: Option<Basis<'a>>,
    ran: Cell<Duration>,
}

impl<'a> Program<'a> {
    /// Makes it ready; `limit` is that of all gates together.
    pub(super) fn new(
        rule: &'a Rule,
        tool: Tool<'a>,
        draft: &Draft<'a>,
        means: &'a Means<'a>,
        company: Company<'a>,
        limit: Limit<'a>,
    ) -> Program<'a> {
        let (rests, program) = match tool.voice {
            Voice::Command(command, program) => (Rests::Command(command), program),
            Voice::Server(server, program) => (Rests::Server(server), program),
        };
        let basis = Basis::of(rule, rests, program, means.root, draft.path);
        Program { rule, tool, draft: *draft, means, company, limit, basis, ran: Cell::default() }
    }

    /// What it finds in a text: what it found when it was asked before, where that is still true.
    pub(super) fn look(&self, text: &Buffer) -> Result<Answer, Silence> {
        self.seen(text, self.company)
    }

    /// What it finds in the text before the edit, beside files as they are on disk.
    pub(super) fn look_before(&self, text: &Buffer) -> Result<Answer, Silence> {
        self.seen(text, &[])
    }

    fn seen(&self, text: &Buffer, company: Company<'_>) -> Result<Answer, Silence> {
        let answers = &self.means.workshop.answers;
        let kept = self
            .basis
            .as_ref()
            .and_then(|basis| Some((basis.of_text(text.stamp(), company::stamp(company))?, basis.lives)));
        if let Some(answer) = kept.and_then(|(key, _)| answers.get(key, Instant::now())) {
            return Ok(answer);
        }
        let asked = Instant::now();
        let answer: Answer = self.asked(text, company)?.into();
        if let Some((key, lives)) = kept {
            answers.keep(key, &answer, asked + lives);
        }
        Ok(answer)
    }

    /// The view of a text as it would have it.
    pub(super) fn mend(&self, text: &Buffer) -> Result<String, Silence> {
        let _slot = self.means.workshop.slots.take(self.limit)?;
        let limit = self.limit.within(self.rule.timeout);
        self.timed(text, self.company, |ask| command::mend(ask, limit))
    }

    /// Makes sure that it looked at a draft that it calls clean.
    pub(super) fn prove(&self, draft: &Buffer, found: &[Seen]) -> Result<(), Silence> {
        let Some(canary) = &self.rule.gate.canary else { return Ok(()) };
        let proofs = &self.means.workshop.proofs;
        let known = self.basis.as_ref().and_then(|basis| proofs.of(basis));
        let (proof, beside) = match known {
            Some(proof) => (proof, None),
            None => {
                let tried = self.try_canary(canary, draft, found);
                tried.map_err(|silence| silence.on("its canary"))?
            }
        };
        // What a mistake behind the draft does not show, it may show behind another one.
        let lasts = proof == Proof::Works || canary.append.is_none();
        if let (None, Some(basis), true) = (known, &self.basis, lasts) {
            proofs.keep(basis, proof);
        }
        match (proof, beside) {
            (Proof::Works, _) => Ok(()),
            (Proof::Off, None) => Err(Silence::Skipped(OFF.to_owned())),
            (Proof::Blind, None) => Err(Silence::Broken(BLIND.to_owned())),
            (Proof::Off | Proof::Blind, Some(other)) => {
                Err(Silence::Broken(format!("{BLIND}, but in another file: {other}")))
            }
        }
    }

    /// Tries the texts of the canary; beside the proof, what was found in another file where nothing was in this one.
    fn try_canary(
        &self,
        canary: &Canary,
        draft: &Buffer,
        found: &[Seen],
    ) -> Result<(Proof, Option<String>), Silence> {
        let (mut beside, mut broken) = (None, None);
        for Attempt { text, shows } in canary.attempts(draft.view()) {
            let text = Buffer::read(text.into_bytes(), Hints::default());
            let text = text.map_err(|error| Silence::Broken(error.message))?;
            let seen = match self.asked(&text, self.company) {
                Ok(seen) => seen,
                Err(Silence::Broken(why)) => {
                    broken.get_or_insert(Silence::Broken(why));
                    continue;
                }
                Err(other) => return Err(other),
            };
            // What it finds in other files says nothing of whether it looked at this one, and neither does what it finds
            // in every text: that is what stands on disk.
            let own = |all: &[Seen]| -> Vec<Seen> {
                all.iter().filter(|seen| seen.elsewhere.is_none()).cloned().collect()
            };
            let (own_seen, own_found) = (own(&seen), own(found));
            let shows_it = |seen: &Seen| {
                canary.is_found_by(shows, seen.code.as_deref(), &seen.message)
                    && (canary.append.is_none() || !own_found.contains(seen))
            };
            if own_seen != own_found && own_seen.iter().any(shows_it) {
                return Ok(match shows {
                    Shows::Analysis => (Proof::Works, None),
                    Shows::Reading => (Proof::Off, beside),
                });
            }
            beside = beside.or_else(|| seen.iter().find_map(elsewhere));
        }
        broken.map_or(Ok((Proof::Blind, beside)), Err)
    }

    /// What it is kept apart by.
    pub(super) fn isolation(&self) -> Isolation {
        self.means.workshop.isolation()
    }

    /// How long it has run.
    pub(super) fn ran(&self) -> Duration {
        self.ran.get()
    }

    fn asked(&self, text: &Buffer, company: Company<'_>) -> Result<Vec<Seen>, Silence> {
        let workshop = self.means.workshop;
        match self.tool.voice {
            Voice::Command(..) => {
                let _slot = workshop.slots.take(self.limit)?;
                let limit = self.limit.within(self.rule.timeout);
                self.timed(text, company, |ask| command::look(ask, limit))
            }
            // A server takes its slot when it is its turn.
            Voice::Server(server, _) => {
                self.timed(text, company, |ask| server::look(ask, server, workshop, self.limit))
            }
        }
    }

    fn timed<T>(
        &self,
        text: &Buffer,
        company: Company<'_>,
        work: impl FnOnce(&Ask<'_>) -> Result<T, Silence>,
    ) -> Result<T, Silence> {
        let (Voice::Command(_, program) | Voice::Server(_, program)) = self.tool.voice;
        let start = Instant::now();
        let ask = Ask {
            rule: self.rule,
            program,
            search: self.tool.search,
            root: self.means.root,
            path: self.draft.path,
            language: self.draft.language,
            text,
            on_disk: self.draft.stands == Stands::OverFile,
            company,
            isolation: self.means.isolation,
            ceiling: self.means.workshop.ceiling,
            cache: self.means.cache,
            versions: &self.means.workshop.versions,
        };
        let said = work(&ask);
        self.ran.set(self.ran.get() + start.elapsed());
        said
    }
}

fn elsewhere(seen: &Seen) -> Option<String> {
    let file = seen.elsewhere.as_ref()?;
    Some(format!("{file}:{}: {}", seen.line, seen.message))
}
