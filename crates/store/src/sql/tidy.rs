//! Removes the oldest edits and then unused texts, until the files on the disk are small enough.
//!
//! The work is split into small portions, so that a concurrent writer waits for one portion at most.
//!
//! Invariant: an unsettled edit is never removed, nor a text that a remaining edit refers to or that
//! such a text is packed against. The size limit never removes the newest edit, unless it is 0, nor edits whose removal
//! would free next to nothing.

use super::columns::{count, now};
use super::connection::LOG_KEPT;
use super::database::Database;
use super::error::DatabaseError;
use crate::history::RetentionLimits;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{HashMap, HashSet};

/// The number of edits, texts or freed pages per transaction.
const PORTION: i64 = 256;
/// The share of the size limit that remains after a cleanup, so that the next one is not due at once.
const REMAINING: (u64, u64) = (7, 8);
/// The share of the size limit for texts that were only read.
const READ_SHARE: (u64, u64) = (1, 4);
/// The share of a small size limit for edits, on top of the pages that an empty journal has.
const SMALL_SHARE: u64 = 4;
/// The share of the size limit that must be freed by the removal of all removable edits, so that any is removed.
const WORTHWHILE_SHARE: u64 = 16;
/// The bytes of an edit's row, and of each of its changes without the paths; an estimate.
const ROW_BYTES: i64 = 256;

/// The edits that may be removed: settled, begun before this time, and with a number below this one.
#[derive(Debug, Clone, Copy)]
struct Removable {
    before: i64,
    below: i64,
}

impl Removable {
    /// All settled edits.
    const ALL: Removable = Removable { before: i64::MAX, below: i64::MAX };
}

/// A text that may be removed, unless an edit has referred to it since it was selected.
#[derive(Debug, Clone, Copy)]
struct UnusedText {
    id: i64,
    /// The last edit that referred to it; 0 for a text that was only read.
    last: i64,
    /// The number of its packed bytes.
    size: i64,
}

impl Database {
    /// Does the same as [`Database::is_untidy`], but looks at the files only after enough was recorded.
    pub fn may_be_untidy(&self, bounds: RetentionLimits) -> bool {
        self.is_due() || self.is_to_be_measured(size_limit(bounds)) && self.is_untidy(bounds)
    }

    /// True if a cleanup may be needed; this check is cheap.
    pub fn is_untidy(&self, bounds: RetentionLimits) -> bool {
        self.is_due()
            || self.log_length() > log_limit(bounds)
            || self.length() > size_limit(bounds)
            || self.is_oldest_before(oldest_time(bounds)).unwrap_or(true)
    }

    /// True if the oldest edit was begun before this time.
    fn is_oldest_before(&self, time: i64) -> Result<bool, DatabaseError> {
        let oldest = "SELECT at < ? FROM edits WHERE settled = 1 ORDER BY number LIMIT 1";
        self.read(|reader| reader.prepare_cached(oldest)?.query_row([time], |row| row.get(0)).optional())
            .map(|is_before| is_before == Some(true))
    }

    /// Removes what exceeds the age and size limits, and checkpoints the log.
    pub fn tidy(&self, bounds: RetentionLimits) -> Result<(), DatabaseError> {
        self.clear_due();
        let oldest = oldest_time(bounds);
        self.forget_before(oldest)?;
        // Before any edit is removed for its size, so that texts that were only read displace none.
        self.forget_read(oldest, size_limit(bounds) / READ_SHARE.1 * READ_SHARE.0)?;
        let (size, removable) = match bounds.size {
            0 => (0, Removable::ALL),
            _ => (self.pages_limit(bounds)?, self.all_but_newest()?),
        };
        if self.used_bytes()? > size {
            let worthwhile = bounds.size / WORTHWHILE_SHARE;
            self.forget_down_to(size / REMAINING.1 * REMAINING.0, worthwhile, removable)?;
        }
        self.release_pages()?;
        self.checkpoint(log_limit(bounds))
    }

    /// Removes the edits begun before this time.
    fn forget_before(&self, time: i64) -> Result<(), DatabaseError> {
        let last = "SELECT number FROM edits WHERE at < ? AND settled = 1 ORDER BY number LIMIT 1";
        let mut forgotten = false;
        while self.read(|reader| reader.prepare_cached(last)?.exists([time]))? {
            forgotten |= self.forget_oldest(PORTION, Removable { before: time, ..Removable::ALL })? > 0;
        }
        if forgotten { self.sweep() } else { Ok(()) }
    }

    /// Removes the oldest of these edits until at most `size` bytes are in use, or all of them together would free no more
    /// than `worthwhile` bytes. If that is not enough, removes all texts that were only read.
    fn forget_down_to(&self, size: u64, worthwhile: u64, removable: Removable) -> Result<(), DatabaseError> {
        while self.used_bytes()? > size {
            if self.freeable_bytes(removable)? <= worthwhile {
                return self.forget_read(i64::MAX, 0);
            }
            let edits = self.read(|reader| number(reader, "SELECT count(*) FROM edits WHERE settled = 1"))?;
            // A sixteenth of them at a time, because each sweep scans all texts.
            let mut remaining = (edits / 16).max(1);
            let mut removed = 0;
            while remaining > 0 {
                match self.forget_oldest(remaining.min(PORTION), removable)? {
                    0 => break,
                    some => removed += some,
                }
                remaining -= PORTION;
            }
            self.sweep()?;
            if removed == 0 {
                return self.forget_read(i64::MAX, 0);
            }
        }
        Ok(())
    }

    /// Estimates the bytes that the removal of all of these edits would free.
    fn freeable_bytes(&self, removable: Removable) -> Result<u64, DatabaseError> {
        self.read(|reader| {
            let rows = "SELECT (SELECT count(*) FROM edits WHERE settled = 1 AND number < ?1)
                * ?2 + (SELECT coalesce(sum(?2 + 2 * length(path) + length(staged)), 0)
                    FROM changes JOIN edits ON number = edit WHERE settled = 1 AND number < ?1)";
            let rows: i64 =
                reader.prepare_cached(rows)?.query_row([removable.below, ROW_BYTES], |row| row.get(0))?;
            let texts = unused_texts(reader, Some(removable.below))?;
            let texts: u64 = texts.iter().map(|text| text.size.unsigned_abs()).sum();
            Ok(texts + rows.unsigned_abs())
        })
    }

    /// All settled edits except the newest.
    fn all_but_newest(&self) -> Result<Removable, DatabaseError> {
        let newest = "SELECT coalesce(max(number), 0) FROM edits WHERE settled = 1";
        Ok(Removable { below: self.read(|reader| number(reader, newest))?, ..Removable::ALL })
    }

    /// Removes some of the oldest edits and returns their number.
    fn forget_oldest(&self, most: i64, removable: Removable) -> Result<usize, DatabaseError> {
        self.shorten_log()?;
        self.write(|transaction| {
            let oldest = "SELECT number FROM edits WHERE settled = 1 AND at < ? AND number < ?
                ORDER BY number LIMIT ?";
            let mut oldest = transaction.prepare_cached(oldest)?;
            let numbers = oldest.query_map([removable.before, removable.below, most], |row| row.get(0))?;
            let numbers = numbers.collect::<rusqlite::Result<Vec<i64>>>()?;
            for number in &numbers {
                transaction.prepare_cached("DELETE FROM changes WHERE edit = ?")?.execute([number])?;
                transaction.prepare_cached("DELETE FROM edits WHERE number = ?")?.execute([number])?;
            }
            Ok(numbers.len())
        })
    }

    /// Removes the texts that are no longer needed.
    fn sweep(&self) -> Result<(), DatabaseError> {
        self.remove(&self.read(|reader| unused_texts(reader, None))?)
    }

    /// Removes texts that were only read: those before this time, and the oldest above `size` bytes.
    fn forget_read(&self, time: i64, size: u64) -> Result<(), DatabaseError> {
        let read = self.read(|reader| {
            let read =
                "SELECT id, last, at, size FROM texts INDEXED BY texts_read WHERE last = 0 ORDER BY at DESC";
            let mut read = reader.prepare_cached(read)?;
            let text = |row: &rusqlite::Row<'_>| {
                Ok((UnusedText { id: row.get(0)?, last: row.get(1)?, size: row.get(3)? }, row.get(2)?))
            };
            read.query_map([], text)?.collect::<rusqlite::Result<Vec<(UnusedText, i64)>>>()
        })?;
        let mut total = 0_u64;
        let too_much = |(text, at): &(UnusedText, i64)| {
            total += text.size.unsigned_abs();
            (*at < time || total > size).then_some(*text)
        };
        self.remove(&read.iter().filter_map(too_much).collect::<Vec<_>>())
    }

    /// Removes these texts, except those that an edit has referred to since they were selected.
    fn remove(&self, texts: &[UnusedText]) -> Result<(), DatabaseError> {
        for portion in texts.chunks(usize::try_from(PORTION).unwrap_or(1)) {
            self.shorten_log()?;
            self.write(|transaction| {
                for UnusedText { id, last, size: _ } in portion {
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

    /// The limit of the bytes in use. The pages of an empty journal alone exceed a small limit, so a share of it is for
    /// edits in any case.
    fn pages_limit(&self, bounds: RetentionLimits) -> Result<u64, DatabaseError> {
        // Each table and index has a page, the schema has two, and one lists the pages for the vacuum.
        let empty = "SELECT (count(*) + 3) * (SELECT page_size FROM pragma_page_size) FROM sqlite_schema
            WHERE rootpage > 0";
        let empty = self.read(|reader| number(reader, empty))?.cast_unsigned();
        Ok(size_limit(bounds).max(empty.saturating_add(bounds.size / SMALL_SHARE)))
    }

    /// The number of bytes in use in the database.
    fn used_bytes(&self) -> Result<u64, DatabaseError> {
        self.read(|reader| {
            let pages = number(reader, "PRAGMA page_count")? - number(reader, "PRAGMA freelist_count")?;
            Ok(pages.cast_unsigned() * number(reader, "PRAGMA page_size")?.cast_unsigned())
        })
    }

    /// Returns free pages to the file system if there are many.
    fn release_pages(&self) -> Result<(), DatabaseError> {
        let free = |reader: &Connection| {
            Ok((number(reader, "PRAGMA freelist_count")?, number(reader, "PRAGMA page_count")?))
        };
        let mut before = i64::MAX;
        loop {
            let (free_pages, pages) = self.read(free)?;
            if free_pages <= pages / 16 || free_pages >= before {
                return Ok(());
            }
            before = free_pages;
            self.shorten_log()?;
            let writer = self.writer();
            // Each step frees one page.
            let vacuum = format!("PRAGMA incremental_vacuum({PORTION})");
            let mut vacuum = writer.prepare(&vacuum)?;
            let mut rows = vacuum.query([])?;
            while rows.next()?.is_some() {}
        }
    }

    /// Removals are written to the log, too; this keeps the log from growing larger than what they
    /// free.
    fn shorten_log(&self) -> Result<(), DatabaseError> {
        if self.log_length() > LOG_KEPT { self.checkpoint(LOG_KEPT) } else { Ok(()) }
    }

    /// Checkpoints the log into the database, so that it restarts and is not much longer than this.
    fn checkpoint(&self, limit: u64) -> Result<(), DatabaseError> {
        if self.log_length() <= limit / 4 {
            return Ok(());
        }
        // This runs concurrently with writers. The next writer restarts the log unless new pages were
        // added meanwhile.
        self.checkpoint_with("PASSIVE")?;
        if self.log_length() > 2 * limit {
            // Continuous writers leave no gap, so this makes them wait briefly.
            self.checkpoint_with("TRUNCATE")?;
        }
        Ok(())
    }

    fn checkpoint_with(&self, mode: &str) -> Result<(), DatabaseError> {
        let checkpoint = format!("PRAGMA wal_checkpoint({mode})");
        self.read(|reader| reader.query_row(&checkpoint, [], |_| Ok(())))
    }
}

/// The database's share of the size limit. The log may grow to twice its usual length, and beyond that
/// during a checkpoint.
fn size_limit(bounds: RetentionLimits) -> u64 {
    bounds.size.saturating_sub((3 * LOG_KEPT).min(bounds.size / 2))
}

/// The usual length of the log: less for a small size limit, and nothing for a journal that is off.
fn log_limit(bounds: RetentionLimits) -> u64 {
    LOG_KEPT.min(bounds.size / 4)
}

/// The time before which edits are too old.
fn oldest_time(bounds: RetentionLimits) -> i64 {
    now().saturating_sub(count(bounds.age.as_millis()))
}

fn number(reader: &Connection, sql: &str) -> rusqlite::Result<i64> {
    reader.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Returns the texts that no edit refers to and no needed text is packed against; if `from` is set, those that would be
/// unused without the edits below this number.
fn unused_texts(reader: &Connection, from: Option<i64>) -> rusqlite::Result<Vec<UnusedText>> {
    // One snapshot for all reads.
    let moment = reader.unchecked_transaction()?;
    // The oldest edits are removed first, so no edit refers to a text whose last edit is older than the
    // oldest remaining one. A withdrawn edit leaves its number behind, which only keeps its texts
    // longer.
    let oldest = "SELECT min(number) FROM edits WHERE settled = 1";
    let oldest: Option<i64> = moment.query_row(oldest, [], |row| row.get(0))?;
    let oldest = oldest.map(|oldest| oldest.max(from.unwrap_or(oldest)));
    let unsettled = texts_of_unsettled(&moment)?;
    let mut texts = moment.prepare_cached("SELECT id, base, last, size FROM texts")?;
    let text = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, (row.get(1)?, UnusedText { id: row.get(0)?, last: row.get(2)?, size: row.get(3)? })))
    };
    let texts = texts.query_map([], text)?;
    let texts = texts.collect::<rusqlite::Result<HashMap<i64, (Option<i64>, UnusedText)>>>()?;
    let mut needed: HashSet<i64> = HashSet::with_capacity(texts.len());
    for (id, (_, text)) in &texts {
        let is_needed =
            text.last == 0 || oldest.is_some_and(|oldest| text.last >= oldest) || unsettled.contains(id);
        let mut next = is_needed.then_some(*id);
        while let Some(id) = next.filter(|id| needed.insert(*id)) {
            next = texts.get(&id).and_then(|(base, _)| *base);
        }
    }
    let needless = texts.iter().filter(|(id, _)| !needed.contains(*id));
    Ok(needless.map(|(_, (_, text))| *text).collect())
}

/// Returns the texts of unsettled edits, which may be older than other, removed edits.
fn texts_of_unsettled(reader: &Connection) -> rusqlite::Result<HashSet<i64>> {
    let select = "SELECT id FROM edits INDEXED BY edits_begun CROSS JOIN changes ON edit = number
        CROSS JOIN texts ON stamp IN (before, after) WHERE settled = 0";
    let mut select = reader.prepare_cached(select)?;
    select.query_map([], |row| row.get(0))?.collect()
}

#[cfg(test)]
impl Database {
    /// Removes this many of the oldest edits, and their texts.
    pub fn forget_some(&self, most: usize) -> Result<(), DatabaseError> {
        self.forget_oldest(count(most), Removable::ALL)?;
        self.sweep()
    }

    /// Does the same, with other work between the selection of the unused texts and their removal.
    pub fn forget_some_during(&self, most: usize, work: impl FnOnce()) -> Result<(), DatabaseError> {
        self.forget_oldest(count(most), Removable::ALL)?;
        let unused = self.read(|reader| unused_texts(reader, None))?;
        work();
        self.remove(&unused)
    }
}
