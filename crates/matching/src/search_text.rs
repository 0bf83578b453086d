//! What is searched for, and where.

use std::ops::Range;

use super::quotes::are_interchangeable;
use lockgate_text::{Buffer, Lines, Syntax};

/// A search text and its replacement, both with `\n` as the only line end.
#[derive(Debug, Clone, Copy)]
pub struct SearchText<'a> {
    /// The text that the caller expects in the file.
    pub search: &'a str,
    /// The text that replaces the match.
    pub replace: &'a str,
    /// The action if the replacement is already around the match.
    pub on_duplicate: OnDuplicate,
}

/// The action if the replacement is already around the match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OnDuplicate {
    /// The edit counts as made before and is rejected.
    #[default]
    Reject,
    /// The replacement is inserted a second time.
    InsertAgain,
}

impl OnDuplicate {
    /// Returns the action for a caller with this expected version. A caller who knows the file's version intends a
    /// second copy.
    pub const fn from_expected_version(version: Option<&str>) -> OnDuplicate {
        match version {
            Some(_) => OnDuplicate::InsertAgain,
            None => OnDuplicate::Reject,
        }
    }
}

/// What tells the syntax of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// The name of the language in the catalogue.
    pub(super) language: &'a str,
    pub(super) path: &'a str,
    pub(super) syntax: &'a dyn Syntax,
}

/// The lines of a text that are searched.
#[derive(Debug, Clone, Copy)]
pub struct LineRange<'a> {
    pub(super) view: &'a str,
    pub(super) text: Lines<'a>,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) source: Option<Source<'a>>,
}

impl<'a> LineRange<'a> {
    /// Selects the lines from `first` to `last`, both from 1.
    pub fn new(buffer: &'a Buffer, first: usize, last: usize) -> LineRange<'a> {
        let text = buffer.lines();
        LineRange {
            view: buffer.view(),
            text,
            first: first.max(1),
            last: last.min(text.count()),
            source: None,
        }
    }

    /// Sets the language of the text, by its name in the catalogue, its path, and what can read it.
    #[must_use]
    pub fn with_language(
        self,
        language: Option<&'a str>,
        path: &'a str,
        syntax: &'a dyn Syntax,
    ) -> LineRange<'a> {
        let source = language.map(|language| Source { language, path, syntax });
        LineRange { source, ..self }
    }

    /// Returns true if the quotes of a string may differ from those of the text.
    pub(super) fn has_interchangeable_quotes(&self) -> bool {
        self.source.is_some_and(|source| are_interchangeable(source.language))
    }

    /// Returns the lines as bytes of the view.
    pub fn window(&self) -> Range<usize> {
        self.text.block(self.first, self.last)
    }
}
