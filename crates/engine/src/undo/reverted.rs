//! Edits that another program has already reverted in all of their files, as `git checkout` does.

use std::sync::Arc;

use super::super::load::{self, CurrentText};
use super::super::lock::{self, HeldLocks, LockOutcome};
use super::super::report::Report;
use super::super::resolve::ResolvedTarget;
use super::super::retry::lock_waits;
use super::super::services::Services;
use super::conflict::is_conflict;
use super::reversal::{Reversal, is_in_state};
use lockgate_checks::Watch;
use lockgate_edit::request::{Author, Direction, UndoRequest};
use lockgate_error::{Code, Disk, Error};
use lockgate_store::{EditMeta, FileChange, LockKey, LockWaits, OutsideChange};
use lockgate_text::{Buffer, Version};

/// The number of attempts to take the locks of the files, if others make folders of them meanwhile.
const MAX_ATTEMPTS: usize = 8;

/// The result of an attempt to record that another program has reverted an edit.
enum RecordAttempt {
    Recorded(Vec<Report>),
    /// Another call has undone or redone the edit.
    Overtaken,
    /// A file is not in the requested state.
    Conflict,
    /// These locks must be taken first.
    Busy {
        keys: Vec<LockKey>,
        waits: LockWaits,
    },
    /// A folder of a file was made meanwhile.
    Outdated,
}

/// True if the error of a reversal can have the cause that the files already are in the requested state.
pub(super) fn may_be_reverted(error: &Error) -> bool {
    (is_conflict(error) || error.code == Code::InvalidInput) && error.disk == Disk::Untouched
}

impl Services {
    /// Records that an edit is reverted, if all of its files already are in the requested state; `None` if the call names no
    /// edit, and another one has reverted this edit.
    ///
    /// Errors: this one if a file is in another state; those of waiting for the locks, and of the journal.
    pub(super) async fn record_if_reverted(
        self: &Arc<Self>,
        reversal: &Arc<Reversal>,
        revert: &Arc<UndoRequest>,
        watch: &Watch,
        error: Error,
    ) -> Result<Option<Vec<Report>>, Error> {
        let mut locks = None;
        for _ in 0..MAX_ATTEMPTS {
            let (shared, request, held) = (Arc::clone(reversal), Arc::clone(revert), locks.take());
            let record = move |services: &Services| services.try_record(&shared, &request.author, held);
            match self.off_reactor(record).await? {
                RecordAttempt::Recorded(reports) => return Ok(Some(reports)),
                RecordAttempt::Overtaken => return self.report_done(reversal, revert).await,
                RecordAttempt::Conflict => return Err(error),
                RecordAttempt::Busy { keys, waits } => {
                    locks = Some(lock::wait(self, keys, waits, watch).await?);
                }
                RecordAttempt::Outdated => {}
            }
        }
        Err(error)
    }

    fn try_record(
        &self,
        reversal: &Reversal,
        author: &Author,
        held: Option<HeldLocks>,
    ) -> Result<RecordAttempt, Error> {
        // The files are read first: a call that reverts the edit later may be followed by others that change them.
        let is_reverted = self.is_reverted(reversal);
        let id = reversal.entry.id;
        if is_in_state(&self.reverted(id)?, reversal.direction) {
            return Ok(RecordAttempt::Overtaken);
        }
        if !is_reverted {
            return Ok(RecordAttempt::Conflict);
        }
        let targets = reversal.changes().iter().map(|changed| self.changed_target(id, changed));
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        match lock::lock(self, &targets, held) {
            LockOutcome::Acquired(locks) => self.record_reverted(reversal, author, &targets, &locks),
            LockOutcome::Busy(keys) => Ok(RecordAttempt::Busy { keys, waits: lock_waits(&targets) }),
            LockOutcome::Outdated => Ok(RecordAttempt::Outdated),
        }
    }

    /// True if all files of a reversal are in the requested state.
    fn is_reverted(&self, reversal: &Reversal) -> bool {
        let is_reverted = |changed: &FileChange| {
            let target = self.changed_target(reversal.entry.id, changed);
            let current = target.and_then(|target| self.reverted_text(reversal, changed, &target));
            current.is_ok_and(|current| current.is_some())
        };
        reversal.changes().iter().all(is_reverted)
    }

    /// Reads a file; `None` if it is not in the requested state. An entity never is, nor is a file behind a link: the edit
    /// changed the file at the path itself.
    fn reverted_text(
        &self,
        reversal: &Reversal,
        changed: &FileChange,
        target: &ResolvedTarget,
    ) -> Result<Option<CurrentText>, Error> {
        if target.place.entity().is_some() || target.place.resolved().is_some() {
            return Ok(None);
        }
        let current = load::read(self, &target.place, &target.rules)?;
        let wanted = reversal.versions(changed).1;
        let version = current.text().map(|text| text.version());
        Ok(Some(current).filter(|_| version == wanted))
    }

    /// Records that another program has reverted all files of an edit, while their locks are held.
    fn record_reverted(
        &self,
        reversal: &Reversal,
        author: &Author,
        targets: &[ResolvedTarget],
        locks: &HeldLocks,
    ) -> Result<RecordAttempt, Error> {
        let id = reversal.entry.id;
        if self.has_interrupted_edit(targets)? {
            self.recover_edits(locks.keys());
            if self.has_interrupted_edit(targets)? {
                return Ok(RecordAttempt::Conflict);
            }
        }
        if is_in_state(&self.reverted(id)?, reversal.direction) {
            return Ok(RecordAttempt::Overtaken);
        }
        let mut texts: Vec<(Option<Vec<u8>>, CurrentText)> = Vec::with_capacity(targets.len());
        for (changed, target) in reversal.changes().iter().zip(targets) {
            let Some(current) = self.reverted_text(reversal, changed, target)? else {
                return Ok(RecordAttempt::Conflict);
            };
            let before = reversal.versions(changed).0;
            let before = before.and_then(|before| self.stored_content(id, changed, before).ok());
            texts.push((before, current));
        }
        let mut changes = Vec::with_capacity(targets.len());
        for ((changed, target), (before, current)) in reversal.changes().iter().zip(targets).zip(&texts) {
            let place = target.place.file();
            let place = place.ok_or_else(|| Error::new(Code::Internal, "only files are recorded here"))?;
            let is_known = before.is_some() || reversal.versions(changed).0.is_none();
            let (added, removed) = match (&reversal.last, reversal.direction) {
                (None, Direction::Redo) => (changed.added, changed.removed),
                (Some(_), _) | (None, Direction::Undo) => (changed.removed, changed.added),
            };
            changes.push(OutsideChange {
                place,
                before: before.as_deref(),
                is_known,
                after: current.text().map(Buffer::bytes),
                mode: None,
                added,
                removed,
                keep: is_known && target.is_journaled,
            });
        }
        let Author { tool, name, confirmation_id: _ } = author.clone();
        let request = Version::of_value(&(id, reversal.direction == Direction::Undo));
        let meta = EditMeta { tool, author: name, request, kind: reversal.kind(), gates: String::new() };
        let reports = self.already_done(reversal)?;
        self.store.journal.record_outside(&meta, &changes)?;
        Ok(RecordAttempt::Recorded(reports))
    }

    /// True if a process that has ended left an edit of one of the files incomplete.
    fn has_interrupted_edit(&self, targets: &[ResolvedTarget]) -> Result<bool, Error> {
        for target in targets {
            if target.place.interrupted_and_last(&self.store)?.0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
