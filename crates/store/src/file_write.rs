//! One file that an edit is to replace, create or remove.

use super::content::Content;
use super::history::JournalRecord;
use super::paths::file_location::FileLocation;
use super::snapshot::ExpectedContent;

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
