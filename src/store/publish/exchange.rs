//! A write that is there, and can still be taken back: as long as not all writes of the edit are there.
//!
//! Invariant: dropping it takes it back; settling it, which consumes it, removes what was displaced.

use super::expected::ExpectedFile;
use super::prepare::Leases;
use super::stage::StagedFile;
use super::swap::{Refusal, SwapNames};
use super::{FileWrite, GuardLevel, PublishedFile, back, in_place};
use crate::error::{Code, Error};
use crate::store::snapshot::ExpectedContent;

/// What was done to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetChange {
    /// It was exchanged; the file before has the staged name.
    Exchanged,
    /// It was replaced; the file before has no name any more.
    Renamed,
    /// It was made.
    Created,
    /// It was taken away; it has the staged name.
    Removed,
    /// It was written into; the staged copy is still there.
    Written,
}

/// A write that is there and not settled.
#[must_use = "dropping it takes the write back; settle it"]
pub(super) struct AppliedWrite<'a> {
    ends: SwapNames<'a>,
    write: &'a FileWrite<'a>,
    turn: TargetChange,
    level: GuardLevel,
    ours: Option<StagedFile<'a>>,
    /// What still holds other programs back.
    leases: Leases<'a>,
    /// What the caller should know of it.
    pub notes: Vec<String>,
    is_open: bool,
}

/// What became of taking a write back without waiting for anybody.
pub(super) enum Back<'a> {
    /// All is as it was before.
    Done,
    /// It is as it was before or not, and the caller should know this.
    Kept(Error),
    /// Somebody is at it, or may have been.
    NotYet(AppliedWrite<'a>),
}

impl<'a> AppliedWrite<'a> {
    /// What was done, and the file that was published.
    pub fn new(
        ends: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        turn: TargetChange,
        level: GuardLevel,
        ours: Option<StagedFile<'a>>,
        leases: Leases<'a>,
    ) -> AppliedWrite<'a> {
        AppliedWrite { ends, write, turn, level, ours, leases, notes: Vec::new(), is_open: true }
    }

    /// Takes the target away, which was compared.
    pub fn remove(
        ends: SwapNames<'a>,
        write: &'a FileWrite<'a>,
        before: ExpectedContent<'a>,
        leases: Leases<'a>,
    ) -> Result<AppliedWrite<'a>, Refusal> {
        let level = ends.take_checked(&before.known(), leases.before.as_ref())?;
        Ok(AppliedWrite::new(ends, write, TargetChange::Removed, level, None, leases))
    }

    /// Refuses where somebody waits to write the file that was displaced.
    pub fn check(&self) -> Result<(), Error> {
        self.ends.guards.step();
        match (&self.leases.before, self.turn) {
            (Some(lease), TargetChange::Exchanged | TargetChange::Removed) if !lease.is_whole() => {
                Err(self.ends.meanwhile())
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// Lets other programs on.
    pub fn release(&mut self) {
        self.leases = Leases::default();
    }

    /// Removes what was displaced, now that all of the edit is there.
    pub fn settle(mut self) -> PublishedFile {
        self.is_open = false;
        self.release();
        self.ends.guards.step();
        match (self.turn, self.write.before) {
            (TargetChange::Exchanged | TargetChange::Removed, Some(before)) => self.discard(&before),
            (TargetChange::Written, _) => self.unlink(),
            (
                TargetChange::Exchanged
                | TargetChange::Removed
                | TargetChange::Renamed
                | TargetChange::Created,
                _,
            ) => {}
        }
        self.ends.guards.step();
        let notes = std::mem::take(&mut self.notes);
        PublishedFile { created: self.turn == TargetChange::Created, level: self.level, notes }
    }

    /// Takes the write back while other programs are held back, as another of the same edit could not be done.
    pub fn back_at_once(mut self) -> Back<'a> {
        let done = match (self.turn, &self.ours, &self.leases) {
            (TargetChange::Exchanged, Some(ours), Leases { before: Some(before), ours: Some(own) })
                if own.is_whole() || !before.is_whole() =>
            {
                match self.ends.exchange_back(&ours.known(), Some(own)) {
                    Refusal::Clean(_) => Ok(()),
                    refusal => Err(refusal),
                }
            }
            (TargetChange::Created, Some(ours), Leases { ours: Some(own), .. }) if own.is_whole() => {
                match self.ends.take_checked(&ours.known(), Some(own)) {
                    Ok(_) => Ok(()),
                    Err(Refusal::Clean(_)) => return Back::NotYet(self),
                    Err(refusal) => Err(refusal),
                }
            }
            (TargetChange::Removed, ..) => self.ends.put().map(drop),
            (
                TargetChange::Exchanged
                | TargetChange::Created
                | TargetChange::Renamed
                | TargetChange::Written,
                ..,
            ) => {
                return Back::NotYet(self);
            }
        };
        self.is_open = false;
        match self.end(done) {
            Ok(()) => Back::Done,
            Err(error) => Back::Kept(error),
        }
    }

    /// Takes the write back, and waits for those who are at it: what they add to its end stays.
    ///
    /// Errors: that it is there all the same, or what was kept; nothing of somebody else was touched.
    pub fn back(mut self) -> Result<(), Error> {
        self.is_open = false;
        self.release();
        let done = self.revoke();
        self.end(done)
    }

    /// Removes what is left of a write that was taken back, or says what is left.
    fn end(&mut self, done: Result<(), Refusal>) -> Result<(), Error> {
        done.map_err(|refusal| self.stays(refusal))?;
        if matches!(self.turn, TargetChange::Exchanged | TargetChange::Created | TargetChange::Written) {
            self.unlink();
        }
        Ok(())
    }

    fn discard(&mut self, before: &ExpectedContent<'_>) {
        // Nobody could open it for writing while it was looked at; without a lease somebody may have, and writes late.
        if self.level == GuardLevel::Lease || before.known().holds().unwrap_or(true) {
            return self.unlink();
        }
        let kept = self.ends.set_aside();
        let shown = self.ends.shown;
        self.notes.push(format!(
            "{shown} was written into by somebody else after it was replaced: that text is in {kept}"
        ));
    }

    fn unlink(&mut self) {
        if let Err(errno) = self.ends.folder.unlink(self.ends.staged) {
            let (shown, name) = (self.ends.shown, self.ends.staged);
            let why = std::io::Error::from(errno);
            self.notes.push(format!("{shown} was written, but {name} beside it could not be removed: {why}"));
        }
    }

    fn revoke(&self) -> Result<(), Refusal> {
        match (self.turn, self.write.before, &self.ours) {
            (TargetChange::Exchanged, Some(before), Some(ours)) => back::exchanged(&self.ends, &before, ours),
            (TargetChange::Created, _, Some(ours)) => back::created(&self.ends, ours),
            (TargetChange::Removed, ..) => self.ends.put().map(drop),
            (TargetChange::Written, Some(before), Some(ours)) => {
                let there = ExpectedFile { bytes: ours.known().bytes, ..before.known() };
                in_place::write(&self.ends, &there, before.content.bytes).map_err(Refusal::Clean)
            }
            (TargetChange::Renamed, Some(before), Some(ours)) => {
                back::renamed(&self.ends, self.write, &before, ours)
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

    /// The refusal where the write could not be taken back.
    fn stays(&self, refusal: Refusal) -> Error {
        let why = match refusal {
            Refusal::Kept(error) => return error,
            Refusal::Clean(error) => error.message,
            Refusal::Mounted => format!("{} is a mount point", self.ends.shown),
        };
        let kept = match self.turn {
            TargetChange::Exchanged | TargetChange::Removed => {
                format!("; the text before is in {}", self.ends.set_aside())
            }
            TargetChange::Created | TargetChange::Renamed => String::new(),
            TargetChange::Written => {
                let _ = self.ends.folder.unlink(self.ends.staged);
                String::new()
            }
        };
        let seen = format!("{} could not be taken back: {why}{kept}", self.ends.shown);
        Error::new(Code::EditConflict, seen).disk_unknown()
    }
}

impl Drop for AppliedWrite<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Only where the way out was not foreseen: nobody is left to tell.
            self.release();
            let done = self.revoke();
            let _ = self.end(done);
        }
    }
}
