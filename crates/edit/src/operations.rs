//! The operations that an edit consists of: line edits, insertions and searches.

use lockgate_error::{Code, Error, FieldValue, NextCall};
use lockgate_matching::{MatchTolerance, OnDuplicate};
use lockgate_python_re::Flags;
use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;

/// The names under which a tool lists the fields of line edits and insertions, for errors and notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineEditNames {
    /// The lists `line_edits` and `insert_lines`.
    #[default]
    Lists,
    /// The single fields of an edit by instruction.
    Instruction,
}

impl LineEditNames {
    /// Returns the tool's name for a field of a line edit or an insertion.
    pub fn name(self, field: &str) -> &str {
        match (self, field) {
            (LineEditNames::Lists, _) => field,
            (LineEditNames::Instruction, "at_line") => "start_line",
            (LineEditNames::Instruction, "new_content" | "content") => "code_block",
            (LineEditNames::Instruction, "expect") => "expected_version",
            (LineEditNames::Instruction, _) => field,
        }
    }

    /// Returns the path of a field of the entry at `index`, as in `line_edits[2].end_line`.
    pub fn path(self, list: &str, index: usize, field: &str) -> String {
        match self {
            LineEditNames::Lists => format!("{list}[{index}].{field}"),
            LineEditNames::Instruction => self.name(field).to_owned(),
        }
    }
}

/// The names do not distinguish two edits.
impl Hash for LineEditNames {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// New text for a range of lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LineEdit {
    /// First line of the range, from 1.
    pub start_line: usize,
    /// Last line of the range, inclusive, not before `start_line`.
    pub end_line: usize,
    /// The new text; empty deletes the lines.
    pub new_content: String,
    /// The expected current text. Its first line is enough; trailing blanks are ignored.
    pub expect: Option<String>,
    /// The names of these fields in errors and notes.
    pub names: LineEditNames,
}

/// New text before a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Insertion {
    /// The line to insert before, from 1 to one past the last line, or [`Insertion::END`].
    pub at_line: usize,
    /// The text; a missing line end is added.
    pub content: String,
    /// The expected current text at that line.
    pub expect: Option<String>,
    /// The names of these fields in errors and notes.
    pub names: LineEditNames,
}

impl Insertion {
    /// The position after the last line of any text.
    pub const END: usize = usize::MAX;
}

/// New text for the matches of a search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Search {
    /// The text or pattern to search for.
    pub needle: Needle,
    /// The replacement; a template if the needle is a pattern.
    pub replace: String,
    /// The maximum number of replacements; `None` for all.
    pub count: Option<NonZeroUsize>,
    /// The exact number of matches that the caller expects; any other number is rejected.
    pub expect_matches: Option<NonZeroUsize>,
    /// The lines to search; `None` for the whole text.
    pub lines: Option<LineWindow>,
    /// The symbol to search in, as in `Class.method`.
    pub within: Option<String>,
    /// Selects which of the matches are replaced.
    pub occurrences: Occurrences,
    /// The match levels to try if the text does not occur literally.
    pub tolerance: MatchTolerance,
    /// The action if the replacement is already in the file.
    pub on_duplicate: OnDuplicate,
}

impl Search {
    /// Changes fields as a proposed call does; `None` for a field that a search does not have.
    pub(crate) fn change_fields(&mut self, set: &[(&str, FieldValue)], unset: &[&str]) -> Option<()> {
        for field in set {
            match (field, &mut self.needle) {
                (("within", FieldValue::Text(symbol)), _) => self.within = Some(symbol.clone()),
                (("search_flags", FieldValue::Number(bits)), Needle::Regex { flags, .. }) => {
                    *flags = Flags::from_bits(i64::try_from(*bits).ok()?).ok()?;
                }
                _ => return None,
            }
        }
        for name in unset {
            match (*name, &self.needle) {
                ("within", _) => self.within = None,
                ("lines" | "start_line" | "end_line", _) => self.lines = None,
                ("regex", Needle::Regex { pattern, .. }) => self.needle = Needle::Literal(pattern.clone()),
                ("search_flags", _) => {}
                _ => return None,
            }
        }
        Some(())
    }
}

/// The matches that a search replaces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Occurrences {
    /// Every match, as in a string replacement. Without a literal match, the one match of the match levels.
    #[default]
    Matches,
    /// The only match of a block of lines, or of a part of a line.
    Block,
    /// Every match of a block.
    EveryBlock,
}

/// The text or pattern that a search looks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Needle {
    /// A literal text, searched in the LF view.
    Literal(String),
    /// A pattern in the syntax of Python's `re`.
    Regex {
        /// The pattern in Python's syntax.
        pattern: String,
        /// The flags that the pattern is compiled with.
        flags: Flags,
    },
}

/// A window of lines, inclusive at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineWindow {
    /// The first line of the window, from 1.
    pub start: usize,
    /// Last line, not before `start`; [`LineWindow::OPEN`] for the last one of the text.
    pub end: usize,
}

impl LineWindow {
    /// The end of a window that reaches to the last line of any text.
    pub const OPEN: usize = usize::MAX;

    /// Returns the first and the last line of the window in a text of `count` lines.
    ///
    /// Errors: `RANGE_OUT_OF_BOUNDS` for a line that the text does not have.
    pub fn resolve(self, count: usize) -> Result<(usize, usize), Error> {
        let open = self.end == LineWindow::OPEN;
        let (line, field) = if open { (self.start, "lines.start") } else { (self.end, "lines.end") };
        if line > count {
            let message = format!("Line {line} is out of bounds (file has {count} lines)");
            let error = Error::new(Code::RangeOutOfBounds, message).field(field);
            return Err(error.with_next_if(NextCall::read_end(count)));
        }
        Ok((self.start, if open { count } else { self.end }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_window_ends_with_the_text() {
        let within = |start, end| LineWindow { start, end }.resolve(3);
        assert_eq!((within(2, 3), within(2, LineWindow::OPEN)), (Ok((2, 3)), Ok((2, 3))));
        for (start, end, field) in
            [(4, LineWindow::OPEN, "lines.start"), (1, 4, "lines.end"), (4, 5, "lines.end")]
        {
            let error = within(start, end).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::RangeOutOfBounds, Some(field)));
        }
    }
}
