//! `lockgate show`: one edit in full.

use std::process::ExitCode;

use super::told::ToldEdit;
use crate::engine::Promise;
use crate::error::Error;
use crate::front::answer::{self, Forms, Shape};
use crate::front::cli::paint;
use crate::front::cli::stored::Workplace;
use crate::front::cli::work::work;

/// The arguments of `lockgate show`.
#[derive(Debug, clap::Args)]
pub(in crate::front::cli) struct Args {
    /// The edit, as `lockgate log` names it
    id: String,
    #[command(flatten)]
    place: Workplace,
    /// Prints the edit as JSON
    #[arg(long)]
    json: bool,
}

/// Shows one edit with its diffs.
pub(in crate::front::cli) fn run(args: Args) -> Result<ExitCode, Error> {
    let Args { id, place, json } = args;
    let found =
        work(place.open(Promise::default()), |workspace, _| async move { workspace.remembered(id).await })?;
    let shape = Shape { limit: usize::MAX, forms: Forms::Json, ..Shape::default() };
    let answer = answer::remembered(&Ok(found), &shape).json;
    if json {
        paint::say_plain(format!("{answer}\n").as_bytes())?;
    } else {
        paint::say(&ToldEdit::read(&answer)?.in_full())?;
    }
    Ok(ExitCode::SUCCESS)
}
