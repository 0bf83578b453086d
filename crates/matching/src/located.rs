//! What a search finds: the level, the place and the changes, or why there is no match.

use std::ops::RangeInclusive;

use super::rebase::Conflict;
use lockgate_error::Score;
use lockgate_text::Change;

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

/// The result of a search for one match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// There is exactly one match.
    One(UniqueMatch),
    /// There is exactly one match, and the file already has the requested text there.
    Unchanged,
    /// There are several matches, or too many to examine each.
    Ambiguous {
        /// The level of the matches.
        level: MatchLevel,
        /// The first line of each match, from 1; of the first ones if they are not all known.
        lines: Vec<usize>,
        /// False if there may be more matches than `lines`.
        is_complete: bool,
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

impl UniqueMatch {
    /// Creates the match of these lines, as the only candidate.
    pub(super) fn new(
        changes: Vec<Change>,
        level: MatchLevel,
        score: Score,
        lines: RangeInclusive<usize>,
    ) -> UniqueMatch {
        let match_info = MatchInfo { level, score, candidates: 1, runner_up: None, line: *lines.start() };
        UniqueMatch { changes, match_info, lines }
    }

    /// Returns the match as one of several.
    pub(super) fn with_candidates(self, candidates: usize) -> UniqueMatch {
        UniqueMatch { match_info: MatchInfo { candidates, ..self.match_info }, ..self }
    }
}

/// A search text of whole lines that has exactly one literal match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The lines as they are in the file.
    pub search: String,
    /// The lines after the edit.
    pub replace: String,
}
