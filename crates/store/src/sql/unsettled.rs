//! Reads unsettled edits for recovery after a crash.
//!
//! Invariant: an edit listed here may still be in progress in a live process; only the locks on its
//! files tell.

use super::columns::{to_count, to_version};
use super::database::Database;
use super::error::DatabaseError;
use crate::disk::inode::{Inode, Inodes};
use crate::paths::file_location::split;
use lockgate_text::Version;
use std::collections::BTreeSet;

/// An edit that was begun and not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnsettledEdit {
    pub number: u64,
    /// Its files in the recorded order.
    pub files: Vec<UnsettledFile>,
}

/// A file of an unsettled edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnsettledFile {
    /// Its path relative to the root.
    pub path: String,
    /// The name of its staged copy.
    pub staged: String,
    /// The version before the edit; `None` if there was no file.
    pub before: Option<Version>,
    /// The version after the edit; `None` if it removes the file.
    pub after: Option<Version>,
    /// The number of folders that were to be created.
    pub folders: usize,
    /// The inodes of its staged copy and of the file before; `None` if they were not recorded.
    pub inodes: Option<Inodes>,
}

impl Database {
    /// Returns the edits that were begun and not settled, oldest first.
    pub fn unsettled(&self) -> Result<Vec<UnsettledEdit>, DatabaseError> {
        let select = "SELECT number, path, staged, changes.before, after, folders,
            coalesce(changes.copy, copies.copy) AS copy, coalesce(changes.born, copies.born) AS born,
            coalesce(changes.replaced, copies.before) AS replaced,
            coalesce(changes.in_place, copies.in_place) AS in_place FROM edits INDEXED BY edits_begun CROSS JOIN changes ON changes.edit = number
            LEFT JOIN copies ON copies.edit = number AND copies.position = changes.position
            WHERE settled = 0 ORDER BY number, changes.position";
        self.read(|reader| {
            let mut select = reader.prepare_cached(select)?;
            let mut rows = select.query([])?;
            let mut edits: Vec<UnsettledEdit> = Vec::new();
            while let Some(row) = rows.next()? {
                let number = row.get::<_, i64>("number")?.cast_unsigned();
                let file = file(row)?;
                match edits.last_mut().filter(|edit| edit.number == number) {
                    Some(edit) => edit.files.push(file),
                    None => edits.push(UnsettledEdit { number, files: vec![file] }),
                }
            }
            Ok(edits)
        })
    }

    /// True if the edit is neither settled nor removed.
    pub fn is_unsettled(&self, number: u64) -> Result<bool, DatabaseError> {
        let open = "SELECT 1 FROM edits WHERE number = ? AND settled = 0";
        self.read(|reader| reader.prepare_cached(open)?.exists([number.cast_signed()]))
    }

    /// True if an unsettled edit has a staged copy of this name.
    pub fn is_staged(&self, name: &str) -> Result<bool, DatabaseError> {
        let staged = "SELECT 1 FROM edits INDEXED BY edits_begun CROSS JOIN changes ON edit = number
            WHERE settled = 0 AND staged = ?";
        self.read(|reader| reader.prepare_cached(staged)?.exists([name]))
    }

    /// Returns the folders of the most recently edited files, relative to the root; their number is
    /// bounded.
    pub fn folders(&self) -> Result<Vec<String>, DatabaseError> {
        let paths = "SELECT path FROM changes ORDER BY edit DESC LIMIT 1000";
        let paths = self.read(|reader| {
            let mut paths = reader.prepare_cached(paths)?;
            paths.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        })?;
        let folders: BTreeSet<&str> = paths.iter().map(|path| split(path).0).collect();
        Ok(folders.into_iter().map(str::to_owned).collect())
    }
}

fn file(row: &rusqlite::Row<'_>) -> rusqlite::Result<UnsettledFile> {
    Ok(UnsettledFile {
        path: row.get("path")?,
        staged: row.get("staged")?,
        before: to_version(row.get("before")?),
        after: to_version(row.get("after")?),
        folders: to_count(row.get("folders")?),
        inodes: inodes(row)?,
    })
}

fn inodes(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<Inodes>> {
    let Some(in_place) = row.get("in_place")? else { return Ok(None) };
    let birth_time = row.get("born")?;
    let copy = row
        .get::<_, Option<i64>>("copy")?
        .map(|number| Inode { number: number.cast_unsigned(), born: birth_time });
    let before = row.get::<_, Option<i64>>("replaced")?.map(i64::cast_unsigned);
    Ok(Some(Inodes { copy, before, in_place }))
}
