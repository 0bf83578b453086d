//! Undo and redo: turns a journal entry into requests.
//!
//! Such a request expects the version that the edit left. If the file has changed since, the undo is rebased
//! like any other edit: changes elsewhere stay, and a change at the same place rejects it.

use std::sync::Arc;

use super::batch::{Batch, RestoredMetadata};
use super::load;
use super::pipeline;
use super::resolve::{ResolvedTarget, resolve_for_read, resolve_target};
use super::{Report, services::Services};
use crate::edit::Edit;
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::{Author, Direction, Expect, GateOptions, Mode, Request, UndoRequest};
use crate::store::{DocumentPath, EditId, Entry, EntryKind, FileChange};
use crate::text::Version;

/// An entry with the direction in which to apply it: undo or redo.
struct Reversal {
    entry: Entry,
    direction: Direction,
}

impl Services {
    /// Undoes or redoes an edit in all files that it changed or in none; returns one report per file.
    pub(super) async fn undo_or_redo(
        self: &Arc<Self>,
        revert: UndoRequest,
        watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        let author = revert.author.clone();
        let reversal = self.off_reactor(move |workspace| workspace.prepare(&revert)).await?;
        if reversal.is_done() {
            return self.off_reactor(move |workspace| workspace.already_done(&reversal)).await;
        }
        let call = self.off_reactor(move |workspace| workspace.requests(&reversal, &author)).await?;
        pipeline::run(self, call, watch).await.map_err(as_conflict)
    }

    /// Finds the edit that the request names.
    fn prepare(&self, revert: &UndoRequest) -> Result<Reversal, Error> {
        let place = revert.target.as_ref().map(|target| resolve_for_read(self, target)).transpose()?;
        if let Some(id) = &revert.edit_id {
            return self.resolve(self.entry(id.parse()?)?, revert.direction);
        }
        let found = match revert.direction {
            Direction::Undo => self.store.to_undo(place.as_ref())?,
            Direction::Redo => self.store.to_redo(place.as_ref())?,
        };
        let entry = found.ok_or_else(|| nothing_to_revert(revert.direction, place.as_ref()))?;
        Ok(Reversal { entry, direction: revert.direction })
    }

    /// Undoing an undo redoes its edit, and the other way round.
    fn resolve(&self, entry: Entry, direction: Direction) -> Result<Reversal, Error> {
        match (entry.meta.kind, direction) {
            (EntryKind::Edit, direction) => Ok(Reversal { entry, direction }),
            (EntryKind::Undo(of), Direction::Undo) | (EntryKind::Redo(of), Direction::Redo) => {
                Ok(Reversal { entry: self.entry(of)?, direction: Direction::Redo })
            }
            (EntryKind::Undo(of), Direction::Redo) | (EntryKind::Redo(of), Direction::Undo) => {
                Ok(Reversal { entry: self.entry(of)?, direction: Direction::Undo })
            }
        }
    }

    pub(super) fn entry(&self, id: EditId) -> Result<Entry, Error> {
        self.store.entry(id)?.ok_or_else(|| {
            Error::new(Code::InvalidInput, format!("there is no edit {id} in the journal"))
                .field("edit_id")
                .hint("list_edits, or `lockgate log`, lists the edits in the journal")
        })
    }

    /// Builds the requests that revert an edit, the last change first.
    fn requests(&self, reversal: &Reversal, author: &Author) -> Result<Batch, Error> {
        let id = reversal.entry.id;
        let mut requests = Vec::with_capacity(reversal.entry.changes.len());
        let mut restores = Vec::with_capacity(reversal.entry.changes.len());
        for changed in reversal.entry.changes.iter().rev() {
            let (from, to) = reversal.versions(changed);
            let edit = match to {
                Some(to) => Edit::Restore(self.stored_content(id, changed, to)?),
                None => Edit::Remove,
            };
            let expect = from.map_or(Expect::Absent, |from| Expect::Version(from.hex()));
            let target = changed.target();
            requests.push(Request {
                target,
                edit,
                mode: Mode::Interactive,
                expect,
                gate_options: GateOptions::default(),
                author: author.clone(),
            });
            restores.push(match (from, to) {
                (_, None) => RestoredMetadata { mode: None, folders: changed.folders },
                (None, Some(_)) => RestoredMetadata { mode: self.mode_of(changed), folders: 0 },
                (Some(_), Some(_)) => RestoredMetadata::default(),
            });
        }
        let kind = match reversal.direction {
            Direction::Undo => EntryKind::Undo(id),
            Direction::Redo => EntryKind::Redo(id),
        };
        Ok(Batch { restores, is_batch: false, ..Batch::new(requests, kind) })
    }

    /// Returns the permission bits that a file had when it was removed.
    fn mode_of(&self, changed: &FileChange) -> Option<u32> {
        let target = resolve_target(self, &changed.target()).ok()?;
        let last = self.store.latest(&target.place).ok()?;
        let target = ResolvedTarget { last, ..target };
        target.last_change().filter(|(_, last)| last.after.is_none()).and_then(|(_, last)| last.mode)
    }

    /// Builds the reports of an edit that already is in the requested state.
    fn already_done(&self, reversal: &Reversal) -> Result<Vec<Report>, Error> {
        let report = |changed: &FileChange| {
            let target = resolve_target(self, &changed.target())?;
            let current = load::read(self, &target.place, &target.rules)?;
            Report::already_applied(&target, reversal.entry.id, None, None, current)
        };
        reversal.entry.changes.iter().map(report).collect()
    }

    fn stored_content(&self, id: EditId, changed: &FileChange, version: Version) -> Result<Vec<u8>, Error> {
        let place = resolve_for_read(self, &changed.target())?;
        let text = if changed.kept { self.store.text(&place, &version.hex())? } else { None };
        text.ok_or_else(|| {
            let message = format!("the journal has no text of {} for edit {id}", changed.path);
            let why = if changed.kept {
                "it is beyond the journal's limits"
            } else {
                "the policy's `never_journal` keeps it out"
            };
            Error::new(Code::InvalidInput, format!("{message}: {why}"))
                .field("edit_id")
                .hint(format!("edit the {} instead", place.noun()))
        })
    }
}

impl Reversal {
    /// Returns the versions of a file before and after the reversal.
    fn versions(&self, changed: &FileChange) -> (Option<Version>, Option<Version>) {
        match self.direction {
            Direction::Undo => (changed.after, changed.before),
            Direction::Redo => (changed.before, changed.after),
        }
    }

    /// True if the edit already is in the requested state.
    fn is_done(&self) -> bool {
        self.entry.undone == (self.direction == Direction::Undo)
    }
}

/// Rewords an error for a caller who named an edit and no version. If a file exists where one is to be
/// restored, another program created it.
fn as_conflict(mut error: Error) -> Error {
    if matches!(error.code, Code::FileExists | Code::FileNotFound) {
        error.code = Code::EditConflict;
    }
    if error.code == Code::EditConflict {
        error.field = None;
        error.hint =
            Some("edit the current file; `since`, or `lockgate show`, shows the earlier text".to_owned());
    }
    error
}

fn nothing_to_revert(direction: Direction, place: Option<&DocumentPath>) -> Error {
    let of = place.map_or_else(String::new, |place| match place {
        DocumentPath::File(file) => format!(" of {}", file.shown()),
        DocumentPath::Row(row) => format!(" of {} {}", place.noun(), row.path()),
    });
    let message = match direction {
        Direction::Undo => format!("there is no edit{of} to undo"),
        Direction::Redo => format!("no edit{of} was undone, so there is none to redo"),
    };
    let hint = "list_edits, or `lockgate log`, lists the edits in the journal";
    let field = if place.is_some() { "path" } else { "edit_id" };
    Error::new(Code::InvalidInput, message).field(field).hint(hint)
}
