//! A write that is applied and can still be reverted, as long as not all writes of the edit are applied.
//!
//! Invariant: dropping it reverts the write; settling it, which consumes it, removes the displaced file.

use super::expected::ExpectedFile;
use super::lease::Leases;
use super::stage::StagedFile;
use super::swap::{SwapError, SwapNames};
use super::{in_place, revert};
use crate::file_write::FileWrite;
use crate::outcome::{GuardLevel, PublishedFile};
use crate::snapshot::ExpectedContent;
use lockgate_error::{Code, Error};
use std::time::Instant;

/// The change that was made to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetChange {
    /// The files were exchanged; the file before has the staged name.
    Exchanged,
    /// The target was replaced by rename; the file before has no name any more.
    Renamed,
    /// The target did not exist and was created.
    Created,
    /// The target was removed; it has the staged name.
    Removed,
    /// The target was overwritten in place; the staged copy still exists.
    Written,
}

/// A write that is applied and not settled.
#[must_use = "dropping it reverts the write; settle it"]
pub(super) struct AppliedWrite<'a> {
    names: SwapNames<'a>,
    write: &'a FileWrite<'a>,
    change: TargetChange,
    level: GuardLevel,
    ours: Option<StagedFile<'a>>,
    /// The leases that still hold back other programs.
    leases: Leases<'a>,
    /// The time of the change.
    time: Instant,
    /// Notes for the caller, such as a staged copy that could not be removed.
    pub notes: Vec<String>,
    is_open: bool,
}

/// The result of a revert that does not wait for other programs.
pub(super) enum RevertOutcome<'a> {
    /// The target is as it was before.
    Done,
    /// The revert failed or was partial; the error tells the caller.
    Failed(Error),
    /// Another program uses the file, or may have used it.
    InUse(Box<AppliedWrite<'a>>),
}

impl<'a> AppliedWrite<'a> {
    /// A write whose change was made just now; `ours` is the published file, if there is one.
    fn new(
        names: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        change: TargetChange,
        level: GuardLevel,
        ours: Option<StagedFile<'a>>,
        leases: Leases<'a>,
    ) -> AppliedWrite<'a> {
        let time = Instant::now();
        AppliedWrite { names, write, change, level, ours, leases, time, notes: Vec::new(), is_open: true }
    }

    /// Puts the staged file in the place of the one before. If that is rejected, the staged file is removed if
    /// it is still ours.
    pub fn replace(
        names: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        before: ExpectedContent<'a>,
        staged: StagedFile<'a>,
        leases: Leases<'a>,
    ) -> Result<AppliedWrite<'a>, Box<(SwapError, Option<StagedFile<'a>>)>> {
        let expected = ExpectedFile { copied_metadata: staged.metadata(), ..ExpectedFile::from(before) };
        match names.exchange_checked(&expected, &staged.expected(), &leases) {
            Ok(level) => {
                let change = if level == GuardLevel::Compare {
                    TargetChange::Renamed
                } else {
                    TargetChange::Exchanged
                };
                Ok(AppliedWrite::new(names, write, change, level, Some(staged.published()), leases))
            }
            Err(SwapError::NotUndone(error)) => {
                drop(staged.published());
                Err(Box::new((SwapError::NotUndone(error), None)))
            }
            Err(error) => Err(Box::new((error, Some(staged)))),
        }
    }

    /// Writes the text of the staged file into the one before, under all of its names.
    pub fn overwrite(
        names: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        before: ExpectedContent<'a>,
        staged: StagedFile<'a>,
    ) -> Result<AppliedWrite<'a>, Error> {
        in_place::write(&names, &ExpectedFile::from(before), staged.expected().bytes)?;
        let (change, level) = (TargetChange::Written, GuardLevel::InPlace);
        Ok(AppliedWrite::new(names, write, change, level, Some(staged.published()), Leases::default()))
    }

    /// Gives the staged file the target's name, which must be free.
    pub fn create(
        names: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        staged: StagedFile<'a>,
        leases: Leases<'a>,
    ) -> Result<AppliedWrite<'a>, SwapError> {
        let note = names.put()?;
        let (change, level) = (TargetChange::Created, GuardLevel::Exchange);
        let mut applied = AppliedWrite::new(names, write, change, level, Some(staged.published()), leases);
        applied.notes.extend(note);
        Ok(applied)
    }

    /// Removes the target, which was compared before.
    pub fn remove(
        names: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        before: ExpectedContent<'a>,
        leases: Leases<'a>,
    ) -> Result<AppliedWrite<'a>, SwapError> {
        let level = names.take_checked(&ExpectedFile::from(before), leases.before.as_ref())?;
        Ok(AppliedWrite::new(names, write, TargetChange::Removed, level, None, leases))
    }

    /// Fails if another program waits to write the displaced file.
    pub fn check(&self) -> Result<(), Error> {
        self.names.guards.step();
        match (&self.leases.before, self.change) {
            (Some(lease), TargetChange::Exchanged | TargetChange::Removed) if !lease.is_whole() => {
                Err(self.names.changed_meanwhile())
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// Ends the leases, so that other programs can continue.
    pub fn release(&mut self) {
        self.leases = Leases::default();
    }

    /// Removes the displaced file, now that the whole edit is applied.
    pub fn settle(mut self) -> PublishedFile {
        self.is_open = false;
        self.release();
        self.names.guards.step();
        match self.change {
            TargetChange::Exchanged | TargetChange::Removed => self.discard(),
            TargetChange::Written => self.unlink(),
            TargetChange::Renamed | TargetChange::Created => {}
        }
        self.names.guards.step();
        let notes = std::mem::take(&mut self.notes);
        let created = self.change == TargetChange::Created;
        PublishedFile { created, level: self.level, time: self.time, notes }
    }

    /// Reverts the write under its leases, because another write of the edit failed.
    pub fn revert_now(mut self) -> RevertOutcome<'a> {
        let result = match (self.change, &self.ours, &self.leases) {
            (TargetChange::Exchanged, Some(ours), Leases { before: Some(before), ours: Some(own) })
                if own.is_whole() || !before.is_whole() =>
            {
                match self.names.exchange_back(&ours.expected(), Some(own)) {
                    SwapError::Unchanged(_) => Ok(()),
                    error => Err(error),
                }
            }
            (TargetChange::Created, Some(ours), Leases { ours: Some(own), .. }) if own.is_whole() => {
                match self.names.take_checked(&ours.expected(), Some(own)) {
                    Ok(_) => Ok(()),
                    Err(SwapError::Unchanged(_)) => return RevertOutcome::InUse(Box::new(self)),
                    Err(error) => Err(error),
                }
            }
            (TargetChange::Removed, ..) => self.names.put().map(drop),
            (
                TargetChange::Exchanged
                | TargetChange::Created
                | TargetChange::Renamed
                | TargetChange::Written,
                ..,
            ) => {
                return RevertOutcome::InUse(Box::new(self));
            }
        };
        self.is_open = false;
        match self.finish_revert(result) {
            Ok(()) => RevertOutcome::Done,
            Err(error) => RevertOutcome::Failed(error),
        }
    }

    /// Reverts the write and waits for programs that use the file; text that they append to its end stays.
    ///
    /// Errors: the write is still applied, or a text was kept under another name. Files of other programs are
    /// not touched.
    pub fn revert(mut self) -> Result<(), Error> {
        self.is_open = false;
        self.release();
        let result = self.revoke();
        self.finish_revert(result)
    }

    /// Removes the leftovers of a reverted write, or reports them.
    fn finish_revert(&mut self, result: Result<(), SwapError>) -> Result<(), Error> {
        result.map_err(|error| self.not_reverted(error))?;
        if matches!(self.change, TargetChange::Exchanged | TargetChange::Created | TargetChange::Written) {
            self.unlink();
        }
        Ok(())
    }

    fn discard(&mut self) {
        let Some(before) = self.write.before else { return };
        // Under the lease no program could open it for writing during the check; without a lease another program
        // may have, and writes late.
        if self.level == GuardLevel::Lease || ExpectedFile::from(before).holds().unwrap_or(true) {
            return self.unlink();
        }
        let name = self.names.set_aside();
        let shown = self.names.shown;
        self.notes.push(format!(
            "{shown} was written by another program after it was replaced; that text is in {name}"
        ));
    }

    fn unlink(&mut self) {
        if let Err(errno) = self.names.folder.unlink(self.names.staged) {
            let (shown, name) = (self.names.shown, self.names.staged);
            let error = std::io::Error::from(errno);
            self.notes
                .push(format!("{shown} was written, but {name} beside it could not be removed: {error}"));
        }
    }

    fn revoke(&self) -> Result<(), SwapError> {
        match (self.change, self.write.before, &self.ours) {
            (TargetChange::Exchanged, Some(before), Some(ours)) => {
                revert::exchanged(&self.names, &before, ours)
            }
            (TargetChange::Created, _, Some(ours)) => revert::created(&self.names, ours),
            (TargetChange::Removed, ..) => self.names.put().map(drop),
            (TargetChange::Written, Some(before), Some(ours)) => {
                let expected = ExpectedFile { bytes: ours.expected().bytes, ..ExpectedFile::from(before) };
                in_place::write(&self.names, &expected, before.content.bytes).map_err(SwapError::Unchanged)
            }
            (TargetChange::Renamed, Some(before), Some(ours)) => {
                revert::renamed(&self.names, self.write, &before, ours)
            }
            (
                TargetChange::Exchanged
                | TargetChange::Created
                | TargetChange::Written
                | TargetChange::Renamed,
                ..,
            ) => Ok(()),
        }
    }

    /// The error for a write that could not be reverted.
    fn not_reverted(&self, error: SwapError) -> Error {
        let reason = match error {
            SwapError::NotUndone(error) => return error,
            SwapError::Unchanged(error) => error.message,
            SwapError::Mounted => format!("{} is a mount point", self.names.shown),
        };
        let note = match self.change {
            TargetChange::Exchanged | TargetChange::Removed => {
                format!("; the text before is in {}", self.names.set_aside())
            }
            TargetChange::Created | TargetChange::Renamed => String::new(),
            TargetChange::Written => {
                let _ = self.names.folder.unlink(self.names.staged);
                String::new()
            }
        };
        let message = format!("{} could not be reverted: {reason}{note}", self.names.shown);
        Error::new(Code::EditConflict, message).naming_target(self.names.shown).with_unknown_disk()
    }
}

impl Drop for AppliedWrite<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Reached only on an unforeseen exit, so there is no caller to report to.
            self.release();
            let result = self.revoke();
            let _ = self.finish_revert(result);
        }
    }
}
