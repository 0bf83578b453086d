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
use lockgate_edit::request::{LinesRequest, ReadRequest, WholeRequest};
use lockgate_error::Error;

pub(super) use context::CodeIndex;
pub use lines::ReadLines;
pub use list::{Entries, ListedText};
pub use lockgate_context::{CodeContext, CodeSymbol, ProjectSummary, Reference};
pub use matches::{LineMatch, MatchCount, Matches, NumberedLine};
pub(super) use texts::TextCache;

/// The result of a read operation.
#[derive(Debug)]
pub enum ReadResponse {
    /// Some lines of a text.
    Lines(ReadLines),
    /// The whole of a text.
    Whole(ReadLines),
    /// The lines of texts that a pattern matches.
    Matches(Matches),
    /// A list of files or entities.
    Entries(Entries),
    /// The symbols and files that a context query found.
    Context(Box<CodeContext>),
}

impl ReadResponse {
    /// Returns the approximate size of the answer in bytes; `None` if it is not known beforehand.
    pub fn size(&self) -> Option<usize> {
        /// The estimated size of a match or an entry with its context, in bytes.
        const LINE: usize = 512;
        match self {
            ReadResponse::Lines(reading) | ReadResponse::Whole(reading) => Some(reading.text.view().len()),
            ReadResponse::Matches(matches) => Some(matches.found.len().saturating_mul(LINE)),
            ReadResponse::Entries(entries) => Some(entries.entries.len().saturating_mul(LINE)),
            ReadResponse::Context(_) => None,
        }
    }
}

impl Services {
    /// Runs a read on a blocking thread. An error names the nearest path if the path does not exist.
    pub(crate) async fn run_read(
        self: &Arc<Self>,
        request: ReadRequest,
        watch: Watch,
    ) -> Result<ReadResponse, Error> {
        if let ReadRequest::Lines(LinesRequest { target, .. })
        | ReadRequest::Whole(WholeRequest { target, .. }) = &request
        {
            self.prewarm(target);
        }
        let read = move |workspace: &Services| {
            let read = workspace.read_now(&request, &watch);
            read.map_err(|error| match request.path() {
                Some(path) => workspace.with_nearest_path(path, error),
                None => error,
            })
        };
        self.off_reactor(read).await
    }

    fn read_now(&self, request: &ReadRequest, watch: &Watch) -> Result<ReadResponse, Error> {
        match request {
            ReadRequest::Lines(request) => self.lines(request).map(ReadResponse::Lines),
            ReadRequest::Whole(request) => self.whole(request).map(ReadResponse::Whole),
            ReadRequest::Search(request) => self.search(request, watch).map(ReadResponse::Matches),
            ReadRequest::List(request) => self.list(request, watch).map(ReadResponse::Entries),
            ReadRequest::Context(request) => {
                self.context(request, watch).map(Box::new).map(ReadResponse::Context)
            }
        }
    }
}
