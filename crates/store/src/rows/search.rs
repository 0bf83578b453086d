//! Searches and lists rows.

use super::selector::EntitySelector;
use super::store::EntityStore;
use crate::row_location::RowLocation;
use crate::search::{Clock, NeedlePiece, SearchLimits, SearchPattern, Skipped};
use crate::sql::rows::RowFound;
use lockgate_error::Error;
use lockgate_text::Version;

/// The number of keys in one query of a search.
const KEYS: usize = 5_000;
/// The maximum number of texts in memory, and the maximum of their total bytes if there is more than
/// one.
const TEXTS: usize = 64;
const BYTES: u64 = 4 << 20;

/// An entity in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowListed {
    /// The location of the entity.
    pub location: RowLocation,
    /// The length of its text in bytes.
    pub size: u64,
    /// The version of its text.
    pub version: Version,
}

/// A row and its text for a search.
#[derive(Debug)]
pub struct RowText {
    /// The key and the owner of the entity.
    pub location: RowLocation,
    /// The bytes of its complete text.
    pub bytes: Vec<u8>,
}

impl EntityStore {
    /// Calls `see` with each row that may match the pattern, in path order, until the time is up. Rows
    /// that cannot match may be omitted.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn each(
        &self,
        selector: &EntitySelector,
        pattern: &SearchPattern,
        bounds: SearchLimits<'_>,
        see: &mut dyn FnMut(RowText),
    ) -> Result<Skipped, Error> {
        let mut skipped = Skipped::default();
        let mut pages = KeyPages::new(self, selector, pattern.pieces());
        while bounds.clock.may_continue()
            && let Some(rows) = pages.next()?
        {
            bounds.clock.add_found(rows.len());
            self.visit(selector, rows, bounds, &mut skipped, see)?;
        }
        Ok(skipped)
    }

    /// True if the selection contains any row.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn is_any(&self, selector: &EntitySelector) -> Result<bool, Error> {
        let mut pages = KeyPages::new(self, selector, &[]);
        while let Some(rows) = pages.next()? {
            if !rows.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Visits the texts of rows, a few at a time.
    fn visit(
        &self,
        selector: &EntitySelector,
        mut rows: Vec<RowFound>,
        bounds: SearchLimits<'_>,
        skipped: &mut Skipped,
        see: &mut dyn FnMut(RowText),
    ) -> Result<(), Error> {
        let count = rows.len();
        rows.retain(|row| row.size <= bounds.largest);
        skipped.large += count - rows.len();
        for portion in portions(&rows) {
            if !bounds.clock.may_continue() {
                return Ok(());
            }
            let texts = self.database.texts(&self.tenant, selector.span(), portion)?;
            for (row, bytes) in portion.iter().zip(texts) {
                // The row was removed meanwhile.
                let Some(bytes) = bytes else { continue };
                see(RowText { location: selector.location(row), bytes });
            }
            bounds.clock.add_done(portion.len());
        }
        Ok(())
    }

    /// Lists at most `most` rows in path order until the time is up, and returns true if there may be more.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn list(
        &self,
        selector: &EntitySelector,
        most: usize,
        clock: &Clock<'_>,
    ) -> Result<(Vec<RowListed>, bool), Error> {
        let size = if selector.is_narrowed() { KEYS } else { most.saturating_add(1) };
        let mut pages = KeyPages { size, ..KeyPages::new(self, selector, &[]) };
        let mut found = Vec::new();
        while found.len() <= most
            && clock.may_continue()
            && let Some(rows) = pages.next()?
        {
            found.extend(rows);
        }
        let listed = |row: &RowFound| RowListed {
            location: selector.location(row),
            size: row.size,
            version: row.version,
        };
        Ok((found.iter().take(most).map(listed).collect(), found.len() > most || !pages.is_over))
    }
}

/// The keys of the selected rows, page by page.
struct KeyPages<'a> {
    rows: &'a EntityStore,
    selector: &'a EntitySelector,
    pieces: &'a [NeedlePiece],
    /// The last row of the previous page.
    last: Option<RowFound>,
    /// The number of keys on a page.
    size: usize,
    is_over: bool,
}

impl<'a> KeyPages<'a> {
    fn new(rows: &'a EntityStore, selector: &'a EntitySelector, pieces: &'a [NeedlePiece]) -> KeyPages<'a> {
        KeyPages { rows, selector, pieces, last: None, size: KEYS, is_over: selector.is_empty() }
    }

    /// Returns the next page. A page can be empty, for example if the glob matches none of its rows.
    fn next(&mut self) -> Result<Option<Vec<RowFound>>, Error> {
        if self.is_over {
            return Ok(None);
        }
        let EntityStore { database, tenant, .. } = self.rows;
        let after = self.last.as_ref().map(|last| (last.path.as_str(), last.organization.as_str()));
        let mut found = database.find(tenant, self.selector.span(), self.pieces, after, self.size)?;
        self.is_over = found.len() < self.size;
        self.last = found.last().cloned();
        found.retain(|row| self.selector.contains(row));
        Ok(Some(found))
    }
}

/// Splits rows into portions that fit into memory.
fn portions(rows: &[RowFound]) -> impl Iterator<Item = &[RowFound]> {
    let (mut count, mut bytes) = (1, rows.first().map_or(0, |row| row.size));
    rows.chunk_by(move |_, next| {
        let fits = count < TEXTS && bytes.saturating_add(next.size) <= BYTES;
        (count, bytes) = if fits { (count + 1, bytes + next.size) } else { (1, next.size) };
        fits
    })
}

#[cfg(test)]
mod tests;
