//! Looking through rows: their texts, and what there is of them.

use super::{RowPlace, Rows, unavailable};
use crate::error::Error;
use crate::policy::Owner;
use crate::request::EntityKind;
use crate::store::search::{Clock, Pattern};
use crate::text::Stamp;
use std::ops::ControlFlow;

/// One entity of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowListed {
    /// Where it is.
    pub place: RowPlace,
    /// Its length in bytes.
    pub size: u64,
    /// The stamp of its text.
    pub stamp: Stamp,
}

/// What a search or a list looks through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Among<'a> {
    /// What sort of entities.
    pub kind: &'a EntityKind,
    /// Whose they are by their sort.
    pub owner: Owner,
    /// The app whose files are meant.
    pub app_id: Option<&'a str>,
    /// The organisation that is meant, where the request narrows to one.
    pub organization_id: Option<&'a str>,
    /// A path, a folder or a glob of paths; everything, where it is absent.
    pub path: Option<&'a str>,
}

/// A row that is looked through.
#[derive(Debug)]
pub struct RowText {
    /// Where it is.
    pub place: RowPlace,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl Rows {
    /// Gives the rows in which a pattern may be found, in the order of their paths, one after the other, until `see` has
    /// enough or the time is up; rows in which it cannot be found may be left out.
    pub fn each(
        &self,
        among: &Among<'_>,
        pattern: &Pattern,
        clock: &Clock<'_>,
        see: &mut dyn FnMut(RowText) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let _ = (pattern, clock, see);
        Err(unavailable(among.kind))
    }

    /// Lists rows in the order of their paths, so many at most, and says whether there are more.
    pub fn list(&self, among: &Among<'_>, most: usize) -> Result<(Vec<RowListed>, bool), Error> {
        let _ = most;
        Err(unavailable(among.kind))
    }
}
