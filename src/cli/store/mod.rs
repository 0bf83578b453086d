//! `lockgate store`: administers the entities of all users.
//!
//! Invariant: no tool of an agent runs these commands.

mod app;
mod export;
mod import;
mod migrate;

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

use super::output_format::OutputFormat;
use super::paint::{self, REJECTED, labelled, visible};
use super::store_args::StoreLocation;
use lockgate_engine::{EntityDatabase, Workspace};
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

pub(super) fn run(args: StoreArgs) -> Result<ExitCode, Error> {
    match args.command {
        StoreCommand::Migrate(args) => migrate::run(&args),
        StoreCommand::Import(args) => import::run(args),
        StoreCommand::Export(args) => export::run(&args),
        StoreCommand::App(args) => app::run(args),
    }
}

/// Returns the database of `--store`, or else the user's own.
fn database(store: &StoreLocation) -> Result<Arc<EntityDatabase>, Error> {
    Ok(store.database()?.unwrap_or_else(|| Workspace::open_database(&[])))
}

/// Prints the result as JSON or text.
fn print(format: OutputFormat, value: &Value, text: &str) -> Result<(), Error> {
    match format {
        OutputFormat::Json => paint::print_bytes(format!("{value}\n").as_bytes()),
        OutputFormat::Text => paint::print(text),
    }
}

/// Renders the rejected files as JSON.
fn failures<'a>(failed: impl Iterator<Item = (&'a str, &'a Error)>) -> Vec<Value> {
    let failure = |(name, why): (&str, &Error)| json!({"file": name, "code": why.code.name(), "message": why.message, "hint": why.next_step()});
    failed.map(failure).collect()
}

/// Prints the rejected files as text and returns the exit code of the first one.
fn print_rejections<'a>(
    format: OutputFormat,
    failed: impl Iterator<Item = (&'a str, &'a Error)>,
) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (at, (name, why)) in failed.enumerate() {
        if at == 0 {
            code = ExitCode::from(why.code.family().exit_code());
        }
        if format == OutputFormat::Text {
            let (name, message) = (visible(name), visible(&why.message));
            paint::print_error(&labelled(
                REJECTED,
                "refused",
                format!("{name}: {}: {message}", why.code.name()),
            ));
        }
    }
    code
}
