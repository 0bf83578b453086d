//! The change of one file: adds its content, or removes it.

use super::addition::{Addition, NAME};
use super::call::{Change, ClientCall, FileChange};
use super::config_text::{LineColumn, MergeError};
use super::config_toml;
use super::destination::ConfigFile;
use super::hooks::Owner;
use super::merge::{self, MergeResult};
use super::record::{ChangeRecord, Restored};
use super::wanted::{Content, Wanted, WantedValue, is_same_server};
use lockgate_error::{Code, Error};

/// Returns the change that adds the content, and the place of something else that it replaces.
pub(super) fn add(
    content: &Content,
    file: &ConfigFile,
) -> Result<(Option<FileChange>, Option<LineColumn>), Error> {
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
pub(super) fn remove(
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

fn merge_error(path: &str, error: &MergeError) -> Error {
    let (line, column) = error.at;
    Error::new(Code::InvalidInput, format!("{path}:{line}:{column}: {}", error.problem))
        .hint("fix the file, or add the output of `--print` in an empty folder by hand")
}

pub(super) fn conflict_error(call: &ClientCall<'_>, place: &str) -> Error {
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
