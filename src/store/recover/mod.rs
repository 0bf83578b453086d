//! What becomes of an edit whose process ended before it was settled: all of it is there, or none of it.
//!
//! Invariant: nothing is decided but by what stands in the files, under the locks of all of them; and a text that is neither
//! the edit's own nor the one that it replaced is never removed.

mod look;
mod repair;
mod sweep;

use super::document_path::LockKey;
use super::inode::Inodes;
use super::locks::{LockGuard, Locks};
use super::root::Root;
use crate::text::Version;
use look::{RecoveredFile, WriteState};

pub(super) use sweep::{JournalNames, sweep};

/// An edit that was begun and not settled, as the journal has it.
pub(super) struct Half<'a> {
    /// The number of the root that its files lie in, as [`super::file_place::FilePlace`] counts them.
    pub root: usize,
    /// Its files, in the order of the writes that [`super::journal::Journal::begin`] was given.
    pub files: &'a [InterruptedFile<'a>],
    /// A text that the journal kept, by its stamp.
    pub text: &'a dyn Fn(Version) -> Option<Vec<u8>>,
    /// Whether it is still neither settled nor forgotten; asked once the locks are had.
    pub is_open: &'a dyn Fn() -> bool,
}

/// One file of such an edit.
#[derive(Debug, Clone, Copy)]
pub(super) struct InterruptedFile<'a> {
    /// Its path, as [`super::file_place::FilePlace::in_root`] spells it.
    pub path: &'a str,
    /// The name of its staged copy, in the same folder.
    pub staged: &'a str,
    /// The version before; absent when there was no file.
    pub before: Option<Version>,
    /// The version after; absent when the file was to be removed.
    pub after: Option<Version>,
    /// How many folders were to be made for it.
    pub folders: usize,
    /// Which files its staged copy and the file before are; absent where the journal does not have it.
    pub inodes: Option<Inodes>,
}

/// What the journal is to do with such an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecoveryAction {
    /// All of it is there: settle it.
    Settle,
    /// None of it is there, or it was taken back: forget it.
    Forget,
    /// Somebody is still at it, or it could not be looked at: leave it as it is.
    Leave,
}

/// What was decided, and done to the files.
#[derive(Debug)]
#[must_use = "the journal is to do what was decided before the locks are given back"]
pub(super) struct Recovered {
    /// What the journal is to do.
    pub fate: RecoveryAction,
    /// What a person should know.
    pub notes: Vec<String>,
    /// The locks of its files; dropped once the journal has done it.
    pub held: Option<LockGuard>,
}

/// Completes a half-done edit, or takes it back.
pub(super) fn recover(roots: &[Root], locks: &Locks, half: &Half<'_>) -> Recovered {
    let leave = |notes, held| Recovered { fate: RecoveryAction::Leave, notes, held };
    let Some(root) = roots.get(half.root) else { return leave(Vec::new(), None) };
    if root.check_in_place().is_err() {
        // The call is refused for it; what lies in the folder that was moved away is not ours to change.
        return leave(Vec::new(), None);
    }
    let keys: Vec<LockKey> = half.files.iter().flat_map(|left| look::keys(root, left)).collect();
    let Some(held) = locks.try_hold(&keys) else { return leave(Vec::new(), None) };
    if !(half.is_open)() {
        return leave(Vec::new(), Some(held));
    }
    match half
        .files
        .iter()
        .map(|left| RecoveredFile::look(root, left, half.text))
        .collect::<Result<Vec<_>, _>>()
    {
        Ok(scenes) => {
            let (fate, notes) = decide(&scenes);
            Recovered { fate, notes, held: Some(held) }
        }
        Err(error) => {
            leave(vec![format!("a half-done edit was left as it is: {}", error.message)], Some(held))
        }
    }
}

fn decide(scenes: &[RecoveredFile<'_>]) -> (RecoveryAction, Vec<String>) {
    let is = |side: WriteState| scenes.iter().any(|scene| scene.side() == side);
    if is(WriteState::There) && !is(WriteState::NotThere) {
        (RecoveryAction::Settle, scenes.iter().filter_map(RecoveredFile::clear).collect())
    } else {
        // The last first, as they were made.
        (RecoveryAction::Forget, scenes.iter().rev().filter_map(RecoveredFile::back).collect())
    }
}

#[cfg(test)]
mod tests;
