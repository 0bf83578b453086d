//! `lockgate log`: lists the edits, newest first.

use std::process::ExitCode;

use clap::builder::RangedU64ValueParser;

use super::list;
use crate::engine::TrustOverride;
use crate::error::Error;
use crate::front::answer::{self, Forms, ResponseOptions};
use crate::front::cli::async_work::work;
use crate::front::cli::paint;
use crate::front::cli::store_args::CommandWorkspace;
use crate::protocol::Response;
use crate::request::{HistoryRequest, Target};

/// The arguments of `lockgate log`.
#[derive(Debug, clap::Args)]
pub(in crate::front::cli) struct LogArgs {
    /// Only the edits of this file: absolute, or relative to the first --root, else to the current folder
    path: Option<String>,
    /// Maximum number of edits to show
    #[arg(short = 'n', long = "number", value_name = "N", default_value = "20", value_parser = numbers())]
    number: usize,
    #[command(flatten)]
    workspace: CommandWorkspace,
    /// Prints the list as JSON, like the MCP tool
    #[arg(long)]
    json: bool,
}

/// Returns the parser of `-n`. The maximum is one less than a list may have, because one extra edit shows if there
/// are more.
fn numbers() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..u64::try_from(HistoryRequest::MAX_ENTRIES).unwrap_or(u64::MAX))
}

pub(in crate::front::cli) fn run(args: LogArgs) -> Result<ExitCode, Error> {
    let LogArgs { path, number, workspace: place, json } = args;
    let which = HistoryRequest { target: path.map(Target::File), max_entries: number + 1 };
    let entries =
        work(
            place.open(TrustOverride::default()),
            |workspace, _| async move { workspace.history(which).await },
        )?;
    let options = ResponseOptions { limit: usize::MAX, forms: Forms::Json, ..ResponseOptions::default() };
    let answer = answer::history(&Ok(entries), number, &options);
    match &answer.response {
        Response::History(edits) if !json => paint::print(&list::list(edits))?,
        _ => paint::print_bytes(format!("{}\n", answer.json).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
