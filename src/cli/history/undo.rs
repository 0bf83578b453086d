//! `lockgate undo` and `lockgate redo`: undo an edit, or redo it.

use std::process::ExitCode;

use clap::ArgAction;

use crate::cli::async_work::{author, write};
use crate::cli::confirm;
use crate::cli::outcome;
use crate::cli::output_format::OutputFormat;
use crate::cli::roots::TrustArgs;
use crate::cli::store_args::CommandWorkspace;
use crate::cli::verbosity::Verbosity;
use lockgate_edit::request::{Author, Direction, Target, UndoRequest, Whose};
use lockgate_error::Error;
use lockgate_mcp::answer::ResponseOptions;
use lockgate_mcp::tools::ToolRequest;

/// The arguments of `lockgate undo` and `lockgate redo`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct UndoArgs {
    /// Id of the edit, from `lockgate log` [default: the last one in any root]
    id: Option<String>,
    /// The last edit of this file: absolute, or relative to the first --root, else to the current folder
    #[arg(long, value_name = "PATH", conflicts_with = "id")]
    path: Option<String>,
    #[command(flatten)]
    workspace: CommandWorkspace,
    #[command(flatten)]
    trust: TrustArgs,
    /// Prints the answer as JSON, like the MCP tool
    #[arg(id = "json", long, action = ArgAction::SetTrue)]
    format: OutputFormat,
}

/// Undoes or redoes an edit and prints the result.
pub(in crate::cli) fn run(
    args: UndoArgs,
    direction: Direction,
    verbosity: Verbosity,
) -> Result<ExitCode, Error> {
    let UndoArgs { id, path, workspace: workspace_args, trust, format } = args;
    let name = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    let options = ResponseOptions { path: path.clone(), ..ResponseOptions::default() };
    let (result, options) = confirm::with_confirmation(|agreed| {
        let author = Author { confirmation_id: agreed, ..author(name) };
        let target = path.clone().map(Target::File);
        // The journal belongs to the user, so edits of all authors can be undone.
        let undo = UndoRequest { direction, edit_id: id.clone(), target, whose: Whose::Everyone, author };
        let opened = workspace_args.open(trust.trust_override());
        (write(opened, ToolRequest::Revert(undo)), options.clone())
    });
    outcome::print(&result, options, format, verbosity)
}
