//! How a change becomes the disk's: staged beside the target, exchanged with it, and looked at once more.
//!
//! Not promised: where the file system gives no lease, a program that has the old file open can write on into what nobody
//! sees any more; where it cannot exchange files either, another program can still write between the comparison and the
//! rename, for some microseconds.
//!
//! Invariant: until all writes of an edit are there each can be taken back, and whatever fails before leaves no trace; no
//! text of somebody else is ever removed.

mod back;
mod batch;
mod compare;
mod exchange;
mod expected;
mod folders;
mod guards;
mod in_place;
mod lasting;
mod lease;
mod metadata;
mod names;
mod prepare;
mod stage;
mod swap;

use super::file_place::FilePlace;
use super::journal::{EditId, EditMeta, Journal};
use super::root::Root;
use super::snapshot::ExpectedContent;
use crate::error::Error;
use crate::policy::Publishing;
use crate::text::Version;

pub(super) use expected::ExpectedFile;
pub(super) use guards::Guards;
pub(super) use in_place::{is_torn, overwrite};
pub(super) use names::{may_be_cut, target_of};
pub(super) use swap::{Refusal, SwapNames};

/// A text and its stamp.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// The hash of the bytes.
    pub stamp: Version,
    /// The text.
    pub bytes: &'a [u8],
}

impl<'a> Content<'a> {
    /// Stamps these bytes.
    pub fn new(bytes: &'a [u8]) -> Content<'a> {
        Content { stamp: Version::hash(bytes), bytes }
    }
}

/// One file that is to become another, to be made or to be removed.
#[derive(Debug, Clone, Copy)]
pub struct FileWrite<'a> {
    /// Where it lies.
    pub place: &'a FilePlace,
    /// What was read there; absent when there was no file.
    pub before: Option<ExpectedContent<'a>>,
    /// What is to stand there; absent when the file is to be removed.
    pub after: Option<Content<'a>>,
    /// The permission bits of a new file, where they are not those of any new file.
    pub mode: Option<u32>,
    /// How many of the folders above a removed file go with it, where they are empty then.
    pub folders: usize,
    /// What the journal is told of it.
    pub told: JournalRecord,
}

/// What the journal is told of a write, beside its texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct JournalRecord {
    /// How many lines are added.
    pub added: usize,
    /// How many lines are taken away.
    pub removed: usize,
    /// Whether its texts may be kept.
    pub keep: bool,
}

/// How well the write was guarded against other programs; the best that the file system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardLevel {
    /// Written into the file itself, which a crash can tear: only where the policy says so.
    InPlace,
    /// Compared just before it was replaced.
    Compare,
    /// Exchanged with what was there, which was then looked at; or a new name that was free.
    Exchange,
    /// The same while nobody else could open it for writing.
    Lease,
    /// Compared and swapped by a database, which lets nobody come between.
    Transaction,
}

impl GuardLevel {
    /// The level's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            GuardLevel::InPlace => "in_place",
            GuardLevel::Compare => "compare",
            GuardLevel::Exchange => "exchange",
            GuardLevel::Lease => "lease",
            GuardLevel::Transaction => "transaction",
        }
    }
}

/// What publishing did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "its notes tell what could not be proved"]
pub struct PublishedFile {
    /// Whether there was no file before.
    pub created: bool,
    /// How it was guarded.
    pub level: GuardLevel,
    /// What the caller should know of a write that succeeded.
    pub notes: Vec<String>,
}

/// What publishing did to all files of one edit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "its notes tell what could not be proved"]
pub struct PublishedBatch {
    /// What was done to each file, in the order of the writes.
    pub files: Vec<PublishedFile>,
    /// The name under which the edit is remembered; absent when it is not.
    pub edit: Option<EditId>,
}

/// Publishes all writes of one edit, or none.
pub(super) fn publish(
    roots: &[Root],
    writes: &[FileWrite<'_>],
    how: Publishing,
    record: Option<(&Journal, &EditMeta)>,
) -> Result<PublishedBatch, Error> {
    batch::publish(roots, writes, how, record, Guards::ALL)
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
