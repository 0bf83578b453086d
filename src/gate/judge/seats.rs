//! Who is asked about a draft, and how; and why the others are not.
//!
//! Invariant: each rule has one seat, and a program has one only where a person allowed it to run and it is there.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::told::Told;
use crate::gate::draft::Draft;
use crate::gate::means::{Grant, Means};
use crate::gate::pins::Pins;
use crate::gate::process::shortfall;
use crate::gate::silence::Silence;
use crate::policy::{Command, Kind, PatternRules, Profile, Role, Rule, Server, Terms};

/// The gates that are asked, by the order in which they are.
#[derive(Default)]
pub(super) struct Seats<'a> {
    /// Those that need no program.
    pub(super) here: Vec<Seat<'a, Here<'a>>>,
    /// Those that mend the draft.
    pub(super) fixers: Vec<Seat<'a, Tool<'a>>>,
    /// Those that check it.
    pub(super) checks: Vec<Seat<'a, Tool<'a>>>,
    /// Those that are not asked, by their place.
    pub(super) silent: Vec<(usize, Told)>,
}

/// A gate that is asked, with its place in the policy.
#[derive(Clone, Copy)]
pub(super) struct Seat<'a, How> {
    pub(super) at: usize,
    pub(super) rule: &'a Rule,
    pub(super) how: How,
}

/// How a gate judges that needs no program.
#[derive(Clone, Copy)]
pub(super) enum Here<'a> {
    Syntax,
    Damage,
    Pattern(&'a PatternRules),
}

/// The programs that can be asked for a gate.
#[derive(Clone, Copy)]
pub(super) struct Tool<'a> {
    /// Who is asked first.
    pub(super) voice: Voice<'a>,
    /// The command that is asked where that is a server which cannot be.
    pub(super) instead: Option<Voice<'a>>,
    /// The search path for programs that they start themselves.
    pub(super) search: &'a OsStr,
}

/// A program, and how it is asked.
#[derive(Clone, Copy)]
pub(super) enum Voice<'a> {
    /// It is run once for each text.
    Command(&'a Command, &'a Path),
    /// It stays, and is told of each text.
    Server(&'a Server, &'a Path),
}

impl<'a> Seats<'a> {
    /// Gives each rule its seat.
    pub(super) fn of(terms: &Terms<'a>, draft: &Draft<'_>, means: &Means<'a>) -> Seats<'a> {
        let mut seats = Seats::default();
        for (at, &rule) in terms.rules.iter().enumerate() {
            let seated = asked(rule, draft, terms.profile);
            let role = terms.role(rule);
            if let Err(silence) = seated.and_then(|()| seats.seat(Seat { at, rule, how: role }, draft, means))
            {
                seats.silent.push((at, Told::silent(rule, &silence, Duration::ZERO)));
            }
        }
        seats
    }

    fn seat(
        &mut self,
        Seat { at, rule, how: role }: Seat<'a, Role>,
        draft: &Draft<'_>,
        means: &Means<'a>,
    ) -> Result<(), Silence> {
        match &rule.gate.kind {
            Kind::Damage => self.here.push(Seat { at, rule, how: Here::Damage }),
            Kind::Syntax => self.here.push(Seat { at, rule, how: Here::Syntax }),
            Kind::Pattern(rules) => self.here.push(Seat { at, rule, how: Here::Pattern(rules) }),
            Kind::Command(_) | Kind::Server(_) => {
                self.take(role, Seat { at, rule, how: tool(rule, role, means)? }, draft)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, role: Role, seat: Seat<'a, Tool<'a>>, draft: &Draft<'_>) -> Result<(), Silence> {
        match role {
            Role::Fix if draft.changes_nothing() => return Err(skipped("the edit changes nothing")),
            Role::Fix => self.fixers.push(seat),
            Role::Check => self.checks.push(seat),
        }
        Ok(())
    }

    /// How many gates are asked.
    pub(super) fn count(&self) -> usize {
        self.here.len() + self.fixers.len() + self.checks.len()
    }
}

/// Whether the policy has this gate judge this draft.
fn asked(rule: &Rule, draft: &Draft<'_>, profile: Profile) -> Result<(), Silence> {
    if !rule.enabled {
        return Err(skipped("disabled in the policy"));
    }
    if !rule.gate.covers(draft.language) {
        return Err(skipped("not for this language"));
    }
    if rule.gate.command().is_some_and(|command| command.passes_over(draft.path)) {
        return Err(skipped("not for this file"));
    }
    if !rule.on.include(profile) {
        return Err(skipped(match profile {
            Profile::Edit | Profile::Batch => "runs in check only",
            Profile::Check => "runs at edits only",
        }));
    }
    Ok(())
}

fn skipped(why: &str) -> Silence {
    Silence::Skipped(why.to_owned())
}

/// Who is asked for a gate: its server where one may be kept, else its command.
fn tool<'a>(rule: &'a Rule, role: Role, means: &Means<'a>) -> Result<Tool<'a>, Silence> {
    let pins = match means.grant {
        Grant::Withheld(why) => return Err(Silence::Withheld(why.clone())),
        Grant::Nowhere(why) => return Err(Silence::Unavailable(why.clone())),
        Grant::Pinned(pins) => pins,
    };
    let short = || {
        shortfall(means.isolation, means.workshop.ceiling)
            .map_or(Ok(()), |why| Err(Silence::Unavailable(why)))
    };
    let name = &rule.gate.name;
    let command = rule.gate.command().and_then(|command| Some(Voice::Command(command, pins.program(name)?)));
    let own = Pins::of_server(name);
    // The words that a policy adds are for the command, and so is the text that one puts in a draft's place.
    let is_kept = means.workshop.fleet.keeps() && rule.args.is_empty() && role == Role::Check;
    let server = rule.gate.server().filter(|_| is_kept);
    let server = server.and_then(|server| Some(Voice::Server(server, pins.program(&own)?)));
    match (server, command) {
        (Some(voice), instead) => short().map(|()| Tool { voice, instead, search: pins.path() }),
        (None, Some(voice)) => short().map(|()| Tool { voice, instead: None, search: pins.path() }),
        (None, None) => Err(Silence::Unavailable(match rule.gate.server() {
            Some(_) if !is_kept && rule.gate.command().is_none() => "no server is kept here".to_owned(),
            Some(_) | None => {
                let both = pins.passed_over(name).iter().chain(pins.passed_over(&own));
                both.cloned().collect::<Vec<_>>().join("; ")
            }
        })),
    }
}
