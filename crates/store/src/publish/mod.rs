//! Publishes a change to the disk: the new text is staged in the target's folder, exchanged with the target,
//! and the displaced file is checked.
//!
//! Not guaranteed: where the file system has no leases, a program that has the old file open can go on
//! writing to the unlinked file. Where it cannot exchange files either, another program can still write
//! between the comparison and the rename, for some microseconds.
//!
//! Invariant: until all writes of an edit are applied, each can be reverted, and an earlier failure leaves no
//! trace. No text of another program is ever removed.

mod batch;
mod compare;
mod durability;
mod exchange;
mod expected;
mod folders;
mod guards;
mod in_place;
mod lease;
mod metadata;
mod names;
mod prepare;
mod revert;
mod stage;
mod swap;
mod sync_threads;

use super::file_location::FileLocation;
use super::journal::{EditId, EditMeta, Journal};
use super::root::Root;
use super::snapshot::ExpectedContent;
use lockgate_error::Error;
use lockgate_policy::Publishing;
use lockgate_text::Version;

pub(super) use expected::ExpectedFile;
pub(super) use guards::Guards;
pub(super) use in_place::{is_torn, overwrite};
pub(super) use names::{may_be_cut, target_of};
pub(super) use swap::{SwapError, SwapNames};

/// A text and its version.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// The content hash of the bytes.
    pub version: Version,
    /// The bytes of the text.
    pub bytes: &'a [u8],
}

impl<'a> Content<'a> {
    /// Takes these bytes and computes their version.
    pub fn new(bytes: &'a [u8]) -> Content<'a> {
        Content { version: Version::hash(bytes), bytes }
    }
}

/// One file to replace, create or remove.
#[derive(Debug, Clone, Copy)]
pub struct FileWrite<'a> {
    /// The path of the file.
    pub place: &'a FileLocation,
    /// The content that was read; absent if there was no file.
    pub before: Option<ExpectedContent<'a>>,
    /// The new content; absent if the file is to be removed.
    pub after: Option<Content<'a>>,
    /// The permission bits of a new file, if they differ from the default.
    pub mode: Option<u32>,
    /// The number of folders above a removed file that are removed too, if they are empty then.
    pub folders: usize,
    /// The part of the journal entry that is not text.
    pub record: JournalRecord,
}

impl<'a> FileWrite<'a> {
    /// A write of a file with its present permission bits, or the default ones of a new file. It removes no
    /// folders, and the journal does not keep its texts.
    pub fn new(
        place: &'a FileLocation,
        before: Option<ExpectedContent<'a>>,
        after: Option<Content<'a>>,
    ) -> FileWrite<'a> {
        FileWrite { place, before, after, mode: None, folders: 0, record: JournalRecord::default() }
    }
}

/// The facts about a write that the journal records besides its texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct JournalRecord {
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// Set when the journal may keep the texts.
    pub keep: bool,
}

/// The guard against other programs that a write had; always the best that the file system supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardLevel {
    /// Overwritten in place, which a crash can tear; used only if the policy allows it.
    InPlace,
    /// Compared just before the replacement.
    Compare,
    /// Exchanged with the old file, which was then checked; or created under a free name.
    Exchange,
    /// The same, under a lease that keeps other programs from opening the file for writing.
    Lease,
    /// Compared and swapped in a database transaction, which excludes concurrent writers.
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

/// The result of publishing one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "its notes tell what could not be proved"]
pub struct PublishedFile {
    /// Set when there was no file before.
    pub created: bool,
    /// The guard level of the write.
    pub level: GuardLevel,
    /// Notes for the caller about a successful write.
    pub notes: Vec<String>,
}

/// The result of publishing all files of one edit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "its notes list what could not be proved"]
pub struct PublishedBatch {
    /// The results for the files, in the order of the writes.
    pub files: Vec<PublishedFile>,
    /// The edit's id in the journal; absent if it is not recorded.
    pub edit: Option<EditId>,
}

/// Publishes all writes of one edit, or none.
pub(super) fn publish(
    roots: &[Root],
    writes: &[FileWrite<'_>],
    publishing: Publishing,
    record: Option<(&Journal, &EditMeta)>,
) -> Result<PublishedBatch, Error> {
    batch::publish_with_guards(roots, writes, publishing, record, Guards::ALL)
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
