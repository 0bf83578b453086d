//! Many edits of one call: all are planned and judged, then all are published or none is.

use std::sync::Arc;

use super::{Report, Workspace};
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::Request;

impl Workspace {
    /// Carries several edits of different files from the requests to their reports, in the order of the requests.
    ///
    /// Errors: what stops one of them stops all, with the path of its field, as in `edits[2].search`.
    pub async fn edit_all(
        self: &Arc<Self>,
        _requests: Vec<Request>,
        _watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        Err(Error::new(Code::Internal, "not there yet"))
    }
}
