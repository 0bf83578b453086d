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
use self::config_text::{LineColumn, MergeError};
pub(in crate::cli) use self::configured::{
    ConfiguredHook, HookStart, configured_hooks, server_files, user_hook_files,
};
use self::destination::{ConfigFile, Destination};
use self::hooks::Owner;
pub(super) use self::kinds::Client;
use self::kinds::FilePath;
use self::merge::MergeResult;
use self::record::{ChangeRecord, Restored};
use self::wanted::{Content, Contents, Wanted, WantedValue, is_same_server};
use super::outcome::{FileStatus, InitOutcome, diff};
use super::writing::{OnExisting, WriteMode};
use lockgate_engine::Workspace;
use lockgate_error::{Code, Error};

/// Changes the configuration and returns the result.
pub(super) fn run(workspace: &Arc<Workspace>, call: &ClientCall<'_>) -> Result<InitOutcome, Error> {
    let kind = call.client.kind();
    let destination = Destination::open(workspace, call)?;
    let contents = contents(call);
    let mut outcome = new_outcome(call, &destination);
    let mut planned = Vec::new();
    let mut conflict = None;
    for (name, content) in &contents {
        let file = destination.file(name)?;
        let before = file.text()?;
        let exceeds = |text: &str| config_text::exceeds(text, kind.server.dialect);
        if matches!(content, Content::Json(_)) && before.is_some_and(exceeds) {
            outcome.notes.push(format!(
                "{} has comments or trailing commas; they stay, but {} may not be able to read them",
                file.shown, kind.name
            ));
        }
        let (change, place) = match call.change {
            Change::Add(_) => add(content, &file)?,
            Change::Remove => {
                if before.is_none() && call.writing != WriteMode::Show {
                    // What a file of this name has later was not added by `init`. Without the record, it stays.
                    drop(destination.set_record(&file, call.addition, None));
                }
                (remove(content, &file, call, &mut outcome.notes)?, None)
            }
        };
        conflict = conflict.or(place.map(|place| format!("{}:{}:{}", file.shown, place.0, place.1)));
        if let Some(change) = change {
            show(&mut outcome, &file, &change)?;
            planned.push((file, change));
        }
    }
    if planned.is_empty() {
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
    let is_deleted = planned.iter().all(|(_, change)| matches!(change, FileChange::Delete { .. }));
    if call.writing == WriteMode::Show {
        let change = if is_deleted { "removed" } else { "written" };
        outcome.status = FileStatus::Proposed;
        outcome.message = format!("{} would be {change}", destination.shown);
        return Ok(outcome);
    }
    write(&destination, &contents, &planned, call, &mut outcome)?;
    pass_on_folders(workspace, &destination, &planned, call);
    outcome.status = if is_deleted { FileStatus::Removed } else { FileStatus::Written };
    outcome.message.clone_from(&destination.shown);
    Ok(outcome)
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

/// Returns the change that adds the content, and the place of something else that it replaces.
fn add(content: &Content, file: &ConfigFile) -> Result<(Option<FileChange>, Option<LineColumn>), Error> {
    let before = file.text()?;
    let merged = merge_content(content, before);
    let merged = merged.map_err(|error| merge_error(&file.shown, &error))?;
    let (text, place) = match merged {
        MergeResult::Unchanged => return Ok((None, None)),
        MergeResult::Added(text) => (text, None),
        MergeResult::Replaced(text, place) => (text, Some(place)),
    };
    match merge_content(content, Some(&text)) {
        Ok(MergeResult::Unchanged) => Ok((Some(FileChange::Write(text)), place)),
        other => Err(Error::new(Code::Internal, format!("the new text is wrong: {other:?}"))),
    }
}

/// Merges the content into the text of a file, if the file exists.
fn merge_content(content: &Content, before: Option<&str>) -> Result<MergeResult, MergeError> {
    match content {
        Content::Json(wanted) => merge::merge(before.unwrap_or_default(), wanted),
        Content::TomlServer { key, fields } => config_toml::merge(before.unwrap_or_default(), key, fields),
        Content::Own { text, .. } => Ok(match before {
            before if before.unwrap_or_default() == text => MergeResult::Unchanged,
            Some(_) => MergeResult::Replaced(text.clone(), (1, 1)),
            None => MergeResult::Added(text.clone()),
        }),
    }
}

/// Returns the change that removes the content: back to the recorded text if nothing else changed the file since.
fn remove(
    content: &Content,
    file: &ConfigFile,
    call: &ClientCall<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<FileChange>, Error> {
    let Some(current) = file.text()? else { return Ok(None) };
    let record = file.record(call.addition);
    if let (Addition::Exclusion, None, Content::Json(wanted)) = (call.addition, record, content) {
        notes.extend(kept_exclusion(wanted, file, current)?);
        return Ok(None);
    }
    match record.and_then(|record| record.restore(current)) {
        Some(Restored::Text(text)) => return Ok(Some(FileChange::Write(text))),
        Some(Restored::NoFile) => return Ok(Some(deletion(record))),
        None => {}
    }
    // The addition that made the file may be gone already.
    let is_alone = matches!(merge_content(content, None), Ok(MergeResult::Added(text)) if text == current);
    if is_alone && record.is_none_or(|record| !record.had_file) {
        return Ok(Some(deletion(record)));
    }
    notes.extend(check_removal(content, file, call, current)?);
    let text = match content {
        Content::Json(wanted) => {
            let is_added = |part: &&Wanted| record.is_none_or(|record| !record.had(part));
            let added: Vec<Wanted> = wanted.iter().filter(is_added).cloned().collect();
            merge::remove(current, &added, record.map(|record| record.made.as_slice()).unwrap_or_default())
        }
        Content::TomlServer { key, .. } => config_toml::remove(current, key),
        // A person changed it; it may hold more than lockgate wrote.
        Content::Own { .. } => {
            let message = format!("{} is not as lockgate wrote it", file.shown);
            return Err(Error::new(Code::EditConflict, message).hint("remove it by hand, or keep it"));
        }
    };
    let text = text.map_err(|error| merge_error(&file.shown, &error))?;
    Ok(text.map(FileChange::Write))
}

/// Returns a note on the excluded tools of a file without a record. Unlike a server or a hook, an exclusion does not name
/// lockgate, so it may be a person's own. `None` if the file has none.
fn kept_exclusion(wanted: &[Wanted], file: &ConfigFile, current: &str) -> Result<Option<String>, Error> {
    let (mut values, mut place) = (Vec::new(), String::new());
    for part in wanted {
        let without = merge::remove(current, std::slice::from_ref(part), &[]);
        let is_there = without.map_err(|error| merge_error(&file.shown, &error))?.is_some();
        if let WantedValue::Element(value) | WantedValue::Exact(value) = &part.value
            && is_there
        {
            values.push(value.to_string());
            place = part.path.join(".");
        }
    }
    let note = || {
        let values = values.join(", ");
        format!("{} keeps {values} in `{place}`: lockgate has no record of adding that", file.shown)
    };
    Ok((!values.is_empty()).then(note))
}

/// Returns the deletion of a file, with the folders that its record names.
fn deletion(record: Option<&ChangeRecord>) -> FileChange {
    let (folders, user_folders) = record.map_or((0, 0), |record| (record.folders, record.user_folders));
    FileChange::Delete { folders, user_folders }
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

/// Checks that the objects to remove are those that `init` adds; returns a note on each that has other keys.
///
/// Errors: `EDIT_CONFLICT` for a server with another command or other arguments, and for hooks of other programs.
fn check_removal(
    content: &Content,
    file: &ConfigFile,
    call: &ClientCall<'_>,
    current: &str,
) -> Result<Vec<String>, Error> {
    let objects: Vec<_> = match content {
        Content::Json(wanted) => wanted
            .iter()
            .filter_map(|part| match &part.value {
                WantedValue::Object(fields) => Some((fields, merge::find(current, &part.path))),
                WantedValue::Exact(_) | WantedValue::Default(_) | WantedValue::Element(_) => None,
            })
            .collect(),
        Content::TomlServer { key, fields } => vec![(fields, config_toml::find(current, key))],
        Content::Own { .. } => Vec::new(),
    };
    let mut notes = Vec::new();
    for (fields, existing) in objects {
        let Some(existing) = existing.map_err(|error| merge_error(&file.shown, &error))? else { continue };
        let is_own = match call.addition {
            Addition::Hooks => Owner::from_events(&existing.fields) == Owner::Own,
            Addition::Server | Addition::Exclusion => is_same_server(fields, &existing.fields),
        };
        if !is_own {
            let (line, column) = existing.at;
            return Err(conflict_error(call, &format!("{}:{line}:{column}", file.shown)));
        }
        let others = existing.fields.keys().filter(|name| !fields.contains_key(*name));
        let keys: Vec<String> = others.map(|name| format!("`{name}`")).collect();
        if !keys.is_empty() {
            let keys = keys.join(", ");
            notes.push(format!("`{NAME}` is removed with keys that init did not write: {keys}"));
        }
    }
    Ok(notes)
}

/// Adds the change of a file to the outcome.
fn show(outcome: &mut InitOutcome, file: &ConfigFile, change: &FileChange) -> Result<(), Error> {
    let after = match change {
        FileChange::Write(text) => text.as_str(),
        FileChange::Delete { .. } => "",
    };
    let shown = diff(&file.shown, file.text()?, after)?;
    *outcome.diff.get_or_insert_default() += &shown;
    Ok(())
}

/// Writes all files and the records of their changes.
fn write(
    destination: &Destination,
    contents: &[(&'static str, Content)],
    planned: &[(ConfigFile, FileChange)],
    call: &ClientCall<'_>,
    outcome: &mut InitOutcome,
) -> Result<(), Error> {
    let mode = |file: &ConfigFile| {
        contents.iter().find(|(name, _)| *name == file.name).and_then(|(_, content)| match content {
            Content::Own { mode, .. } => *mode,
            Content::Json(_) | Content::TomlServer { .. } => None,
        })
    };
    let mut records = Vec::new();
    for (file, change) in planned {
        let record = match (call.change, change) {
            (Change::Add(_), FileChange::Write(text)) => Some(new_record(destination, file, call, text)?),
            (Change::Add(_) | Change::Remove, _) => None,
        };
        records.push((file, record));
    }
    destination.write(planned, mode)?;
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
    let made = planned.iter().map(|(_, change)| match change {
        FileChange::Delete { user_folders, .. } => *user_folders,
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
    planned: &[(ConfigFile, FileChange)],
    call: &ClientCall<'_>,
) {
    let made = planned.iter().flat_map(|(file, change)| {
        let FileChange::Delete { folders, user_folders } = change else { return Vec::new() };
        let (inside, above) = destination.folders(file);
        inside.into_iter().take(*folders).chain(above.into_iter().take(*user_folders)).collect()
    });
    let left: Vec<PathBuf> = made.filter(|folder| folder.is_dir()).collect();
    if left.is_empty() {
        return;
    }
    let additions = [Addition::Server, Addition::Hooks, Addition::Exclusion];
    let calls = Client::value_variants()
        .iter()
        .flat_map(|client| additions.map(|addition| ClientCall { client: *client, addition, ..*call }));
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

fn merge_error(path: &str, error: &MergeError) -> Error {
    let (line, column) = error.at;
    Error::new(Code::InvalidInput, format!("{path}:{line}:{column}: {}", error.problem))
        .hint("fix the file, or add the output of `--print` in an empty folder by hand")
}

fn conflict_error(call: &ClientCall<'_>, place: &str) -> Error {
    let what = match call.addition {
        Addition::Server => "another server `lockgate` exists",
        Addition::Hooks => "other hooks of lockgate, or another file of that name, exist",
        Addition::Exclusion => "another value exists",
    };
    let hint = match call.change {
        Change::Add(_) => "keep it, or use --force to replace what the diff shows",
        Change::Remove => "keep it, or remove it by hand",
    };
    Error::new(Code::EditConflict, format!("{place}: {what}")).hint(hint)
}

/// True if the program is on the search path.
fn is_on_path() -> bool {
    let path = lockgate_checks::search_path();
    std::env::split_paths(&path).any(|folder| folder.join(NAME).is_file())
}
