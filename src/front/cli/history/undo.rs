//! `lockgate undo` and `lockgate redo`: undo an edit, or redo it.

use std::process::ExitCode;

use crate::error::Error;
use crate::front::answer::ResponseOptions;
use crate::front::cli::confirm;
use crate::front::cli::done::CommandOutcome;
use crate::front::cli::roots::TrustArgs;
use crate::front::cli::stored::CommandWorkspace;
use crate::front::cli::work::{author, work};
use crate::front::past;
use crate::request::{Author, Direction, Revert, Target};

/// The arguments of `lockgate undo` and `lockgate redo`.
#[derive(Debug, clap::Args)]
pub(in crate::front::cli) struct UndoArgs {
    /// The edit, as `lockgate log` names it [default: the last one in any root]
    id: Option<String>,
    /// The last one of this file: relative to the current folder, with --root to the first one, or absolute
    #[arg(long, value_name = "PATH", conflicts_with = "id")]
    path: Option<String>,
    #[command(flatten)]
    place: CommandWorkspace,
    #[command(flatten)]
    word: TrustArgs,
    /// Prints the answer as JSON, just as the MCP tool gives it
    #[arg(long)]
    json: bool,
}

/// Undoes or redoes an edit and prints the result.
pub(in crate::front::cli) fn run(args: UndoArgs, direction: Direction) -> Result<ExitCode, Error> {
    let UndoArgs { id, path, place, word, json } = args;
    let name = match direction {
        Direction::Undo => "undo",
        Direction::Redo => "redo",
    };
    let shape = ResponseOptions { path: path.clone(), ..ResponseOptions::default() };
    let (done, shape) = confirm::asking(|agreed| {
        let author = Author { agreed, ..author(name) };
        let revert = Revert { direction, edit_id: id.clone(), of: path.clone().map(Target::File), author };
        let turned = work(place.open(word.promise()), |workspace, watch| async move {
            Ok(past::revert(&workspace, revert, watch).await)
        });
        let done = match turned {
            Ok((reports, turned)) => CommandOutcome::Turned(reports, turned),
            Err(refusal) => CommandOutcome::refused(refusal),
        };
        (done, shape.clone())
    });
    done.tell(shape, json)
}
