//! Code context: the symbols of a text, their definitions and uses, selected to fit into a response.
//!
//! Symbols are those of an outline, so every returned name is accepted as `within`. Uses are found by
//! name and not by type; docs/context.md describes the consequences.
//!
//! Invariant: a response adds a part only if its JSON fits, and never exceeds its limit.
//!
//! ```
//! use lockgate_context::{AnswerInput, ContextQuery, Index, answer, reading};
//! use lockgate_text::Version;
//!
//! let text = "def area(side):\n    return side * side\n";
//! let tags = reading(|reader| reader.tags("python", "shape.py", text))?.unwrap();
//! let mut index = Index::new("");
//! index.put("shape.py", Version::hash(text.as_bytes()), &tags);
//! let question = ContextQuery { symbol: Some("area"), query: None, near: None, tokens: 1000 };
//! // Without the texts, an answer has no code; `texts` returns them.
//! let found = answer(&index, &question, AnswerInput::default(), &mut |_| None);
//! assert!(found.definitions.is_some());
//! # Ok::<(), String>(())
//! ```
#![deny(clippy::disallowed_methods)]

mod answer;
mod bound;
mod budget;
mod doc;
mod dropped;
mod imports;
mod index;
mod indexed_symbol;
mod line_starts;
mod near;
mod outline;
mod project;
mod query;
mod symbol;
mod symbol_group;
mod tags;
mod unparsed_names;
mod use_context;
mod uses;
mod vanished;
mod versioned_text;
mod words;

pub use answer::{AnswerInput, ContextQuery, answer};
pub use dropped::dropped;
pub use index::{Index, IndexReader, IndexWriter};
pub use lockgate_text::SymbolKind;
pub use project::project;
pub use tags::{SymbolLocation, Tag, TagReader, Tags, reading};
pub use vanished::{RemainingFile, Vanished};
pub use versioned_text::VersionedText;

/// True if texts in this language can be parsed.
pub fn reads(language: &str) -> bool {
    lockgate_syntax::find(language).is_some()
}

#[cfg(test)]
mod tests;
