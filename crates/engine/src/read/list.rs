//! Lists files and entities.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::services::Services;
use super::matches::skipped_notes;
use super::search::SearchWatch;
use super::{LINE_BYTES, ReadRequest};
use lockgate_checks::Watch;
use lockgate_edit::request::{Entity, EntityKind, SearchScope};
use lockgate_error::{Code, Error};
use lockgate_store::{Clock, EntityFilter, FileLocation, FileSnapshot, Hidden, RowListed, SearchTarget};
use lockgate_text::Version;

/// The time limit of a list; the answer has what was found until then.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A request for a list of files, without hidden, ignored and protected ones, or of entities.
///
/// Errors: `PROTECTED`, `STORE_UNAVAILABLE`, and those of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// The prefix of the paths: a folder, or the beginning of a name; empty for all.
    pub prefix: String,
    /// The scope of the list.
    pub scope: SearchScope,
    /// The most entries that are shown, from 1.
    pub max_entries: usize,
}

/// The result of a list.
#[derive(Debug, Default)]
pub struct Entries {
    /// The scope of the list.
    pub scope: SearchScope,
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

impl ReadRequest for ListRequest {
    type Output = Entries;

    fn path(&self) -> Option<&str> {
        Some(self.prefix.as_str()).filter(|_| self.scope == SearchScope::Files)
    }

    fn size(output: &Entries) -> Option<usize> {
        Some(output.entries.len().saturating_mul(LINE_BYTES))
    }

    fn read(&self, services: &Arc<Services>, watch: &Watch) -> Result<Entries, Error> {
        let follow = SearchWatch(watch);
        let clock = Clock::new(Instant::now() + TIMEOUT, &follow);
        if let Some(filter) = services.resolve_scope(&self.scope)? {
            return services.list_rows(self, &filter, &clock);
        }
        let below = services.store.files.with_prefix(&self.prefix)?;
        let bounds = services.bounds(self.max_entries, &clock);
        let found = services.store.files.find(&below, Hidden::Excluded, bounds);
        let listed = |(place, size): &(FileLocation, u64)| {
            let read = || services.store.files.read(place, bounds.largest).ok().flatten();
            let snapshot = if clock.may_continue() { read() } else { None };
            let bytes = snapshot.as_ref().map(FileSnapshot::bytes);
            // The size and version are of one state of the file, which may have changed since it was found.
            let size = bytes.map_or(*size, |bytes| bytes.len() as u64);
            let version = bytes.map(Version::hash);
            ListedText { path: place.shown().to_owned(), entity: None, size, version }
        };
        let entries = found.files.iter().map(listed).collect();
        let mut notes = skipped_notes(&found.skipped, bounds.largest, EntityKind::FILE);
        if found.files.is_empty() && !found.is_cut {
            notes.extend(services.empty_list_note(&self.prefix, &clock));
        }
        Ok(Entries { scope: SearchScope::Files, entries, truncated: found.is_cut, notes })
    }
}

impl Services {
    /// Returns the note on a list without files: what is left out, or that no path begins with the prefix.
    fn empty_list_note(&self, prefix: &str, clock: &Clock<'_>) -> Option<String> {
        let error = match self.store.files.search_target(Some(prefix)) {
            _ if prefix.is_empty() => return None,
            Ok(SearchTarget::File(_)) => {
                return Some(format!("{prefix} exists, but hidden and ignored files are not listed"));
            }
            Ok(SearchTarget::Roots(_)) => return None,
            Err(error) => error,
        };
        let folder = self.nearest_folder(prefix, clock).filter(|_| error.code == Code::FileNotFound)?;
        let nearest = match folder.as_str() {
            "" => "the root".to_owned(),
            folder => format!("{folder}/"),
        };
        Some(format!("no listed path begins with {prefix}; the nearest folder with files is {nearest}"))
    }

    fn list_rows(
        &self,
        request: &ListRequest,
        filter: &EntityFilter<'_>,
        clock: &Clock<'_>,
    ) -> Result<Entries, Error> {
        let rows = &self.store.rows;
        let selector = rows.select_prefix(filter, &request.prefix)?;
        let (found, truncated) = rows.list(&selector, request.max_entries, clock)?;
        let listed = |RowListed { location: place, size, version }: RowListed| ListedText {
            path: place.path().to_owned(),
            entity: Some(place.entity().clone()),
            size,
            version: Some(version),
        };
        let entries: Vec<ListedText> = found.into_iter().map(listed).collect();
        let is_missing = entries.is_empty() && !truncated && selector.is_prefix();
        let notes = is_missing.then(|| format!("no listed path begins with {}", request.prefix));
        let notes = notes.into_iter().collect();
        Ok(Entries { scope: request.scope.clone(), entries, truncated, notes })
    }
}
