//! What becomes of an edit whose process ended before it was settled: all of it is there, or none of it.
//!
//! Invariant: nothing is decided but by what stands in the files, under the locks of all of them; and a text that is neither
//! the edit's own nor the one that it replaced is never removed.

use super::locks::{Held, Locks};
use super::root::Root;
use crate::text::Stamp;

/// An edit that was begun and not settled, as the journal has it.
pub(super) struct Half<'a> {
    /// The number of the root that its files lie in, as [`super::place::Place`] counts them.
    pub root: usize,
    /// Its files, in the order of the writes that [`super::journal::Journal::begin`] was given.
    pub files: &'a [Left<'a>],
    /// A text that the journal kept, by its stamp.
    pub text: &'a dyn Fn(Stamp) -> Option<Vec<u8>>,
    /// Whether it is still neither settled nor forgotten; asked once the locks are had.
    pub is_open: &'a dyn Fn() -> bool,
}

/// One file of such an edit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left<'a> {
    /// Its path, as [`super::place::Place::in_root`] spells it.
    pub path: &'a str,
    /// The name of its staged copy, in the same folder.
    pub staged: &'a str,
    /// The version before; absent when there was no file.
    pub before: Option<Stamp>,
    /// The version after; absent when the file was to be removed.
    pub after: Option<Stamp>,
    /// How many folders were to be made for it.
    pub folders: usize,
}

/// What the journal is to do with such an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
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
    pub fate: Fate,
    /// What a person should know.
    pub notes: Vec<String>,
    /// The locks of its files; dropped once the journal has done it.
    pub held: Option<Held>,
}

/// Completes a half-done edit, or takes it back.
pub(super) fn recover(_roots: &[Root], _locks: &Locks, _half: &Half<'_>) -> Recovered {
    Recovered { fate: Fate::Leave, notes: Vec::new(), held: None }
}

/// Removes staged copies that were left in a folder beneath a root and that no edit in the journal names, which only a power
/// cut leaves; gives back what a person should know.
pub(super) fn sweep(
    _roots: &[Root],
    _locks: &Locks,
    _root: usize,
    _folder: &str,
    _is_named: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    Vec::new()
}
