//! Undo and redo, shared by all frontends.

use std::sync::Arc;

use super::answer::{self, RevertedEdit};
use lockgate_checks::Watch;
use lockgate_edit::request::{Direction, UndoRequest};
use lockgate_engine::{EditId, EntryKind, Report, Workspace};
use lockgate_error::Error;

/// Runs a revert and determines which edit it reverted.
///
/// Errors: those of [`Workspace::undo_or_redo`].
pub async fn revert(
    workspace: &Arc<Workspace>,
    revert: UndoRequest,
    watch: Watch,
) -> (Result<Vec<Report>, Error>, RevertedEdit) {
    let direction = revert.direction;
    let requested = revert.edit_id.as_deref().and_then(|id| id.parse().ok());
    let reverted = workspace.undo_or_redo(revert, watch).await;
    let new_edit = reverted.iter().flatten().find_map(|report| report.edit_id);
    let edit = match new_edit {
        Some(new_edit) => reverted_edit(workspace, new_edit).await,
        None => None,
    };
    (reverted, edit.unwrap_or(RevertedEdit { direction, edit: requested, origin: None }))
}

/// Returns the edit that a revert changed: the undo of an undo is a redo.
async fn reverted_edit(workspace: &Arc<Workspace>, new_edit: EditId) -> Option<RevertedEdit> {
    let (direction, id) = match workspace.entry(new_edit).await.ok()?.meta.kind {
        EntryKind::Edit => return None,
        EntryKind::Undo(of) => (Direction::Undo, of),
        EntryKind::Redo(of) => (Direction::Redo, of),
    };
    let origin = workspace.entry(id).await.ok().map(|entry| answer::describe_origin(&entry));
    Some(RevertedEdit { direction, edit: Some(id), origin })
}
