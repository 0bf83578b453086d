//! Several edits in one call: all are planned and judged, then all or none are published.

use std::sync::Arc;

use super::call::Batch;
use super::{Report, services::Services};
use crate::error::{Code, Error};
use crate::gate::Watch;
use crate::request::Request;
use crate::store::EntryKind;

impl Services {
    /// Makes several edits of different files and returns their reports, in the order of the requests.
    pub(super) async fn edit_all(
        self: &Arc<Self>,
        requests: Vec<Request>,
        watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        if requests.is_empty() {
            return Err(Error::new(Code::InvalidInput, "`edits` is an empty list").field("edits"));
        }
        self.run_batch(Batch::new(requests, EntryKind::Edit), watch).await
    }
}
