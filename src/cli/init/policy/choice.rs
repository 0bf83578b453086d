//! Selects the gates that are proposed for each language.
//!
//! Invariant: a gate is proposed only if its program was found and passed its trial, and if the project names it or
//! it is the first one for its purpose that needs no sign of use.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::known_tools::{KnownTool, TOOLS, ToolPurpose, WithoutSign};
use super::project::ProjectFiles;
use crate::cli::gates::gate_list::{GateList, InsidePrograms};
use crate::cli::gates::trial::TrialError;
use lockgate_policy::{Catalogue, Gate, Languages, language_named};

/// The policy key for all languages.
pub(super) const EVERY: &str = "*";

/// The state of a tool in a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolState {
    Proposed,
    /// It would be proposed but failed its trial.
    Failed,
    /// The project names it, but its program is not installed.
    Missing,
    /// Its program is installed, but nothing asks for it.
    Idle,
}

/// A tool for a language.
#[derive(Debug)]
pub(super) struct ToolChoice {
    /// The name of the language, or [`EVERY`] for a tool of any language.
    pub(super) language: &'static str,
    /// The gate of the tool.
    pub(super) gate: Arc<Gate>,
    /// The purpose of the tool.
    pub(super) purpose: ToolPurpose,
    /// The state of the tool.
    pub(super) state: ToolState,
    /// The reason for the state.
    pub(super) why: String,
    /// The failure of its trial, if it failed.
    pub(super) failure: Option<TrialError>,
}

/// All choices by language, in the order in which the gates run.
#[derive(Debug)]
pub(super) struct Choices(Vec<ToolChoice>);

/// The kind of trial before a tool is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// Tools are tried; the value sets the permission of programs inside the project.
    Run(InsidePrograms),
    /// Tools are proposed without a trial.
    Skip,
}

/// The trial results by the name of the gate.
type TrialResults = BTreeMap<String, Result<(), TrialError>>;

/// A tool with the signs of its use.
struct CheckedTool<'a> {
    known: &'a KnownTool,
    gate: &'a Arc<Gate>,
    sign: Option<String>,
    is_installed: bool,
}

impl Choices {
    /// Selects tools that pass their trial. Only tools that would be proposed are tried; if one fails, the next one
    /// is tried.
    pub(super) fn select(
        project: &ProjectFiles<'_>,
        gate_list: &GateList,
        trials: impl Fn(&[Arc<Gate>]) -> Vec<Result<(), TrialError>>,
    ) -> Choices {
        let checked = check_tools(project, gate_list);
        let mut results = TrialResults::new();
        loop {
            let choices = Choices::from_results(&checked, project, &results);
            let mut untried: Vec<Arc<Gate>> = Vec::new();
            for ToolChoice { gate, .. } in choices.proposed() {
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

    fn from_results(
        tools: &[CheckedTool<'_>],
        project: &ProjectFiles<'_>,
        results: &TrialResults,
    ) -> Choices {
        let mut all = Vec::new();
        for (language, _) in project.languages() {
            let known = language_named(language);
            let fits =
                |tool: &&CheckedTool<'_>| tool.gate.languages != Languages::Every && tool.gate.covers(known);
            all.extend(choose(language, &tools.iter().filter(fits).collect::<Vec<_>>(), project, results));
        }
        let every = |tool: &&CheckedTool<'_>| tool.gate.languages == Languages::Every;
        all.extend(choose(EVERY, &tools.iter().filter(every).collect::<Vec<_>>(), project, results));
        Choices(all)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &ToolChoice> {
        self.0.iter()
    }

    pub(super) fn proposed(&self) -> impl Iterator<Item = &ToolChoice> {
        self.0.iter().filter(|choice| choice.state == ToolState::Proposed)
    }

    /// Returns the choices of a language in one state.
    pub(super) fn for_language<'c>(
        &'c self,
        language: &'c str,
        state: ToolState,
    ) -> impl Iterator<Item = &'c ToolChoice> {
        self.0.iter().filter(move |choice| choice.language == language && choice.state == state)
    }
}

/// Looks for each tool in the project and on the machine.
fn check_tools<'a>(project: &ProjectFiles<'_>, gate_list: &GateList) -> Vec<CheckedTool<'a>> {
    let catalogue = Catalogue::embedded();
    let gates = TOOLS.iter().filter_map(|known| Some((known, catalogue.find(known.gate)?)));
    let found = |(known, gate): (&'a KnownTool, &'a Arc<Gate>)| {
        let (sign, is_installed) = (project.sign(known, gate), gate_list.program(gate).is_some());
        CheckedTool { known, gate, sign, is_installed }
    };
    gates.map(found).collect()
}

/// Returns the choices of a language, whose tools these are.
fn choose(
    language: &'static str,
    tools: &[&CheckedTool<'_>],
    project: &ProjectFiles<'_>,
    results: &TrialResults,
) -> Vec<ToolChoice> {
    let failure =
        |tool: &CheckedTool<'_>| results.get(&tool.gate.name).and_then(|result| result.as_ref().err());
    let mut choices = Vec::new();
    for tool in tools {
        let CheckedTool { known, gate, sign, is_installed } = tool;
        let rivals = || tools.iter().filter(|other| other.known.purpose == known.purpose);
        let is_settled = rivals().any(|rival| rival.sign.is_some());
        let may_be_first =
            |rival: &&&CheckedTool<'_>| rival.is_installed && is_allowed_uninvited(rival, project);
        let first = rivals().filter(may_be_first).find(|rival| failure(rival).is_none());
        let is_first = first.is_some_and(|first| first.known.gate == known.gate);
        let failed = failure(tool).filter(|_| *is_installed && (sign.is_some() || !is_settled));
        let installed = || "found on this machine".to_owned();
        let (state, why) = match (sign, is_installed) {
            (sign, true) if failed.is_some() => (ToolState::Failed, sign.clone().unwrap_or_else(installed)),
            (Some(sign), true) => (ToolState::Proposed, sign.clone()),
            (Some(sign), false) => (ToolState::Missing, sign.clone()),
            (None, true) if is_first && !is_settled => (ToolState::Proposed, installed()),
            (None, true) => (ToolState::Idle, "nothing in the project names it".to_owned()),
            (None, false) => continue,
        };
        let (gate, failure) = (Arc::clone(gate), failed.cloned());
        choices.push(ToolChoice { language, gate, purpose: known.purpose, state, why, failure });
    }
    choices
}

/// True if a tool may be proposed without a sign of use.
fn is_allowed_uninvited(tool: &CheckedTool<'_>, project: &ProjectFiles<'_>) -> bool {
    match tool.known.without_sign {
        WithoutSign::Never => false,
        WithoutSign::Always => true,
        WithoutSign::IfFile(name) => project.find(name).is_some(),
    }
}
