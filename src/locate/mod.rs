//! Where a block is: the rungs by which a quoted text finds its place.
//!
//! Invariant: a rung lists places in the text and changes nothing.
#![deny(clippy::disallowed_methods)]

pub mod exact;
pub mod scope;

use crate::error::Score;

/// How far a text may be from the one that is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tolerance {
    /// Blanks, indentation, typographic marks and wrapping may differ.
    Wrapping,
    /// One line, or one letter, may differ as well.
    Similar {
        /// The least score.
        threshold: Score,
        /// Which single line may differ.
        slip: Slip,
    },
}

/// Which line may differ where one may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// One that differs by a slip of the pen, or in a comment.
    Pen,
    /// Any but the first; for requests that narrow the place as well.
    Any,
}

/// The rung on which a text was found, from strict to lenient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
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

impl Tier {
    /// Every tier, in the order of the ladder.
    pub const ALL: [Tier; 7] =
        [Tier::Exact, Tier::Space, Tier::Indent, Tier::Loose, Tier::Marks, Tier::Wrapping, Tier::Similar];

    /// The tier's name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Exact => "exact",
            Tier::Space => "space",
            Tier::Indent => "indent",
            Tier::Loose => "loose",
            Tier::Marks => "marks",
            Tier::Wrapping => "wrapping",
            Tier::Similar => "similar",
        }
    }
}

/// How a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The rung.
    pub tier: Tier,
    /// How alike what was found is to what was quoted, white space left aside.
    pub score: Score,
    /// How many places the rung found.
    pub candidates: usize,
    /// The score of the next best place, where it was looked for.
    pub runner_up: Option<Score>,
    /// The first line of what was found, from 1; of the first one where there are several.
    pub line: usize,
}
