//! Which texts there are.

use std::time::{Duration, Instant};

use super::super::Workspace;
use super::search::{Follow, passed_over};
use crate::error::Error;
use crate::gate::Watch;
use crate::request::{Entity, EntityKind, ListLook, SearchScope};
use crate::store::{Clock, EntityFilter, FilePlace, Hidden, RowListed};
use crate::text::Version;

/// How long a list may take; then it tells what it found.
const LONGEST: Duration = Duration::from_secs(10);

/// The texts that there are.
#[derive(Debug, Default)]
pub struct Entries {
    /// Where was looked for them.
    pub realm: SearchScope,
    /// The first of them, by path.
    pub entries: Vec<ListedText>,
    /// Whether something was left out.
    pub truncated: bool,
    /// What the caller should know of what was left out.
    pub notes: Vec<String>,
}

/// One text.
#[derive(Debug)]
pub struct ListedText {
    /// The file as lockgate names it.
    pub path: String,
    /// Its key, where it is kept in a database.
    pub entity: Option<Entity>,
    /// Its length in bytes.
    pub size: u64,
    /// Its stamp; nothing where it could not be read.
    pub version: Option<Version>,
}

impl Workspace {
    /// Lists files, but for those that are hidden, ignored or protected.
    ///
    /// Errors: `PROTECTED`, `STORE_UNAVAILABLE`, and what a path gives.
    pub(super) fn list(&self, look: &ListLook, watch: &Watch) -> Result<Entries, Error> {
        if let Some(among) = self.realm(&look.realm)? {
            return self.list_rows(look, &among);
        }
        let below = self.store.files.beginning(&look.prefix)?;
        let follow = Follow(watch);
        let clock = Clock::new(Instant::now() + LONGEST, &follow);
        let bounds = self.bounds(look.most, &clock);
        let found = self.store.files.find(&below, Hidden::LeftOut, bounds);
        let listed = |(place, size): &(FilePlace, u64)| {
            let snapshot = clock
                .goes_on()
                .then(|| self.store.files.read(place, bounds.largest).ok().flatten())
                .flatten();
            let (size, version) = match snapshot {
                // One state of the file, which may have changed since it was found.
                Some(snapshot) => (
                    u64::try_from(snapshot.bytes().len()).unwrap_or(*size),
                    Some(Version::hash(snapshot.bytes())),
                ),
                None => (*size, None),
            };
            ListedText { path: place.shown().to_owned(), entity: None, size, version }
        };
        let entries = found.files.iter().map(listed).collect();
        let notes = passed_over(&found.passed, bounds.largest, EntityKind::FILE);
        Ok(Entries { realm: SearchScope::Files, entries, truncated: found.is_cut, notes })
    }
    /// Lists what lies in a database.
    fn list_rows(&self, look: &ListLook, among: &EntityFilter<'_>) -> Result<Entries, Error> {
        let rows = &self.store.rows;
        let (found, truncated) = rows.list(&rows.beginning(among, &look.prefix)?, look.most)?;
        let listed = |RowListed { place, size, stamp }: RowListed| ListedText {
            path: place.path().to_owned(),
            entity: Some(place.entity().clone()),
            size,
            version: Some(stamp),
        };
        let entries = found.into_iter().map(listed).collect();
        Ok(Entries { realm: look.realm.clone(), entries, truncated, notes: Vec::new() })
    }
}
