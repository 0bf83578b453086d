//! The files of an edit that another program has already reverted, as `git checkout` does.

use std::sync::Arc;

use super::super::load::{self, CurrentText};
use super::super::lock::{self, LockOutcome};
use super::super::report::{Report, Status};
use super::super::services::Services;
use super::conflict::is_conflict;
use super::reversal::{Reversal, is_in_state};
use lockgate_checks::Watch;
use lockgate_edit::request::{Author, Direction, UndoRequest};
use lockgate_error::{Code, Disk, Error};
use lockgate_store::{EditMeta, FileChange, OutsideChange};
use lockgate_text::{Buffer, Version};

/// True if the error of a reversal can have the cause that a file already is in the requested state.
pub(super) fn may_be_reverted(error: &Error) -> bool {
    (is_conflict(error) || error.code == Code::InvalidInput) && error.disk == Disk::Untouched
}

impl Services {
    /// Reverts those files of an edit that are not in the requested state yet, and records that the edit is reverted.
    ///
    /// Errors: this one if every file must be written; those of the pipeline.
    pub(super) async fn revert_others(
        self: &Arc<Self>,
        reversal: &Arc<Reversal>,
        revert: &UndoRequest,
        watch: &Arc<Watch>,
        error: Error,
    ) -> Result<Vec<Report>, Error> {
        let (shared, author) = (Arc::clone(reversal), revert.author.clone());
        let find = move |services: &Services| {
            let remaining = services.remaining(&shared);
            let reports =
                if remaining.is_empty() { services.record_reverted(&shared, &author)? } else { None };
            Ok((remaining, reports))
        };
        let (remaining, reports) = self.off_reactor(find).await?;
        if let Some(reports) = reports {
            return Ok(reports);
        }
        if remaining.is_empty() || remaining.len() == reversal.changes().len() {
            return Err(error);
        }
        let written: Vec<String> = remaining.iter().map(|changed| changed.path.clone()).collect();
        let mut reports = self.revert_files(reversal, remaining, revert, watch).await?;
        let shared = Arc::clone(reversal);
        let unchanged = move |services: &Services| services.unchanged_reports(&shared, &written);
        reports.extend(self.off_reactor(unchanged).await?);
        Ok(reports)
    }

    /// Returns the changes whose files are not in the requested state yet.
    fn remaining(&self, reversal: &Reversal) -> Vec<FileChange> {
        let is_remaining = |changed: &&FileChange| {
            let wanted = reversal.versions(changed).1;
            let current = self.current_version(reversal.entry.id, changed);
            changed.entity.is_some() || !current.is_ok_and(|current| current == wanted)
        };
        reversal.changes().iter().filter(is_remaining).cloned().collect()
    }

    /// Records that another program has reverted all files of an edit; `None` if another call holds the lock of one of
    /// them, or if one has changed again.
    fn record_reverted(&self, reversal: &Reversal, author: &Author) -> Result<Option<Vec<Report>>, Error> {
        let id = reversal.entry.id;
        let targets = reversal.changes().iter().map(|changed| self.changed_target(id, changed));
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        let LockOutcome::Acquired(_locks) = lock::lock(self, &targets, None) else { return Ok(None) };
        if is_in_state(&self.entry(id)?, reversal.direction) {
            return self.already_done(reversal).map(Some);
        }
        if !self.remaining(reversal).is_empty() {
            return Ok(None);
        }
        let mut texts: Vec<(Option<Vec<u8>>, CurrentText)> = Vec::with_capacity(targets.len());
        for (changed, target) in reversal.changes().iter().zip(&targets) {
            let before = reversal.versions(changed).0;
            let before = before.and_then(|before| self.stored_content(id, changed, before).ok());
            texts.push((before, load::read(self, &target.place, &target.rules)?));
        }
        let changes = reversal.changes().iter().zip(&targets).zip(&texts);
        let changes = changes.filter_map(|((changed, target), (before, current))| {
            let is_known = before.is_some() || reversal.versions(changed).0.is_none();
            let (added, removed) = match (&reversal.last, reversal.direction) {
                (None, Direction::Redo) => (changed.added, changed.removed),
                (Some(_), _) | (None, Direction::Undo) => (changed.removed, changed.added),
            };
            Some(OutsideChange {
                place: target.place.file()?,
                before: before.as_deref(),
                is_known,
                after: current.text().map(Buffer::bytes),
                mode: None,
                added,
                removed,
                keep: is_known && target.is_journaled,
            })
        });
        let changes: Vec<OutsideChange<'_>> = changes.collect();
        let Author { tool, name, confirmation_id: _ } = author.clone();
        let request = Version::of_value(&(id, reversal.direction == Direction::Undo));
        let meta = EditMeta { tool, author: name, request, kind: reversal.kind(), gates: String::new() };
        let recorded = self.store.journal.record_outside(&meta, &changes)?;
        let mut reports = self.already_done(reversal)?;
        reports.iter_mut().for_each(|report| report.edit_id = Some(recorded));
        Ok(Some(reports))
    }

    /// Builds the reports of the files that were already in the requested state; `written` are the paths of the others.
    fn unchanged_reports(&self, reversal: &Reversal, written: &[String]) -> Result<Vec<Report>, Error> {
        let id = reversal.entry.id;
        let report = |changed: &FileChange| {
            let target = self.changed_target(id, changed)?;
            let current = load::read(self, &target.place, &target.rules)?;
            let text = Some(Arc::clone(&current.buffer));
            let report = Report::already_applied(&target, id, None, text, current)?;
            Ok(Report { status: Status::Unchanged, edit_id: None, ..report })
        };
        let others = reversal.changes().iter().filter(|changed| !written.contains(&changed.path));
        others.map(report).collect()
    }
}
