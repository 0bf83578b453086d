//! `lockgate store export`: exports all entities into the files of a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ArgAction;
use serde_json::json;

use super::output::{existing_database, failures, print_rejections, report};
use crate::cli::output_format::OutputFormat;
use crate::cli::paint::{DONE, labelled};
use crate::cli::store_args::StoreLocation;
use crate::cli::verbosity::Verbosity;
use lockgate_engine::Exported;
use lockgate_error::Error;

/// The arguments of `lockgate store export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// Folder that does not exist yet, or is empty
    dir: PathBuf,
    #[command(flatten)]
    store: StoreLocation,
    /// Prints the counts as JSON
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    pub(super) format: OutputFormat,
}

/// Exports and prints the counts.
pub(super) fn run(args: &ExportArgs, verbosity: Verbosity) -> Result<ExitCode, Error> {
    let Exported { entities, apps, failed } =
        lockgate_engine::export(existing_database(&args.store)?.as_ref(), &args.dir)?;
    let each = || failed.iter().map(|(name, why)| (name.as_str(), why));
    let counts = json!({"entities": entities, "apps": apps, "failed": failures(each())});
    let rejected = if failed.is_empty() { String::new() } else { format!(", {} refused", failed.len()) };
    let text = labelled(DONE, "exported", format!("entities: {entities}, apps: {apps}{rejected}"));
    let code = print_rejections(args.format, each());
    report(args.format, verbosity, &counts, &text)?;
    Ok(code)
}
