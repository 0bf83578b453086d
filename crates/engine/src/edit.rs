//! The entry points of edits.

use std::sync::Arc;

use super::batch::Batch;
use super::pipeline;
use super::report::Report;
use super::services::Services;
use lockgate_checks::Watch;
use lockgate_edit::request::Request;
use lockgate_error::{Code, Error};
use lockgate_store::EntryKind;

impl Services {
    /// Makes one edit and returns its report.
    pub(super) async fn edit(self: &Arc<Self>, request: Request, watch: Watch) -> Result<Report, Error> {
        let reports = pipeline::run(self, Batch::single(request), Arc::new(watch)).await?;
        reports.into_iter().next().ok_or_else(|| Error::new(Code::Internal, "the edit has no report"))
    }

    /// Makes several edits of different files and returns their reports, in the order of the requests.
    pub(super) async fn edit_all(
        self: &Arc<Self>,
        requests: Vec<Request>,
        watch: Watch,
    ) -> Result<Vec<Report>, Error> {
        if requests.is_empty() {
            return Err(Error::new(Code::InvalidInput, "`edits` is an empty list").named_field("edits"));
        }
        pipeline::run(self, Batch::new(requests, EntryKind::Edit), Arc::new(watch)).await
    }
}
