//! What the code says: the symbols of a text, where each is defined and used, and what of it fits into an answer.
//!
//! Symbols are those of an outline, so that each name that is given can be given back as `within`. Uses are found by name
//! and not by type: docs/context.md says what follows from that.
//!
//! Invariant: an answer counts what it takes before it grows, and is never larger than it was allowed to be.
#![deny(clippy::disallowed_methods)]

mod answer;
mod bound;
mod budget;
mod imports;
mod index;
mod near;
mod outline;
mod page;
mod project;
mod query;
mod subject;
mod symbol;
mod tags;
mod told;
mod uses;
mod vanished;
mod words;

use std::collections::BTreeMap;

use crate::text::Version;

pub use crate::locate::scope::SymbolKind;
pub use answer::{ContextQuery, SourceSizes, answer};
pub use index::Index;
pub use page::VersionedText;
pub use project::{FolderSummary, ProjectSummary, project};
pub use tags::{SymbolLocation, Tag, TagReader, Tags, reading};
pub use vanished::{Left, Vanished, dropped};

/// Whether texts in a language can be read.
pub fn reads(language: &str) -> bool {
    crate::grammar::find(language).is_some()
}

/// What the code says of what was asked. A part that was not asked for is empty or nothing.
#[derive(Debug, Default)]
pub struct CodeContext {
    /// The file that was asked about.
    pub target: Option<TargetFile>,
    /// Where the symbol that was asked about is defined, the most relevant first; nothing where none was.
    pub definitions: Option<Vec<CodeSymbol>>,
    /// Where it is used, the nearest first.
    pub references: Vec<Reference>,
    /// The symbols that the words of the query speak of, the most relevant first; nothing where there was none.
    pub found: Option<Vec<CodeSymbol>>,
    /// Where the names that the file uses are defined, the nearest first.
    pub uses: Vec<CodeSymbol>,
    /// The shape of the project.
    pub project: Option<ProjectSummary>,
    /// The versions of the files that are shown, but for the one that was asked about.
    pub versions: BTreeMap<String, Version>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// Whether something was left out.
    pub truncated: bool,
    /// The most bytes of the answer.
    pub room: usize,
}

/// A file and its symbols.
#[derive(Debug)]
pub struct TargetFile {
    /// The file as lockgate names it.
    pub path: String,
    /// The stamp of its whole text.
    pub version: Version,
    /// How many lines it has.
    pub lines: usize,
    /// Its symbols, in its order.
    pub outline: Vec<CodeSymbol>,
}

/// A symbol where it is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSymbol {
    /// Its file; empty where that is said once for all.
    pub file: String,
    /// Its name with the names around it, as in `Class.method`: what `within` takes.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Its first line, from 1, which may be that of a decorator or comment.
    pub start_line: usize,
    /// The line with its name.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// How it is declared, on one line.
    pub signature: String,
    /// The first line of what is said about it.
    pub doc: Option<String>,
    /// All of it, where that fits.
    pub code: Option<String>,
}

/// A line on which a symbol is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The symbol around it.
    pub within: Option<String>,
}

#[cfg(test)]
mod tests;
