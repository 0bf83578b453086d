//! A write that is there, and can still be taken back: as long as not all writes of the edit are there.
//!
//! Invariant: dropping it takes it back; settling it, which consumes it, removes what was displaced.

use super::known::Known;
use super::stage::Staged;
use super::swap::{Ends, Refusal};
use super::{FileWrite, Level, Published, in_place};
use crate::error::{Code, Error};
use crate::store::snapshot::Before;

/// What was done to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
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
pub(super) struct Turned<'a> {
    ends: Ends<'a>,
    turn: Turn,
    level: Level,
    before: Option<Before<'a>>,
    ours: Option<Staged<'a>>,
    /// What the caller should know of it.
    pub notes: Vec<String>,
    is_open: bool,
}

impl<'a> Turned<'a> {
    /// What was done, and the file that was published.
    pub fn new(
        ends: Ends<'a>,
        turn: Turn,
        level: Level,
        before: Option<Before<'a>>,
        ours: Option<Staged<'a>>,
    ) -> Turned<'a> {
        Turned { ends, turn, level, before, ours, notes: Vec::new(), is_open: true }
    }

    /// Takes the target away.
    pub fn remove(ends: Ends<'a>, before: Before<'a>) -> Result<Turned<'a>, Refusal> {
        let level = ends.take(&before.known())?;
        Ok(Turned::new(ends, Turn::Removed, level, Some(before), None))
    }

    /// Removes what was displaced, now that all of the edit is there.
    pub fn settle(mut self) -> Published {
        self.is_open = false;
        self.ends.guards.step();
        match (self.turn, self.before) {
            (Turn::Exchanged | Turn::Removed, Some(before)) => self.discard(&before),
            (Turn::Written, _) => self.unlink(),
            (Turn::Exchanged | Turn::Removed | Turn::Renamed | Turn::Created, _) => {}
        }
        self.ends.guards.step();
        let notes = std::mem::take(&mut self.notes);
        Published { created: self.turn == Turn::Created, level: self.level, notes }
    }

    /// Takes the write back, as another of the same edit could not be done.
    ///
    /// Errors: that it is there all the same, or what was kept; nothing of somebody else was touched.
    pub fn back(mut self, write: &FileWrite<'a>) -> Result<(), Error> {
        self.is_open = false;
        self.revoke(Some(write))
    }

    fn discard(&mut self, before: &Before<'_>) {
        // Nobody could open it for writing while it was looked at; without a lease somebody may have, and writes late.
        if self.level == Level::Lease || before.known().holds().unwrap_or(true) {
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

    fn revoke(&mut self, write: Option<&FileWrite<'a>>) -> Result<(), Error> {
        let done = match (self.turn, &self.before, &self.ours, write) {
            (Turn::Exchanged, Some(before), Some(ours), _) => {
                self.ends.exchange(&ours.known(), &before.known()).map(drop)
            }
            (Turn::Created, _, Some(ours), _) => self.ends.take(&ours.known()).map(drop),
            (Turn::Removed, ..) => return self.ends.put().map(drop).map_err(|refusal| self.stays(refusal)),
            (Turn::Written, Some(before), Some(ours), _) => {
                let there = Known { bytes: ours.known().bytes, ..before.known() };
                in_place::write(&self.ends, &there, before.content.bytes).map_err(Refusal::Clean)
            }
            (Turn::Renamed, Some(before), Some(ours), Some(write)) => self.restore(write, before, ours),
            (Turn::Exchanged | Turn::Created | Turn::Written | Turn::Renamed, ..) => Ok(()),
        };
        done.map_err(|refusal| self.stays(refusal))?;
        if self.turn != Turn::Renamed {
            self.unlink();
        }
        Ok(())
    }

    /// Puts the text before in the place of the one that replaced it without an exchange.
    fn restore(&self, write: &FileWrite<'a>, before: &Before<'a>, ours: &Staged<'a>) -> Result<(), Refusal> {
        let again = Staged::make(&self.ends, write, before.content.bytes).map_err(Refusal::Clean)?;
        again.sync().map_err(Refusal::Clean)?;
        let done = self.ends.exchange(&ours.known(), &again.known());
        if matches!(done, Ok(_) | Err(Refusal::Kept(_))) {
            drop(again.published());
        }
        done.map(drop)
    }

    /// The refusal where the write could not be taken back.
    fn stays(&self, refusal: Refusal) -> Error {
        let why = match refusal {
            Refusal::Kept(error) => return error,
            Refusal::Clean(error) => error.message,
            Refusal::Mounted => format!("{} is a mount point", self.ends.shown),
        };
        let kept = match self.turn {
            Turn::Exchanged | Turn::Removed => format!("; the text before is in {}", self.ends.set_aside()),
            Turn::Created | Turn::Renamed => String::new(),
            Turn::Written => {
                let _ = self.ends.folder.unlink(self.ends.staged);
                String::new()
            }
        };
        let seen = format!("{} could not be taken back: {why}{kept}", self.ends.shown);
        Error::new(Code::EditConflict, seen).disk_unknown()
    }
}

impl Drop for Turned<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Only where the way out was not foreseen: nobody is left to tell.
            let _ = self.revoke(None);
        }
    }
}
