//! `lockgate show`: one edit in full.

use std::process::ExitCode;

use super::list::ToldEdit;
use crate::engine::TrustOverride;
use crate::error::Error;
use crate::front::answer::{self, Forms, ResponseOptions};
use crate::front::cli::paint;
use crate::front::cli::stored::CommandWorkspace;
use crate::front::cli::work::work;

/// The arguments of `lockgate show`.
#[derive(Debug, clap::Args)]
pub(in crate::front::cli) struct ShowArgs {
    /// The edit, as `lockgate log` names it
    id: String,
    #[command(flatten)]
    place: CommandWorkspace,
    /// Prints the edit as JSON
    #[arg(long)]
    json: bool,
}

/// Shows one edit with its diffs.
pub(in crate::front::cli) fn run(args: ShowArgs) -> Result<ExitCode, Error> {
    let ShowArgs { id, place, json } = args;
    let found =
        work(
            place.open(TrustOverride::default()),
            |workspace, _| async move { workspace.remembered(id).await },
        )?;
    let shape = ResponseOptions { limit: usize::MAX, forms: Forms::Json, ..ResponseOptions::default() };
    let answer = answer::remembered(&Ok(found), &shape).json;
    if json {
        paint::say_plain(format!("{answer}\n").as_bytes())?;
    } else {
        paint::say(&ToldEdit::read(&answer)?.in_full())?;
    }
    Ok(ExitCode::SUCCESS)
}
