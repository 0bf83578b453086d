//! `lockgate init`: writes a policy for the languages and installed tools of a project.
//!
//! Invariant: the text is a valid policy, which is checked before it is written. Existing files are never changed.

mod choice;
mod known_tools;
mod policy_text;
mod project;

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::runtime::Builder;

pub(super) use self::choice::Trial;

use self::choice::{Choices, ToolState};
use self::project::ProjectFiles;
use super::outcome::{FileStatus, InitOutcome, exists};
use super::writing::WriteMode;
use crate::cli::async_work::runtime;
use crate::cli::gates::gate_list::{GateList, InsidePrograms};
use crate::cli::gates::trial::{LIMIT, trials};
use lockgate_checks::Watch;
use lockgate_engine::{OwnWrite, POLICY_NAMES, Workspace};
use lockgate_error::Error;
use lockgate_policy::{Gate, Policy};

/// Path of the new policy.
const PATH: &str = "quality.yaml";

/// Proposes a policy and writes it if there is none; returns `None` if a signal cancelled the trials.
pub(super) fn run(
    workspace: &Workspace,
    toolsets: Option<&str>,
    writing: WriteMode,
    trial: Trial,
) -> Result<Option<InitOutcome>, Error> {
    let project = ProjectFiles::read(workspace)?;
    let choices = match trial {
        Trial::Skip => {
            let gate_list = GateList::before_policy(workspace, InsidePrograms::Denied);
            Choices::select(&project, &gate_list, |gates| vec![Ok(()); gates.len()])
        }
        Trial::Run(inside) => {
            let gate_list = GateList::before_policy(workspace, inside);
            let Some(choices) = select_by_trials(&project, &gate_list)? else { return Ok(None) };
            choices
        }
    };
    let text = policy_text::text(&project, &choices, toolsets, trial);
    Policy::parse(PATH, &text)?;
    let mut outcome = new_outcome(&project, &choices);
    outcome.text = Some(text.clone());
    let existing = POLICY_NAMES.iter().find(|path| workspace.exists(path));
    match (existing, writing) {
        (_, WriteMode::Show) => {}
        (Some(path), WriteMode::Write) => outcome.reject(exists(path)),
        (None, WriteMode::Write) => {
            let file = workspace.own_file(PATH)?;
            if file.bytes().is_some() {
                outcome.reject(exists(PATH));
                return Ok(Some(outcome));
            }
            workspace.write_own(&[OwnWrite::new(&file, text.as_bytes())])?;
            outcome.status = FileStatus::Written;
        }
    }
    Ok(Some(outcome))
}

/// Selects tools that pass their trial; returns `None` if a signal cancelled the trials.
fn select_by_trials(project: &ProjectFiles<'_>, gate_list: &GateList) -> Result<Option<Choices>, Error> {
    // One thread handles signals while the programs run.
    let (_runtime, stop) = runtime(Builder::new_multi_thread(), 1)?;
    let watch = Watch::new(stop, None);
    let end = Instant::now() + LIMIT;
    let choices = Choices::select(project, gate_list, |gates: &[Arc<Gate>]| {
        trials(gate_list, gates, end.saturating_duration_since(Instant::now()), &watch)
    });
    Ok((!watch.cancelled()).then_some(choices))
}

fn new_outcome(project: &ProjectFiles<'_>, choices: &Choices) -> InitOutcome {
    let mut outcome = InitOutcome::new(FileStatus::Proposed, PATH);
    let each: Vec<String> = project.languages().map(|(name, count)| format!("{name} ({count})")).collect();
    let found = if each.is_empty() { "no file of a known language".to_owned() } else { each.join(", ") };
    outcome.found.push(found);
    outcome.found.extend(project.languages().filter_map(|(name, _)| idle_tools(name, choices)));
    let languages: Vec<Value> =
        project.languages().map(|(name, count)| json!({ "name": name, "files": count })).collect();
    outcome.extra_fields.push(("languages", json!(languages)));
    outcome.extra_fields.push(("gates", json!(choices.all().map(choice_json).collect::<Vec<_>>())));
    let next = |what: &str, why: &str| (what.to_owned(), why.to_owned());
    if choices.proposed().next().is_none() {
        outcome.found.push("no tool to propose, so only the built-in gates judge edits".to_owned());
    } else {
        outcome.next.push(next("lockgate gates doctor", "tests each of these tools on this machine"));
        outcome.next.push(next(
            "lockgate trust",
            "shows the commands and asks you to trust them; until then they are skipped",
        ));
    }
    outcome.next.push(next("lockgate init --client NAME", "adds the server to a client's configuration"));
    outcome
}

/// Lists the installed tools for a language that are not proposed.
fn idle_tools(language: &str, choices: &Choices) -> Option<String> {
    let names: Vec<&str> =
        choices.for_language(language, ToolState::Idle).map(|choice| choice.gate.name.as_str()).collect();
    if names.is_empty() { None } else { Some(format!("for {language}, not proposed: {}", names.join(", "))) }
}

fn choice_json(choice: &choice::ToolChoice) -> Value {
    let state = match choice.state {
        ToolState::Proposed => "proposed",
        ToolState::Failed => "failed",
        ToolState::Missing => "missing",
        ToolState::Idle => "not_proposed",
    };
    let failure = choice.failure.as_ref();
    json!({
        "language": choice.language,
        "gate": choice.gate.name,
        "state": state,
        "why": choice.why,
        "failure": failure.map(|failure| &failure.why),
        "next": failure.map(|failure| &failure.next_step),
    })
}
