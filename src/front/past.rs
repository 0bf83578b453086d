//! An edit turned back or made again, for every front.

use std::sync::Arc;

use super::answer::RevertedEdit;
use crate::engine::{EditId, EntryKind, Report, Workspace};
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
) -> (Result<Vec<Report>, Error>, RevertedEdit) {
    let direction = revert.direction;
    let named = revert.edit_id.as_deref().and_then(|id| id.parse().ok());
    let reverted = workspace.revert(revert, watch).await;
    let written = reverted.iter().flatten().find_map(|report| report.edit_id);
    let turned = match written {
        Some(written) => turned(workspace, written).await,
        None => None,
    };
    (reverted, turned.unwrap_or(RevertedEdit { direction, edit: named }))
}

/// What an edit turned: to take back an undo is to make its edit again.
async fn turned(workspace: &Arc<Workspace>, written: EditId) -> Option<RevertedEdit> {
    match workspace.remembered(written.to_string()).await.ok()?.entry.deed.kind {
        EntryKind::Edit => None,
        EntryKind::Undo(of) => Some(RevertedEdit { direction: Direction::Undo, edit: Some(of) }),
        EntryKind::Redo(of) => Some(RevertedEdit { direction: Direction::Redo, edit: Some(of) }),
    }
}
