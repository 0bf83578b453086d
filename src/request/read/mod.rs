//! Read requests: lines of a text, or all of it; the lines that a pattern matches; lists of files and
//! entities; code context.

mod context;
mod lines;
mod list;
mod search;

pub use context::{ContextFields, ContextLook};
pub use lines::{LineFields, LineLook};
pub use list::{ListFields, ListLook};
pub use search::{SearchFields, SearchLook};

use super::Target;

/// A request to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadRequest {
    /// Some lines of a text.
    Lines(LineLook),
    /// The whole of a text.
    Whole(Target),
    /// The lines of texts that a pattern matches.
    Search(SearchLook),
    /// A list of files or entities.
    List(ListLook),
    /// The code context of a file or a symbol.
    Context(ContextLook),
}
