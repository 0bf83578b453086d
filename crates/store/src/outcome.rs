//! The outcome of the writes of one edit, of files or of rows.

use super::history::EditId;
use std::time::Instant;

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
    /// The time at which the new content was in place.
    pub time: Instant,
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

/// The result of the writes of one edit.
#[derive(Debug)]
pub enum WriteOutcome {
    /// All writes of the edit were made.
    All(PublishedBatch),
    /// A row has changed since it was read by a concurrent edit; nothing was written.
    Overtaken,
}
