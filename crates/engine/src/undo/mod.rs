//! Undo and redo: turns a journal entry into requests.
//!
//! Such a request expects the version that the edit left. If the file has changed since, the undo is rebased
//! like any other edit: changes elsewhere stay, and a change at the same place rejects it.

mod choose;
mod conflict;
mod reversal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::reversal::{Reversal, is_in_state, verb};
use super::batch::{Batch, RestoredMetadata};
use super::load;
use super::pipeline;
use super::report::{Report, Status};
use super::resolve::{ResolvedTarget, resolve_for_read, resolve_target};
use super::services::Services;
use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Direction, Expect, Mode, Request, UndoRequest};
use lockgate_error::{Code, Disk, Error};
use lockgate_policy::Policy;
use lockgate_store::{DefaultOwner, EditId, EntryKind, FileChange};
use lockgate_text::Version;

/// The number of edits that a call without an id tries, if other calls undo or redo each one first.
const MAX_CHOICES: usize = 32;

impl Services {
    /// Undoes or redoes an edit in all files that it changed or in none; returns one report per file.
    pub(super) async fn undo_or_redo(
        self: &Arc<Self>,
        revert: UndoRequest,
        watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        let (revert, watch) = (Arc::new(revert), Arc::new(watch));
        for _ in 0..MAX_CHOICES {
            let request = Arc::clone(&revert);
            let prepare = move |workspace: &Services| {
                let found = workspace.prepare(&request);
                workspace.check_history()?;
                found
            };
            let reversal = Arc::new(self.off_reactor(prepare).await?);
            let outcome = self.carry_out(&reversal, &revert, &watch).await;
            if revert.edit_id.is_some() || !self.was_overtaken(&reversal, &outcome).await {
                return outcome;
            }
        }
        let verb = verb(revert.direction);
        let message = format!("each edit that this call chose was {verb} by another call first");
        Err(Error::new(Code::EditConflict, message).hint("send the request again, or name an `edit_id`"))
    }

    async fn carry_out(
        self: &Arc<Self>,
        reversal: &Arc<Reversal>,
        revert: &Arc<UndoRequest>,
        watch: &Arc<Watch>,
    ) -> Result<Vec<Report>, Error> {
        let shared = Arc::clone(reversal);
        if reversal.is_done() {
            return self.off_reactor(move |workspace| workspace.already_done(&shared)).await;
        }
        let author = revert.author.clone();
        let call = self.off_reactor(move |workspace| workspace.requests(&shared, &author)).await?;
        match pipeline::run(self, call, Arc::clone(watch)).await {
            Ok(reports) => Ok(reports),
            Err(error) => {
                let (shared, request) = (Arc::clone(reversal), Arc::clone(revert));
                self.off_reactor(move |workspace| Err(workspace.as_conflict(error, &shared, &request))).await
            }
        }
    }

    /// True if this call changed nothing, because another one undid or redid the same edit after it was chosen.
    async fn was_overtaken(
        self: &Arc<Self>,
        reversal: &Reversal,
        outcome: &Result<Vec<Report>, Error>,
    ) -> bool {
        let may_be = match outcome {
            Ok(reports) => reports.iter().all(|report| report.status != Status::Written),
            // Other errors, as of a cancelled call, say nothing about the edit. A conflict that was found during the write
            // may have changed a file.
            Err(error) => error.code == Code::EditConflict && error.disk == Disk::Untouched,
        };
        let (id, direction) = (reversal.entry.id, reversal.direction);
        let is_done = move |workspace: &Services| Ok(is_in_state(&workspace.entry(id)?, direction));
        may_be && self.off_reactor(is_done).await.unwrap_or(false)
    }

    /// Builds the requests that revert an edit, the last change first.
    fn requests(&self, reversal: &Reversal, author: &Author) -> Result<Batch, Error> {
        let id = reversal.entry.id;
        let mut requests = Vec::with_capacity(reversal.changes().len());
        let mut restores = Vec::with_capacity(reversal.changes().len());
        for changed in reversal.changes().iter().rev() {
            let (from, to) = reversal.versions(changed);
            let edit = match to {
                Some(to) => Edit::Restore(self.stored_content(id, changed, to)?),
                None => Edit::Remove,
            };
            let expect = from.map_or(Expect::Absent, |from| Expect::Version(from.hex()));
            let target = changed.target();
            requests.push(Request {
                mode: Mode::Interactive,
                expect,
                author: author.clone(),
                ..Request::new(target, edit)
            });
            restores.push(match (from, to) {
                (_, None) => RestoredMetadata { mode: None, folders: changed.folders },
                (None, Some(_)) => RestoredMetadata { mode: changed.mode, folders: 0 },
                (Some(_), Some(_)) => RestoredMetadata::default(),
            });
        }
        let kind = match reversal.direction {
            Direction::Undo => EntryKind::Undo(id),
            Direction::Redo => EntryKind::Redo(id),
        };
        Ok(Batch { restores, is_batch: false, ..Batch::new(requests, kind) })
    }

    /// Builds the reports of an edit that already is in the requested state.
    fn already_done(&self, reversal: &Reversal) -> Result<Vec<Report>, Error> {
        let report = |changed: &FileChange| {
            let target = self.changed_target(changed)?;
            let current = load::read(self, &target.place, &target.rules)?;
            Report::already_applied(&target, reversal.entry.id, None, None, current)
        };
        reversal.entry.changes.iter().map(report).collect()
    }

    /// Returns the version that a changed file has now; `None` if there is no file.
    fn current_version(&self, changed: &FileChange) -> Result<Option<Version>, Error> {
        let target = self.changed_target(changed)?;
        let current = load::read(self, &target.place, &target.rules)?;
        Ok(current.text().map(|text| text.version()))
    }

    /// Resolves the file or row that an edit changed: exactly that row, also if the caller has one of the same path.
    fn changed_target(&self, changed: &FileChange) -> Result<ResolvedTarget, Error> {
        resolve_target(self, &changed.target(), DefaultOwner::Global)
    }

    fn stored_content(&self, id: EditId, changed: &FileChange, version: Version) -> Result<Vec<u8>, Error> {
        let place = resolve_for_read(self, &changed.target(), DefaultOwner::Global)?;
        let text = if changed.kept { place.text(&self.store, &version.hex())? } else { None };
        text.ok_or_else(|| {
            let message = format!("the journal has no text of {} for edit {id}", changed.path);
            let rules = self.rules_of(&place).ok();
            let may_be_kept = || rules.as_ref().is_some_and(|rules| rules.journals(place.in_root()));
            // The history of entities keeps the last edits, whatever its limit is.
            let is_off =
                || place.file().is_some() && rules.as_ref().is_some_and(|rules| rules.limits.journal == 0);
            let why = if changed.kept {
                "it is beyond the journal's limits"
            } else if changed.has_unknown_before() && may_be_kept() {
                "no hook recorded the text before the edit"
            } else if is_off() {
                "`limits.journal: 0` of the policy turns the journal off"
            } else if Policy::has_secret_name(place.in_root()) {
                "the name is that of a file which may hold secrets"
            } else {
                "the policy's `never_journal` keeps it out"
            };
            Error::new(Code::InvalidInput, format!("{message}: {why}"))
                .field("edit_id")
                .hint(format!("edit the {} instead", place.noun()))
        })
    }
}
