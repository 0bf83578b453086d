//! Which files one run of a command answers for.
//!
//! A command that is told a folder or the whole project says the same whichever of its files it is asked about. So one run
//! is enough for all drafts of a call that it would be asked about in the same words.
//!
//! Invariant: files share a run only where every word and every variable would be the same for each, but for the list of
//! the files themselves.

use std::ffi::OsString;
use std::path::Path;

use super::{project, run_dir};
use crate::policy::{CacheScope, CommandSpec, Hole, Input, OutputForm, Rule};

/// The part of a run that depends on the file; files with the same share a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::gate) struct SharedPart {
    /// The folder that the command runs in, relative to the root.
    folder: String,
    /// The words that are added to the command.
    args: Vec<OsString>,
    values: Vec<String>,
    /// The file's folder, where the words name it.
    named: Option<String>,
}

/// Returns what the run for this file depends on; nothing where the command is run for each file by itself.
pub(in crate::gate) fn shared(
    rule: &Rule,
    command: &CommandSpec,
    root: &Path,
    path: &str,
) -> Option<SharedPart> {
    // Which of them it is, the version of the program tells.
    let older = command.older.as_ref().map(|older| &older.command);
    if std::iter::once(command).chain(older).any(is_asked_alone) {
        return None;
    }
    let names_folder = |command: &CommandSpec| command.words.iter().any(|word| word.has(Hole::Folder));
    let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Some(SharedPart {
        folder: project::folder_of(root, path, &command.cwd).to_owned(),
        args: run_dir::added(rule, command, root, path).ok()?,
        values: command.values.iter().map(|value| project::value(root, path, value)).collect(),
        named: std::iter::once(command).chain(older).any(names_folder).then(|| own.to_owned()),
    })
}

/// Whether the command is about one file, whatever others there are.
fn is_asked_alone(command: &CommandSpec) -> bool {
    let has = |hole: Hole| command.words.iter().any(|word| word.has(hole));
    command.scope == CacheScope::File
        || command.input == Input::Stdin
        || matches!(command.output.form, OutputForm::Formatted { .. })
        || ((has(Hole::Path) || has(Hole::Draft)) && !has(Hole::Paths))
}

/// Whether the words of a command list the files or folders that it looks at.
pub(in crate::gate) fn lists_files(command: &CommandSpec) -> bool {
    [Hole::Paths, Hole::Folders].into_iter().any(|hole| command.words.iter().any(|word| word.has(hole)))
}

/// Whether a command can be run where none of its files is there.
pub(in crate::gate) fn runs_without_file(command: &CommandSpec) -> bool {
    let has = |hole: Hole| command.words.iter().any(|word| word.has(hole));
    command.input != Input::Stdin && ![Hole::Path, Hole::Paths, Hole::Draft].into_iter().any(has)
}
