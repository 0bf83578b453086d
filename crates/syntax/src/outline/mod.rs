//! The symbols and comments of a text, parsed by the grammar of its language.
//!
//! Invariant: symbols are in the order of the text, and any two of them are separate or nested.

mod comment;
mod gather;
mod kind;
mod minor;
mod name;
mod part;
mod table;

use super::{Tree, allowed_beside_symbols};
use lockgate_text::Outline;

/// The step limit of parsing. Typical text took 10,000 to 30,000 steps for each MiB. HTML takes more with more tags,
/// and 8,000 tags in 300 KB are about the maximum.
const STEPS: usize = 500_000;

/// Parses the symbols and comments of a text; `None` if the language has no grammar, or the text cannot be parsed
/// safely within the steps. In a broken text, the outline has the symbols that the grammar could recognize.
pub fn outline(language: &str, path: &str, view: &str) -> Option<Outline> {
    let memory = allowed_beside_symbols(view);
    outline_of_tree(language, &*super::read_within(memory, language, path, view, STEPS).ok()?, view)
}

/// Returns the symbols and comments of a parsed text; `None` if the language has none.
pub fn outline_of_tree(language: &str, tree: &Tree, view: &str) -> Option<Outline> {
    gather::gather(table::row(language)?, tree, view)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
