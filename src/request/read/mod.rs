//! Read requests: lines of a text, or all of it; the lines that a pattern matches; lists of files and
//! entities; code context.

mod context;
mod lines;
mod list;
mod search;

pub use context::{ContextFields, ContextRequest};
pub use lines::{LineFields, LinesRequest};
pub use list::{ListFields, ListRequest};
pub use search::{SearchFields, SearchRequest};

use super::Target;

/// A request to read files or entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadRequest {
    /// Some lines of a text.
    Lines(LinesRequest),
    /// The whole of a text.
    Whole(Target),
    /// The lines of texts that a pattern matches.
    Search(SearchRequest),
    /// A list of files or entities.
    List(ListRequest),
    /// The code context of a file or a symbol.
    Context(ContextRequest),
}
