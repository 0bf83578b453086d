//! What the code says: the symbols of a text, where each is defined and used, and what of it fits into an answer.
#![deny(clippy::disallowed_methods)]

/// What the code says of what was asked.
#[derive(Debug, Default)]
pub struct Context {
    /// The symbols of the file that was asked about, in its order.
    pub outline: Vec<Symbol>,
    /// Where the symbols that were asked about are defined, the most relevant first.
    pub definitions: Vec<Symbol>,
    /// Where they are used, the nearest first.
    pub references: Vec<Reference>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// Whether something was left out.
    pub truncated: bool,
}

/// A symbol where it is defined.
#[derive(Debug)]
pub struct Symbol {
    /// Its file.
    pub file: String,
    /// Its name with the names around it, as in `Class.method`: what `within` takes.
    pub name: String,
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// How it is declared, on one line.
    pub signature: String,
    /// The first line of what is said about it.
    pub doc: Option<String>,
}

/// A place where a symbol is used.
#[derive(Debug)]
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
