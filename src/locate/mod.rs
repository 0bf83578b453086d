//! Where a block is: the rungs by which a quoted text finds its place.
//!
//! A quote is looked for along a ladder: byte for byte first, then with more and more of what people and models get
//! wrong left aside. A rung has one place, or the quote is refused; never the first of several. What the caller does
//! not mean to change keeps the file's bytes: the difference between search and replacement is carried over onto the
//! text that is really there.
//!
//! Invariant: nothing is changed here, only changes are proposed, and all of them lie in the window that was asked for.
#![deny(clippy::disallowed_methods)]

mod char_edit;
mod elision;
pub mod exact;
mod fold;
mod fragment;
mod indent;
mod levels;
mod line_index;
mod literal;
mod matcher;
mod nearest;
mod proposal;
mod quotes;
mod rebase;
mod rows;
pub mod scope;
mod similar;
mod standing;
mod steps;
#[cfg(test)]
mod tests;
mod wrapped;
mod wrapping;

use std::ops::{Range, RangeInclusive};

use crate::error::Score;
use crate::text::{Buffer, Change, Lines};
use matcher::Matcher;

pub use proposal::Proposal;
pub use quotes::Quotes;
pub use rebase::Conflict;
use scope::Outline;

/// How far a text may be from the one that is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatchTolerance {
    /// Blanks, indentation, typographic marks and wrapping may differ.
    Wrapping,
    /// One line, or one letter, may differ as well.
    Similar {
        /// The least score.
        threshold: Score,
        /// Which single line may differ.
        slip: TypoPolicy,
    },
}

impl MatchTolerance {
    /// The least score that is asked for where nothing else is.
    pub const THRESHOLD: Score = Score::NINE_TENTHS;
}

/// Which line may differ where one may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypoPolicy {
    /// One that differs by a slip of the pen, or in a comment.
    Pen,
    /// Any but the first; for requests that narrow the place as well.
    Any,
}

/// The rung on which a text was found, from strict to lenient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchLevel {
    /// Byte for byte, on the view with plain line ends.
    Exact,
    /// But for blanks at line ends, and blank lines.
    Space,
    /// But for an indentation that one map explains.
    Indent,
    /// But for the indentation.
    Loose,
    /// But for typographic quotes, dashes, blanks and entities.
    Marks,
    /// With line numbers, a fence, escapes or an elided middle taken off.
    Wrapping,
    /// One line, or one letter, away.
    Similar,
}

impl MatchLevel {
    /// Every tier, in the order of the ladder.
    pub const ALL: [MatchLevel; 7] = [
        MatchLevel::Exact,
        MatchLevel::Space,
        MatchLevel::Indent,
        MatchLevel::Loose,
        MatchLevel::Marks,
        MatchLevel::Wrapping,
        MatchLevel::Similar,
    ];

    /// The tier's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            MatchLevel::Exact => "exact",
            MatchLevel::Space => "space",
            MatchLevel::Indent => "indent",
            MatchLevel::Loose => "loose",
            MatchLevel::Marks => "marks",
            MatchLevel::Wrapping => "wrapping",
            MatchLevel::Similar => "similar",
        }
    }
}

/// How a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchInfo {
    /// The rung.
    pub tier: MatchLevel,
    /// How alike what was found is to what was quoted, white space left aside.
    pub score: Score,
    /// How many places the rung found.
    pub candidates: usize,
    /// The score of the next best place, where it was looked for.
    pub runner_up: Option<Score>,
    /// The first line of what was found, from 1; of the first one where there are several.
    pub line: usize,
}

impl MatchInfo {
    /// The receipt of the only place.
    const fn only(tier: MatchLevel, score: Score, line: usize) -> MatchInfo {
        MatchInfo { tier, score, candidates: 1, runner_up: None, line }
    }
}

/// What is searched, and what is to stand in its place; both with `\n` as the only line end.
#[derive(Debug, Clone, Copy)]
pub struct SearchText<'a> {
    /// The text that the caller takes to be there.
    pub search: &'a str,
    /// The text that it is to become.
    pub replace: &'a str,
    /// What it means that the replacement stands around the place already.
    pub repeat: OnRepeat,
}

/// Whether an edit may be made that looks as if it were made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRepeat {
    /// It is refused.
    Refused,
    /// A second copy is wanted.
    Wanted,
}

/// Where it is searched: some lines of a text.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    view: &'a str,
    text: Lines<'a>,
    first: usize,
    last: usize,
    quotes: Quotes,
}

impl<'a> Field<'a> {
    /// Looks at the lines from `first` to `last`, both from 1.
    pub fn new(buffer: &'a Buffer, first: usize, last: usize) -> Field<'a> {
        let text = buffer.lines();
        Field {
            view: buffer.view(),
            text,
            first: first.max(1),
            last: last.min(text.count()),
            quotes: Quotes::Apart,
        }
    }

    /// Says whether strings may be quoted otherwise here.
    #[must_use]
    pub fn quoting(self, quotes: Quotes) -> Field<'a> {
        Field { quotes, ..self }
    }

    /// The lines as bytes of the view.
    pub fn window(&self) -> Range<usize> {
        self.text.block(self.first, self.last)
    }
}

/// What came of a search for one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// There is one place.
    One(UniqueMatch),
    /// Search and replacement are the same, or what is there is already as the replacement asks.
    Unchanged,
    /// There are several places, or too many to look at each.
    Many {
        /// The rung that has them.
        tier: MatchLevel,
        /// The line on which each begins, from 1.
        lines: Vec<usize>,
    },
    /// The replacement stands there already.
    Standing {
        /// The line on which it begins, from 1.
        line: usize,
    },
    /// There is one place, but what the edit changes is not what is there.
    Conflict(Conflict),
    /// There is none.
    Nowhere {
        /// The lines that come nearest.
        near: Option<SimilarLines>,
        /// The quote that would find the one place that is meant, where that is proved.
        proposal: Option<Proposal>,
    },
}

/// Lines that are like the quoted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimilarLines {
    /// The first line, from 1.
    pub first: usize,
    /// The last line, inclusive.
    pub last: usize,
    /// How alike they are.
    pub score: Score,
}

/// The one place, and what the edit comes to there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueMatch {
    /// The changes of the view.
    pub changes: Vec<Change>,
    /// How it was found.
    pub receipt: MatchInfo,
    /// The lines of the place.
    pub lines: RangeInclusive<usize>,
}

/// Looks for the one place of a quote.
///
/// `outline` gives the outline of the whole text, and is asked only where it matters.
pub fn locate(
    quote: SearchText<'_>,
    field: Field<'_>,
    tolerance: MatchTolerance,
    outline: &dyn Fn() -> Option<Outline>,
) -> Located {
    if quote.search == quote.replace {
        return Located::Unchanged;
    }
    if quote.search.trim().is_empty() {
        return Located::Nowhere { near: None, proposal: None };
    }
    let located = literal::literal(quote, field).unwrap_or_else(|| {
        let mut seeker = Matcher::new(quote, field);
        seeker.seek().unwrap_or_else(|| seeker.similar(tolerance, outline))
    });
    match located {
        Located::One(found) if found.changes.is_empty() => Located::Unchanged,
        located => located,
    }
}

/// Looks for every place of a quote on the strictest rung that has any, down to `marks`; the edit must be carried over
/// onto all of them.
///
/// What stands against it comes back as what a search for one place would have given.
pub fn locate_every(quote: SearchText<'_>, field: Field<'_>) -> Result<Vec<UniqueMatch>, Located> {
    if quote.search == quote.replace {
        return Err(Located::Unchanged);
    }
    let found = literal::every_literal(quote, field)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let mut seeker = Matcher::new(quote, field);
    match seeker.every() {
        Ok(found) if found.is_empty() => Err(seeker.similar(MatchTolerance::Wrapping, &|| None)),
        other => other,
    }
}
