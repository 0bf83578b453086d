//! What a parser tells about a text: the interface between texts and grammars.

use std::fmt;
use std::ops::Range;

use super::outline::Outline;

/// Reads the structure of texts. A language is named as in the catalogue; the path helps to choose a dialect.
pub trait Syntax: fmt::Debug + Sync {
    /// Returns the symbols and comments of a text; `None` if its language is unknown, or it cannot be read.
    fn outline(&self, language: &str, path: &str, view: &str) -> Option<Outline>;

    /// Returns the tree of a text; `None` if its language is unknown, or it cannot be read.
    fn code_tree(&self, language: &str, path: &str, view: &str) -> Option<Box<dyn CodeTree>>;
}

/// The tree of a text.
pub trait CodeTree: fmt::Debug {
    /// Returns the outermost parts of the text whose blanks have a meaning, such as strings, in its order.
    fn opaque_parts(&self, view: &str) -> Vec<OpaquePart>;

    /// Returns the node around the smallest one that covers a span of the text.
    fn parent(&self, span: Range<usize>) -> Option<ParentNode<'_>>;
}

/// A part of a text whose blanks have a meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpaquePart {
    /// Its bytes in the view, without blanks at its ends.
    pub span: Range<usize>,
    /// Set for a comment, clear for a string or the like.
    pub is_comment: bool,
}

/// A node around another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParentNode<'t> {
    /// Its kind in the grammar.
    pub kind: &'t str,
    /// The number of its named children.
    pub child_count: usize,
}

/// Knows no language: nothing is read.
#[derive(Debug, Clone, Copy)]
pub struct NoSyntax;

impl Syntax for NoSyntax {
    fn outline(&self, _: &str, _: &str, _: &str) -> Option<Outline> {
        None
    }

    fn code_tree(&self, _: &str, _: &str, _: &str) -> Option<Box<dyn CodeTree>> {
        None
    }
}
