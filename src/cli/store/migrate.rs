//! `lockgate store migrate`: migrates the tables of the database.

use std::process::ExitCode;

use clap::ArgAction;
use serde_json::json;

use super::output::{database, print};
use crate::cli::output_format::OutputFormat;
use crate::cli::paint::{DONE, WARNING, labelled};
use crate::cli::store_args::StoreLocation;
use crate::cli::verbosity::Verbosity;
use lockgate_engine::Migrated;
use lockgate_error::Error;

/// The arguments of `lockgate store migrate`.
#[derive(Debug, clap::Args)]
pub(super) struct MigrateArgs {
    #[command(flatten)]
    store: StoreLocation,
    /// Prints the versions as JSON
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    pub(super) format: OutputFormat,
}

/// Migrates and prints the old and new version.
pub(super) fn run(args: &MigrateArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let Migrated { from, to, narrows } = database(&args.store)?.migrate()?;
    let mut text = labelled(
        DONE,
        "migrated",
        match from {
            0 => format!("created the tables, version {to}"),
            from if from == to => format!("the tables already have version {to}"),
            from => format!("migrated the tables from version {from} to {to}"),
        },
    );
    if verbosity == Verbosity::Quiet {
        text.clear();
    }
    if !narrows {
        let why = "no index narrows searches: the extension pg_trgm is not available to this role";
        text += &labelled(WARNING, "slow", why);
    }
    print(args.format, &json!({"from": from, "to": to, "narrows": narrows}), &text)?;
    Ok(ExitCode::SUCCESS)
}
