//! Decides about one edit whose process ended before it was settled, under the locks of its files.

use super::inspect::{self, RecoveredFile, WriteState};
use crate::files::Files;
use crate::lock_key::LockKey;
use crate::locks::{LockGuard, Locks};
use crate::sql::UnsettledFile;
use lockgate_text::Version;

/// An edit that was begun and not settled, as the journal records it.
pub(super) struct InterruptedEdit<'a> {
    /// The number of the root of its files, as in [`FileLocation`](crate::FileLocation).
    pub root: usize,
    /// Its files, in the order of the writes passed to [`Journal::begin`](crate::Journal::begin).
    pub files: &'a [UnsettledFile],
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
    /// It was settled or forgotten meanwhile: nothing is left to do.
    Nothing,
    /// Others hold some of its locks: leave it to them, or wait for the locks.
    Wait,
    /// Its files could not be read: leave it as it is.
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
    /// The keys of its files.
    pub keys: Vec<LockKey>,
    /// The locks of its files; dropped once the journal is updated.
    pub locks: Option<LockGuard>,
}

impl Files {
    /// Completes a half-done edit, or reverts it. The caller already holds the locks of the keys in `held`.
    pub(super) fn recover_edit(
        &self,
        locks: &Locks,
        edit: &InterruptedEdit<'_>,
        held: &[LockKey],
    ) -> Recovered {
        let root = self.roots.get(edit.root).filter(|root| root.check_in_place().is_ok());
        let keys = |root| edit.files.iter().flat_map(|file| inspect::keys(root, file)).collect();
        let keys: Vec<LockKey> = root.map_or_else(Vec::new, keys);
        let others: Vec<LockKey> = keys.iter().filter(|key| !held.contains(key)).cloned().collect();
        let recovered = |action, notes, locks| Recovered { action, notes, keys, locks };
        let Some(root) = root else {
            // The call is rejected because of it; the folder that was moved away is not ours to change.
            return recovered(RecoveryAction::Leave, Vec::new(), None);
        };
        let Some(guard) = locks.try_hold(&others) else {
            return recovered(RecoveryAction::Wait, Vec::new(), None);
        };
        if !(edit.is_open)() {
            return recovered(RecoveryAction::Nothing, Vec::new(), Some(guard));
        }
        let examine = |file| RecoveredFile::examine(root, file, edit.text);
        match edit.files.iter().map(examine).collect::<Result<Vec<_>, _>>() {
            Ok(files) => {
                let (action, notes) = decide(&files);
                recovered(action, notes, Some(guard))
            }
            Err(error) => {
                let note = format!("an incomplete edit was not repaired: {}", error.message);
                recovered(RecoveryAction::Leave, vec![note], Some(guard))
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
