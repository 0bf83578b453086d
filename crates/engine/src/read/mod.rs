//! Read operations: nothing is locked, judged or written.

mod before_edit;
mod clip;
mod context;
mod lines;
mod list;
mod page;
mod results;
mod search;

use std::sync::Arc;

use super::services::Services;
use lockgate_checks::Watch;
use lockgate_edit::request::Target;
use lockgate_error::Error;

pub(super) use context::CodeIndex;
pub use context::ContextRequest;
pub use lines::{LinesRequest, ReadLines};
pub use list::ListRequest;
pub use page::SearchRequest;

/// A request to read files, entities or the history: [`Workspace::read`](crate::Workspace::read) answers it.
///
/// Other crates cannot implement it, because they cannot name the services.
pub trait ReadRequest: Send + Sync + 'static {
    /// The response to the request.
    type Output: Send + 'static;

    /// Returns the file or entity, if the request names a single one.
    fn target(&self) -> Option<&Target> {
        None
    }

    /// Returns the path for which an error is to name the nearest one that exists.
    fn path(&self) -> Option<&str> {
        self.target().and_then(Target::file)
    }

    /// Returns the approximate size of an answer in bytes; `None` if it is not known beforehand.
    fn size(_output: &Self::Output) -> Option<usize> {
        None
    }

    /// Reads; this may block.
    ///
    /// Errors: those that the documentation of each request lists.
    fn read(&self, services: &Arc<Services>, watch: &Watch) -> Result<Self::Output, Error>;
}

/// The estimated size of a match or an entry with its context, in bytes.
const LINE_BYTES: usize = 512;

impl Services {
    /// Answers a request on a blocking thread.
    pub(crate) async fn read<R: ReadRequest>(
        self: &Arc<Self>,
        request: R,
        watch: Watch,
    ) -> Result<R::Output, Error> {
        let services = Arc::clone(self);
        let read = move |_: &Services| {
            request.read(&services, &watch).map_err(|error| match request.path() {
                Some(path) => services.with_nearest_path(path, error, &|| watch.cancelled()),
                None => error,
            })
        };
        self.off_reactor(read).await
    }
}
