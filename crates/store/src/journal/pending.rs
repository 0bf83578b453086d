//! An edit between its first journal row and its end.
//!
//! Invariant: it is settled, or its rows are removed again, or its process has ended and recovery finds it.

use crate::disk::inode::Inodes;
use crate::file_write::FileWrite;
use crate::history::{EditId, EditMeta, EntryKind};
use crate::paths::file_location::FileLocation;
use crate::sql::{Database, DatabaseError, JournalRow};
use lockgate_error::{Code, Error};
use std::sync::Arc;

/// An edit that is recorded and not settled; dropping it removes the entry.
#[derive(Debug)]
#[must_use = "dropping it forgets the edit; settle it once all of it is written"]
pub struct PendingEdit {
    database: Arc<Database>,
    number: u64,
    on_drop: OnDrop,
}

/// The treatment of the rows on drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDrop {
    Forget,
    Keep,
}

impl PendingEdit {
    pub(super) fn new(database: Arc<Database>, number: u64) -> PendingEdit {
        PendingEdit { database, number, on_drop: OnDrop::Forget }
    }

    /// The id with which the edit can be undone.
    pub fn id(&self) -> EditId {
        self.database.id(self.number)
    }

    /// Records the inodes of the staged copies, in the order of the writes.
    ///
    /// Errors: `NO_SPACE`, `STORE_UNAVAILABLE`.
    pub(crate) fn record(&self, inodes: &[Inodes]) -> Result<(), Error> {
        self.database.record(self.number, inodes).map_err(|error| to_error(&error))
    }

    /// Makes the recorded rows survive a power cut.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.database.sync().map_err(|error| to_error(&error))
    }

    /// Declares that the whole edit is applied. This survives the end of the process; after a power cut
    /// recovery comes to the same result.
    ///
    /// Errors: the reason why it could not be settled. The edit is applied all the same, and recovery will
    /// find it.
    pub(crate) fn settle(mut self) -> Result<(), String> {
        self.on_drop = OnDrop::Keep;
        self.database.settle(self.number).map_err(|error| to_error(&error).message)
    }

    /// Leaves the rows for recovery to decide, because the state of the disk is unknown.
    pub(crate) fn leave(mut self) {
        self.on_drop = OnDrop::Keep;
    }
}

impl Drop for PendingEdit {
    fn drop(&mut self) {
        if self.on_drop == OnDrop::Forget {
            // Recovery finds rows that cannot be removed, and sees that the edit was not applied.
            let _ = self.database.forget(self.number);
        }
    }
}

/// Returns the journal rows for the writes of one edit.
pub(super) fn rows<'a>(writes: &[FileWrite<'a>], staged: &'a [String]) -> Result<Vec<JournalRow<'a>>, Error> {
    refuse_several_roots(writes.iter().map(|write| write.place))?;
    if writes.len() != staged.len() {
        return Err(Error::new(Code::Internal, "not every write of the edit has a staged copy"));
    }
    Ok(writes.iter().zip(staged).map(|(write, staged)| row(write, staged)).collect())
}

/// Rejects files of several roots.
pub(super) fn refuse_several_roots<'a>(
    mut places: impl Iterator<Item = &'a FileLocation>,
) -> Result<(), Error> {
    let first = places.next();
    if places.any(|place| Some(place.root) != first.map(|first| first.root)) {
        let message = "the files of one edit lie in several roots, which have a journal each";
        return Err(Error::new(Code::InvalidInput, message).hint("make one edit for each root"));
    }
    Ok(())
}

fn row<'a>(write: &FileWrite<'a>, staged: &'a str) -> JournalRow<'a> {
    let removed = write.before.filter(|_| write.after.is_none());
    JournalRow {
        path: write.place.in_root(),
        staged,
        before: write.before.map(|before| before.content),
        after: write.after,
        added: write.record.added,
        removed: write.record.removed,
        mode: removed.map(|before| before.snapshot.mode),
        folders: if write.before.is_none() { write.place.missing.len() } else { 0 },
        keep: write.record.keep,
    }
}

/// Checks that an undo or redo names an edit of the same journal.
///
/// Errors: `INVALID_INPUT`.
pub(super) fn check_kind(meta: &EditMeta, database: &Database) -> Result<(), Error> {
    match meta.kind {
        EntryKind::Undo(of) | EntryKind::Redo(of) if of.journal() != database.name() => {
            let message = format!("edit {of} is in the journal of another root than its file");
            Err(Error::new(Code::InvalidInput, message).hint("name the roots as they were for that edit"))
        }
        EntryKind::Edit | EntryKind::Undo(_) | EntryKind::Redo(_) => Ok(()),
    }
}

fn to_error(error: &DatabaseError) -> Error {
    error.to_error("the journal cannot be used")
}
