//! Forgetting: the oldest edits first, then the texts that nothing names, until the files on the disk are small enough.
//!
//! The work is done in small portions, so that whoever writes an edit down meanwhile waits for one portion at most.
//!
//! Invariant: no edit that is under way is forgotten, and no text that a remaining edit names, or over which such a text is
//! packed.

use super::begin::now;
use super::connection::LOG_KEPT;
use super::database::Database;
use super::{DatabaseError, connection};
use crate::store::journal::RetentionLimits;
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};

/// Edits that are forgotten in one transaction, and texts, and pages that are given back.
const PORTION: i64 = 256;
/// The share of the bound that is left after forgetting, so that it need not be done again at once.
const LEFT: (u64, u64) = (7, 8);
/// The share of the bound that texts may take which were only read.
const READ: (u64, u64) = (1, 4);

impl Database {
    /// Whether there may be something to tidy up; cheap.
    pub fn is_untidy(&self, bounds: RetentionLimits) -> bool {
        self.is_due() || self.log_length() > LOG_KEPT || self.length() > room(bounds)
    }

    /// Forgets what is too old or too much, and moves the log into the database.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), DatabaseError> {
        self.not_due();
        let oldest = now().saturating_sub(i64::try_from(bounds.age.as_millis()).unwrap_or(i64::MAX));
        self.forget_before(oldest)?;
        let room = room(bounds);
        if self.live()? > room {
            self.forget_down_to(room / LEFT.1 * LEFT.0)?;
        }
        self.forget_read(oldest, room / READ.1 * READ.0)?;
        self.give_back()?;
        self.move_log()
    }

    /// Forgets the edits that were begun before that time.
    fn forget_before(&self, time: i64) -> Result<(), DatabaseError> {
        let last = "SELECT number FROM edits WHERE at < ? AND settled = 1 ORDER BY number LIMIT 1";
        let mut forgotten = false;
        while self.read(|reader| reader.prepare_cached(last)?.exists([time]))? {
            forgotten |= self.forget_oldest(PORTION, time)? > 0;
        }
        if forgotten { self.sweep() } else { Ok(()) }
    }

    /// Forgets the oldest edits until no more than these bytes are in use.
    fn forget_down_to(&self, size: u64) -> Result<(), DatabaseError> {
        while self.live()? > size {
            let edits = self.read(|reader| one(reader, "SELECT count(*) FROM edits WHERE settled = 1"))?;
            // A sixteenth of them at a time: each sweep looks at all texts.
            let portion = (edits / 16).max(1);
            let mut left = portion;
            while left > 0 && self.forget_oldest(left.min(PORTION), i64::MAX)? > 0 {
                left -= PORTION;
            }
            self.sweep()?;
            if edits == 0 {
                return self.forget_read(i64::MAX, 0);
            }
        }
        Ok(())
    }

    /// Forgets some of the oldest edits; tells how many.
    fn forget_oldest(&self, most: i64, before: i64) -> Result<usize, DatabaseError> {
        self.shorten_log()?;
        self.write(|transaction| {
            let oldest = "SELECT number FROM edits WHERE settled = 1 AND at < ? ORDER BY number LIMIT ?";
            let mut oldest = transaction.prepare_cached(oldest)?;
            let numbers = oldest.query_map([before, most], |row| row.get(0))?;
            let numbers = numbers.collect::<rusqlite::Result<Vec<i64>>>()?;
            for number in &numbers {
                transaction.prepare_cached("DELETE FROM changes WHERE edit = ?")?.execute([number])?;
                transaction.prepare_cached("DELETE FROM edits WHERE number = ?")?.execute([number])?;
            }
            Ok(numbers.len())
        })
    }

    /// Removes the texts that nothing needs any more.
    fn sweep(&self) -> Result<(), DatabaseError> {
        self.remove(&self.read(needless)?)
    }

    /// Forgets texts that were only read: those from before that time, and the oldest of too many.
    fn forget_read(&self, time: i64, size: u64) -> Result<(), DatabaseError> {
        let read = self.read(|reader| {
            let read =
                "SELECT id, last, at, size FROM texts INDEXED BY texts_read WHERE last = 0 ORDER BY at DESC";
            let mut read = reader.prepare_cached(read)?;
            let read = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
            read.collect::<rusqlite::Result<Vec<(i64, i64, i64, i64)>>>()
        })?;
        let mut kept = 0_u64;
        let too_much = |(id, last, at, size_of): &(i64, i64, i64, i64)| {
            kept += size_of.unsigned_abs();
            (*at < time || kept > size).then_some((*id, *last))
        };
        self.remove(&read.iter().filter_map(too_much).collect::<Vec<_>>())
    }

    /// Removes these texts, but for those that an edit has named since they were looked at.
    fn remove(&self, texts: &[(i64, i64)]) -> Result<(), DatabaseError> {
        for portion in texts.chunks(usize::try_from(PORTION).unwrap_or(1)) {
            self.shorten_log()?;
            self.write(|transaction| {
                for (id, last) in portion {
                    let text = "DELETE FROM texts WHERE id = ? AND last = ?";
                    if transaction.prepare_cached(text)?.execute(params![id, last])? > 0 {
                        transaction.prepare_cached("DELETE FROM bytes WHERE text = ?")?.execute([id])?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// How many bytes the database has in use.
    fn live(&self) -> Result<u64, DatabaseError> {
        self.read(|reader| {
            let pages = one(reader, "PRAGMA page_count")? - one(reader, "PRAGMA freelist_count")?;
            Ok(pages.cast_unsigned() * one(reader, "PRAGMA page_size")?.cast_unsigned())
        })
    }

    /// Takes the pages that are free out of the file, if they are many.
    fn give_back(&self) -> Result<(), DatabaseError> {
        let free = |reader: &Connection| {
            Ok((one(reader, "PRAGMA freelist_count")?, one(reader, "PRAGMA page_count")?))
        };
        let mut before = i64::MAX;
        loop {
            let (left, pages) = self.read(free)?;
            if left <= pages / 16 || left >= before {
                return Ok(());
            }
            before = left;
            self.shorten_log()?;
            let writer = self.writer();
            // Each step gives one page back.
            let vacuum = format!("PRAGMA incremental_vacuum({PORTION})");
            let mut vacuum = writer.prepare(&vacuum).map_err(connection::failure)?;
            let mut rows = vacuum.query([]).map_err(connection::failure)?;
            while rows.next().map_err(connection::failure)?.is_some() {}
        }
    }

    /// Forgetting is written into the log as well, which must not outgrow what is forgotten.
    fn shorten_log(&self) -> Result<(), DatabaseError> {
        if self.log_length() > LOG_KEPT { self.move_log() } else { Ok(()) }
    }

    /// Moves the log into the database, so that it begins anew and stays short.
    fn move_log(&self) -> Result<(), DatabaseError> {
        if self.log_length() <= LOG_KEPT / 4 {
            return Ok(());
        }
        // Moved while others write; the next who writes begins the log anew, if none has been added meanwhile.
        self.move_log_by("PASSIVE")?;
        if self.log_length() > 2 * LOG_KEPT {
            // They never leave a gap, so they are made to wait for a moment.
            self.move_log_by("TRUNCATE")?;
        }
        Ok(())
    }

    fn move_log_by(&self, mode: &str) -> Result<(), DatabaseError> {
        let checkpoint = format!("PRAGMA wal_checkpoint({mode})");
        self.read(|reader| reader.query_row(&checkpoint, [], |_| Ok(())))
    }
}

/// What the database may have of the bound: the log is let grow to twice its length, and over that while it is moved.
fn room(bounds: RetentionLimits) -> u64 {
    bounds.size.saturating_sub((3 * LOG_KEPT).min(bounds.size / 2))
}

fn one(reader: &Connection, sql: &str) -> rusqlite::Result<i64> {
    reader.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// The texts that no edit names and over which no text is packed that is needed, with what they were named by last.
fn needless(reader: &Connection) -> rusqlite::Result<Vec<(i64, i64)>> {
    // One moment for all that is read.
    let moment = reader.unchecked_transaction()?;
    // As the oldest go first, what was named last before the oldest that is left is named by none. An edit that was taken
    // out again leaves its number behind, which only makes its texts stay longer.
    let oldest = "SELECT min(number) FROM edits WHERE settled = 1";
    let oldest: Option<i64> = moment.query_row(oldest, [], |row| row.get(0))?;
    let begun = named_by_begun(&moment)?;
    let mut texts = moment.prepare_cached("SELECT id, base, last FROM texts")?;
    let texts = texts.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    let texts = texts.collect::<rusqlite::Result<HashMap<i64, (Option<i64>, i64)>>>()?;
    let mut needed: HashSet<i64> = HashSet::with_capacity(texts.len());
    for (id, (_, last)) in &texts {
        let named = *last == 0 || oldest.is_some_and(|oldest| *last >= oldest) || begun.contains(id);
        let mut next = named.then_some(*id);
        while let Some(id) = next.filter(|id| needed.insert(*id)) {
            next = texts.get(&id).and_then(|(base, _)| *base);
        }
    }
    let needless = texts.iter().filter(|(id, _)| !needed.contains(*id));
    Ok(needless.map(|(id, (_, last))| (*id, *last)).collect())
}

/// What an edit under way names: it may be older than others that are forgotten.
fn named_by_begun(reader: &Connection) -> rusqlite::Result<HashSet<i64>> {
    let named = "SELECT id FROM edits INDEXED BY edits_begun CROSS JOIN changes ON edit = number
        CROSS JOIN texts ON stamp IN (before, after) WHERE settled = 0";
    let mut named = reader.prepare_cached(named)?;
    named.query_map([], |row| row.get(0))?.collect()
}

#[cfg(test)]
impl Database {
    /// Forgets that many of the oldest edits, and their texts.
    pub fn forget_some(&self, most: usize) -> Result<(), DatabaseError> {
        self.forget_oldest(super::begin::count(most), i64::MAX)?;
        self.sweep()
    }
}
