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
use crate::policy::{Isolation, Rule};
use crate::text::{Buffer, Hints};

/// What is said of a program that finds nothing in its canary.
const BLIND: &str = "finds nothing in its canary (a text that must not pass)";

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
        let proof = match known {
            Some(proof) => proof,
            None => self
                .try_canary(&canary.instead_of(draft.view()), found)
                .map_err(|silence| silence.on("its canary"))?,
        };
        if let (None, Some(basis)) = (known, &self.basis) {
            proofs.keep(basis, proof);
        }
        match proof {
            Proof::Works => Ok(()),
            Proof::Blind => Err(Silence::Broken(BLIND.to_owned())),
        }
    }

    fn try_canary(&self, canary: &str, found: &[Seen]) -> Result<Proof, Silence> {
        let text = Buffer::read(canary.as_bytes().to_vec(), Hints::default());
        let text = text.map_err(|error| Silence::Broken(error.message))?;
        let seen = self.asked(&text, self.company)?;
        // What it finds in other files says nothing of whether it looked at this one, and neither does what it finds in
        // every text: that is what stands on disk.
        let own = |seen: &[Seen]| -> Vec<Seen> {
            seen.iter().filter(|seen| seen.elsewhere.is_none()).cloned().collect()
        };
        let (seen, found) = (own(&seen), own(found));
        Ok(if seen.is_empty() || seen == found { Proof::Blind } else { Proof::Works })
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
        };
        let said = work(&ask);
        self.ran.set(self.ran.get() + start.elapsed());
        said
    }
}
