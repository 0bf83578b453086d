//! A request for a list of files or entities.

use super::super::{EntityFields, SearchScope};
use super::search::number;
use crate::error::Error;

/// The default and the largest number of entries.
const MOST: usize = 200;
const MOST_ENTRIES: i64 = 5000;

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
pub struct ListLook {
    /// The prefix of the paths: a folder, or the beginning of a name; empty for all.
    pub prefix: String,
    /// The scope of the list.
    pub realm: SearchScope,
    /// The most entries that are shown, from 1.
    pub most: usize,
}

impl ListFields {
    /// Converts the fields to a request.
    ///
    /// Errors: `INVALID_INPUT` for a number out of range, and for ids of another scope.
    pub fn raise(self) -> Result<ListLook, Error> {
        let most = number(self.max_results, MOST, 1..=MOST_ENTRIES, "max_results")?;
        let (prefix, realm) = (self.path_prefix.unwrap_or_default(), self.scope.realm()?);
        Ok(ListLook { prefix, realm, most })
    }
}
