//! `lockgate show`: one edit in full.

use std::process::ExitCode;

use super::list::HistoryEdit;
use crate::engine::TrustOverride;
use crate::error::Error;
use crate::front::answer::{self, Forms, ResponseOptions};
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
    let options = ResponseOptions { limit: usize::MAX, forms: Forms::Json, ..ResponseOptions::default() };
    let answer = answer::render_edit(&Ok(found), &options).json;
    if json {
        paint::print_bytes(format!("{answer}\n").as_bytes())?;
    } else {
        paint::print(&HistoryEdit::read(&answer)?.render_full())?;
    }
    Ok(ExitCode::SUCCESS)
}
