//! A list of the texts that there are.

use super::super::{EntityFields, SearchScope};
use super::search::number;
use crate::error::Error;

/// Entries that are shown where nothing else is asked, and the most that can be.
const MOST: usize = 200;
const MOST_ENTRIES: i64 = 5000;

/// The fields of a list, each as given or absent.
#[derive(Debug, Clone, Default)]
pub struct ListFields {
    /// What the paths begin with.
    pub path_prefix: Option<String>,
    /// What sort of thing is listed.
    pub scope: EntityFields,
    /// The most entries that are shown.
    pub max_results: Option<i64>,
}

/// A list of the texts that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLook {
    /// What the paths begin with: a folder, or the beginning of a name; everything, where it is empty.
    pub prefix: String,
    /// Where it is looked for.
    pub realm: SearchScope,
    /// The most entries that are shown, from 1.
    pub most: usize,
}

impl ListFields {
    /// Raises the fields to the list that they name.
    ///
    /// Errors: `INVALID_INPUT` for a number out of range, and for what belongs to another scope.
    pub fn raise(self) -> Result<ListLook, Error> {
        let most = number(self.max_results, MOST, 1..=MOST_ENTRIES, "max_results")?;
        let (prefix, realm) = (self.path_prefix.unwrap_or_default(), self.scope.realm()?);
        Ok(ListLook { prefix, realm, most })
    }
}
