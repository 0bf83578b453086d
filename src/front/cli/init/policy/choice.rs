//! Which gates are proposed for which language, and why.
//!
//! Invariant: a gate is proposed only where its program was found, and where the project names it or it is the first for its
//! purpose that needs no naming.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::known::{KNOWN, Known, Purpose, Uninvited};
use super::project::Project;
use crate::engine::Workspace;
use crate::gate::{Pins, Search, search_path};
use crate::policy::{Catalogue, Gate, Languages, Rule, language_named};

/// The key of what is about every language.
pub(super) const EVERY: &str = "*";

/// What is made of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It is proposed.
    Taken,
    /// The project names it, and its program is not here.
    Missing,
    /// Its program is here, and nothing asks for it.
    Idle,
}

/// A tool for a language.
#[derive(Debug)]
pub(super) struct Choice {
    /// The language, or every one.
    pub(super) language: &'static str,
    /// The tool.
    pub(super) gate: Arc<Gate>,
    /// What it is for.
    pub(super) purpose: Purpose,
    /// What is made of it.
    pub(super) state: State,
    /// Why.
    pub(super) why: String,
}

/// All of them, by language, in the order in which they are to run.
#[derive(Debug)]
pub(super) struct Choices(Vec<Choice>);

/// A tool with what was found of it.
struct Seen<'a> {
    known: &'a Known,
    gate: &'a Arc<Gate>,
    sign: Option<String>,
    is_here: bool,
}

impl Choices {
    /// Chooses for the languages of a project.
    pub(super) fn of(project: &Project<'_>, workspace: &Workspace) -> Choices {
        let seen = seen(project, &workspace.top(), &search_path());
        let mut all = Vec::new();
        for (language, _) in project.languages() {
            let known = language_named(language);
            let fits = |seen: &&Seen<'_>| seen.gate.languages != Languages::Every && seen.gate.covers(known);
            choose(language, &seen.iter().filter(fits).collect::<Vec<_>>(), project, &mut all);
        }
        let every = |seen: &&Seen<'_>| seen.gate.languages == Languages::Every;
        choose(EVERY, &seen.iter().filter(every).collect::<Vec<_>>(), project, &mut all);
        Choices(all)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Choice> {
        self.0.iter()
    }

    /// Those that are proposed.
    pub(super) fn taken(&self) -> impl Iterator<Item = &Choice> {
        self.0.iter().filter(|choice| choice.state == State::Taken)
    }

    /// Those of a language in one state.
    pub(super) fn for_language<'c>(
        &'c self,
        language: &'c str,
        state: State,
    ) -> impl Iterator<Item = &'c Choice> {
        self.0.iter().filter(move |choice| choice.language == language && choice.state == state)
    }
}

/// Looks for each tool in the project and on the machine.
fn seen<'a>(project: &Project<'_>, root: &std::path::Path, path: &OsString) -> Vec<Seen<'a>> {
    let catalogue = Catalogue::embedded();
    let gates = || KNOWN.iter().filter_map(|known| Some((known, catalogue.find(known.gate)?)));
    let rules: Vec<Rule> = gates().map(|(_, gate)| Rule::plain(Arc::clone(gate))).collect();
    let folders: [PathBuf; 1] = [root.to_owned()];
    let pins = Pins::find(&rules, &Search { folders: &folders, roots: &folders, path });
    let is_here = |gate: &Gate| {
        let server = Pins::of_server(&gate.name);
        pins.pin(&gate.name).is_some() || (gate.command().is_none() && pins.pin(&server).is_some())
    };
    gates()
        .map(|(known, gate)| Seen { known, gate, sign: project.sign(known, gate), is_here: is_here(gate) })
        .collect()
}

fn choose(language: &'static str, tools: &[&Seen<'_>], project: &Project<'_>, all: &mut Vec<Choice>) {
    for tool in tools {
        let Seen { known, gate, sign, is_here } = tool;
        let rivals = || tools.iter().filter(|other| other.known.purpose == known.purpose);
        let is_settled = rivals().any(|rival| rival.sign.is_some());
        let first = rivals().find(|rival| rival.is_here && may_come(rival, project));
        let is_first = first.is_some_and(|first| first.known.gate == known.gate);
        let (state, why) = match (sign, is_here) {
            (Some(sign), true) => (State::Taken, sign.clone()),
            (Some(sign), false) => (State::Missing, sign.clone()),
            (None, true) if is_first && !is_settled => (State::Taken, "found on this machine".to_owned()),
            (None, true) => (State::Idle, "nothing in the project names it".to_owned()),
            (None, false) => continue,
        };
        all.push(Choice { language, gate: Arc::clone(gate), purpose: known.purpose, state, why });
    }
}

/// Whether a tool may be proposed where nothing names it.
fn may_come(tool: &Seen<'_>, project: &Project<'_>) -> bool {
    match tool.known.uninvited {
        Uninvited::Never => false,
        Uninvited::Always => true,
        Uninvited::With(name) => project.has(name).is_some(),
    }
}
