//! Records edits: begins, settles and removes them.
//!
//! Invariant: one transaction writes an edit, its changes and their texts. An edit number is never
//! reused.

use super::columns::{count, kind_columns, now, to_kind};
use super::database::Database;
use super::error::DatabaseError;
use super::journal_row::JournalRow;
use super::texts::{self, Packs};
use crate::content::Content;
use crate::disk::inode::Inodes;
use crate::history::{EditMeta, EntryKind};
use rusqlite::{Transaction, params};
use std::sync::atomic::{AtomicI64, Ordering};

/// The bytes of texts from which they are compressed before the write lock is taken. To find out in advance which texts
/// will be stored takes a transaction of its own, which is not worth it for fewer.
const LONG_TEXT_BYTES: usize = 64 << 10;

impl Database {
    /// Records an edit and returns its number; `inodes` are those of its staged copies, in the order of the rows, or empty
    /// if the copies do not exist yet. A settled undo or redo also marks its edit.
    pub fn insert(
        &self,
        meta: &EditMeta,
        state: EntryState,
        rows: &[JournalRow<'_>],
        inodes: &[Inodes],
    ) -> Result<u64, DatabaseError> {
        // The compression of long texts takes longer than everything else, so it happens outside the write lock.
        let mut packs = if text_bytes(rows) < LONG_TEXT_BYTES {
            rows.iter().map(|_| Packs::default()).collect()
        } else {
            rows.iter().map(|row| self.pack(row)).collect::<Result<Vec<_>, _>>()?
        };
        let number = self.write(|transaction| {
            let number = insert_edit(transaction, meta, state)?;
            for (position, (row, packs)) in rows.iter().zip(&mut packs).enumerate() {
                insert_change(transaction, number, (position, row), inodes.get(position))?;
                if row.keep {
                    texts::insert(transaction, number, row, packs)?;
                }
            }
            if state == EntryState::Settled {
                mark_reverted(transaction, number, meta.kind)?;
            }
            Ok(number.cast_unsigned())
        })?;
        self.count(number);
        self.count_bytes(packs.iter().map(|packs| packs.stored).sum::<usize>() as u64);
        Ok(number)
    }

    /// Records the inodes of an edit's staged copies, in the order of its recorded files.
    pub fn record(&self, number: u64, inodes: &[Inodes]) -> Result<(), DatabaseError> {
        self.write(|transaction| {
            let record = "UPDATE changes SET copy = ?, born = ?, replaced = ?, in_place = ? WHERE edit = ? AND position = ?";
            let mut record = transaction.prepare_cached(record)?;
            for (position, inodes) in inodes.iter().enumerate() {
                let (copy, born, replaced, in_place) = inode_columns(Some(inodes));
                record.execute(params![copy, born, replaced, in_place, number.cast_signed(), count(position)])?;
            }
            Ok(())
        })
    }

    /// Marks an edit as complete, and marks the edit that it undid or redid.
    pub fn settle(&self, number: u64) -> Result<(), DatabaseError> {
        let number = number.cast_signed();
        self.write(|transaction| {
            // For `RETURNING`, SQLite would make a table in memory.
            let (kind, of): (i64, i64) = transaction
                .prepare_cached("SELECT kind, of FROM edits WHERE number = ?")?
                .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
            transaction.prepare_cached("UPDATE edits SET settled = 1 WHERE number = ?")?.execute([number])?;
            forget_copies(transaction, number)?;
            mark_reverted(transaction, number, to_kind((kind, of), self.name()))
        })
    }

    /// Removes an edit that is not settled.
    pub fn forget(&self, number: u64) -> Result<(), DatabaseError> {
        let number = number.cast_signed();
        self.write(|transaction| {
            let edit = "DELETE FROM edits WHERE number = ? AND settled = 0";
            if transaction.prepare_cached(edit)?.execute([number])? > 0 {
                transaction.prepare_cached("DELETE FROM changes WHERE edit = ?")?.execute([number])?;
                forget_copies(transaction, number)?;
            }
            Ok(())
        })
    }
}

/// Marks the edit that the entry with this number undid or redid, if it is an undo or redo.
fn mark_reverted(transaction: &Transaction<'_>, number: i64, kind: EntryKind) -> rusqlite::Result<()> {
    let (undone, of) = match kind {
        EntryKind::Undo(of) => (Some(number), of),
        EntryKind::Redo(of) => (None, of),
        EntryKind::Edit => return Ok(()),
    };
    let mark_undone = "UPDATE edits SET undone = ? WHERE number = ?";
    transaction.prepare_cached(mark_undone)?.execute(params![undone, of.number().cast_signed()]).map(drop)
}

/// Returns the columns `copy`, `born`, `replaced` and `in_place` of a change; all are null while the inodes are unknown.
fn inode_columns(inodes: Option<&Inodes>) -> (Option<i64>, Option<i64>, Option<i64>, Option<bool>) {
    let Some(Inodes { copy, before, in_place }) = inodes else { return (None, None, None, None) };
    let number = copy.map(|copy| copy.number.cast_signed());
    let birth_time = copy.and_then(|copy| copy.born);
    (number, birth_time, before.map(u64::cast_signed), Some(*in_place))
}

/// Removes the inodes that an earlier version recorded, in a table of their own.
fn forget_copies(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM copies WHERE edit = ?")?.execute([number]).map(drop)
}

/// The bytes of the texts that an edit keeps.
fn text_bytes(rows: &[JournalRow<'_>]) -> usize {
    let texts = rows.iter().filter(|row| row.keep).flat_map(|row| [row.before, row.after]);
    texts.flatten().map(|content| content.bytes.len()).sum()
}

/// The state in which an edit is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryState {
    /// It is about to be applied.
    Begun,
    /// It is applied already.
    Settled,
}

fn insert_edit(transaction: &Transaction<'_>, meta: &EditMeta, state: EntryState) -> rusqlite::Result<i64> {
    let insert = "INSERT INTO edits(at, tool, author, request, kind, of, gates, settled)
        VALUES(?, ?, ?, ?, ?, ?, ?, ?)";
    let (kind, of) = kind_columns(meta.kind);
    let request: &[u8] = meta.request.bytes();
    transaction.prepare_cached(insert)?.insert(params![
        next_time(),
        meta.tool,
        meta.author,
        request,
        kind,
        of,
        meta.gates,
        state == EntryState::Settled
    ])
}

fn insert_change(
    transaction: &Transaction<'_>,
    number: i64,
    (position, row): (usize, &JournalRow<'_>),
    inodes: Option<&Inodes>,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO changes(edit, position, path, staged, before, after, added, removed, mode, folders, kept,
        copy, born, replaced, in_place) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let (copy, born, replaced, in_place) = inode_columns(inodes);
    let version = |content: Option<Content<'_>>| content.map(|content| *content.version.bytes());
    transaction.prepare_cached(insert)?.execute(params![
        number,
        count(position),
        row.path,
        row.staged,
        version(row.before),
        version(row.after),
        count(row.added),
        count(row.removed),
        row.mode,
        count(row.folders),
        row.keep,
        copy,
        born,
        replaced,
        in_place
    ])?;
    Ok(())
}

/// Returns the time of a new edit. It is later than that of any earlier edit of this process in any
/// journal, so that edits of several roots have one order.
fn next_time() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = now();
    let next = |last: i64| now.max(last.saturating_add(1));
    LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last))).map_or(now, next)
}
