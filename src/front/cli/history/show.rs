//! `lockgate show`: one edit in full.

use std::process::ExitCode;

use super::list;
use crate::engine::TrustOverride;
use crate::error::Error;
use crate::front::answer;
use crate::front::cli::async_work::work;
use crate::front::cli::paint;
use crate::front::cli::store_args::CommandWorkspace;

/// The arguments of `lockgate show`.
#[derive(Debug, clap::Args)]
pub(in crate::front::cli) struct ShowArgs {
    /// Id of the edit, from `lockgate log`
    id: String,
    #[command(flatten)]
    workspace: CommandWorkspace,
    /// Prints the edit as JSON
    #[arg(long)]
    json: bool,
}

/// Shows one edit with its diffs.
pub(in crate::front::cli) fn run(args: ShowArgs) -> Result<ExitCode, Error> {
    let ShowArgs { id, workspace: place, json } = args;
    let found =
        work(
            place.open(TrustOverride::default()),
            |workspace, _| async move { workspace.entry_diffs(id).await },
        )?;
    let record = answer::edit_record(&found);
    if json {
        let json = serde_json::to_string(&record).unwrap_or_default();
        paint::print_bytes(format!("{json}\n").as_bytes())?;
    } else {
        paint::print(&list::full(&record))?;
    }
    Ok(ExitCode::SUCCESS)
}
