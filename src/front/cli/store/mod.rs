//! `lockgate store`: what only a person does with stored content, which is about everybody's.
//!
//! Invariant: no tool of an agent leads here.

mod app;
mod bring;
mod export;
mod migrate;

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

use super::paint::{self, REFUSED, labelled, visible};
use super::stored::Store;
use crate::engine::{Depot, Workspace};
use crate::error::Error;

/// The arguments of `lockgate store`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A URL with a password belongs in LOCKGATE_STORE: everybody on a machine sees the arguments of its processes."
)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Makes the tables of the database, or brings them to this version's; servers do so themselves
    Migrate(migrate::Args),
    /// Brings the files of a folder in, each as an edit: TYPE/APP or ORGANISATION or _global/PATH
    Import(bring::Args),
    /// Writes all stored content into a new folder, each entity as a file
    Export(export::Args),
    /// Says which app is whose
    App(app::Args),
}

/// Does what the verb says.
pub(super) fn run(args: Args) -> Result<ExitCode, Error> {
    match args.verb {
        Verb::Migrate(args) => migrate::run(&args),
        Verb::Import(args) => bring::run(args),
        Verb::Export(args) => export::run(&args),
        Verb::App(args) => app::run(args),
    }
}

/// The database that was named, else that of the user.
fn depot(store: &Store) -> Result<Arc<Depot>, Error> {
    Ok(store.named()?.unwrap_or_else(|| Workspace::own_depot(&[])))
}

/// Says what was done, as programs or as people read it.
fn tell(json: bool, value: &Value, text: &str) -> Result<(), Error> {
    if json { paint::say_plain(format!("{value}\n").as_bytes()) } else { paint::say(text) }
}

/// What was refused, for programs.
fn failures<'a>(failed: impl Iterator<Item = (&'a str, &'a Error)>) -> Vec<Value> {
    let failure = |(name, why): (&str, &Error)| json!({"file": name, "code": why.code.name(), "message": why.message, "hint": why.next_step()});
    failed.map(failure).collect()
}

/// Tells a person what was refused, and gives the exit code for it: that of the first.
fn complain<'a>(json: bool, failed: impl Iterator<Item = (&'a str, &'a Error)>) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (at, (name, why)) in failed.enumerate() {
        if at == 0 {
            code = ExitCode::from(why.code.family().exit_code());
        }
        if !json {
            let (name, message) = (visible(name), visible(&why.message));
            paint::complain(&labelled(REFUSED, "refused", format!("{name}: {}: {message}", why.code.name())));
        }
    }
    code
}
