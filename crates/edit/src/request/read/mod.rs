//! Read requests: lines of a text, or all of it; the lines that a pattern matches; lists of files and
//! entities; code context.

mod context;
mod lines;
mod list;
mod search;
mod whole;

pub use context::{ContextFields, ContextRequest};
pub use lines::{LineFields, LinesRequest};
pub use list::{ListFields, ListRequest};
pub use search::{SearchFields, SearchRequest};
pub use whole::{WholeFields, WholeRequest};

use super::Target;

/// A request to read files or entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadRequest {
    /// Some lines of a text.
    Lines(LinesRequest),
    /// A text from one of its lines to the end.
    Whole(WholeRequest),
    /// The lines of texts that a pattern matches.
    Search(SearchRequest),
    /// A list of files or entities.
    List(ListRequest),
    /// The code context of a file or a symbol.
    Context(ContextRequest),
}

impl ReadRequest {
    /// Returns the path of a file, a folder or a glob that the request names.
    pub fn path(&self) -> Option<&str> {
        let target = match self {
            ReadRequest::Lines(LinesRequest { target, .. }) => target,
            ReadRequest::Whole(WholeRequest { target, .. }) => target,
            ReadRequest::Search(request) => return request.path.as_deref(),
            ReadRequest::Context(ContextRequest { target: Some(target), .. }) => target,
            ReadRequest::List(_) | ReadRequest::Context(_) => return None,
        };
        match target {
            Target::File(path) => Some(path),
            Target::Entity(_) => None,
        }
    }
}
