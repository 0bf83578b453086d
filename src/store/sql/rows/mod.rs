//! The database behind stored content.

use std::path::Path;

use crate::error::Error;
use crate::store::state::State;

/// A database of stored content, shared by all who reach rows of it; connected to when it is first needed.
#[derive(Debug)]
pub struct Depot {}

impl Depot {
    /// The database of this URL: `sqlite:PATH`, or `postgres://...`. Nothing is connected to yet.
    ///
    /// Errors: `INVALID_INPUT` for another sort of URL.
    pub fn at(url: &str) -> Result<Depot, Error> {
        let _ = url;
        Ok(Depot {})
    }

    /// The one of this user, in lockgate's own folder; where that cannot be used, what is asked of it is refused.
    pub fn beside(state: &State) -> Depot {
        let _ = state;
        Depot {}
    }

    /// The file that it lies in; nothing where a server keeps it.
    pub fn file(&self) -> Option<&Path> {
        None
    }
}
