//! Decides about an edit whose process ended before it was settled: all of it is applied, or none.
//!
//! Invariant: decisions depend only on the content of the files, under the locks of all of them. A text that
//! is neither the edit's own nor the one that it replaced is never removed.

mod inspect;
mod repair;
mod sweep;

use super::document_path::LockKey;
use super::inode::Inodes;
use super::locks::{LockGuard, Locks};
use super::root::Root;
use inspect::{RecoveredFile, WriteState};
use lockgate_text::Version;

pub(super) use sweep::{JournalNames, sweep};

/// An edit that was begun and not settled, as the journal records it.
pub(super) struct InterruptedEdit<'a> {
    /// The number of the root of its files, as in [`super::file_location::FileLocation`].
    pub root: usize,
    /// Its files, in the order of the writes passed to [`super::journal::Journal::begin`].
    pub files: &'a [InterruptedFile<'a>],
    /// Returns a text that the journal kept, by its version.
    pub text: &'a dyn Fn(Version) -> Option<Vec<u8>>,
    /// True if it is still neither settled nor forgotten; called once the locks are held.
    pub is_open: &'a dyn Fn() -> bool,
}

/// One file of such an edit.
#[derive(Debug, Clone, Copy)]
pub(super) struct InterruptedFile<'a> {
    /// Its path, as spelled in [`super::file_location::FileLocation::in_root`].
    pub path: &'a str,
    /// The name of its staged copy, in the same folder.
    pub staged: &'a str,
    /// The version before; absent if there was no file.
    pub before: Option<Version>,
    /// The version after; absent if the file was to be removed.
    pub after: Option<Version>,
    /// The number of folders to create for it.
    pub folders: usize,
    /// The inodes of its staged copy and of the file before; absent if the journal does not have them.
    pub inodes: Option<Inodes>,
}

/// The action that the journal takes for such an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecoveryAction {
    /// All of it is applied: settle it.
    Settle,
    /// None of it is applied, or it was reverted: forget it.
    Forget,
    /// Another process is working on it, or its files could not be read: leave it as it is.
    Leave,
}

/// The decision, and the results of the repair.
#[derive(Debug)]
#[must_use = "the journal must apply the decision before the locks are released"]
pub(super) struct Recovered {
    /// The action for the journal.
    pub action: RecoveryAction,
    /// Notes that tell the user about the repair.
    pub notes: Vec<String>,
    /// The locks of its files; dropped once the journal is updated.
    pub locks: Option<LockGuard>,
}

/// Completes a half-done edit, or reverts it.
pub(super) fn recover_edit(roots: &[Root], locks: &Locks, edit: &InterruptedEdit<'_>) -> Recovered {
    let leave = |notes, locks| Recovered { action: RecoveryAction::Leave, notes, locks };
    let Some(root) = roots.get(edit.root) else { return leave(Vec::new(), None) };
    if root.check_in_place().is_err() {
        // The call is rejected because of it; the folder that was moved away is not ours to change.
        return leave(Vec::new(), None);
    }
    let keys: Vec<LockKey> = edit.files.iter().flat_map(|file| inspect::keys(root, file)).collect();
    let Some(guard) = locks.try_hold(&keys) else { return leave(Vec::new(), None) };
    if !(edit.is_open)() {
        return leave(Vec::new(), Some(guard));
    }
    match edit
        .files
        .iter()
        .map(|file| RecoveredFile::examine(root, file, edit.text))
        .collect::<Result<Vec<_>, _>>()
    {
        Ok(files) => {
            let (action, notes) = decide(&files);
            Recovered { action, notes, locks: Some(guard) }
        }
        Err(error) => {
            leave(vec![format!("an incomplete edit was not repaired: {}", error.message)], Some(guard))
        }
    }
}

fn decide(files: &[RecoveredFile<'_>]) -> (RecoveryAction, Vec<String>) {
    let is = |side: WriteState| files.iter().any(|file| file.state() == side);
    if is(WriteState::There) && !is(WriteState::NotThere) {
        (RecoveryAction::Settle, files.iter().filter_map(RecoveredFile::clear).collect())
    } else {
        // In reverse order of the writes.
        (RecoveryAction::Forget, files.iter().rev().filter_map(RecoveredFile::revert).collect())
    }
}

#[cfg(test)]
mod tests;
