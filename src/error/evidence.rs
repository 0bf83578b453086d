//! Evidence in an error: places, the nearest lines, and the proposed call.

/// A line of a file, as evidence in an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLine {
    /// 1-based number of the line.
    pub line: usize,
    /// The line's text, at most 60 characters.
    pub preview: String,
    /// The enclosing symbol of the line, if it is known.
    pub symbol: Option<String>,
}

/// The similarity of two texts: 1 for identical texts, 0 for nothing in common; stored in ten-thousandths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// The score of identical texts.
    pub const WHOLE: Score = Score(10_000);
    /// A score of nine tenths.
    pub const NINE_TENTHS: Score = Score(9_000);

    /// Returns the score for an edit distance between texts, the longer of which has `longer` characters. It
    /// is rounded down, so that only identical texts have [`Score::IDENTICAL`].
    pub fn from_distance(distance: usize, longer: usize) -> Score {
        let same = longer.saturating_sub(distance);
        let parts = same.saturating_mul(10_000) / longer.max(1);
        Score(if longer == 0 { 10_000 } else { u16::try_from(parts).unwrap_or(10_000) })
    }

    /// The score of this share, from 0 to 1; nothing for any other number.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 10,000")]
    pub fn from_ratio(ratio: f64) -> Option<Score> {
        (0.0..=1.0).contains(&ratio).then(|| Score((ratio * 10_000.0).round() as u16))
    }

    /// The score as a share from 0 to 1, of at most four decimals.
    pub fn ratio(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// The score in whole per cent, rounded down.
    pub const fn percent(self) -> u16 {
        self.0 / 100
    }

    /// How much higher this score is than another.
    #[must_use]
    pub const fn above(self, other: Score) -> Score {
        Score(self.0.saturating_sub(other.0))
    }
}

/// The first character at which two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// 1-based number of the line in the file.
    pub line: usize,
    /// 1-based column in that line, in characters.
    pub column: usize,
    /// What the request has from there on, at most 40 characters of that line.
    pub asked: String,
    /// What the file has from there on, at most 40 characters of that line.
    pub found: String,
}

/// The lines of a file that come nearest to what was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Best {
    /// First line, from 1.
    pub start_line: usize,
    /// Last line, inclusive.
    pub end_line: usize,
    /// How alike they are to what was searched, white space left aside.
    pub score: Score,
    /// The lines as they are, without their line ends; the first of them where they are many.
    pub lines: Vec<String>,
    /// Where they first differ from what was searched.
    pub first_difference: Option<Difference>,
}

/// The call that a refusal proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextCall {
    /// The same edit with these texts; its place is proved to be the only one.
    Edit {
        /// The text to search for.
        search: String,
        /// The text to put in its place.
        replace: String,
    },
    /// A look at these lines.
    Read {
        /// First line, from 1.
        start_line: usize,
        /// Last line, inclusive.
        end_line: usize,
    },
}
/// What happened to a file since the version that a caller knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// The version that the file has now, as it goes over the wire.
    pub version: String,
    /// The change from the one to the other, as a unified diff; empty where the text of the one was not kept.
    pub diff: String,
}

/// What a person is to be asked before a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// Why a person is asked, as the beginning of a sentence.
    pub reason: String,
    /// The question, in words; several lines.
    pub text: String,
    /// The name of the write: who agreed to it sends this with the same call.
    pub about: String,
}
