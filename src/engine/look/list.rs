//! Which texts there are.

use super::super::Workspace;
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::ListLook;
use crate::text::Stamp;

/// The texts that there are.
#[derive(Debug, Default)]
pub struct Entries {
    /// The first of them, by path.
    pub entries: Vec<Listed>,
    /// Whether something was left out.
    pub truncated: bool,
}

/// One text.
#[derive(Debug)]
pub struct Listed {
    /// The file as lockgate names it.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its stamp; nothing where it could not be read.
    pub version: Option<Stamp>,
}

impl Workspace {
    /// Lists files.
    pub(super) fn list(&self, _look: &ListLook, _watch: &Watch) -> Result<Entries, Error> {
        Err(Error::new(Code::Internal, "not built"))
    }
}
