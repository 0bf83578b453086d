//! Finds the half-done edits in the journals, and completes or reverts them according to the state of their files.
//!
//! Invariant: an edit is settled or forgotten only while the locks of all its files are held, unless another program wrote
//! them.

use super::edit::{InterruptedEdit, RecoveryAction};
use super::sweep::{JournalNames, MIN_AGE};
use crate::files::Files;
use crate::history::EditId;
use crate::journal::{Journal, NO_COPY, RootJournal};
use crate::lock_key::LockKey;
use crate::locks::Locks;
use crate::sql::{Database, DatabaseError, UnsettledEdit};
use lockgate_error::Error;
use lockgate_text::Version;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

/// The kernel's id of the current boot.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
/// The file in a journal's folder that records the boot in which its root was last searched for staged
/// copies.
const SWEPT: &str = "swept";

/// The result of a recovery for a caller that holds the locks of some files.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The keys of edits of these files that could not be recovered yet, because others hold some of the locks.
    pub awaited: Vec<LockKey>,
    /// The edits whose outcome the journal could not record.
    pub unrecorded: Vec<UnrecordedEdit>,
}

/// An edit whose outcome the journal could not record.
#[derive(Debug)]
pub struct UnrecordedEdit {
    /// The id of the edit.
    pub id: EditId,
    /// The reason.
    pub error: Error,
}

impl Journal {
    /// Completes or reverts the edits that ended processes left half done. `held` are the keys of the locks that the caller
    /// holds: no live process works on their files.
    ///
    /// Edits that another process is still working on are left alone.
    pub fn recover(&self, files: &Files, locks: &Locks, held: &[LockKey]) -> Recovery {
        let mut recovery = Recovery::default();
        for (root, journal) in self.root_journals().iter().enumerate() {
            recover_root(journal, &RecoveryContext { root, files, locks, held }, &mut recovery);
        }
        recovery
    }

    /// True if an edit was begun and not settled: it is in progress, or must be recovered. A journal that cannot be read
    /// counts as one without.
    pub fn has_unsettled_edits(&self) -> bool {
        let has_some =
            |journal: &RootJournal| journal.query(|database| Ok(!database.unsettled()?.is_empty()));
        self.root_journals().iter().any(|journal| has_some(journal).unwrap_or(false))
    }
}

/// The files of one root, and their locks.
struct RecoveryContext<'a> {
    /// The number of the root.
    root: usize,
    files: &'a Files,
    locks: &'a Locks,
    /// The keys of the locks that the caller holds.
    held: &'a [LockKey],
}

/// Completes or reverts all half-done edits in a root.
fn recover_root(journal: &RootJournal, context: &RecoveryContext<'_>, recovery: &mut Recovery) {
    let found = journal.query(|database| Ok(Some((Arc::clone(database), database.unsettled()?))));
    match found {
        Ok(Some((database, edits))) => {
            for edit in edits {
                recover_and_record(&database, &edit, context, recovery);
            }
            // Among held locks, the sweep would leave out their files.
            if context.held.is_empty() {
                recovery.notes.extend(sweep(journal, &database, context));
            }
        }
        Ok(None) => {}
        Err(error) => {
            recovery.notes.push(format!("cannot search for incomplete edits: {}", error.message));
        }
    }
}

/// Completes or reverts one half-done edit, and records the result in the journal.
fn recover_and_record(
    database: &Database,
    edit: &UnsettledEdit,
    &RecoveryContext { root, files, locks, held }: &RecoveryContext<'_>,
    recovery: &mut Recovery,
) {
    if edit.files.iter().any(|file| file.staged == NO_COPY) {
        // Another program wrote the files. An earlier version recorded that in two steps, and was killed between them.
        let result = database.settle(edit.number);
        recovery.add_outcome(database, edit.number, result);
        return;
    }
    let interrupted_edit = InterruptedEdit {
        root,
        files: &edit.files,
        text: &|version| database.text(&version.hex()).ok().flatten(),
        // If this cannot be determined, the edit is left alone.
        is_open: &|| database.is_unsettled(edit.number).unwrap_or(false),
    };
    let recovered = files.recover_edit(locks, &interrupted_edit, held);
    let result = match recovered.action {
        RecoveryAction::Settle => database.settle(edit.number),
        RecoveryAction::Forget => database.forget(edit.number),
        RecoveryAction::Nothing | RecoveryAction::Wait | RecoveryAction::Leave => Ok(()),
    };
    recovery.notes.extend(recovered.notes);
    recovery.add_outcome(database, edit.number, result);
    if recovered.action == RecoveryAction::Wait && recovered.keys.iter().any(|key| held.contains(key)) {
        recovery.awaited.extend(recovered.keys);
    }
    drop(recovered.locks);
}

impl Recovery {
    /// Adds the reason why the outcome of an edit could not be recorded, if so.
    fn add_outcome(&mut self, database: &Database, number: u64, result: Result<(), DatabaseError>) {
        let Err(error) = result else { return };
        let id = database.id(number);
        let error = error
            .to_error(&format!("the edit {id} is incomplete, and the journal could not record its outcome"));
        self.notes.push(error.message.clone());
        self.unrecorded.push(UnrecordedEdit { id, error });
    }
}

/// Removes staged copies that no row names. Only a power cut leaves them, so this runs once after each boot.
fn sweep(
    journal: &RootJournal,
    database: &Database,
    &RecoveryContext { root, files, locks, .. }: &RecoveryContext<'_>,
) -> Vec<String> {
    let boot = std::fs::read(BOOT).unwrap_or_default();
    let marker = journal.folder().ok().map(|folder| folder.join(SWEPT));
    let is_done = |marker: &Path| !boot.is_empty() && std::fs::read(marker).is_ok_and(|last| last == boot);
    if marker.as_deref().is_none_or(is_done) {
        return Vec::new();
    }
    // A name that cannot be looked up counts as needed.
    let is_named = |name: &str| database.is_staged(name).unwrap_or(true);
    let is_kept = |version: Version| database.text(&version.hex()).is_ok_and(|text| text.is_some());
    let folders = database.folders().unwrap_or_default();
    let known = JournalNames { is_named: &is_named, is_kept: &is_kept };
    let sweep_folder = |folder: &String| files.sweep(locks, (root, folder), &known, MIN_AGE);
    let notes = folders.iter().flat_map(sweep_folder).collect();
    // If the marker cannot be written, the sweep is repeated.
    drop(marker.map(|marker| write_marker(&marker, &boot)));
    notes
}

/// Writes the marker, readable by the user alone.
fn write_marker(marker: &Path, boot: &[u8]) -> std::io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(marker)?.write_all(boot)
}
