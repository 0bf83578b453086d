//! Read operations: nothing is locked, judged or written.

mod before_edit;
mod clip;
mod context;
mod lines;
mod list;
mod matches;
mod page;
mod search;
mod texts;

use std::sync::Arc;

use super::services::Services;
use lockgate_checks::Watch;
use lockgate_edit::request::Target;
use lockgate_error::Error;

pub(super) use context::CodeIndex;
pub use context::ContextRequest;
pub use lines::{LinesRequest, ReadLines, WholeRequest};
pub use list::{Entries, ListRequest, ListedText};
pub use lockgate_context::{CodeContext, CodeSymbol, ProjectSummary, Reference};
pub use matches::{LineMatch, MatchCount, Matches, NumberedLine, SearchRequest};
pub(super) use texts::TextCache;

/// A request to read files or entities: [`Workspace::read`](crate::Workspace::read) answers it.
pub trait ReadRequest: Send + Sync + 'static {
    /// What the request finds.
    type Found: Send + 'static;

    /// Returns the text that is read, if it is a single one.
    fn target(&self) -> Option<&Target> {
        None
    }

    /// Returns the path of a file, a folder or a glob that the request names.
    fn path(&self) -> Option<&str> {
        self.target().and_then(Target::file)
    }

    /// Returns the approximate size of an answer in bytes; `None` if it is not known beforehand.
    fn size(_found: &Self::Found) -> Option<usize> {
        None
    }

    /// Reads; this may block.
    fn read(&self, services: &Services, watch: &Watch) -> Result<Self::Found, Error>;
}

/// The estimated size of a match or an entry with its context, in bytes.
const LINE_BYTES: usize = 512;

impl Services {
    /// Answers a request on a blocking thread. An error names the nearest path if the path does not exist.
    pub(crate) async fn read<R: ReadRequest>(
        self: &Arc<Self>,
        request: R,
        watch: Watch,
    ) -> Result<R::Found, Error> {
        if let Some(target) = request.target() {
            self.prewarm(target);
        }
        let read = move |services: &Services| {
            request.read(services, &watch).map_err(|error| match request.path() {
                Some(path) => services.with_nearest_path(path, error),
                None => error,
            })
        };
        self.off_reactor(read).await
    }
}
