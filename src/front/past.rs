//! An edit turned back or made again, for every front.

use std::sync::Arc;

use super::answer::Turned;
use crate::engine::{EditId, Kind, Report, Workspace};
use crate::error::Error;
use crate::gate::Watch;
use crate::request::{Direction, Revert};

/// Carries out a revert, and finds out which edit it was.
///
/// Errors: those of [`Workspace::revert`].
pub async fn revert(
    workspace: &Arc<Workspace>,
    revert: Revert,
    watch: Watch,
) -> (Result<Vec<Report>, Error>, Turned) {
    let direction = revert.direction;
    let named = revert.edit_id.as_deref().and_then(|id| id.parse().ok());
    let reverted = workspace.revert(revert, watch).await;
    let made = reverted.iter().flatten().find_map(|report| report.edit_id);
    let edit = match (named, made) {
        (None, Some(made)) => turned(workspace, direction, made).await,
        (named, _) => named,
    };
    (reverted, Turned { direction, edit })
}

/// The edit that this one turned back, or made again.
async fn turned(workspace: &Arc<Workspace>, direction: Direction, made: EditId) -> Option<EditId> {
    let kind = workspace.remembered(made.to_string()).await.ok()?.entry.deed.kind;
    match (direction, kind) {
        (Direction::Undo, Kind::Undo(of)) | (Direction::Redo, Kind::Redo(of)) => Some(of),
        (_, Kind::Edit | Kind::Undo(_) | Kind::Redo(_)) => None,
    }
}
