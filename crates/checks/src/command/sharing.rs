//! Decides which files can share one run of a command.
//!
//! A command that gets a folder or the whole project gives the same result for each of its files. One run is
//! then enough for all drafts of a call with the same arguments.
//!
//! Invariant: files share a run only if every argument and every variable would be the same for each, except
//! for the list of the files themselves.

use std::ffi::OsString;
use std::path::Path;

use super::input::{has_any, is_formatter};
use super::{project, run_dir};
use crate::path::folder;
use lockgate_policy::{CacheScope, CommandSpec, Hole, Input, Rule};

/// The part of a run that depends on the file; files with the same value share a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SharedPart {
    /// The working directory of the command, relative to the root.
    folder: String,
    /// The arguments added to the command.
    args: Vec<OsString>,
    values: Vec<String>,
    /// The file's folder, if the arguments name it.
    named_folder: Option<String>,
}

/// Returns the shared part of the run for this file; `None` if the command runs for each file separately.
pub(crate) fn shared_part(rule: &Rule, command: &CommandSpec, root: &Path, path: &str) -> Option<SharedPart> {
    // The program's version decides between the two commands.
    let older = command.older.as_ref().map(|older| &older.command);
    if std::iter::once(command).chain(older).any(is_single_file) {
        return None;
    }
    let names_folder = |command: &CommandSpec| has_any(command, &[Hole::Folder]);
    Some(SharedPart {
        folder: project::folder_of(root, path, &command.environment.cwd).to_owned(),
        args: run_dir::added_args(rule, command, root, path).ok()?,
        values: command.values.iter().map(|value| project::value(root, path, value)).collect(),
        named_folder: std::iter::once(command)
            .chain(older)
            .any(names_folder)
            .then(|| folder(path).to_owned()),
    })
}

/// Returns true if the command checks one file, independent of others.
fn is_single_file(command: &CommandSpec) -> bool {
    command.scope == CacheScope::File
        || command.input == Input::Stdin
        || is_formatter(command)
        || (has_any(command, &[Hole::Path, Hole::Draft]) && !has_any(command, &[Hole::Paths]))
}

/// Returns true if the command's arguments list the files or folders to check.
pub(crate) fn lists_files(command: &CommandSpec) -> bool {
    has_any(command, &[Hole::Paths, Hole::Folders])
}

/// Returns true if a command can run when none of its files exists.
pub(crate) fn runs_without_file(command: &CommandSpec) -> bool {
    command.input != Input::Stdin && !has_any(command, &[Hole::Path, Hole::Paths, Hole::Draft])
}
