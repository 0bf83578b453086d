//! What the code says, by an index over the workspace that is kept fresh.

use super::super::Workspace;
use crate::context::Context;
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::ContextLook;

impl Workspace {
    /// Looks at what the code says.
    pub(super) fn context(&self, _look: &ContextLook, _watch: &Watch) -> Result<Context, Error> {
        Err(Error::new(Code::Internal, "not built"))
    }
}
