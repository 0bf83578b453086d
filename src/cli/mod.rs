//! The command line: one file for each command, shared styles, and one table of exit codes.
//!
//! Invariant: a command only reads arguments, calls the engine or another frontend, and prints the answer. The exit
//! code of a rejection depends only on its error family.

mod async_work;
mod cache;
mod check;
mod command_tips;
mod completions;
mod confirm;
mod demo;
mod edit;
mod excerpt;
mod gates;
mod history;
mod hook;
mod init;
mod limits;
mod outcome;
mod output_format;
mod pager;
mod paint;
mod roots;
mod schema;
mod serve;
mod show;
mod signals;
mod spinner;
mod store;
mod store_args;
mod trust;
mod verbosity;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory as _, Parser, Subcommand};

use self::verbosity::Verbosity;
use lockgate_checks::{close_inherited_on_exec, parse_for_parent, parse_large_texts_with};
use lockgate_edit::request::Direction;
use lockgate_error::{Code, Error, ErrorFamily};

/// The place where a coding agent's edit becomes a change on disk: located exactly, judged before it is written,
/// published atomically
#[derive(Debug, Parser)]
#[command(name = "lockgate", version, max_term_width = 100, styles = paint::HELP, after_help = exit_codes())]
struct Cli {
    /// Changes to this folder before anything else, as git and cargo do; repeatable, each relative to the one before
    #[arg(short = 'C', value_name = "DIR")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(subcommand)]
    command: Command,
}

/// The options on output that every command has.
#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// When output has colours: `auto` means on a terminal only
    #[arg(long, value_name = "WHEN", global = true, default_value_t, hide_possible_values = true)]
    color: ColorChoice,
    /// Prints nothing about what went well
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Prints each gate with its time, and old findings one by one
    #[arg(short, long, global = true)]
    verbose: bool,
}

impl OutputArgs {
    /// Sets the colours of this process, and returns how much its command prints.
    fn apply(&self) -> Verbosity {
        match self.color {
            // The default of the process, which also heeds NO_COLOR and CLICOLOR_FORCE.
            ColorChoice::Auto => {}
            ColorChoice::Always => anstream::ColorChoice::AlwaysAnsi.write_global(),
            ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the tools to an MCP client over standard input and output, or to several over HTTP
    Serve(Box<serve::ServeArgs>),
    /// Applies one edit, or several together
    Edit(Box<edit::EditArgs>),
    /// Judges files against their text at a revision, or edit requests without writing them; for CI
    Check(Box<check::CheckArgs>),
    /// Lists the edits that were written, the newest first
    Log(history::log::LogArgs),
    /// Shows one edit in full
    Show(history::show::ShowArgs),
    /// Undoes an edit
    Undo(history::undo::UndoArgs),
    /// Redoes an edit that was undone
    Redo(history::undo::UndoArgs),
    /// Shows the commands of a policy, and trusts them if a person agrees
    Trust(trust::TrustCommandArgs),
    /// Judges the edits that the tools of an agent's host make; for the hooks of that host
    Hook(hook::HookArgs),
    /// Lists the gates, and tests if they work on this machine
    Gates(gates::GatesArgs),
    /// Lists or removes the caches of gate programs
    Cache(cache::CacheArgs),
    /// Writes a first policy for a project, or adds the server to a client's configuration
    Init(init::InitArgs),
    /// Demonstrates lockgate on a small project in a temporary folder
    Demo(demo::DemoArgs),
    /// Administers the entity database: tables, apps, export and import
    Store(store::StoreArgs),
    /// Prints the JSON Schemas of the interfaces
    Schema(schema::SchemaArgs),
    /// Prints the completions for a shell
    Completions(completions::CompletionsArgs),
}

/// The executable of this process, even if its file was replaced.
const SELF_EXE: &str = "/proc/self/exe";

/// Runs the command of this process and returns its exit code.
///
/// Usage errors, `--help` and `--version` exit the process here.
pub fn run() -> ExitCode {
    close_inherited_on_exec();
    if let Some(code) = parse_for_parent(std::env::args_os().skip(1)) {
        return code;
    }
    parse_large_texts_with(SELF_EXE.into());
    limits::catch_file_size_signal();
    let Cli { folders, output, command } =
        Cli::try_parse().unwrap_or_else(|error| command_tips::with_tip(error).exit());
    let verbosity = output.apply();
    let result = enter(&folders).and_then(|()| run_command(command, verbosity));
    result.unwrap_or_else(|error| {
        paint::print_error(&output_format::error_text(&error));
        ExitCode::from(error.code.family().exit_code())
    })
}

/// Makes each folder in turn the current one.
///
/// Errors: `INVALID_INPUT` when one cannot be entered.
fn enter(folders: &[PathBuf]) -> Result<(), Error> {
    for folder in folders {
        std::env::set_current_dir(folder).map_err(|error| {
            Error::new(Code::InvalidInput, format!("cannot change to {}: {error}", folder.display()))
                .field("-C")
                .hint("name an existing folder")
        })?;
    }
    Ok(())
}

fn run_command(command: Command, verbosity: Verbosity) -> Result<ExitCode, Error> {
    match command {
        Command::Serve(args) => serve::run(*args),
        Command::Edit(args) => edit::run(*args, verbosity),
        Command::Check(args) => check::run(*args, verbosity),
        Command::Log(args) => history::log::run(args),
        Command::Show(args) => history::show::run(args),
        Command::Undo(args) => history::undo::run(args, Direction::Undo, verbosity),
        Command::Redo(args) => history::undo::run(args, Direction::Redo, verbosity),
        Command::Trust(args) => trust::run(args, verbosity),
        Command::Hook(args) => hook::run(args),
        Command::Gates(args) => gates::run(args, verbosity),
        Command::Cache(args) => cache::run(args, verbosity),
        Command::Init(args) => init::run(args, verbosity),
        Command::Demo(args) => demo::run(args, verbosity),
        Command::Store(args) => store::run(args, verbosity),
        Command::Schema(args) => schema::run(args),
        Command::Completions(args) => completions::run(args, Cli::command()),
    }
}

/// Returns the table of exit codes for the help, generated from the error codes.
fn exit_codes() -> String {
    let mut families: Vec<ErrorFamily> = Code::ALL.iter().map(|code| code.family()).collect();
    families.sort_by_key(|family| family.exit_code());
    families.dedup();
    let named = families.iter().map(|family| format!("{} {}", family.exit_code(), family.name()));
    format!("Exit codes: 0 done, refused by family: {}", named.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_exit_code_is_in_the_help() {
        assert_eq!(
            exit_codes(),
            "Exit codes: 0 done, refused by family: 1 gate, 2 request, 3 target, 4 access, 5 match, 7 conflict, \
             8 policy, 70 system"
        );
    }
}
