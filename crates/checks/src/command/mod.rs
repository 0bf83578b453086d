//! Runs a gate's program over one text: fills in the arguments, stages the draft, and reads the output as
//! findings or as a text.
//!
//! An argument never begins with text from the project: `{path}` and similar placeholders expand to absolute
//! paths, so no file name can be taken for an option.
//!
//! Invariant: a program gets the text to check, never the file on disk. If the text cannot be passed to it,
//! or its output cannot be read, the result is a [`GateError`].

mod file_names;
mod input;
mod path_rewrite;
pub(super) mod project;
mod replay;
mod run_dir;
mod sample_run;
mod sharing;
#[cfg(test)]
mod tests;

use self::run_dir::RunDir;
use super::error::GateError;
use super::output::{self, NamedFile, ProgramOutput, ToolFinding};
use super::packages;
use lockgate_policy::{CommandSpec, Stream};
use lockgate_sandbox::{self as sandbox, Limit, ProcessOutcome};
use lockgate_text::Buffer;

pub(super) use self::input::ProgramInput;
pub use self::replay::replay;
pub(super) use self::sample_run::run_sample_within;
pub use self::sample_run::{DiskState, InstalledProgram, SampleError, run_sample};
pub(super) use self::sharing::{SharedPart, lists_files, runs_without_file, shared_part};

/// Runs the program on the text, and returns its findings.
pub(super) fn check(input: &ProgramInput<'_>, limit: Limit<'_>) -> Result<Vec<ToolFinding>, GateError> {
    Ok(check_all(input, limit)?.into_iter().flatten().collect())
}

/// Runs the program once on the text and on those of `batched`. Returns the findings of each, in this
/// order; findings in other files are added to the first.
pub(super) fn check_all(
    input: &ProgramInput<'_>,
    limit: Limit<'_>,
) -> Result<Vec<Vec<ToolFinding>>, GateError> {
    let run = FinishedRun::new(input, limit)?;
    let also = input.batched.iter().filter_map(|other| Some((other.path, other.text?)));
    let texts: Vec<(&str, &Buffer)> = std::iter::once((input.path, input.text)).chain(also).collect();
    let resolve = |name: &str| match run.run_dir.names.resolve(name) {
        NamedFile::Other(path) if path == input.path => NamedFile::Edited,
        file => file,
    };
    run.unless_unread(output::read_all(run.command, &run.output(), &texts, &resolve))
}

/// Runs the program as a formatter, and returns the formatted view, with `\n` line ends.
pub(super) fn fix(input: &ProgramInput<'_>, limit: Limit<'_>) -> Result<String, GateError> {
    let run = FinishedRun::new(input, limit)?;
    run.unless_unread(output::formatted(run.command, &run.output(), input.text))
}

/// A run whose program ended by itself.
struct FinishedRun<'a> {
    command: &'a CommandSpec,
    run_dir: RunDir<'a>,
    code: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Set when the program left part of its input unread.
    unread: bool,
}

impl<'a> FinishedRun<'a> {
    /// Runs the gate's program. Fails if a declared package is not installed.
    fn new(input: &ProgramInput<'a>, limit: Limit<'_>) -> Result<FinishedRun<'a>, GateError> {
        let command = input.rule.gate.command();
        let command =
            command.ok_or_else(|| GateError::Broken("has no command in its definition".to_owned()))?;
        let command = input.versions.command(command, input.program, input.search, limit);
        let run_dir = RunDir::prepare(input, command, limit)?;
        let (code, stdout, stderr, unread) = match sandbox::run(&run_dir.order()?, limit) {
            ProcessOutcome::Exited { code, stdout, stderr } => (code, stdout, stderr, false),
            ProcessOutcome::StdinUnread { code, stdout, stderr } => (code, stdout, stderr, true),
            ProcessOutcome::Broken(why) | ProcessOutcome::Killed { why, .. } => {
                return Err(GateError::Broken(why));
            }
            ProcessOutcome::Halted(halt) => return Err(GateError::Halted(halt)),
        };
        let [stdout, stderr] = [stdout, stderr].map(|output| run_dir.staged_paths.rewrite(output));
        let run = FinishedRun { command, run_dir, code, stdout, stderr, unread };
        run.check_packages(input)?;
        Ok(run)
    }

    /// Returns this result of the run, unless the program left part of its input unread.
    ///
    /// An error that the output itself shows comes first: a program that fails at its start has read nothing,
    /// and the reason of its failure says more.
    fn unless_unread<T>(&self, result: Result<T, GateError>) -> Result<T, GateError> {
        let result = result?;
        if self.unread { Err(output::unread_error(&self.output())) } else { Ok(result) }
    }

    /// Checks that the run did not fail because a declared package is not installed.
    fn check_packages(&self, input: &ProgramInput<'_>) -> Result<(), GateError> {
        if self.code == 0 {
            return Ok(());
        }
        let why = packages::failure(input, self.command, &self.output().stream_text(Stream::Both));
        why.map_or(Ok(()), |why| Err(GateError::Unready(why)))
    }

    fn output(&self) -> ProgramOutput<'_> {
        ProgramOutput { code: self.code, stdout: &self.stdout, stderr: &self.stderr }
    }
}
