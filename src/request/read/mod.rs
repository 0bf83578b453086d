//! What is asked to be shown: lines of a text, or all of it; the lines that a pattern matches; which texts there are;
//! what the code says.

mod context;
mod lines;
mod list;
mod search;

pub use context::{ContextFields, ContextLook};
pub use lines::{LineFields, LineLook};
pub use list::{ListFields, ListLook};
pub use search::{SearchFields, SearchLook};

use super::Target;

/// Something that is asked to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadRequest {
    /// Some lines of a text.
    Lines(LineLook),
    /// A whole text.
    Whole(Target),
    /// The lines of texts that a pattern matches.
    Search(SearchLook),
    /// Which texts there are.
    List(ListLook),
    /// What the code says of a file or a symbol.
    Context(ContextLook),
}
