//! `lockgate gates doctor`: whether the gates work on this machine.
//!
//! A program works that finds something in its canary, a text that no configuration lets pass. It is given that text in
//! a temporary project that holds nothing but what the gate's own first good sample has, so that no code and no
//! configuration of a repository is loaded.

mod shown;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::crew::side_by_side;
use super::install;
use super::shelf::{Held, Ready, Shelf};
use crate::error::Error;
use crate::front::cli::paint;
use crate::gate::{Outcome, Standing, Watch, canary, live, version};
use crate::policy::{Gate, Input};

/// What is wrong with a program that finds nothing where it must.
const BLIND: &str = "finds nothing in its canary (a text that must not pass)";

/// What came of looking at one gate.
struct Checkup {
    name: String,
    /// Whether the policy names it, or the caller does, so that it has to work.
    wanted: bool,
    program: Option<String>,
    version: Option<String>,
    state: State,
    ms: u64,
    /// How its program is installed.
    install: Vec<String>,
}

/// How a gate does.
#[derive(Debug)]
enum State {
    /// It finds something in its canary, or needs no program.
    Works,
    /// Nothing shows that it finds anything.
    Unproven,
    /// It does not work; why.
    Broken(String),
    /// Its program is not here; what was tried.
    Unavailable(String),
    /// Its program was not run, because nobody trusts it; why.
    Untrusted(String),
    /// It looks at nothing without a configuration; what it says.
    Unconfigured(String),
}

impl State {
    fn name(&self) -> &'static str {
        match self {
            State::Works => "works",
            State::Unproven => "unproven",
            State::Broken(_) => "broken",
            State::Unavailable(_) => "unavailable",
            State::Untrusted(_) => "needs trust",
            State::Unconfigured(_) => "needs configuration",
        }
    }

    fn why(&self) -> Option<&str> {
        match self {
            State::Works => None,
            State::Unproven => Some("it has no canary, so nothing shows that it finds anything"),
            State::Broken(why)
            | State::Unavailable(why)
            | State::Untrusted(why)
            | State::Unconfigured(why) => Some(why),
        }
    }

    /// Whether nothing is known to be wrong.
    fn is_well(&self) -> bool {
        match self {
            State::Works | State::Unproven => true,
            State::Broken(_) | State::Unavailable(_) | State::Untrusted(_) | State::Unconfigured(_) => false,
        }
    }
}

/// Looks at the gates, tells, and says whether all work that have to.
pub(super) fn run(shelf: &Shelf, names: &[String], json: bool, watch: &Watch) -> Result<bool, Error> {
    let patients = patients(shelf, names)?;
    let mut checkups = Vec::new();
    side_by_side(
        &patients,
        |gate| checkup(shelf, gate, !names.is_empty(), watch),
        |_, seen| checkups.push(seen),
    );
    if json {
        super::say_json(&shown::json(shelf, &checkups))?;
    } else {
        paint::say(&shown::text(shelf, &checkups))?;
    }
    Ok(are_well(&checkups))
}

fn are_well(checkups: &[Checkup]) -> bool {
    checkups.iter().filter(|checkup| checkup.wanted).all(|checkup| checkup.state.is_well())
}

/// The gates that are looked at: those that are asked for, else those of the policy and those whose programs are here.
fn patients<'a>(shelf: &'a Shelf, names: &[String]) -> Result<Vec<&'a Arc<Gate>>, Error> {
    let asked: BTreeSet<&str> = shelf.all(names)?.into_iter().map(|gate| gate.name.as_str()).collect();
    let is_due = |gate: &&Arc<Gate>| {
        if asked.is_empty() {
            gate.runs_program() && (shelf.is_named(gate) || shelf.pin(gate).is_some())
        } else {
            asked.contains(gate.name.as_str())
        }
    };
    Ok(shelf.gates.iter().filter(is_due).collect())
}

fn checkup(shelf: &Shelf, gate: &Arc<Gate>, asked: bool, watch: &Watch) -> Checkup {
    let begun = Instant::now();
    let (version, state) =
        if gate.runs_program() { examined(shelf, gate, watch) } else { (None, State::Works) };
    Checkup {
        name: gate.name.clone(),
        wanted: asked || shelf.is_named(gate),
        program: shelf.pin(gate).map(|pin| pin.program.display().to_string()),
        version,
        state,
        ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        install: install::hints(gate.install()),
    }
}

/// The version of a gate's program, and how it does.
fn examined(shelf: &Shelf, gate: &Arc<Gate>, watch: &Watch) -> (Option<String>, State) {
    let ready = match shelf.ready(gate) {
        Ok(ready) => ready,
        Err(Held::Unavailable(tried)) => return (None, State::Unavailable(tried)),
        Err(Held::Untrusted(why)) => return (None, State::Untrusted(why)),
    };
    let (version, trouble) = match version(gate.probe(), ready.program, ready.search, watch) {
        Ok(version) => (version, None),
        Err(why) => (None, Some(why)),
    };
    match (tried(gate, &ready, watch), trouble) {
        (State::Unproven, Some(why)) => (version, State::Broken(why)),
        (state, _) => (version, state),
    }
}

/// Gives the gate its canary, in each of the ways in which it is given drafts.
fn tried(gate: &Arc<Gate>, ready: &Ready<'_>, watch: &Watch) -> State {
    let Some(canary) = canary(gate) else { return State::Unproven };
    for standing in standings(gate) {
        match live(gate, &canary, ready.program, ready.search, *standing, ready.cache, watch) {
            Ok(found) if found.iter().any(|finding| finding.elsewhere.is_none()) => {}
            Ok(_) => return State::Broken(BLIND.to_owned()),
            Err(why) => return silent(&why),
        }
    }
    State::Works
}

/// What it means that a gate said nothing of its canary, in the words of [`live`]: the outcome, and why.
fn silent(why: &str) -> State {
    match why.split_once(": ") {
        Some((outcome, why)) if outcome == Outcome::Skipped.name() => State::Unconfigured(why.to_owned()),
        Some((outcome, why)) if outcome == Outcome::Broken.name() => State::Broken(why.to_owned()),
        Some(_) | None => State::Broken(why.to_owned()),
    }
}

/// The ways in which a gate is given drafts: only on standard input it is one, whatever is on disk.
pub(super) fn standings(gate: &Gate) -> &'static [Standing] {
    match gate.command().map(|command| command.input) {
        Some(Input::Stdin) => &[Standing::Empty],
        Some(Input::Shadow | Input::Staged) | None => &[Standing::Empty, Standing::Missing],
    }
}
