//! `lockgate show`: one edit in full.

use std::process::ExitCode;

use clap::ArgAction;
use serde_json::json;

use super::list;
use crate::cli::async_work::work;
use crate::cli::output_format::OutputFormat;
use crate::cli::store_args::CommandWorkspace;
use crate::cli::{pager, paint};
use lockgate_checks::Watch;
use lockgate_edit::request::HistoryRequest;
use lockgate_engine::Workspace;
use lockgate_error::{Code, Error};
use lockgate_mcp::answer;

/// The arguments of `lockgate show`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ShowArgs {
    /// Id of the edit, from `lockgate log` [default: the last edit]
    id: Option<String>,
    #[command(flatten)]
    workspace: CommandWorkspace,
    /// Prints the edit as JSON
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    format: OutputFormat,
}

/// Shows one edit with its diffs.
pub(in crate::cli) fn run(args: ShowArgs) -> Result<ExitCode, Error> {
    let format = args.format;
    show(args).or_else(|error| format.print_error(error))
}

fn show(args: ShowArgs) -> Result<ExitCode, Error> {
    let ShowArgs { id, workspace: workspace_args, format } = args;
    let found = work(workspace_args.open_to_read(), |workspace, _| async move {
        let id = match id {
            Some(id) => id,
            None => last_edit(&workspace).await?,
        };
        workspace.entry_diffs(id).await
    })?;
    let record = answer::record_with_diffs(&found);
    match format {
        OutputFormat::Json => paint::print_json_line(&json!(record))?,
        OutputFormat::Text => pager::page(&list::full(&record))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the id of the last edit in any root.
///
/// Errors: `INVALID_INPUT` when there is none.
async fn last_edit(workspace: &Workspace) -> Result<String, Error> {
    let edits = workspace.read(HistoryRequest { target: None, max_entries: 1 }, Watch::idle()).await?;
    let last = edits.first().map(|edit| edit.id.to_string());
    last.ok_or_else(|| {
        Error::new(Code::InvalidInput, "there is no edit yet, so there is none to show")
            .hint("make an edit first, as with `lockgate edit`")
    })
}
