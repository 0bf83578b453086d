//! Parses TOML with toml_edit.

use super::fault::SyntaxFault;
use super::parse::Parse;

/// Parts of the messages of toml_edit for a text that nests too deep for it; the text may be valid.
const TOO_DEEP: [&str; 2] = ["recursion limit", "max recursion depth"];

/// Parses a document up to the first fault.
pub(super) fn read(text: &str, _path: &str) -> Parse {
    let Err(error) = toml_edit::Document::parse(text) else {
        return Parse::valid(Vec::new());
    };
    if TOO_DEEP.iter().any(|part| error.message().contains(part)) {
        return Parse::TooDeep;
    }
    let range = error.span().unwrap_or(text.len()..text.len());
    Parse::faulty(vec![SyntaxFault::new(range.start, range.end, error.message())])
}
