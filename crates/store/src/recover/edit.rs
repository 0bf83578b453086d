//! Decides about one edit whose process ended before it was settled, under the locks of its files.

use super::inspect::{self, InterruptedFile, RecoveredFile, WriteState};
use crate::files::Files;
use crate::lock_key::LockKey;
use crate::locks::{LockGuard, Locks};
use lockgate_text::Version;

/// An edit that was begun and not settled, as the journal records it.
pub(super) struct InterruptedEdit<'a> {
    /// The number of the root of its files, as in [`FileLocation`](crate::FileLocation).
    pub root: usize,
    /// Its files, in the order of the writes passed to [`Journal::begin`](crate::Journal::begin).
    pub files: &'a [InterruptedFile<'a>],
    /// Returns a text that the journal kept, by its version.
    pub text: &'a dyn Fn(Version) -> Option<Vec<u8>>,
    /// True if it is still neither settled nor forgotten; called once the locks are held.
    pub is_open: &'a dyn Fn() -> bool,
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

impl Files {
    /// Completes a half-done edit, or reverts it.
    pub(super) fn recover_edit(&self, locks: &Locks, edit: &InterruptedEdit<'_>) -> Recovered {
        let leave = |notes, locks| Recovered { action: RecoveryAction::Leave, notes, locks };
        let Some(root) = self.roots.get(edit.root) else { return leave(Vec::new(), None) };
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
