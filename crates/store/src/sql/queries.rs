//! Queries the journal's edits.
//!
//! Invariant: each edit is read by one statement, so its list of changes is complete and has no other
//! edit's changes.

use super::columns::{count, time, to_count, to_kind, to_version};
use super::database::Database;
use super::error::DatabaseError;
use crate::history::{EditFilter, EditId, EditMeta, Entry, FileChange};
use lockgate_text::Version;
use rusqlite::{Connection, OptionalExtension, Params, params};
use std::time::SystemTime;

const COLUMNS: &str =
    "number, at, tool, author, request, kind, of, gates, undone, path, before, after, added, removed,
    mode, folders, kept";

impl Database {
    /// Returns the settled edit with this number; its paths are relative to the root.
    pub fn entry(&self, number: u64) -> Result<Option<Entry>, DatabaseError> {
        let one = "number = ? AND settled = 1";
        self.read(|reader| self.entries_where(reader, one, [number.cast_signed()]).map(first))
    }

    /// Returns the settled edits that change this path, or all of them, newest first.
    pub fn entries(&self, path: Option<&str>, most: usize) -> Result<Vec<Entry>, DatabaseError> {
        let all = "number IN (SELECT number FROM edits WHERE settled = 1 ORDER BY number DESC LIMIT ?)";
        let of_path = "number IN (SELECT number FROM changes CROSS JOIN edits ON number = edit
            WHERE path = ? AND settled = 1 ORDER BY edit DESC LIMIT ?)";
        let most = count(most);
        self.read(|reader| match path {
            None => self.entries_where(reader, all, [most]),
            Some(path) => self.entries_where(reader, of_path, params![path, most]),
        })
    }

    /// Returns the first edit of this path that passes the filter.
    pub fn newest(&self, filter: EditFilter, path: &str) -> Result<Option<Entry>, DatabaseError> {
        let sql = newest_sql(filter);
        self.read_briefly(|reader| self.selected(reader, &sql, [path]))
    }

    /// Returns the first edit that passes the filter, and the time that counts: when it was begun or
    /// when it was undone.
    pub fn last(&self, filter: EditFilter) -> Result<Option<(SystemTime, Entry)>, DatabaseError> {
        let (condition, order) = filter_sql(filter);
        let sql = format!("SELECT number FROM edits WHERE {condition} ORDER BY {order} DESC LIMIT 1");
        // An undo is newer than its edit, so it is not removed before it.
        let undone = "SELECT later.at FROM edits JOIN edits AS later ON later.number = edits.undone
            WHERE edits.number = ?";
        self.read(|reader| {
            let Some(entry) = self.selected(reader, &sql, [])? else { return Ok(None) };
            let number = entry.id.number().cast_signed();
            let at = match filter {
                EditFilter::Settled | EditFilter::ToUndo => None,
                EditFilter::ToRedo => {
                    reader.prepare_cached(undone)?.query_row([number], |row| row.get(0)).optional()?
                }
            };
            Ok(Some((at.map_or(entry.at, time), entry)))
        })
    }

    /// Returns the newest settled undo or redo of the edit with this number.
    pub fn last_reversal(&self, number: u64) -> Result<Option<Entry>, DatabaseError> {
        let newest = "SELECT number FROM edits WHERE of = ? AND kind <> 0 AND settled = 1
            ORDER BY number DESC LIMIT 1";
        self.read(|reader| self.selected(reader, newest, [number.cast_signed()]))
    }

    /// True if this journal gave an edit this id, even if the edit was removed since.
    pub fn has_given(&self, id: EditId) -> Result<bool, DatabaseError> {
        // SQLite keeps the highest number, because numbers are never reused.
        let given = "SELECT 1 FROM sqlite_sequence WHERE name = 'edits' AND seq >= ?";
        if self.name() != id.journal() {
            return Ok(false);
        }
        self.read(|reader| reader.prepare_cached(given)?.exists([id.number().cast_signed()]))
    }

    /// True if an edit of this path was begun and not settled; also returns the last settled one, without its changes of
    /// other paths: a call asks this for each of its files, and an edit can have as many.
    pub fn unsettled_and_newest(&self, path: &str) -> Result<(bool, Option<Entry>), DatabaseError> {
        let unsettled = "SELECT 1 FROM edits INDEXED BY edits_begun CROSS JOIN changes ON edit = number
            WHERE settled = 0 AND path = ? LIMIT 1";
        let newest = newest_sql(EditFilter::Settled);
        self.read_briefly(|reader| {
            let has_unsettled = reader.prepare_cached(unsettled)?.exists([path])?;
            let number: Option<i64> =
                reader.prepare_cached(&newest)?.query_row([path], |row| row.get(0)).optional()?;
            let own = "number = ? AND path = ?";
            let entry = |number| self.entries_where(reader, own, params![number, path]).map(first);
            Ok((has_unsettled, number.map_or(Ok(None), entry)?))
        })
    }

    /// Returns the edit whose number a statement selects, if it selects one.
    fn selected(
        &self,
        reader: &Connection,
        sql: &str,
        values: impl Params,
    ) -> rusqlite::Result<Option<Entry>> {
        let number: Option<i64> =
            reader.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
        match number {
            Some(number) => self.entries_where(reader, "number = ?", [number]).map(first),
            None => Ok(None),
        }
    }

    /// Returns the edits that a condition selects, newest first.
    fn entries_where(
        &self,
        reader: &Connection,
        condition: &str,
        values: impl Params,
    ) -> rusqlite::Result<Vec<Entry>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM edits JOIN changes ON edit = number WHERE {condition}
             ORDER BY number DESC, position"
        );
        let mut select = reader.prepare_cached(&sql)?;
        let mut rows = select.query(values)?;
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(row) = rows.next()? {
            let number = row.get::<_, i64>("number")?.cast_unsigned();
            let changed = changed(row)?;
            match entries.last_mut().filter(|entry| entry.id.number() == number) {
                Some(entry) => entry.changes.push(changed),
                None => entries.push(self.entry_of(row, number, changed)?),
            }
        }
        Ok(entries)
    }

    fn entry_of(&self, row: &rusqlite::Row<'_>, number: u64, changed: FileChange) -> rusqlite::Result<Entry> {
        Ok(Entry {
            id: self.id(number),
            at: time(row.get("at")?),
            meta: EditMeta {
                tool: row.get("tool")?,
                author: row.get("author")?,
                request: Version::from_bytes(row.get("request")?),
                kind: to_kind((row.get("kind")?, row.get("of")?), self.name()),
                gates: row.get("gates")?,
            },
            undone: row.get::<_, Option<i64>>("undone")?.is_some(),
            changes: vec![changed],
        })
    }
}

/// Returns the statement for the first edit of a path that passes the filter.
fn newest_sql(filter: EditFilter) -> String {
    let (condition, order) = filter_sql(filter);
    // Forces the order of the path's own changes on SQLite's planner.
    let order = if order == "number" { "edit" } else { order };
    format!(
        "SELECT edit FROM changes CROSS JOIN edits ON number = edit WHERE path = ? AND {condition}
         ORDER BY {order} DESC LIMIT 1"
    )
}

/// Returns the condition for the filter, and the column that orders its edits.
const fn filter_sql(filter: EditFilter) -> (&'static str, &'static str) {
    match filter {
        EditFilter::Settled => ("settled = 1", "number"),
        EditFilter::ToUndo => ("settled = 1 AND kind = 0 AND undone IS NULL", "number"),
        EditFilter::ToRedo => ("settled = 1 AND undone IS NOT NULL", "undone"),
    }
}

fn first(entries: Vec<Entry>) -> Option<Entry> {
    entries.into_iter().next()
}

fn changed(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileChange> {
    Ok(FileChange {
        entity: None,
        path: row.get("path")?,
        before: to_version(row.get("before")?),
        after: to_version(row.get("after")?),
        added: to_count(row.get("added")?),
        removed: to_count(row.get("removed")?),
        mode: row.get("mode")?,
        folders: to_count(row.get("folders")?),
        kept: row.get("kept")?,
    })
}
