//! Which gates are proposed for which language, and why.
//!
//! Invariant: a gate is proposed only where its program was found and passed its trial, and where the project names it or it is the first for its
//! purpose that needs no naming.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::known::{KNOWN, KnownTool, ToolPurpose, Uninvited};
use super::project::ProjectFiles;
use crate::front::cli::gates::gate_list::GateList;
use crate::front::cli::gates::trial::Failure;
use crate::policy::{Catalogue, Gate, Languages, language_named};

/// The key of what is about every language.
pub(super) const EVERY: &str = "*";

/// What is made of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolState {
    /// It is proposed.
    Taken,
    /// It would be, but it did not pass its trial.
    Failed,
    /// The project names it, and its program is not here.
    Missing,
    /// Its program is here, and nothing asks for it.
    Idle,
}

/// A tool for a language.
#[derive(Debug)]
pub(super) struct ToolChoice {
    /// The language, or every one.
    pub(super) language: &'static str,
    /// The tool.
    pub(super) gate: Arc<Gate>,
    /// What it is for.
    pub(super) purpose: ToolPurpose,
    /// What is made of it.
    pub(super) state: ToolState,
    /// Why.
    pub(super) why: String,
    /// Why it did not pass its trial, where it did not.
    pub(super) failure: Option<Failure>,
}

/// All of them, by language, in the order in which they are to run.
#[derive(Debug)]
pub(super) struct Choices(Vec<ToolChoice>);

/// What came of the trials so far, by the name of the gate.
type Results = BTreeMap<String, Result<(), Failure>>;

/// A tool with what was found of it.
struct CheckedTool<'a> {
    known: &'a KnownTool,
    gate: &'a Arc<Gate>,
    sign: Option<String>,
    is_here: bool,
}

impl Choices {
    /// Chooses for the languages of a project among the tools that pass their trial. Only those are tried that would be
    /// proposed, and where one fails, the one that comes then.
    pub(super) fn tried(
        project: &ProjectFiles<'_>,
        shelf: &GateList,
        trials: impl Fn(&[Arc<Gate>]) -> Vec<Result<(), Failure>>,
    ) -> Choices {
        let seen = seen(project, shelf);
        let mut results = Results::new();
        loop {
            let choices = Choices::among(&seen, project, &results);
            let mut untried: Vec<Arc<Gate>> = Vec::new();
            for ToolChoice { gate, .. } in choices.taken() {
                if !results.contains_key(&gate.name) && !untried.iter().any(|other| other.name == gate.name) {
                    untried.push(Arc::clone(gate));
                }
            }
            if untried.is_empty() {
                return choices;
            }
            let names = untried.iter().map(|gate| gate.name.clone());
            results.extend(names.zip(trials(&untried)));
        }
    }

    fn among(seen: &[CheckedTool<'_>], project: &ProjectFiles<'_>, results: &Results) -> Choices {
        let mut all = Vec::new();
        for (language, _) in project.languages() {
            let known = language_named(language);
            let fits =
                |seen: &&CheckedTool<'_>| seen.gate.languages != Languages::Every && seen.gate.covers(known);
            choose(language, &seen.iter().filter(fits).collect::<Vec<_>>(), (project, results), &mut all);
        }
        let every = |seen: &&CheckedTool<'_>| seen.gate.languages == Languages::Every;
        choose(EVERY, &seen.iter().filter(every).collect::<Vec<_>>(), (project, results), &mut all);
        Choices(all)
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &ToolChoice> {
        self.0.iter()
    }

    /// Those that are proposed.
    pub(super) fn taken(&self) -> impl Iterator<Item = &ToolChoice> {
        self.0.iter().filter(|choice| choice.state == ToolState::Taken)
    }

    /// Those of a language in one state.
    pub(super) fn for_language<'c>(
        &'c self,
        language: &'c str,
        state: ToolState,
    ) -> impl Iterator<Item = &'c ToolChoice> {
        self.0.iter().filter(move |choice| choice.language == language && choice.state == state)
    }
}

/// Looks for each tool in the project and on the machine.
fn seen<'a>(project: &ProjectFiles<'_>, shelf: &GateList) -> Vec<CheckedTool<'a>> {
    let catalogue = Catalogue::embedded();
    let gates = KNOWN.iter().filter_map(|known| Some((known, catalogue.find(known.gate)?)));
    let found = |(known, gate): (&'a KnownTool, &'a Arc<Gate>)| {
        let (sign, is_here) = (project.sign(known, gate), shelf.pin(gate).is_some());
        CheckedTool { known, gate, sign, is_here }
    };
    gates.map(found).collect()
}

fn choose(
    language: &'static str,
    tools: &[&CheckedTool<'_>],
    (project, results): (&ProjectFiles<'_>, &Results),
    all: &mut Vec<ToolChoice>,
) {
    let failure =
        |tool: &CheckedTool<'_>| results.get(&tool.gate.name).and_then(|result| result.as_ref().err());
    for tool in tools {
        let CheckedTool { known, gate, sign, is_here } = tool;
        let rivals = || tools.iter().filter(|other| other.known.purpose == known.purpose);
        let is_settled = rivals().any(|rival| rival.sign.is_some());
        let may_be_first = |rival: &&&CheckedTool<'_>| rival.is_here && may_come(rival, project);
        let first = rivals().filter(may_be_first).find(|rival| failure(rival).is_none());
        let is_first = first.is_some_and(|first| first.known.gate == known.gate);
        let failed = failure(tool).filter(|_| *is_here && (sign.is_some() || !is_settled));
        let here = || "found on this machine".to_owned();
        let (state, why) = match (sign, is_here) {
            (sign, true) if failed.is_some() => (ToolState::Failed, sign.clone().unwrap_or_else(here)),
            (Some(sign), true) => (ToolState::Taken, sign.clone()),
            (Some(sign), false) => (ToolState::Missing, sign.clone()),
            (None, true) if is_first && !is_settled => (ToolState::Taken, here()),
            (None, true) => (ToolState::Idle, "nothing in the project names it".to_owned()),
            (None, false) => continue,
        };
        let (gate, failure) = (Arc::clone(gate), failed.cloned());
        all.push(ToolChoice { language, gate, purpose: known.purpose, state, why, failure });
    }
}

/// Whether a tool may be proposed where nothing names it.
fn may_come(tool: &CheckedTool<'_>, project: &ProjectFiles<'_>) -> bool {
    match tool.known.uninvited {
        Uninvited::Never => false,
        Uninvited::Always => true,
        Uninvited::With(name) => project.has(name).is_some(),
    }
}
