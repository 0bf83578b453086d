//! Finds the one place that a quoted text means.
//!
//! A search text is tried at one match level after the other: exact first, then progressively looser for the mistakes
//! that people and models make. Exactly one match is accepted; several matches are an error, and the first is never
//! taken. Bytes that the caller does not mean to change stay unchanged: the difference between search and replacement
//! is merged into the actual text. If nothing matches, the nearest lines and a search text that would match are found.
//!
//! The work is bounded by steps and not by time, so an answer does not depend on the load. What the language of a text
//! tells is asked of a [`Syntax`](lockgate_text::Syntax); without one, the levels that need it are left out.
//!
//! Invariant: this crate only proposes changes, and all of them are inside the requested range.
//!
//! ```
//! use lockgate_matching::{LineRange, Located, MatchTolerance, OnRepeat, SearchText, locate};
//! use lockgate_text::{Buffer, Hints};
//!
//! let buffer = Buffer::read(b"def f():\n\treturn first(1)\n".to_vec(), Hints::default())?;
//! let quoted = "def f():\n    return first(1)\n";
//! let search = SearchText { search: quoted, replace: &quoted.replace('1', "2"), on_repeat: OnRepeat::Reject };
//! let found = locate(search, LineRange::new(&buffer, 1, 2), MatchTolerance::Wrapping, &|| None);
//! let Located::One(found) = found else { panic!("{found:?}") };
//! let after = buffer.apply(&buffer.plan(found.changes)?)?;
//! assert_eq!(after.view(), "def f():\n\treturn first(2)\n");
//! # Ok::<(), lockgate_error::Error>(())
//! ```
#![deny(clippy::disallowed_methods)]

mod already_applied;
mod char_edit;
mod elision;
pub mod exact;
mod fold;
mod fragment;
mod indent;
mod layout;
mod levels;
mod line_index;
mod literal;
mod matcher;
mod nearest;
mod proposal;
mod quotes;
mod rebase;
mod rows;
mod similar;
mod steps;
#[cfg(test)]
mod tests;
mod wrapped;
mod wrapping;

use std::ops::{Range, RangeInclusive};

use lockgate_error::Score;
use lockgate_text::{Buffer, Change, Lines, Outline, Syntax};
use matcher::Matcher;

pub use proposal::Proposal;
pub use quotes::Quotes;
pub use rebase::Conflict;

/// The allowed difference between the search text and the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchTolerance {
    /// Blanks, indentation, typographic marks and wrapping may differ.
    Wrapping,
    /// One line, or one letter, may differ as well.
    Similar {
        /// The minimum score of a similar match.
        threshold: Score,
        /// The single line that may differ.
        typos: TypoPolicy,
    },
}

impl MatchTolerance {
    /// The minimum score of a request that sets none.
    pub const THRESHOLD: Score = Score::NINE_TENTHS;
}

/// The lines that may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypoPolicy {
    /// A line that differs by a typing error, or in a comment.
    Certain,
    /// Any line but the first; for requests that also narrow the location.
    Any,
}

/// The level at which a text matched, from strict to lenient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchLevel {
    /// Literally, in the view with `\n` line ends.
    Exact,
    /// Except for blanks at line ends, and blank lines.
    Space,
    /// Except for an indentation that one rule maps.
    Indent,
    /// Except for the indentation of each line.
    Loose,
    /// Except for typographic quotes, dashes, blanks and entities.
    Marks,
    /// After line numbers, a fence, escapes or an elided middle are removed.
    Wrapping,
    /// Except for the layout of the code: token for token, as a formatter leaves it.
    Layout,
    /// Except for one line or one letter.
    Similar,
}

impl MatchLevel {
    /// All levels, from strict to lenient.
    pub const ALL: [MatchLevel; 8] = [
        MatchLevel::Exact,
        MatchLevel::Space,
        MatchLevel::Indent,
        MatchLevel::Loose,
        MatchLevel::Marks,
        MatchLevel::Wrapping,
        MatchLevel::Layout,
        MatchLevel::Similar,
    ];

    /// Returns the level's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            MatchLevel::Exact => "exact",
            MatchLevel::Space => "space",
            MatchLevel::Indent => "indent",
            MatchLevel::Loose => "loose",
            MatchLevel::Marks => "marks",
            MatchLevel::Wrapping => "wrapping",
            MatchLevel::Layout => "layout",
            MatchLevel::Similar => "similar",
        }
    }
}

/// Details of a match, for reports to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchInfo {
    /// The level at which the text matched.
    pub level: MatchLevel,
    /// The similarity of the match and the search text, without white space.
    pub score: Score,
    /// The number of matches at this level.
    pub candidates: usize,
    /// The score of the second best match, if it was computed.
    pub runner_up: Option<Score>,
    /// The first line of the match, from 1; of the first match if there are several.
    pub line: usize,
}

impl MatchInfo {
    /// Returns the details of an only match.
    const fn only(level: MatchLevel, score: Score, line: usize) -> MatchInfo {
        MatchInfo { level, score, candidates: 1, runner_up: None, line }
    }
}

/// A search text and its replacement, both with `\n` as the only line end.
#[derive(Debug, Clone, Copy)]
pub struct SearchText<'a> {
    /// The text that the caller expects in the file.
    pub search: &'a str,
    /// The text that replaces the match.
    pub replace: &'a str,
    /// The action if the replacement is already around the match.
    pub on_repeat: OnRepeat,
}

/// The action for an edit that seems to be already made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRepeat {
    /// The edit is rejected as already made.
    Reject,
    /// The replacement is inserted a second time.
    Insert,
}

/// What tells the syntax of a text.
#[derive(Debug, Clone, Copy)]
struct Source<'a> {
    /// The name of the language in the catalogue.
    language: &'a str,
    path: &'a str,
    syntax: &'a dyn Syntax,
}

/// The lines of a text that are searched.
#[derive(Debug, Clone, Copy)]
pub struct LineRange<'a> {
    view: &'a str,
    text: Lines<'a>,
    first: usize,
    last: usize,
    quotes: Quotes,
    source: Option<Source<'a>>,
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
            quotes: Quotes::Distinct,
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
        LineRange { quotes: Quotes::for_language(language), source, ..self }
    }

    /// Returns the lines as bytes of the view.
    pub fn window(&self) -> Range<usize> {
        self.text.block(self.first, self.last)
    }
}

/// The result of a search for one match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// There is exactly one match.
    One(UniqueMatch),
    /// Search and replacement are the same, or the file already has the requested text.
    Unchanged,
    /// There are several matches, or too many to examine each.
    Ambiguous {
        /// The level of the matches.
        level: MatchLevel,
        /// The first line of each match, from 1.
        lines: Vec<usize>,
    },
    /// The replacement is already in the file.
    AlreadyApplied {
        /// Its first line, from 1.
        line: usize,
    },
    /// There is one match, but the text that the edit changes differs.
    Conflict(Conflict),
    /// There is no match at any allowed level.
    NotFound {
        /// The lines that are most similar to the search text.
        nearest: Option<SimilarLines>,
        /// The search text that would find the intended match, if that is proved.
        proposal: Option<Proposal>,
    },
}

/// Lines that are similar to the search text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimilarLines {
    /// The first line of the block, from 1.
    pub first: usize,
    /// The last line of the block, inclusive.
    pub last: usize,
    /// The similarity to the search text.
    pub score: Score,
}

/// The only match, and the result of the edit there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueMatch {
    /// The changes of the view.
    pub changes: Vec<Change>,
    /// The level, score and number of matches.
    pub match_info: MatchInfo,
    /// The lines of the match.
    pub lines: RangeInclusive<usize>,
}

/// Finds the only match of a search text.
///
/// `outline` returns the outline of the whole text, and is called only if needed.
pub fn locate(
    search_text: SearchText<'_>,
    range: LineRange<'_>,
    tolerance: MatchTolerance,
    outline: &dyn Fn() -> Option<Outline>,
) -> Located {
    if search_text.search == search_text.replace {
        return Located::Unchanged;
    }
    if search_text.search.trim().is_empty() {
        return Located::NotFound { nearest: None, proposal: None };
    }
    let located = literal::literal(search_text, range).unwrap_or_else(|| {
        let mut matcher = Matcher::new(search_text, range);
        let found = matcher.find().or_else(|| layout::find(&mut matcher));
        found.unwrap_or_else(|| matcher.similar(tolerance, outline))
    });
    match located {
        Located::One(found) if found.changes.is_empty() => Located::Unchanged,
        located => located,
    }
}

/// Finds every match of a search text at the strictest level that has any, down to `wrapping`. The edit must apply to
/// all of them.
///
/// Errors: the result that a search for one match would have returned.
pub fn locate_every(search_text: SearchText<'_>, range: LineRange<'_>) -> Result<Vec<UniqueMatch>, Located> {
    if search_text.search == search_text.replace {
        return Err(Located::Unchanged);
    }
    let found = literal::every_literal(search_text, range)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let mut matcher = Matcher::new(search_text, range);
    match matcher.find_every() {
        Ok(found) if found.is_empty() => Err(matcher.similar(MatchTolerance::Wrapping, &|| None)),
        other => other,
    }
}
