//! What every edit was: who asked for what, which text stood there before and after, and what became of it.
//!
//! Each root has a journal of its own in the user's state folder, never in the repository. An edit is written down before
//! the first byte under a target's name changes, and settled when all of it is there; so whoever comes after a crash finds
//! what was under way.
//!
//! Invariant: a text that is handed out has the stamp by which it was asked for; what cannot be proved is not there.

mod entry;
mod id;

pub use entry::{Changed, Deed, Entry, Kind};
pub use id::EditId;

use super::files::Files;
use super::locks::Locks;
use super::place::Place;
use super::publish::{Content, Write};
use super::state::State;
use crate::error::Error;
use crate::text::Stamp;
use std::time::Duration;

/// How much is remembered, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes on the disk.
    pub size: u64,
    /// The greatest age.
    pub age: Duration,
}

/// The journals of all roots; each is opened when it is first needed.
#[derive(Debug)]
pub struct Journal {}

/// An edit that was written down and has not been settled; dropping it takes the entry out again.
#[derive(Debug)]
#[must_use = "dropping it forgets the edit; settle it once all of it is there"]
pub struct Begun {}

impl Journal {
    /// The journals of these roots within lockgate's own folder.
    pub fn beside(_state: &State, _files: &Files) -> Journal {
        Journal {}
    }

    /// Why edits of the place's root are not remembered, where they are not.
    pub fn trouble(&self, _place: &Place) -> Option<String> {
        None
    }

    /// Writes down what is about to be published; `staged` are the names of the staged copies, one for each write.
    ///
    /// It survives the end of the process at once, and a power cut after [`Begun::sync`].
    ///
    /// Errors: `INVALID_INPUT` for writes in several roots, `NO_SPACE`, `STORE_UNAVAILABLE`.
    pub(super) fn begin(
        &self,
        _deed: &Deed,
        _writes: &[Write<'_>],
        _staged: &[String],
    ) -> Result<Begun, Error> {
        Ok(Begun {})
    }

    /// The last settled change of the place's file.
    pub fn latest(&self, _place: &Place) -> Result<Option<Entry>, Error> {
        Ok(None)
    }

    /// Whether an edit of this place was begun by a process that has ended; to be asked only while its lock is held.
    pub fn stale(&self, _place: &Place) -> Result<bool, Error> {
        Ok(false)
    }

    /// Completes or takes back what processes that have ended left half done; gives back what a person should know.
    ///
    /// What another process is still at is left to it.
    pub fn recover(&self, _files: &Files, _locks: &Locks) -> Vec<String> {
        Vec::new()
    }

    /// The text of a version of the place's file, whole stamp or a prefix of at least 12 hex digits; `None` where it was
    /// never kept, or is no longer.
    pub fn text(&self, _place: &Place, _version: &str) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }

    /// Keeps a text that a read handed out, if it may be kept; trouble is not told.
    pub fn keep(&self, _place: &Place, _text: Content<'_>) {}

    /// The entry of that name.
    pub fn entry(&self, _id: EditId) -> Result<Option<Entry>, Error> {
        Ok(None)
    }

    /// The last entries, the newest first; those of one place, or of all roots.
    pub fn entries(&self, _of: Option<&Place>, _most: usize) -> Result<Vec<Entry>, Error> {
        Ok(Vec::new())
    }

    /// The newest edit that has not been taken back; of one place, or of the first root.
    pub fn to_undo(&self, _of: Option<&Place>) -> Result<Option<Entry>, Error> {
        Ok(None)
    }

    /// The edit that was taken back last and still is; of one place, or of the first root.
    pub fn to_redo(&self, _of: Option<&Place>) -> Result<Option<Entry>, Error> {
        Ok(None)
    }

    /// Forgets the oldest until the journals are within their bounds.
    pub fn tidy(&self, _bounds: Bounds) -> Result<(), Error> {
        Ok(())
    }
}

impl Begun {
    /// The name by which the edit can be taken back.
    pub fn id(&self) -> EditId {
        EditId::new(0, 0)
    }

    /// Makes what was written down survive a power cut.
    pub(super) fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Declares that all of the edit is there. It survives the end of the process; after a power cut recovery finds the same.
    ///
    /// Errors: why it could not be settled; the edit is there all the same, and recovery will find it.
    pub(super) fn settle(self) -> Result<EditId, String> {
        Ok(self.id())
    }
}

/// The whole stamp of a version is not always known; this is what callers name it by.
pub(super) fn means(stamp: &Stamp, version: &str) -> bool {
    stamp.matches(version)
}
