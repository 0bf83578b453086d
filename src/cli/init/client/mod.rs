//! `lockgate init --client`: adds the server, the hooks or the exclusion of edit tools to a client's configuration, and
//! removes them.
//!
//! Invariant: other content of a file stays unchanged, byte for byte. A file that cannot be parsed is not written.

mod addition;
mod call;
mod config_text;
mod config_toml;
mod configured;
mod destination;
mod file_change;
mod hooks;
mod kinds;
mod layout;
mod merge;
mod record;
#[cfg(test)]
mod tests;
mod wanted;

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use serde_json::json;

use self::addition::NAME;
pub(super) use self::addition::{Addition, Scope};
use self::call::FileChange;
pub(super) use self::call::{Change, ClientCall};
pub(in crate::cli) use self::configured::{
    ConfiguredHook, HookStart, configured_hooks, server_files, user_hook_files,
};
use self::destination::{ConfigFile, Destination, PlannedConfig};
use self::file_change::{add, conflict_error, remove};
pub(super) use self::kinds::Client;
use self::kinds::FilePath;
use self::record::ChangeRecord;
use self::wanted::{Content, Contents};
use super::outcome::{FileStatus, InitOutcome, diff};
use super::writing::{OnExisting, WriteMode};
use lockgate_engine::Workspace;
use lockgate_error::Error;

/// Changes the configuration and returns the result.
pub(super) fn run(workspace: &Arc<Workspace>, call: &ClientCall<'_>) -> Result<InitOutcome, Error> {
    let destination = Destination::open(workspace, call)?;
    let mut outcome = new_outcome(call, &destination);
    let ConfigPlan { changes, conflict } = plan(&destination, call, &mut outcome)?;
    if changes.is_empty() {
        outcome.message = match call.change {
            Change::Add(_) => format!("{} has the {} already", destination.shown, call.addition.name()),
            Change::Remove => format!("{} has no {} of lockgate", destination.shown, call.addition.name()),
        };
        if (call.change, call.addition) == (Change::Remove, Addition::Server) {
            outcome.notes.extend(remaining_hooks(workspace, call));
        }
        return Ok(outcome);
    }
    if let Some(place) = conflict.filter(|_| call.change == Change::Add(OnExisting::Keep)) {
        outcome.reject(conflict_error(call, &place));
        return Ok(outcome);
    }
    let is_deleted = changes.iter().all(|planned| matches!(planned.change, FileChange::Delete { .. }));
    if call.writing == WriteMode::Show {
        let change = if is_deleted { "removed" } else { "written" };
        outcome.status = FileStatus::Proposed;
        outcome.message = format!("{} would be {change}", destination.shown);
        return Ok(outcome);
    }
    write(&destination, &changes, call, &mut outcome)?;
    pass_on_folders(workspace, &destination, &changes, call);
    outcome.status = if is_deleted { FileStatus::Removed } else { FileStatus::Written };
    outcome.message.clone_from(&destination.shown);
    Ok(outcome)
}

/// The changes of a call.
struct ConfigPlan {
    /// The changes of the files that are not yet as they should be.
    changes: Vec<PlannedConfig>,
    /// The first place of something else that is replaced.
    conflict: Option<String>,
}

/// Returns the changes of the call. Their diffs, and notes on the files, are added to the outcome.
fn plan(
    destination: &Destination,
    call: &ClientCall<'_>,
    outcome: &mut InitOutcome,
) -> Result<ConfigPlan, Error> {
    let kind = call.client.kind();
    let mut plan = ConfigPlan { changes: Vec::new(), conflict: None };
    for (name, content) in contents(call) {
        let file = destination.file(name)?;
        let before = file.text()?;
        let exceeds = |text: &str| config_text::exceeds(text, kind.server.entry.dialect);
        if matches!(content, Content::Json(_)) && before.is_some_and(exceeds) {
            outcome.notes.push(format!(
                "{} has comments or trailing commas; they stay, but {} may not be able to read them",
                file.shown, kind.name
            ));
        }
        let change = match call.change {
            Change::Add(_) => {
                let (change, place) = add(&content, &file)?;
                let shown = place.map(|(line, column)| format!("{}:{line}:{column}", file.shown));
                plan.conflict = plan.conflict.or(shown);
                change
            }
            Change::Remove => {
                if before.is_none() && call.writing != WriteMode::Show {
                    // What a file of this name has later was not added by `init`. Without the record, it stays.
                    drop(destination.set_record(&file, call.addition, None));
                }
                remove(&content, &file, call, &mut outcome.notes)?
            }
        };
        if let Some(change) = change {
            let after = match &change {
                FileChange::Write(text) => text.as_str(),
                FileChange::Delete { .. } => "",
            };
            *outcome.diff.get_or_insert_default() += &diff(&file.shown, before, after)?;
            plan.changes.push(PlannedConfig { change, mode: content.mode(), file });
        }
    }
    Ok(plan)
}

/// Returns the content of each file.
fn contents(call: &ClientCall<'_>) -> Contents {
    let kind = call.client.kind();
    match call.addition {
        Addition::Server => vec![("", kind.server.content(call.scope, call.toolsets))],
        Addition::Exclusion => vec![("", Content::Json(kind.exclusion.wanted()))],
        Addition::Hooks => hooks::contents(kind.hooks),
    }
}

/// Returns a note on hooks of lockgate in the configuration of the client, with the command that removes them.
fn remaining_hooks(workspace: &Arc<Workspace>, call: &ClientCall<'_>) -> Option<String> {
    let call = ClientCall { addition: Addition::Hooks, toolsets: None, ..*call };
    let destination = Destination::open(workspace, &call).ok()?;
    let contents = contents(&call);
    let is_configured = contents.iter().any(|(name, content)| {
        let change = destination.file(name).and_then(|file| remove(content, &file, &call, &mut Vec::new()));
        matches!(change, Ok(Some(_)))
    });
    is_configured.then(|| {
        let command = format!("{} --hooks --uninstall", init_command(&call));
        format!("{} has hooks of lockgate; `{command}` removes them", destination.shown)
    })
}

/// Returns the command that adds the server of a client.
fn init_command(call: &ClientCall<'_>) -> String {
    let client = call.client.to_possible_value();
    let name = client.as_ref().map(PossibleValue::get_name).unwrap_or_default();
    let user = if call.scope == Scope::User { " --user" } else { "" };
    format!("lockgate init --client {name}{user}")
}

/// Returns how the server of this client is added, to append to a sentence.
fn server_step(call: &ClientCall<'_>) -> String {
    match call.client.file(Addition::Server, call.scope) {
        // The client writes that file itself.
        FilePath::None(next) => format!(": {next}"),
        FilePath::Project(_) | FilePath::User(_) => format!(", with `{}`", init_command(call)),
    }
}

/// Writes all files and the records of their changes.
fn write(
    destination: &Destination,
    changes: &[PlannedConfig],
    call: &ClientCall<'_>,
    outcome: &mut InitOutcome,
) -> Result<(), Error> {
    let mut records = Vec::new();
    for PlannedConfig { file, change, .. } in changes {
        let record = match (call.change, change) {
            (Change::Add(_), FileChange::Write(text)) => Some(new_record(destination, file, call, text)?),
            (Change::Add(_) | Change::Remove, _) => None,
        };
        records.push((file, record));
    }
    destination.write(changes)?;
    for (file, record) in records {
        if let Err(error) = destination.set_record(file, call.addition, record.as_ref()) {
            let effect = match call.addition {
                Addition::Exclusion => "`--uninstall` leaves what was added",
                Addition::Server | Addition::Hooks => {
                    "`--uninstall` cuts what was added instead of restoring the bytes before"
                }
            };
            outcome.notes.push(format!("{}, so {effect}", error.message));
        }
    }
    let made = changes.iter().map(|planned| match planned.change {
        FileChange::Delete { user_folders, .. } => user_folders,
        FileChange::Write(_) => 0,
    });
    destination.remove_user_folders(made.max().unwrap_or_default());
    Ok(())
}

/// Adds the folders that deleted files have left, because other files are in them, to the records of these files. So the
/// last deletion removes them.
fn pass_on_folders(
    project: &Arc<Workspace>,
    destination: &Destination,
    changes: &[PlannedConfig],
    call: &ClientCall<'_>,
) {
    let made = changes.iter().flat_map(|PlannedConfig { file, change, .. }| {
        let FileChange::Delete { folders, user_folders } = change else { return Vec::new() };
        let (inside, above) = destination.folders(file);
        inside.into_iter().take(*folders).chain(above.into_iter().take(*user_folders)).collect()
    });
    let left: Vec<PathBuf> = made.filter(|folder| folder.is_dir()).collect();
    if left.is_empty() {
        return;
    }
    let calls = Client::value_variants()
        .iter()
        .flat_map(|client| Addition::ALL.map(|addition| ClientCall { client: *client, addition, ..*call }));
    for call in calls {
        let Ok(destination) = Destination::open(project, &call) else { continue };
        for (name, _) in contents(&call) {
            let Ok(file) = destination.file(name) else { continue };
            let is_there = file.text().is_ok_and(|text| text.is_some());
            let Some(mut record) = file.record(call.addition).filter(|_| is_there).cloned() else { continue };
            let (inside, above) = destination.folders(&file);
            let extended = |folders: &[PathBuf], made: usize| {
                made + folders.iter().skip(made).take_while(|folder| left.contains(folder)).count()
            };
            (record.folders, record.user_folders) =
                (extended(&inside, record.folders), extended(&above, record.user_folders));
            // Without the record, the folder stays.
            drop(destination.set_record(&file, call.addition, Some(&record)));
        }
    }
}

/// Returns the record of the change of a file to this text. What an earlier call added is no part of the text that removing
/// restores.
fn new_record(
    destination: &Destination,
    file: &ConfigFile,
    call: &ClientCall<'_>,
    text: &str,
) -> Result<ChangeRecord, Error> {
    // The earlier call may have had other toolsets.
    let plain = ClientCall { toolsets: None, ..*call };
    let contents = contents(&plain);
    let content = contents.iter().find(|(name, _)| *name == file.name).map(|(_, content)| content);
    let earlier = file
        .record(call.addition)
        .zip(content)
        .and_then(|(_, content)| remove(content, file, &plain, &mut Vec::new()).ok().flatten());
    let before = match earlier {
        Some(FileChange::Write(text)) => Some(text),
        Some(FileChange::Delete { .. }) => None,
        None => file.text()?.map(str::to_owned),
    };
    let mut record = ChangeRecord::new(before.as_deref(), text);
    // Each addition may be the last that is removed, and with it goes a file that the first one made.
    let folders = file.records().map(|earlier| earlier.folders).max().unwrap_or_default();
    record.folders = folders.max(destination.missing_folders(file));
    let user_folders = file.records().map(|earlier| earlier.user_folders).max().unwrap_or_default();
    record.user_folders = user_folders.max(destination.made_user_folders());
    record.had_file &= file.records().all(|earlier| earlier.had_file);
    if let Some(Content::Json(wanted)) = content {
        let before = before.as_deref().unwrap_or_default();
        record.made = merge::new_containers(before, wanted).unwrap_or_default();
        record.existing = merge::existing_parts(before, wanted);
    }
    Ok(record)
}

/// Creates the outcome with its common parts.
fn new_outcome(call: &ClientCall<'_>, destination: &Destination) -> InitOutcome {
    let kind = call.client.kind();
    let mut outcome = InitOutcome::new(FileStatus::Unchanged, destination.shown.clone());
    outcome.extra_fields = vec![("client", json!(kind.name)), ("addition", json!(call.addition.name()))];
    if call.addition == Addition::Server {
        let entry = kind.server.entry(call.scope, call.toolsets);
        outcome.extra_fields.extend([("server", json!(NAME)), ("entry", json!(entry))]);
    }
    if call.change == Change::Remove {
        return outcome;
    }
    if call.addition != Addition::Exclusion && !is_on_path() {
        outcome.notes.push(format!("{NAME} is not on the search path, where {} looks for it", kind.name));
    }
    let next = match call.addition {
        Addition::Server => kind.server.next(call.scope),
        Addition::Hooks => kind.hooks_next.to_owned(),
        Addition::Exclusion => {
            format!("add the server as well{}; without it the agent cannot edit", server_step(call))
        }
    };
    outcome.next.push((kind.name.to_owned(), next));
    outcome
}

/// True if the program is on the search path.
fn is_on_path() -> bool {
    let path = lockgate_checks::search_path();
    std::env::split_paths(&path).any(|folder| folder.join(NAME).is_file())
}
