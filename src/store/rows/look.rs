//! Looking through rows: their texts, and what there is of them.

use super::selector::EntitySelector;
use super::{EntityStore, RowPlace};
use crate::error::Error;
use crate::policy::EntityOwner;
use crate::request::EntityKind;
use crate::store::search::{NeedlePiece, SearchLimits, SearchPattern, Skipped};
use crate::store::sql::rows::{EntityStoreError, RowFound};
use crate::text::Version;

/// Keys that are asked for at once.
const KEYS: usize = 5_000;
/// Texts that are held at once, and their bytes where it is more than one.
const TEXTS: usize = 64;
const BYTES: u64 = 4 << 20;

/// One entity of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowListed {
    /// Where it is.
    pub place: RowPlace,
    /// Its length in bytes.
    pub size: u64,
    /// The stamp of its text.
    pub stamp: Version,
}

/// Among which entities a search or a list looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityFilter<'a> {
    /// What sort they are of.
    pub kind: &'a EntityKind,
    /// Whose they are by their sort.
    pub owner: EntityOwner,
    /// The app whose files are meant.
    pub app_id: Option<&'a str>,
    /// The organisation that is meant, where the request narrows to one.
    pub organization_id: Option<&'a str>,
}

/// A row that is looked through.
#[derive(Debug)]
pub struct RowText {
    /// Where it is.
    pub place: RowPlace,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl EntityStore {
    /// Gives the rows in which a pattern may be found, in the order of their paths, one after the other, until the time is
    /// up; rows in which it cannot be found may be left out.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn each(
        &self,
        meant: &EntitySelector,
        pattern: &SearchPattern,
        bounds: SearchLimits<'_>,
        see: &mut dyn FnMut(RowText),
    ) -> Result<Skipped, Error> {
        let mut passed = Skipped::default();
        let mut pages = KeyPages::new(self, meant, pattern.pieces());
        while bounds.clock.goes_on()
            && let Some(rows) = pages.next()?
        {
            bounds.clock.finds(rows.len());
            self.show(meant, rows, bounds, &mut passed, see)?;
        }
        Ok(passed)
    }

    /// Whether there is any of the rows that are meant.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn is_any(&self, meant: &EntitySelector) -> Result<bool, Error> {
        let mut pages = KeyPages::new(self, meant, &[]);
        while let Some(rows) = pages.next()? {
            if !rows.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives the texts of rows, a few at a time.
    fn show(
        &self,
        meant: &EntitySelector,
        mut rows: Vec<RowFound>,
        bounds: SearchLimits<'_>,
        passed: &mut Skipped,
        see: &mut dyn FnMut(RowText),
    ) -> Result<(), Error> {
        let all = rows.len();
        rows.retain(|row| row.size <= bounds.largest);
        passed.large += all - rows.len();
        for some in portions(&rows) {
            if !bounds.clock.goes_on() {
                return Ok(());
            }
            let texts = meant
                .span(|span| self.depot.texts(&self.tenant, span, some))
                .map_err(EntityStoreError::told)?;
            for (row, bytes) in some.iter().zip(texts) {
                // One that was removed meanwhile is not there.
                let Some(bytes) = bytes else { continue };
                see(RowText { place: meant.place(row), bytes });
            }
            bounds.clock.does(some.len());
        }
        Ok(())
    }

    /// Lists rows in the order of their paths, so many at most, and says whether there are more.
    ///
    /// Errors: `STORE_UNAVAILABLE`.
    pub fn list(&self, meant: &EntitySelector, most: usize) -> Result<(Vec<RowListed>, bool), Error> {
        if meant.is_nothing() {
            return Ok((Vec::new(), false));
        }
        let found =
            meant.span(|span| self.depot.among(&self.tenant, span, &[], None, most.saturating_add(1)));
        let found = found.map_err(EntityStoreError::told)?;
        let listed = |row: &RowFound| RowListed { place: meant.place(row), size: row.size, stamp: row.stamp };
        Ok((found.iter().take(most).map(listed).collect(), found.len() > most))
    }
}

/// The rows that are meant, a page of keys after the other.
struct KeyPages<'a> {
    rows: &'a EntityStore,
    meant: &'a EntitySelector,
    pieces: &'a [NeedlePiece],
    /// The last row of the page before.
    last: Option<RowFound>,
    is_over: bool,
}

impl<'a> KeyPages<'a> {
    fn new(rows: &'a EntityStore, meant: &'a EntitySelector, pieces: &'a [NeedlePiece]) -> KeyPages<'a> {
        KeyPages { rows, meant, pieces, last: None, is_over: meant.is_nothing() }
    }

    /// The next page; one can be empty, as where a glob finds nothing of it.
    fn next(&mut self) -> Result<Option<Vec<RowFound>>, Error> {
        if self.is_over {
            return Ok(None);
        }
        let EntityStore { depot, tenant, .. } = self.rows;
        let behind = self.last.as_ref().map(|last| (last.path.as_str(), last.organization.as_str()));
        let found = self.meant.span(|span| depot.among(tenant, span, self.pieces, behind, KEYS));
        let mut found = found.map_err(EntityStoreError::told)?;
        self.is_over = found.len() < KEYS;
        self.last = found.last().cloned();
        found.retain(|row| self.meant.finds(row));
        Ok(Some(found))
    }
}

/// Rows in portions that may be held in memory.
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
