//! `lockgate init`: writes a policy for the languages and installed tools of a project.
//!
//! Invariant: the text is a valid policy, which is checked before it is written. Existing files are never changed.

mod choice;
mod known;
mod project;
mod written;

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::runtime::Builder;

use self::choice::{Choices, ToolState};
use self::project::ProjectFiles;
use super::shown::{FileStatus, InitOutcome, exists};
use super::{Trial, Writing};
use crate::engine::Workspace;
use crate::error::Error;
use crate::front::cli::gates::gate_list::{GateList, Inside};
use crate::front::cli::gates::trial::{Failure, LIMIT, trials};
use crate::front::cli::work::runtime;
use crate::gate::Watch;
use crate::policy::{Gate, Policy};

/// Path of the new policy.
const PATH: &str = "quality.yaml";
/// Paths of existing policies that would conflict with a new one.
const OTHERS: [&str; 3] = [PATH, ".lockgate/quality.yaml", ".st3/quality.yaml"];

/// Proposes a policy and writes it if there is none; returns `None` if a signal cancelled the trials.
pub(super) fn run(
    workspace: &Workspace,
    toolsets: Option<&str>,
    writing: Writing,
    trial: Trial,
) -> Result<Option<InitOutcome>, Error> {
    let project = ProjectFiles::look(workspace)?;
    let choices = match trial {
        Trial::Omitted => {
            let shelf = GateList::before_policy(workspace, Inside::Refused);
            Choices::tried(&project, &shelf, |gates| vec![Ok(()); gates.len()])
        }
        Trial::Held(inside) => {
            let shelf = GateList::before_policy(workspace, inside);
            // One thread handles signals while the programs run.
            let (_runtime, stop) = runtime(Builder::new_multi_thread(), 1)?;
            let watch = Watch::new(stop, None);
            let end = Instant::now() + LIMIT;
            let left = || end.saturating_duration_since(Instant::now());
            let choices =
                Choices::tried(&project, &shelf, |gates: &[Arc<Gate>]| trials(&shelf, gates, left(), &watch));
            if watch.cancelled() {
                return Ok(None);
            }
            choices
        }
    };
    let text = written::text(&project, &choices, toolsets, trial);
    Policy::parse(PATH, &text)?;
    let mut outcome = told(&project, &choices);
    outcome.text = Some(text.clone());
    let there = OTHERS.into_iter().find(|path| workspace.stands(path));
    match (there, writing) {
        (_, Writing::Show) => {}
        (Some(path), Writing::Write) => outcome.refuse(exists(path)),
        (None, Writing::Write) => {
            let file = workspace.own_file(PATH)?;
            if file.bytes().is_some() {
                outcome.refuse(exists(PATH));
                return Ok(Some(outcome));
            }
            workspace.write_own(&file, text.as_bytes())?;
            outcome.status = FileStatus::Written;
        }
    }
    Ok(Some(outcome))
}

fn told(project: &ProjectFiles<'_>, choices: &Choices) -> InitOutcome {
    let mut outcome = InitOutcome::new(FileStatus::Proposed, PATH);
    let each: Vec<String> = project.languages().map(|(name, count)| format!("{name} ({count})")).collect();
    let found = if each.is_empty() { "no file of a known language".to_owned() } else { each.join(", ") };
    outcome.found.push(found);
    outcome.found.extend(project.languages().filter_map(|(name, _)| idle(name, choices)));
    let languages: Vec<Value> =
        project.languages().map(|(name, count)| json!({ "name": name, "files": count })).collect();
    outcome.facts.push(("languages", json!(languages)));
    outcome.facts.push(("gates", json!(choices.all().map(fact).collect::<Vec<_>>())));
    let next = |what: &str, why: &str| (what.to_owned(), why.to_owned());
    if choices.taken().next().is_some() {
        outcome.next.push(next("lockgate gates doctor", "tests each of these tools on this machine"));
        outcome
            .next
            .push(next("lockgate trust", "shows the commands, and asks; until then they are skipped"));
    }
    outcome.next.push(next("lockgate init --client NAME", "adds the server to a client's configuration"));
    outcome
}

/// Lists the installed tools for a language that are not proposed.
fn idle(language: &str, choices: &Choices) -> Option<String> {
    let names: Vec<&str> =
        choices.for_language(language, ToolState::Idle).map(|choice| choice.gate.name.as_str()).collect();
    if names.is_empty() { None } else { Some(format!("for {language}, not proposed: {}", names.join(", "))) }
}

fn fact(choice: &choice::ToolChoice) -> Value {
    let state = match choice.state {
        ToolState::Taken => "proposed",
        ToolState::Failed => "failed",
        ToolState::Missing => "missing",
        ToolState::Idle => "not_proposed",
    };
    let (trial, next) = match &choice.failure {
        Some(Failure { why, next }) => (Some(why), Some(next)),
        None => (None, None),
    };
    json!({
        "language": choice.language,
        "gate": choice.gate.name,
        "state": state,
        "why": choice.why,
        "failure": trial,
        "next": next,
    })
}
