//! Changes that another program has written, as the journal records them.

use super::pending::refuse_several_roots;
use crate::content::Content;
use crate::history::UNKNOWN_VERSION;
use crate::paths::file_location::FileLocation;
use crate::sql::JournalRow;
use lockgate_error::Error;

/// The value in place of the name of a staged copy: a change by another program has no copy.
pub(crate) const NO_COPY: &str = ".outside.0000000000000000.lockgate";

/// A change of one file that another program has written.
#[derive(Debug, Clone, Copy)]
pub struct OutsideChange<'a> {
    /// The location of the changed file.
    pub place: &'a FileLocation,
    /// The bytes before; `None` if there was no file, or if they are not known.
    pub before: Option<&'a [u8]>,
    /// Set when `before` is known.
    pub is_known: bool,
    /// The bytes after; `None` if the file was removed.
    pub after: Option<&'a [u8]>,
    /// The permission bits of the file before.
    pub mode: Option<u32>,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// Set when the journal may keep the texts.
    pub keep: bool,
}

/// Returns the journal rows of the changes.
///
/// Errors: `INVALID_INPUT` for files of several roots.
pub(super) fn rows<'a>(changes: &[OutsideChange<'a>]) -> Result<Vec<JournalRow<'a>>, Error> {
    refuse_several_roots(changes.iter().map(|change| change.place))?;
    Ok(changes.iter().map(row).collect())
}

fn row<'a>(change: &OutsideChange<'a>) -> JournalRow<'a> {
    let unknown = Content { version: UNKNOWN_VERSION, bytes: b"" };
    let before = change.before.map(Content::new);
    JournalRow {
        path: change.place.in_root(),
        staged: NO_COPY,
        before: if change.is_known { before } else { Some(unknown) },
        after: change.after.map(Content::new),
        added: change.added,
        removed: change.removed,
        mode: change.mode.filter(|_| change.after.is_none()),
        folders: 0,
        keep: change.keep && change.is_known,
    }
}
