//! `lockgate store`: administers the entities of all users.
//!
//! Invariant: no tool of an agent runs these commands.

mod app;
mod export;
mod import;
mod migrate;
mod output;

use std::process::ExitCode;

use super::verbosity::Verbosity;
use lockgate_error::Error;

/// The arguments of `lockgate store`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A URL with a password belongs in LOCKGATE_STORE: every user of a machine can see the arguments of its processes."
)]
pub(super) struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StoreCommand {
    /// Creates or upgrades the tables of the database; servers do this themselves
    Migrate(migrate::MigrateArgs),
    /// Imports the files of a folder, each as an edit: TYPE/APP or ORGANISATION or _global/PATH
    Import(import::ImportArgs),
    /// Writes all stored content into a new folder, each entity as a file
    Export(export::ExportArgs),
    /// Registers apps and lists them with their organisations
    App(app::AppArgs),
}

pub(super) fn run(args: StoreArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let (format, result) = match args.command {
        StoreCommand::Migrate(args) => (args.format, migrate::run(&args, verbosity)),
        StoreCommand::Import(args) => (args.format, import::run(args, verbosity)),
        StoreCommand::Export(args) => (args.format, export::run(&args, verbosity)),
        StoreCommand::App(args) => (args.format(), app::run(args, verbosity)),
    };
    result.or_else(|error| format.print_error(error))
}
