//! Lists files and entities.

use std::time::{Duration, Instant};

use super::super::Workspace;
use super::search::{Follow, passed_over};
use crate::error::Error;
use crate::gate::Watch;
use crate::request::{Entity, EntityKind, ListLook, SearchScope};
use crate::store::{Clock, EntityFilter, FilePlace, Hidden, RowListed};
use crate::text::Version;

/// The time limit of a list; the answer has what was found until then.
const LONGEST: Duration = Duration::from_secs(10);

/// The result of a list.
#[derive(Debug, Default)]
pub struct Entries {
    /// The scope of the list.
    pub realm: SearchScope,
    /// The first entries, by path.
    pub entries: Vec<ListedText>,
    /// Set when entries were left out.
    pub truncated: bool,
    /// Notes on what was left out.
    pub notes: Vec<String>,
}

/// A listed file or entity.
#[derive(Debug)]
pub struct ListedText {
    /// The path as lockgate names it.
    pub path: String,
    /// The key of the entity, if it is stored in a database.
    pub entity: Option<Entity>,
    /// The length of the text, in bytes.
    pub size: u64,
    /// The version of the text; `None` if it could not be read.
    pub version: Option<Version>,
}

impl Workspace {
    /// Lists files, without hidden, ignored and protected ones.
    ///
    /// Errors: `PROTECTED`, `STORE_UNAVAILABLE`, and those of a path.
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
                // The size and version are of one state of the file, which may have changed since it was
                // found.
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
    /// Lists entities.
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
