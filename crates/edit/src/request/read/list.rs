//! A request for a list of files or entities.

use super::super::{EntityFields, SearchScope};
use super::search::number;
use lockgate_error::Error;

/// The default and the largest number of entries.
const DEFAULT_ENTRIES: usize = 200;
const MAX_ENTRIES: i64 = 5000;

/// The fields of a list request, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct ListFields {
    /// The prefix of the paths.
    pub path_prefix: Option<String>,
    /// The entity type and its ids.
    pub scope: EntityFields,
    /// The most entries that are shown.
    pub max_results: Option<i64>,
}

/// A request for a list of files or entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// The prefix of the paths: a folder, or the beginning of a name; empty for all.
    pub prefix: String,
    /// The scope of the list.
    pub scope: SearchScope,
    /// The most entries that are shown, from 1.
    pub max_entries: usize,
}

impl ListFields {
    /// Converts the fields to a request.
    ///
    /// Errors: `INVALID_INPUT` for a number out of range, and for ids of another scope.
    pub fn into_request(self) -> Result<ListRequest, Error> {
        let most = number(self.max_results, DEFAULT_ENTRIES, 1..=MAX_ENTRIES, "max_results")?;
        let (prefix, scope) = (self.path_prefix.unwrap_or_default(), self.scope.into_scope()?);
        Ok(ListRequest { prefix, scope, max_entries: most })
    }
}
