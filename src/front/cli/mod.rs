//! The command line: one file for each command, shared styles, and one table of exit codes.
//!
//! Invariant: a command only reads arguments, calls the engine or another frontend, and prints the answer. The exit
//! code of a rejection depends only on its error family.

mod async_work;
mod cache;
mod check;
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
mod paint;
mod roots;
mod schema;
mod serve;
mod show;
mod signals;
mod store;
mod store_args;
mod trust;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::error::{Code, Error, ErrorFamily};
use crate::gate;
use crate::request::Direction;

/// The place where a coding agent's edit becomes a change on disk: located exactly, judged before it is written,
/// published atomically
#[derive(Debug, Parser)]
#[command(name = "lockgate", version, max_term_width = 100, styles = paint::HELP, after_help = exit_codes())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the tools to an MCP client over standard input and output, or to several over HTTP
    Serve(Box<serve::ServeArgs>),
    /// Applies one edit, or several together
    Edit(Box<edit::EditArgs>),
    /// Checks files against their text at a revision, or requests without writing; for CI
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
    gate::close_inherited_on_exec();
    if let Some(code) = gate::parse_for_parent(std::env::args_os().skip(1)) {
        return code;
    }
    gate::parse_large_texts_with(SELF_EXE.into());
    limits::catch_file_size_signal();
    let result = match Cli::parse().command {
        Command::Serve(args) => serve::run(*args),
        Command::Edit(args) => edit::run(*args),
        Command::Check(args) => check::run(*args),
        Command::Log(args) => history::log::run(args),
        Command::Show(args) => history::show::run(args),
        Command::Undo(args) => history::undo::run(args, Direction::Undo),
        Command::Redo(args) => history::undo::run(args, Direction::Redo),
        Command::Trust(args) => trust::run(args),
        Command::Hook(args) => hook::run(args),
        Command::Gates(args) => gates::run(args),
        Command::Cache(args) => cache::run(args),
        Command::Init(args) => init::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Store(args) => store::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Completions(args) => completions::run(args, Cli::command()),
    };
    result.unwrap_or_else(|error| {
        paint::print_error(&render_error(&error));
        ExitCode::from(error.code.family().exit_code())
    })
}

/// Renders the error of a command.
fn render_error(error: &Error) -> String {
    let message = format!("{}: {}", error.code.name(), paint::visible(&error.message));
    paint::labelled(paint::REJECTED, "refused", message)
        + &paint::labelled(paint::LABEL, "hint", paint::visible(error.next_step()))
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
