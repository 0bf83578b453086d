//! What stands in for the database where lockgate was built without one.

use super::Failure;
use crate::error::{Code, Error};
use crate::store::state::State;
use std::path::Path;

/// A database that keeps nothing.
#[derive(Debug)]
pub struct Depot {}

impl Depot {
    /// Errors: `INVALID_INPUT`: there is none.
    pub fn at(_: &str) -> Result<Depot, Error> {
        Err(Error::new(Code::InvalidInput, "lockgate was built without stored content").field("store"))
    }

    /// One of which everything is refused.
    pub fn beside(_: &State) -> Depot {
        Depot {}
    }

    /// There is no file.
    pub fn file(&self) -> Option<&Path> {
        None
    }

    pub(in crate::store) fn number(&self) -> u64 {
        0
    }

    pub(in crate::store) fn is_there(&self) -> bool {
        false
    }
}
