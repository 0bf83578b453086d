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
    pub const IDENTICAL: Score = Score(10_000);
    /// A score of nine tenths.
    pub const NINE_TENTHS: Score = Score(9_000);

    /// Returns the score for an edit distance between texts, the longer of which has `longer` characters. It
    /// is rounded down, so that only identical texts have [`Score::IDENTICAL`].
    pub fn from_distance(distance: usize, longer: usize) -> Score {
        let same = longer.saturating_sub(distance);
        let parts = same.saturating_mul(10_000) / longer.max(1);
        Score(if longer == 0 { 10_000 } else { u16::try_from(parts).unwrap_or(10_000) })
    }

    /// Returns the score for a ratio from 0 to 1; `None` for any other number.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 10,000")]
    pub fn from_ratio(ratio: f64) -> Option<Score> {
        (0.0..=1.0).contains(&ratio).then(|| Score((ratio * 10_000.0).round() as u16))
    }

    /// Returns the score as a ratio from 0 to 1, with at most four decimals.
    pub fn ratio(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// The score in whole per cent, rounded down.
    pub const fn percent(self) -> u16 {
        self.0 / 100
    }

    /// Returns the difference to a lower score, or 0.
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
    /// The text of the request from there on, at most 40 characters of that line.
    pub expected: String,
    /// The text of the file from there on, at most 40 characters of that line.
    pub found: String,
}

/// The lines of a file that are most similar to the search text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Best {
    /// The first line, from 1.
    pub start_line: usize,
    /// The last line, from 1 and inclusive.
    pub end_line: usize,
    /// Their similarity to the search text, ignoring white space.
    pub score: Score,
    /// The lines without their line ends; only the first of many.
    pub lines: Vec<String>,
    /// The lines around each difference, with their numbers; all lines of a short block.
    pub excerpt: Vec<(usize, String)>,
    /// The first difference from the search text.
    pub first_difference: Option<Difference>,
}

impl Best {
    /// Returns the number and the text of the first line that differs from the search text.
    pub(crate) fn first_different_line(&self) -> Option<(usize, &str)> {
        let line = self.first_difference.as_ref()?.line;
        self.excerpt.iter().find(|(number, _)| *number == line).map(|(number, text)| (*number, text.as_str()))
    }
}

/// The value of a field of a proposed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A JSON boolean.
    Flag(bool),
    /// A JSON integer that is not negative.
    Number(u64),
    /// A JSON number from 0 to 1.
    Ratio(Score),
    /// A JSON string.
    Text(String),
}

/// The call that an error proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextCall {
    /// The same edit with these texts; they are proved to match in exactly one place.
    Edit {
        /// The text to search for.
        search: String,
        /// The text to put in its place.
        replace: String,
    },
    /// The same call with corrections of several of its edits.
    Edits(Vec<CorrectedEdit>),
    /// The same edit with an entry of a list moved to other lines.
    Move {
        /// The list, as in `line_edits`.
        list: &'static str,
        /// The index of the entry in the list.
        index: usize,
        /// The number of lines by which its line numbers grow.
        by: isize,
    },
    /// The same edit with other fields.
    Fields {
        /// The fields that are set, with their values.
        set: Vec<(&'static str, FieldValue)>,
        /// The fields that are left out.
        unset: Vec<&'static str>,
    },
    /// The same call for another file.
    Path {
        /// The path of the file.
        path: String,
    },
    /// The same edit, narrowed to one symbol that the caller selects; this one is an example.
    Within {
        /// The name of the symbol, which holds exactly one of the matches.
        symbol: String,
    },
    /// The same call with a field that has another name.
    Rename {
        /// The path of the field, as in `edits[2].serch`.
        field: String,
        /// The name that the tool accepts.
        name: String,
    },
    /// The same call with another value of a field.
    Correct {
        /// The path of the field, as in `line_edits[2].end_line`.
        field: String,
        /// The value that the tool accepts.
        value: FieldValue,
    },
    /// The same call with the value of a field as the only item of a list.
    InList {
        /// The path of the field, as in `line_edits`.
        field: String,
    },
    /// An edit with the whole text of the file, for a new or an empty one.
    WholeText,
    /// A list of the files in a folder.
    List {
        /// The path of the folder; empty for the root.
        folder: String,
    },
    /// A list of the edits of the target, or of all edits for a call without one.
    History,
    /// A read of these lines.
    Read {
        /// The first line, from 1.
        start_line: usize,
        /// The last line, from 1 and inclusive.
        end_line: usize,
    },
}

/// A correction of one of the edits of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorrectedEdit {
    /// The index of the edit in the call's list.
    pub entry: usize,
    /// The same edit with other texts, lines or fields.
    pub next: NextCall,
}

impl NextCall {
    /// The maximum number of lines at the end of a text that a caller reads after a line number beyond it.
    const LAST_LINES: usize = 40;

    /// The number of lines that a caller reads on each side of a line.
    const AROUND: usize = 10;

    /// Returns a read of the lines around some of a text of `count` lines; `None` if it is empty.
    pub fn read_around(first: usize, last: usize, count: usize) -> Option<NextCall> {
        let start_line = first.saturating_sub(Self::AROUND).clamp(1, count.max(1));
        let end_line = last.saturating_add(Self::AROUND).clamp(start_line, count.max(1));
        (count > 0).then_some(NextCall::Read { start_line, end_line })
    }

    /// Returns a read of the last lines of a text of `count` lines; `None` if it is empty.
    pub fn read_end(count: usize) -> Option<NextCall> {
        let start_line = count.saturating_sub(Self::LAST_LINES - 1).max(1);
        (count > 0).then_some(NextCall::Read { start_line, end_line: count })
    }
}

/// The changes to a file since the version that a caller knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// The path of the file, if the call did not name it.
    pub path: Option<String>,
    /// A word for the target: `file`, or the type of the entity.
    pub noun: String,
    /// The current version of the file, as on the wire.
    pub version: String,
    /// The unified diff from the known version to the current one; empty if the earlier text is not stored.
    pub diff: String,
}

/// A question that a person must confirm before a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The reason, as the beginning of a sentence.
    pub reason: String,
    /// The text of the question; several lines.
    pub text: String,
    /// The id of the write; the confirmed call repeats the request with this id.
    pub id: String,
}
