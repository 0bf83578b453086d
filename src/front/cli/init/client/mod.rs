//! `lockgate init --client`: adds the server to a client's configuration of the project.
//!
//! Invariant: other content of the file stays unchanged, byte for byte. A file that cannot be parsed is not written.

mod kinds;
mod layout;
mod merge;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde_json::{Map, Value, json};

pub(super) use self::kinds::Client;
use self::kinds::ClientKind;
use self::merge::{MergeError, MergeResult, WantedEntry, is_lenient, merge};
use super::outcome::{FileStatus, InitOutcome, diff};
use super::{OnExisting, WriteMode};
use crate::engine::Workspace;
use crate::error::{Code, Error};

/// Name of the server in a configuration, and of the program on the search path.
const NAME: &str = "lockgate";

/// Adds the server to the configuration and returns the result.
pub(super) fn run(
    workspace: &Workspace,
    client: Client,
    toolsets: Option<&str>,
    (writing, force): (WriteMode, OnExisting),
) -> Result<InitOutcome, Error> {
    let kind = client.kind();
    let entry = kind.entry(toolsets);
    let file = workspace.own_file(kind.path)?;
    let before = file.bytes().map(|bytes| text_of(&kind, bytes)).transpose()?;
    let wanted = WantedEntry { key: kind.key, name: NAME, entry: &entry };
    let merged = merge(before.unwrap_or_default(), &wanted).map_err(|error| merge_error(&kind, &error))?;
    let mut outcome = new_outcome(&kind, &entry, before);
    let (text, different) = match merged {
        MergeResult::Unchanged => {
            outcome.message = format!("{} has the server already", kind.path);
            return Ok(outcome);
        }
        MergeResult::Added(text) => (text, None),
        MergeResult::Replaced(text, place) => (text, Some(place).filter(|_| force == OnExisting::Keep)),
    };
    outcome.diff = Some(diff(kind.path, before, &text)?);
    if let Some(place) = different {
        outcome.reject(conflict(&kind, place));
        return Ok(outcome);
    }
    verify(&text, &wanted)?;
    if writing == WriteMode::Show {
        outcome.status = FileStatus::Proposed;
        outcome.message = format!("{} would be written", kind.path);
        return Ok(outcome);
    }
    workspace.write_own(&file, text.as_bytes())?;
    outcome.status = FileStatus::Written;
    outcome.message = kind.path.to_owned();
    Ok(outcome)
}

/// Creates the outcome with its common parts.
fn new_outcome(kind: &ClientKind, entry: &Map<String, Value>, before: Option<&str>) -> InitOutcome {
    let mut outcome = InitOutcome::new(FileStatus::Unchanged, kind.path);
    outcome.extra_fields =
        vec![("client", json!(kind.name)), ("server", json!(NAME)), ("entry", json!(entry))];
    if !kind.lenient && before.is_some_and(is_lenient) {
        outcome.notes.push(format!(
            "{} has comments or trailing commas; they stay, but {} may not be able to read them",
            kind.path, kind.name
        ));
    }
    if !is_on_path() {
        outcome.notes.push(format!("{NAME} is not on the search path, where {} looks for it", kind.name));
    }
    outcome.next.push((kind.name.to_owned(), kind.next.to_owned()));
    outcome
}

fn text_of<'a>(kind: &ClientKind, bytes: &'a [u8]) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|_| {
        Error::new(Code::NotText, format!("{} is not UTF-8", kind.path))
            .hint("have a person look at the file")
    })
}

fn merge_error(kind: &ClientKind, error: &MergeError) -> Error {
    let (line, column) = error.at;
    Error::new(Code::InvalidInput, format!("{}:{line}:{column}: {}", kind.path, error.problem))
        .hint("fix the file, or add the output of `--print` in an empty folder by hand")
}

fn conflict(kind: &ClientKind, (line, column): (usize, usize)) -> Error {
    let message = format!("{}:{line}:{column}: another server `{NAME}` exists", kind.path);
    Error::new(Code::EditConflict, message)
        .hint("keep it, or use --force to replace the fields shown; the others stay")
}

/// Checks that the new text contains the entry.
fn verify(text: &str, wanted: &WantedEntry<'_>) -> Result<(), Error> {
    match merge(text, wanted) {
        Ok(MergeResult::Unchanged) => Ok(()),
        other => Err(Error::new(Code::Internal, format!("the new text is wrong: {other:?}"))),
    }
}

/// True if the program is on the search path.
fn is_on_path() -> bool {
    let path = crate::gate::search_path();
    std::env::split_paths(&path).any(|folder: std::path::PathBuf| folder.join(Path::new(NAME)).is_file())
}
