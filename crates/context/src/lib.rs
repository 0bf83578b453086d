//! Code context: the symbols of a text, their definitions and uses, selected to fit into a response.
//!
//! Symbols are those of an outline, so every returned name is accepted as `within`. Uses are found by
//! name and not by type; docs/context.md describes the consequences.
//!
//! Invariant: a response counts the size of each part before it adds it, and never exceeds its limit.
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
mod imports;
mod index;
mod indexed_symbol;
mod near;
mod outline;
mod project;
mod query;
mod symbol;
mod symbol_group;
mod tags;
mod use_context;
mod uses;
mod vanished;
mod versioned_text;
mod words;

use std::collections::BTreeMap;

use lockgate_text::Version;

pub use answer::{AnswerInput, ContextQuery, answer};
pub use index::{Index, IndexReader, IndexWriter};
pub use lockgate_text::SymbolKind;
pub use project::{FolderSummary, ProjectSummary, project};
pub use tags::{SymbolLocation, Tag, TagReader, Tags, reading};
pub use vanished::{RemainingFile, Vanished, dropped};
pub use versioned_text::VersionedText;

/// True if texts in this language can be parsed.
pub fn reads(language: &str) -> bool {
    lockgate_syntax::find(language).is_some()
}

/// The answer to a context query. Parts that were not requested are empty or `None`.
#[derive(Debug, Default)]
pub struct CodeContext {
    /// The requested file and its outline; `None` if no file was requested.
    pub target: Option<TargetFile>,
    /// The definitions of the requested symbol, most relevant first; `None` if no symbol was requested.
    pub definitions: Option<Vec<CodeSymbol>>,
    /// The uses of the symbol, nearest first.
    pub references: Vec<Reference>,
    /// The symbols that match the words of the query, most relevant first; `None` if there were no
    /// words.
    pub found: Option<Vec<CodeSymbol>>,
    /// The definitions of the names that the file uses, nearest first.
    pub uses: Vec<CodeSymbol>,
    /// The project summary; `None` if it was not requested.
    pub project: Option<ProjectSummary>,
    /// The versions of the files that are shown, except the requested one.
    pub versions: BTreeMap<String, Version>,
    /// Notes on what was left out, and why.
    pub notes: Vec<String>,
    /// Set when something was left out.
    pub truncated: bool,
    /// The maximum size of the response in bytes.
    pub max_bytes: usize,
}

/// A file and its symbols.
#[derive(Debug)]
pub struct TargetFile {
    /// The file's path as lockgate writes it.
    pub path: String,
    /// The version of its whole text.
    pub version: Version,
    /// The number of lines in its text.
    pub lines: usize,
    /// Its symbols, in text order.
    pub outline: Vec<CodeSymbol>,
}

/// A symbol and its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSymbol {
    /// Its file; empty if the response states the file once for all symbols.
    pub file: String,
    /// Its name with the names around it, as in `Class.method`; `within` accepts it.
    pub name: String,
    /// The kind of symbol, such as a function or a class.
    pub kind: SymbolKind,
    /// Its first line, from 1, which may be that of a decorator or comment.
    pub start_line: usize,
    /// The line with its name.
    pub line: usize,
    /// Its last line, from 1 and inclusive.
    pub end_line: usize,
    /// Its declaration, on one line.
    pub signature: String,
    /// The first line of its documentation.
    pub doc: Option<String>,
    /// Its complete code, if it fits.
    pub code: Option<String>,
}

/// A line that uses a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The path of the file that contains the line.
    pub file: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// The symbol around the line.
    pub within: Option<String>,
}

#[cfg(test)]
mod tests;
