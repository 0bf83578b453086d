//! Taking an edit back, or making it again: an entry of the journal turned into requests.

use std::sync::Arc;

use super::{Report, Workspace};
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::Revert;

impl Workspace {
    /// Takes an edit back, or makes it again, in all files that it changed or in none; one report for each.
    ///
    /// Errors: `INVALID_INPUT` where there is no such edit, `EDIT_CONFLICT` where the file moved on at the same place,
    /// and those of an edit.
    pub async fn revert(self: &Arc<Self>, _revert: Revert, _watch: Watch) -> Result<Vec<Report>, Error> {
        Err(Error::new(Code::Internal, "not there yet"))
    }
}
