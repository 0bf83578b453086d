//! One run of a gate's program over one text: the words are filled in, the draft is put where the program reads it, and
//! what it says is read as findings or as a text.
//!
//! A word never begins with something of the project: `{path}` and its like are absolute, and so is what they are filled
//! in with, so that no name of a file can be taken for an option.
//!
//! Invariant: a program is given the text that was asked about, never the file; and what cannot be given to it, or read
//! of it, is a [`Silence`].

mod live;
mod names;
pub(super) mod project;
mod replay;
mod run_dir;
mod sharing;
#[cfg(test)]
mod tests;
mod unstaged;

use std::ffi::OsStr;
use std::path::Path;

use self::run_dir::RunDir;
use super::error::GateError;
use super::output::{self, ProgramOutput, ToolFinding, Whose};
use super::overlay::DraftOverlays;
use super::packages;
use super::process::{self, Ceiling, Ended};
use super::runtime::Versions;
use super::watch::Limit;
use crate::policy::{CommandSpec, Isolation, Language, OutputForm, Rule};
use crate::text::Buffer;

pub use self::live::{DiskState, Installed, NoAnswer, live};
pub use self::replay::replay;
pub(super) use self::sharing::{SharedPart, lists_files, runs_without_file, shared};

/// A text that a gate's program is to be asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramInput<'a> {
    /// The entry of the policy, whose gate runs a command.
    pub(super) rule: &'a Rule,
    /// The absolute path of the program.
    pub(super) program: &'a Path,
    /// The search path for programs that it starts itself.
    pub(super) search: &'a OsStr,
    /// The absolute path of the root.
    pub(super) root: &'a Path,
    /// Where the text lies, relative to the root.
    pub(super) path: &'a str,
    /// Its language, where it is known.
    pub(super) language: Option<&'static Language>,
    /// The text.
    pub(super) text: &'a Buffer,
    /// Whether there is a file at that path.
    pub(super) on_disk: bool,
    /// Whether the file is gone: nothing is to be seen at its path.
    pub(super) gone: bool,
    /// The other drafts of the call.
    pub(super) company: DraftOverlays<'a>,
    /// Those of them that the same run is asked about.
    pub(super) also: DraftOverlays<'a>,
    /// What the program must at least be kept apart by.
    pub(super) isolation: Isolation,
    /// What it is kept apart by at most.
    pub(super) ceiling: Ceiling,
    /// A folder of lockgate's own in which programs keep what they know of this root; made when it is needed.
    pub(super) cache: Option<&'a Path>,
    /// The versions of programs.
    pub(super) versions: &'a Versions,
}

/// Has the program look at the text.
pub(super) fn look(ask: &ProgramInput<'_>, limit: Limit<'_>) -> Result<Vec<ToolFinding>, GateError> {
    let command = command(ask, limit)?;
    let run = FinishedRun::new(ask, command, limit)?;
    run.has_its_packages(ask, command)?;
    output::read(command, &run.said(), ask.text, &|name| run.scene.whose(name))
}

/// Has one run of the program look at the text and at the others that it is asked about: what it finds in each, in this
/// order. What it finds in other files is told with the first.
pub(super) fn look_all(ask: &ProgramInput<'_>, limit: Limit<'_>) -> Result<Vec<Vec<ToolFinding>>, GateError> {
    let command = command(ask, limit)?;
    let run = FinishedRun::new(ask, command, limit)?;
    run.has_its_packages(ask, command)?;
    let also = ask.also.iter().filter_map(|other| Some((other.path, other.text?)));
    let texts: Vec<(&str, &Buffer)> = std::iter::once((ask.path, ask.text)).chain(also).collect();
    output::read_all(command, &run.said(), &texts, &|name| match run.scene.whose(name) {
        Whose::Other(path) if path == ask.path => Whose::Edited,
        whose => whose,
    })
}

/// Has the program give the text as it would have it: a view, with plain line ends.
pub(super) fn mend(ask: &ProgramInput<'_>, limit: Limit<'_>) -> Result<String, GateError> {
    let command = command(ask, limit)?;
    let run = FinishedRun::new(ask, command, limit)?;
    run.has_its_packages(ask, command)?;
    output::formatted(command, &run.said(), ask.text)
}

fn command<'a>(ask: &ProgramInput<'a>, limit: Limit<'_>) -> Result<&'a CommandSpec, GateError> {
    let command = ask.rule.gate.command();
    let command =
        command.ok_or_else(|| GateError::Broken("runs no program, as its definition has it".to_owned()))?;
    Ok(ask.versions.command(command, ask.program, ask.search, limit))
}

/// The bytes that a program is given: a formatter gets and gives the view, so that the file keeps its dress.
fn given<'a>(command: &CommandSpec, text: &'a Buffer) -> &'a [u8] {
    match command.output.form {
        OutputForm::Formatted { .. } => text.view().as_bytes(),
        OutputForm::Json(_)
        | OutputForm::Jsonl(_)
        | OutputForm::Sarif
        | OutputForm::Rdjson
        | OutputForm::Regex { .. }
        | OutputForm::Exit(_) => text.bytes(),
    }
}

/// A run that came to its end.
struct FinishedRun<'a> {
    scene: RunDir<'a>,
    code: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl<'a> FinishedRun<'a> {
    fn new(
        ask: &ProgramInput<'a>,
        command: &'a CommandSpec,
        limit: Limit<'_>,
    ) -> Result<FinishedRun<'a>, GateError> {
        let scene = RunDir::set(ask, command, limit)?;
        match process::run(&scene.order()?, limit) {
            Ended::Exited { code, stdout, stderr } => {
                let [stdout, stderr] = [stdout, stderr].map(|output| scene.unstaged(output));
                Ok(FinishedRun { scene, code, stdout, stderr })
            }
            Ended::Deaf { code, stderr } => Err(output::unread(command, code, &scene.unstaged(stderr))),
            Ended::Broken(why) => Err(GateError::Broken(why)),
            Ended::Halted(halt) => Err(GateError::Halted(halt)),
        }
    }

    /// Makes sure that the run did not fail for lack of a package that the project declares.
    fn has_its_packages(&self, ask: &ProgramInput<'_>, command: &CommandSpec) -> Result<(), GateError> {
        if self.code == 0 {
            return Ok(());
        }
        let output = [self.stdout.as_slice(), b"\n", self.stderr.as_slice()].concat();
        let why = packages::failure(ask, command, &String::from_utf8_lossy(&output));
        why.map_or(Ok(()), |why| Err(GateError::Unavailable(why)))
    }

    fn said(&self) -> ProgramOutput<'_> {
        ProgramOutput { code: self.code, stdout: &self.stdout, stderr: &self.stderr }
    }
}
