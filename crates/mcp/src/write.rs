//! Executes a request that may write, for all frontends.

use std::sync::Arc;

use crate::answer::{self, CallKind, EditResult, ResponseOptions, RevertedEdit};
use crate::tools::{BatchCall, ToolRequest};
use lockgate_checks::Watch;
use lockgate_edit::request::{Direction, UndoRequest};
use lockgate_engine::{EditId, EntryKind, Status, Workspace};
use lockgate_error::{Code, Error};

impl ToolRequest {
    /// Adds the options of the answer that the tool sets to those of the call.
    pub fn with_options(&self, options: ResponseOptions) -> ResponseOptions {
        match self {
            ToolRequest::Edit(call) => options.with_tool(call.options),
            ToolRequest::Unwritten(unwritten_edit) => options.with_tool(unwritten_edit.options),
            ToolRequest::Batch(all) => options.with_tool(all.options),
            ToolRequest::Revert(_) | ToolRequest::Read(_) => options,
        }
    }

    /// Executes a request that may write. One without its code is rejected.
    pub async fn write(self, workspace: &Arc<Workspace>, watch: Watch) -> EditResult {
        match self {
            ToolRequest::Edit(call) => {
                let reports = workspace.edit(call.request, watch).await.map(|report| vec![report]);
                EditResult { reports, kind: CallKind::Single }
            }
            ToolRequest::Batch(all) => {
                let BatchCall { requests, paths, .. } = *all;
                let reports = workspace.edit_all(requests, watch).await;
                EditResult { reports, kind: CallKind::Batch(paths) }
            }
            ToolRequest::Revert(request) => revert(workspace, request, watch).await,
            ToolRequest::Unwritten(_) => {
                EditResult::rejected(Error::new(Code::CodeBlockRequired, "there is no code_block"))
            }
            ToolRequest::Read(_) => {
                EditResult::rejected(Error::new(Code::Internal, "the request is not an edit"))
            }
        }
    }
}

/// Runs an undo or redo, and determines which edit it reverted.
async fn revert(workspace: &Arc<Workspace>, request: UndoRequest, watch: Watch) -> EditResult {
    let direction = request.direction;
    let requested = request.edit_id.as_deref().and_then(|id| id.parse().ok());
    let reports = workspace.undo_or_redo(request, watch).await;
    let new_edit = reports.iter().flatten().find_map(|report| report.edit_id);
    let edit = match new_edit {
        Some(new_edit) => reverted_edit(workspace, new_edit).await,
        None => None,
    };
    // An edit that already was in the requested state is named by its own id. The id of an undo that was pruned at once is not
    // that of its edit.
    let is_written = reports.iter().flatten().any(|report| report.status == Status::Written);
    let unchanged = new_edit.filter(|_| !is_written);
    let direction = match (requested, unchanged) {
        (Some(requested), Some(unchanged)) if requested != unchanged => {
            direction_of(workspace, requested, direction).await
        }
        _ => direction,
    };
    let reverted = edit.unwrap_or(RevertedEdit { direction, edit: unchanged.or(requested), origin: None });
    EditResult { reports, kind: CallKind::Revert(reverted) }
}

/// Returns the direction in which a request changes the edit that was undone or redone by the entry that it names.
async fn direction_of(workspace: &Arc<Workspace>, named: EditId, direction: Direction) -> Direction {
    match (workspace.entry(named).await.map(|entry| entry.meta.kind), direction) {
        (Ok(EntryKind::Undo(_)), Direction::Undo) => Direction::Redo,
        (Ok(EntryKind::Undo(_)), Direction::Redo) => Direction::Undo,
        _ => direction,
    }
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
