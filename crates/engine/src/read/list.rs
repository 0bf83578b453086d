//! Lists files and entities.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::services::Services;
use super::results::{distinct_key, shared_key, skipped_notes};
use super::search::SearchWatch;
use super::{LINE_BYTES, ReadRequest};
use lockgate_checks::Watch;
use lockgate_edit::request::{EntityKind, SearchScope};
use lockgate_error::{Code, Error};
use lockgate_protocol::{EntityKey, ListResponse, ListRow};
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

impl ReadRequest for ListRequest {
    type Output = ListResponse;

    fn path(&self) -> Option<&str> {
        Some(self.prefix.as_str()).filter(|_| self.scope == SearchScope::Files)
    }

    fn size(output: &ListResponse) -> Option<usize> {
        Some(output.entries.len().saturating_mul(LINE_BYTES))
    }

    fn read(&self, services: &Arc<Services>, watch: &Watch) -> Result<ListResponse, Error> {
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
            let version = bytes.map(|bytes| Version::hash(bytes).to_string());
            ListRow { path: place.shown().to_owned(), size, key: EntityKey::default(), version }
        };
        let entries = found.files.iter().map(listed).collect();
        let mut notes = skipped_notes(&found.skipped, bounds.largest, EntityKind::FILE);
        if found.files.is_empty() && !found.is_cut {
            notes.extend(services.empty_list_note(&self.prefix, &clock));
        }
        Ok(ListResponse { entries, truncated: found.is_cut, key: EntityKey::default(), notes })
    }
}

impl Services {
    /// Returns the note on a list without files: what is left out, or that no path begins with the prefix.
    fn empty_list_note(&self, prefix: &str, clock: &Clock<'_>) -> Option<String> {
        if prefix.is_empty() {
            return None;
        }
        match self.store.files.search_target(Some(prefix)) {
            Ok(SearchTarget::File(_)) => {
                Some(format!("{prefix} exists, but hidden and ignored files are not listed"))
            }
            Err(error) if error.code == Code::FileNotFound => {
                let nearest = match self.nearest_folder(prefix, clock)?.as_str() {
                    "" => "the root".to_owned(),
                    folder => format!("{folder}/"),
                };
                Some(format!(
                    "no listed path begins with {prefix}; the nearest folder with files is {nearest}"
                ))
            }
            Ok(SearchTarget::Roots(_)) | Err(_) => None,
        }
    }

    fn list_rows(
        &self,
        request: &ListRequest,
        filter: &EntityFilter<'_>,
        clock: &Clock<'_>,
    ) -> Result<ListResponse, Error> {
        let rows = &self.store.rows;
        let selector = rows.select_prefix(filter, &request.prefix)?;
        let (found, truncated) = rows.list(&selector, request.max_entries, clock)?;
        let listed = |RowListed { location: place, size, version }: RowListed| ListRow {
            path: place.path().to_owned(),
            size,
            key: distinct_key(Some(place.entity())),
            version: Some(version.to_string()),
        };
        let entries: Vec<ListRow> = found.into_iter().map(listed).collect();
        let is_missing = entries.is_empty() && !truncated && selector.is_prefix();
        let notes = is_missing.then(|| format!("no listed path begins with {}", request.prefix));
        let notes = notes.into_iter().collect();
        Ok(ListResponse { entries, truncated, key: shared_key(&request.scope), notes })
    }
}
