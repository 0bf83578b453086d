//! The stored texts: each is stored once, whole or packed against an earlier one.
//!
//! Invariant: a text is packed only against an existing one, in chains of at most [`DEEPEST`]. A
//! returned text always matches the version under which it is stored.

use super::columns::{count, now, version_range};
use super::database::Database;
use super::error::DatabaseError;
use super::journal_row::JournalRow;
use super::pack;
use crate::content::Content;
use lockgate_text::Version;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// The maximum length of a chain of packed texts.
const DEEPEST: i64 = 32;
/// A delta of at most this share of its text is small, however well the whole text compresses.
const SMALL_DELTA: usize = 64;

/// The packed texts of a change: those packed before the database was locked for writing, and the bytes that were stored.
#[derive(Debug, Default)]
pub(super) struct Packs {
    before: Option<Vec<u8>>,
    after: Option<PackedText>,
    pub(super) stored: usize,
}

/// The packed bytes of a text after an edit.
#[derive(Debug)]
enum PackedText {
    Whole(Vec<u8>),
    /// Against the text before the edit.
    Delta(Vec<u8>),
}

impl Packs {
    /// Returns the packed bytes of the text before an edit, to be stored.
    fn take_before(&mut self, text: &[u8]) -> Vec<u8> {
        let packed = self.before.take().unwrap_or_else(|| pack::whole(text));
        self.stored += packed.len();
        packed
    }

    /// Returns the packed bytes of the text after an edit, to be stored, and the base that they need.
    fn take_after(
        &mut self,
        base: Option<(&[u8], StoredText)>,
        text: &[u8],
    ) -> (Vec<u8>, Option<StoredText>) {
        let packed = match (self.after.take(), base) {
            // Another edit has stored the text before since then, at the end of a chain.
            (Some(PackedText::Delta(_)), None) => PackedText::Whole(pack::whole(text)),
            (Some(packed), _) => packed,
            (None, base) => pack_after(base.map(|(bytes, stored)| (bytes, stored.depth)), text),
        };
        let (packed, base) = match packed {
            PackedText::Whole(packed) => (packed, None),
            PackedText::Delta(packed) => (packed, base.map(|(_, stored)| stored)),
        };
        self.stored += packed.len();
        (packed, base)
    }
}

/// Packs a text against a base with this number of bases below it, if that is clearly smaller than the whole text.
///
/// A chain is stored as long as its last text, so the delta must be the smaller, the longer the chain is.
fn pack_after(base: Option<(&[u8], i64)>, text: &[u8]) -> PackedText {
    let Some((base, depth)) = base else { return PackedText::Whole(pack::whole(text)) };
    let delta = pack::delta(base, text);
    if delta.len() <= text.len() / SMALL_DELTA {
        return PackedText::Delta(delta);
    }
    let whole = pack::whole(text);
    let share = usize::try_from(depth).unwrap_or(usize::MAX).saturating_add(2);
    if delta.len() < whole.len() / share { PackedText::Delta(delta) } else { PackedText::Whole(whole) }
}

/// The row of a stored text, and the number of bases below it.
#[derive(Debug, Clone, Copy)]
struct StoredText {
    id: i64,
    depth: i64,
}

impl Database {
    /// Returns the text of a version. A prefix of at least twelve digits is enough if only one version
    /// has it.
    pub fn text(&self, version: &str) -> Result<Option<Vec<u8>>, DatabaseError> {
        let Some((lowest, highest)) = version_range(version) else { return Ok(None) };
        let found = self.read(|reader| {
            let select = "SELECT id, stamp FROM texts WHERE stamp BETWEEN ? AND ? LIMIT 2";
            let mut select = reader.prepare_cached(select)?;
            let found = select.query_map(params![lowest, highest], |row| Ok((row.get(0)?, row.get(1)?)))?;
            match found.collect::<rusqlite::Result<Vec<(i64, [u8; 32])>>>()?.as_slice() {
                [(id, hash)] => unpacked(reader, *id).map(|text| text.map(|text| (text, *hash))),
                _ => Ok(None),
            }
        })?;
        Ok(found.filter(|(text, hash)| Version::hash(text).bytes() == hash).map(|(text, _)| text))
    }

    /// Compresses the texts of a change that will be stored, as far as that is known in advance, without the write lock.
    pub(super) fn pack(&self, row: &JournalRow<'_>) -> Result<Packs, DatabaseError> {
        let mut packs = Packs::default();
        if !row.keep {
            return Ok(packs);
        }
        let [stored_before, stored_after] = self.read_briefly(|reader| {
            let stored = |content: Option<Content<'_>>| {
                content.map_or(Ok(None), |content| find(reader, content.version))
            };
            Ok([stored(row.before)?, stored(row.after)?])
        })?;
        if let (Some(content), None) = (row.before, stored_before) {
            packs.before = Some(pack::whole(content.bytes));
        }
        if let (Some(content), None) = (row.after, stored_after) {
            let depth = stored_before.map_or(0, |stored| stored.depth);
            let base = row.before.filter(|_| depth < DEEPEST).map(|base| (base.bytes, depth));
            packs.after = Some(pack_after(base, content.bytes));
        }
        Ok(packs)
    }

    /// Stores a text that was only read, unless it exists.
    pub fn keep(&self, content: Content<'_>) -> Result<(), DatabaseError> {
        if content.bytes.len() > pack::LARGEST || self.read(|reader| find(reader, content.version))?.is_some()
        {
            return Ok(());
        }
        let packed = pack::whole(content.bytes);
        self.write(|transaction| {
            if find(transaction, content.version)?.is_none() {
                add(transaction, content.version, &packed, None, 0)?;
            }
            Ok(())
        })?;
        self.count_bytes(packed.len() as u64);
        Ok(())
    }
}

/// Stores the texts of a change, or refers to the existing ones.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    number: i64,
    row: &JournalRow<'_>,
    packs: &mut Packs,
) -> rusqlite::Result<()> {
    let mut base = None;
    if let Some(content) = row.before {
        let stored =
            text_id(transaction, number, content.version, || (packs.take_before(content.bytes), None))?;
        base = Some((content, stored)).filter(|(_, stored)| stored.depth < DEEPEST);
    }
    let Some(content) = row.after else { return Ok(()) };
    let base = base.map(|(before, stored)| (before.bytes, stored));
    text_id(transaction, number, content.version, || packs.take_after(base, content.bytes)).map(drop)
}

/// Returns the id of the text with this version and marks it as used by the edit. If it is missing, inserts its packed
/// bytes with their base.
fn text_id(
    transaction: &Transaction<'_>,
    number: i64,
    version: Version,
    packed: impl FnOnce() -> (Vec<u8>, Option<StoredText>),
) -> rusqlite::Result<StoredText> {
    match find(transaction, version)? {
        Some(stored) => {
            let alone = "UPDATE texts SET last = ?1 WHERE id = ?2
                AND last >= (SELECT min(number) FROM edits WHERE settled = 1)";
            if transaction.prepare_cached(alone)?.execute([number, stored.id])? > 0 {
                return Ok(stored);
            }
            // No edit needed a text that is older than the oldest edit. A removal that selected it also selected its bases,
            // and spares only those that are used since.
            let again = "UPDATE texts SET last = ?1 WHERE id IN (
                WITH RECURSIVE chain(id, base, last) AS (
                    SELECT id, base, last FROM texts WHERE id = ?2
                    UNION ALL
                    SELECT texts.id, texts.base, texts.last FROM chain JOIN texts ON texts.id = chain.base
                    WHERE chain.last < coalesce((SELECT min(number) FROM edits WHERE settled = 1), ?1)
                ) SELECT id FROM chain)";
            transaction.prepare_cached(again)?.execute([number, stored.id])?;
            Ok(stored)
        }
        None => {
            let (packed, base) = packed();
            add(transaction, version, &packed, base, number)
        }
    }
}

fn find(connection: &Connection, version: Version) -> rusqlite::Result<Option<StoredText>> {
    let find = "SELECT id, depth FROM texts WHERE stamp = ?";
    let stored_text = |row: &rusqlite::Row<'_>| Ok(StoredText { id: row.get(0)?, depth: row.get(1)? });
    connection.prepare_cached(find)?.query_row([version.bytes()], stored_text).optional()
}

fn add(
    transaction: &Transaction<'_>,
    version: Version,
    packed: &[u8],
    base: Option<StoredText>,
    last: i64,
) -> rusqlite::Result<StoredText> {
    let text = "INSERT INTO texts(stamp, base, depth, last, at, size) VALUES(?, ?, ?, ?, ?, ?)";
    let depth = base.map_or(0, |base| base.depth + 1);
    let base = base.map(|base| base.id);
    let values = params![version.bytes(), base, depth, last, now(), count(packed.len())];
    let id = transaction.prepare_cached(text)?.insert(values)?;
    let bytes = "INSERT INTO bytes(text, packed) VALUES(?, ?)";
    transaction.prepare_cached(bytes)?.execute(params![id, packed])?;
    Ok(StoredText { id, depth })
}

/// Unpacks a text with all of its bases; `None` if one of them is missing or invalid.
fn unpacked(reader: &Connection, id: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    // One statement, so that no base can be removed in between.
    let chain = "WITH RECURSIVE chain(id, base, level) AS (
            SELECT id, base, 0 FROM texts WHERE id = ?1
            UNION ALL SELECT texts.id, texts.base, level + 1 FROM chain JOIN texts ON texts.id = chain.base
            WHERE level < ?2)
        SELECT packed FROM chain LEFT JOIN bytes ON bytes.text = chain.id ORDER BY level DESC";
    let mut chain = reader.prepare_cached(chain)?;
    let mut rows = chain.query([id, DEEPEST + 1])?;
    let mut text = Vec::new();
    while let Some(row) = rows.next()? {
        let packed = row.get_ref(0)?.as_blob_or_null()?;
        if packed.and_then(|packed| pack::unpack(&mut text, packed)).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(text))
}
