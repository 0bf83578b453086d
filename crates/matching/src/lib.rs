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
//! use lockgate_matching::{LineRange, Located, MatchTolerance, OnDuplicate, SearchText, locate};
//! use lockgate_text::{Buffer, Hints};
//!
//! let buffer = Buffer::read(b"def f():\n\treturn first(1)\n".to_vec(), Hints::default())?;
//! let quoted = "def f():\n    return first(1)\n";
//! let search = SearchText { search: quoted, replace: &quoted.replace('1', "2"), on_duplicate: OnDuplicate::Reject };
//! let found = locate(search, LineRange::new(&buffer, 1, 2), MatchTolerance::Wrapping, &|| None);
//! let Located::One(found) = found else { panic!("{found:?}") };
//! let after = buffer.apply(&buffer.plan(found.changes)?)?;
//! assert_eq!(after.view(), "def f():\n\treturn first(2)\n");
//! # Ok::<(), lockgate_error::Error>(())
//! ```
#![deny(clippy::disallowed_methods)]

mod already_applied;
mod budget;
mod char_edit;
mod comment;
mod elision;
pub mod exact;
mod fold;
mod fragment;
mod indent;
mod layout;
mod levels;
mod line_index;
mod literal;
mod located;
mod matcher;
mod nearest;
mod other_place;
mod proposal;
mod quotes;
mod rebase;
mod replacement;
mod rows;
mod search_text;
mod similar;
#[cfg(test)]
mod tests;
mod wrapped;
mod wrapping;

use lockgate_text::Outline;
use matcher::Matcher;

pub use located::{
    Located, MatchInfo, MatchLevel, MatchTolerance, Proposal, SimilarLines, TypoPolicy, UniqueMatch,
};
pub use rebase::Conflict;
pub use search_text::{LineRange, OnDuplicate, SearchText};

/// Finds the only match of a search text.
///
/// `outline` returns the outline of the whole text, and is called only if needed.
pub fn locate(
    search_text: SearchText<'_>,
    range: LineRange<'_>,
    tolerance: MatchTolerance,
    outline: &dyn Fn() -> Option<Outline>,
) -> Located {
    if search_text.search.trim().is_empty() {
        return Located::NotFound { nearest: None, proposal: None };
    }
    let located = literal::literal(search_text, range).unwrap_or_else(|| {
        let mut matcher = Matcher::new(search_text, range);
        let found = match matcher.find() {
            Some(Located::AlreadyApplied { line })
                if search_text.replace.len() < search_text.search.len() =>
            {
                Some(applied_or_around(&mut matcher, line))
            }
            found => found.or_else(|| layout::find(&mut matcher)),
        };
        found.unwrap_or_else(|| matcher.similar(tolerance, outline))
    });
    match located {
        Located::One(found) if found.changes.is_empty() => Located::Unchanged,
        located => located,
    }
}

/// Returns the match of a quote in another layout around a replacement at this line, which then only removes code.
/// Otherwise the edit was already made.
fn applied_or_around(matcher: &mut Matcher<'_>, line: usize) -> Located {
    match layout::find(matcher) {
        Some(Located::One(found)) if found.lines.contains(&line) => Located::One(found),
        Some(_) | None => Located::AlreadyApplied { line },
    }
}

/// Finds every match of a search text at the strictest level that has any, down to `wrapping`. The edit must apply to
/// all of them.
///
/// Errors: the result that a search for one match would have returned.
pub fn locate_every(search_text: SearchText<'_>, range: LineRange<'_>) -> Result<Vec<UniqueMatch>, Located> {
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
