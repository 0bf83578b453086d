//! What was edited, as the journal has it.

use std::sync::Arc;

use super::Workspace;
use crate::error::{Code, Error};
use crate::request::History;
use crate::store::Entry;

/// One remembered edit with what it changed.
#[derive(Debug)]
pub struct Remembered {
    /// The entry.
    pub entry: Entry,
    /// The unified diff of each of its changes; absent where the texts were not kept, or are no longer.
    pub diffs: Vec<Option<String>>,
}

impl Workspace {
    /// Lists edits, the newest first.
    ///
    /// Errors: those of admitting a path to be read, and `STORE_UNAVAILABLE`.
    pub async fn history(self: &Arc<Self>, _which: History) -> Result<Vec<Entry>, Error> {
        Err(Error::new(Code::Internal, "not there yet"))
    }

    /// Shows one edit.
    ///
    /// Errors: `INVALID_INPUT` where there is no such edit, and `STORE_UNAVAILABLE`.
    pub async fn remembered(self: &Arc<Self>, _edit_id: String) -> Result<Remembered, Error> {
        Err(Error::new(Code::Internal, "not there yet"))
    }
}
