//! Undo and redo: turns a journal entry into requests.
//!
//! Such a request expects the version that the edit left. If the file has changed since, the undo is rebased
//! like any other edit: changes elsewhere stay, and a change at the same place rejects it.

mod choose;
mod conflict;
mod reversal;
mod reverted;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use self::reversal::{Reversal, is_in_state, verb};
use super::batch::{Batch, RestoredMetadata};
use super::link_target::check_no_newer_link;
use super::load::{self, CurrentText};
use super::pipeline;
use super::report::{Report, Status};
use super::resolve::{ResolvedTarget, resolve_changed, resolve_target};
use super::services::Services;
use lockgate_checks::Watch;
use lockgate_edit::Edit;
use lockgate_edit::request::{Author, Expect, Mode, Request, UndoRequest};
use lockgate_error::{Code, Disk, Error};
use lockgate_policy::Policy;
use lockgate_store::{DefaultOwner, DocumentPath, EditId, FileChange};
use lockgate_text::{Buffer, Version};

/// The number of edits that a call without an id tries, if other calls undo or redo each one first.
const MAX_CHOICES: usize = 32;

/// The longest wait for the note about a later edit of an entity.
const MAX_NOTE_WAIT: Duration = Duration::from_millis(500);

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
                let found = found.map_err(|error| workspace.with_entity_edit(error, &request));
                workspace.check_history()?;
                found
            };
            let reversal = Arc::new(self.off_reactor(prepare).await?);
            if let Some(reports) = self.carry_out(&reversal, &revert, &watch).await? {
                return Ok(reports);
            }
        }
        let verb = verb(revert.direction);
        let message = format!("each edit that this call chose was {verb} by another call first");
        Err(Error::new(Code::EditConflict, message).hint("send the request again, or name an `edit_id`"))
    }

    /// Carries out a reversal; `None` if the call names no edit, and another one has reverted the chosen edit first.
    async fn carry_out(
        self: &Arc<Self>,
        reversal: &Arc<Reversal>,
        revert: &Arc<UndoRequest>,
        watch: &Arc<Watch>,
    ) -> Result<Option<Vec<Report>>, Error> {
        if reversal.is_done() {
            return self.report_done(reversal, revert).await;
        }
        let outcome = self.revert_files(reversal, revert, watch).await;
        if revert.edit_id.is_none() && self.was_overtaken(reversal, &outcome).await {
            return Ok(None);
        }
        let outcome = match outcome {
            Err(error) if reverted::may_be_reverted(&error) => {
                self.record_if_reverted(reversal, revert, watch, error).await
            }
            outcome => outcome.map(Some),
        };
        let (shared, request) = (Arc::clone(reversal), Arc::clone(revert));
        match outcome {
            Ok(None) => Ok(None),
            Ok(Some(mut reports)) => {
                let newer = move |services: &Services| Ok(services.newer_entity_edit(&request, &shared));
                // What is undone is written already: a database that does not answer must not delay that answer.
                let newer = timeout(MAX_NOTE_WAIT, self.off_reactor(newer)).await;
                let newer = newer.ok().and_then(Result::ok).flatten();
                if let Some((report, newer)) = reports.first_mut().zip(newer) {
                    report.notes.push(newer);
                }
                Ok(Some(reports))
            }
            Err(error) => {
                self.off_reactor(move |services| Err(services.as_rejection(error, &shared, &request))).await
            }
        }
    }

    /// Returns the answer to a call whose edit already is in the requested state; `None` if it names no edit.
    async fn report_done(
        self: &Arc<Self>,
        reversal: &Arc<Reversal>,
        revert: &UndoRequest,
    ) -> Result<Option<Vec<Report>>, Error> {
        if revert.edit_id.is_none() {
            return Ok(None);
        }
        let shared = Arc::clone(reversal);
        self.off_reactor(move |services| services.already_done(&shared).map(Some)).await
    }

    /// Reverts the changes of a reversal, in all of their files or in none.
    async fn revert_files(
        self: &Arc<Self>,
        reversal: &Arc<Reversal>,
        revert: &UndoRequest,
        watch: &Arc<Watch>,
    ) -> Result<Vec<Report>, Error> {
        let (shared, author) = (Arc::clone(reversal), revert.author.clone());
        let batch = self.off_reactor(move |services| services.requests(&shared, &author)).await?;
        pipeline::run(self, batch, Arc::clone(watch)).await
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
            Err(error) => conflict::is_conflict(error) && error.disk == Disk::Untouched,
        };
        let (id, direction) = (reversal.entry.id, reversal.direction);
        let is_done = move |workspace: &Services| Ok(is_in_state(&workspace.reverted(id)?, direction));
        may_be && self.off_reactor(is_done).await.unwrap_or(false)
    }

    /// Builds the requests that revert the changes of an edit, the last change first.
    fn requests(&self, reversal: &Reversal, author: &Author) -> Result<Batch, Error> {
        let (id, changes) = (reversal.entry.id, reversal.changes());
        let mut requests = Vec::with_capacity(changes.len());
        let mut restores = Vec::with_capacity(changes.len());
        for changed in changes.iter().rev() {
            let (from, to) = reversal.versions(changed);
            let edit = match (from, to) {
                (_, Some(to)) => Edit::Restore(self.stored_content(id, changed, to)?),
                (Some(from), None) => {
                    self.check_removable(id, changed, from)?;
                    Edit::Remove
                }
                (None, None) => Edit::Remove,
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
        let root = self.store.journal.root_of(id);
        Ok(Batch { restores, root, is_batch: false, ..Batch::new(requests, reversal.kind()) })
    }

    /// Builds the reports of an edit that already is in the requested state.
    fn already_done(&self, reversal: &Reversal) -> Result<Vec<Report>, Error> {
        let report = |changed: &FileChange| {
            let (target, current) = self.changed_text(reversal.entry.id, changed)?;
            Report::already_applied(&target, reversal.entry.id, None, None, current)
        };
        reversal.entry.changes.iter().map(report).collect()
    }

    /// Returns the version that a file which this edit changed has now; `None` if there is no file.
    ///
    /// Errors: those of [`Services::changed_text`].
    fn current_version(&self, id: EditId, changed: &FileChange) -> Result<Option<Version>, Error> {
        let (_, current) = self.changed_text(id, changed)?;
        Ok(current.text().map(Buffer::version))
    }

    /// Reads the file that an edit changed, as it is now.
    ///
    /// Errors: `EDIT_CONFLICT` if a symlink now leads to another file; those of reading the file.
    fn changed_text(&self, id: EditId, changed: &FileChange) -> Result<(ResolvedTarget, CurrentText), Error> {
        let target = self.changed_target(id, changed)?;
        check_no_newer_link(&target)?;
        let current = load::read(self, &target.place, &target.rules)?;
        Ok((target, current))
    }

    /// Resolves the file or row that an edit changed: exactly that row, also if the caller has one of the same path, and the
    /// file in the root whose journal has the edit.
    fn changed_target(&self, id: EditId, changed: &FileChange) -> Result<ResolvedTarget, Error> {
        let root = self.store.journal.root_of(id);
        resolve_target(self, &changed.target(), DefaultOwner::Global, root)
    }

    /// Rejects the removal of a text that the journal does not keep: it could not be given back. A file that is already gone
    /// needs none.
    ///
    /// Errors: those of [`Services::stored_content`].
    fn check_removable(&self, id: EditId, changed: &FileChange, version: Version) -> Result<(), Error> {
        if self.current_version(id, changed).is_ok_and(|now| now.is_none()) {
            return Ok(());
        }
        self.stored_content(id, changed, version)?;
        let place = resolve_changed(self, id, changed)?;
        if place.file().is_some() && self.rules_of(&place)?.limits.journal == 0 {
            return Err(self.no_stored_content(id, changed, &place));
        }
        Ok(())
    }

    fn stored_content(&self, id: EditId, changed: &FileChange, version: Version) -> Result<Vec<u8>, Error> {
        let place = resolve_changed(self, id, changed)?;
        let text = if changed.kept { place.text(&self.store, &version.hex())? } else { None };
        text.ok_or_else(|| self.no_stored_content(id, changed, &place))
    }

    /// Returns the error for a text that the journal does not have, with the reason.
    fn no_stored_content(&self, id: EditId, changed: &FileChange, place: &DocumentPath) -> Error {
        let rules = self.rules_of(place).ok();
        let may_be_kept = || rules.as_ref().is_some_and(|rules| rules.journals(place.in_root()));
        // The history of entities keeps the last edits, whatever its limit is.
        let is_off =
            || place.file().is_some() && rules.as_ref().is_some_and(|rules| rules.limits.journal == 0);
        let why = if changed.kept && is_off() {
            "`limits.journal: 0` of the policy turns the journal off"
        } else if changed.kept {
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
        let current = rules.as_ref().and_then(|rules| load::read(self, place, rules).ok());
        let verb = if current.is_some_and(|current| current.snapshot.is_none()) { "make" } else { "edit" };
        let message = format!("the journal has no text of {} for edit {id}: {why}", changed.path);
        Error::new(Code::InvalidInput, message)
            .field("edit_id")
            .hint(format!("{verb} the {} instead", place.noun()))
    }
}
