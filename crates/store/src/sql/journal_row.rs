//! A file of an edit, as a journal records it.

use crate::content::Content;

/// A file of an edit to be recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalRow<'a> {
    /// Its path relative to the root.
    pub path: &'a str,
    /// The name of its staged copy.
    pub staged: &'a str,
    /// The text before; `None` if there was no file.
    pub before: Option<Content<'a>>,
    /// The text after; `None` if the file is to be removed.
    pub after: Option<Content<'a>>,
    /// The number of lines added.
    pub added: usize,
    /// The number of lines removed.
    pub removed: usize,
    /// The permission bits of a file to be removed.
    pub mode: Option<u32>,
    /// The number of folders to be created.
    pub folders: usize,
    /// True if the journal may store both texts.
    pub keep: bool,
}
