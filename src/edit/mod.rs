//! The four modes: how each kind of edit becomes a [`Plan`] for one text.
//!
//! Invariant: planning changes nothing and looks at nothing but the request and the buffer. The exclusivity of the
//! modes is the enum [`Edit`].
#![deny(clippy::disallowed_methods)]

mod content;
mod expect;
mod insert_lines;
mod line_edits;
mod restore;
mod search_replace;

pub mod pattern;

use std::num::NonZeroUsize;

use crate::error::{Code, Error, EvidenceLine};
use crate::locate::{MatchInfo, MatchTolerance};
use crate::text::{Buffer, Plan};
use pattern::Flags;

/// An edit in exactly one of the four modes, or what the past asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Edit {
    /// The whole new text of the file, written as given.
    Content(String),
    /// New text for ranges of lines; all numbers are those before the edit.
    Lines(Vec<LineEdit>),
    /// New text before lines; all numbers are those before the edit.
    Insert(Vec<Insertion>),
    /// New text for what a search finds.
    Search(Search),
    /// The very bytes of an earlier version.
    Restore(Vec<u8>),
    /// No file.
    Remove,
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
    /// The text that the caller believes is there; its first line is enough, trailing blanks do not count.
    pub expect: Option<String>,
}

/// New text before a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Insertion {
    /// The line before which the text goes, from 1 to one past the last line, or [`Insertion::END`].
    pub at_line: usize,
    /// The text; a missing line end is added.
    pub content: String,
    /// The text that the caller believes stands at that line.
    pub expect: Option<String>,
}

impl Insertion {
    /// The place one past the last line of the text, whichever that is.
    pub const END: usize = usize::MAX;
}

/// New text for what a search finds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Search {
    /// What to look for.
    pub needle: Needle,
    /// What is to stand in its place; a template when the needle is a pattern.
    pub replace: String,
    /// The greatest number of replacements; all when absent.
    pub count: Option<NonZeroUsize>,
    /// The lines in which to look; the whole text when absent.
    pub lines: Option<LineWindow>,
    /// The symbol in which to look, as in `Class.method`.
    pub within: Option<String>,
    /// Which of the places are meant.
    pub aim: Occurrences,
    /// How far the text may be from the quoted one, where it does not stand there literally.
    pub tolerance: MatchTolerance,
    /// What a replacement that stands there already means.
    pub standing: OnDuplicate,
}

/// Which of the places that a search finds are meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Occurrences {
    /// Every match, as in a replacement of strings; where there is none, the one place that the rungs find.
    #[default]
    Matches,
    /// The one place of a block of lines, or of a piece of a line.
    Block,
    /// Every place of a block.
    EveryBlock,
}

/// What it means that the replacement stands around the place already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OnDuplicate {
    /// The edit was made before: it is refused.
    #[default]
    Done,
    /// A second copy is wanted.
    Again,
}

impl OnDuplicate {
    /// What it means to a caller who knows the version of the file, or does not.
    pub const fn from_versioned(versioned: bool) -> OnDuplicate {
        if versioned { OnDuplicate::Again } else { OnDuplicate::Done }
    }
}

/// What a search looks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Needle {
    /// This very text, found on the LF view.
    Literal(String),
    /// A pattern in the syntax of Python's `re`.
    Regex {
        /// The pattern.
        pattern: String,
        /// Its flags.
        flags: Flags,
    },
}

/// A window of lines, inclusive at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineWindow {
    /// First line, from 1.
    pub start: usize,
    /// Last line, not before `start`; [`LineWindow::OPEN`] for the last one of the text.
    pub end: usize,
}

impl LineWindow {
    /// The end of a window that reaches to the last line of the text, whichever that is.
    pub const OPEN: usize = usize::MAX;

    /// The first and the last line of the window in a text of so many lines.
    ///
    /// Errors: `RANGE_OUT_OF_BOUNDS` for a line that the text does not have.
    pub fn within(self, count: usize) -> Result<(usize, usize), Error> {
        let open = self.end == LineWindow::OPEN;
        let (line, field) = if open { (self.start, "lines.start") } else { (self.end, "lines.end") };
        if line > count {
            let message = format!("Line {line} is out of bounds (file has {count} lines)");
            return Err(Error::new(Code::RangeOutOfBounds, message).field(field));
        }
        Ok((self.start, if open { count } else { self.end }))
    }
}

/// How much the work on one edit may come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditLimits {
    /// The most bytes that the result may have; what would surely be more is not built in memory first.
    pub bytes: u64,
    /// The most steps that a pattern may take.
    pub steps: u64,
}

/// What is edited, as far as planning needs to know.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext<'a> {
    /// Its path from the root.
    pub path: &'a str,
    /// The language that it is in, by its name in the catalogue.
    pub language: Option<&'a str>,
    /// How much work the edit may come to.
    pub bounds: EditLimits,
}

/// A plan and what there is to say about how it came about.
#[derive(Debug)]
pub struct PlannedEdit {
    /// The byte splices that carry the edit out.
    pub plan: Plan,
    /// What the caller should know, such as a line end that was added.
    pub notes: Vec<String>,
    /// What could not be done but does not stop the call.
    pub warnings: Vec<String>,
    /// How many matches were replaced; only a search has this.
    pub replacements: Option<usize>,
    /// Where the search matched, at most 20 places.
    pub places: Vec<EvidenceLine>,
    /// How the text was found; only a literal search has this.
    pub receipt: Option<MatchInfo>,
    /// The text that comes of it, where that is not encoded as the one before.
    pub becomes: Option<Buffer>,
}

impl PlannedEdit {
    fn new(plan: Plan, mut notes: Vec<String>) -> PlannedEdit {
        notes.extend_from_slice(plan.notes());
        PlannedEdit {
            plan,
            notes,
            warnings: Vec::new(),
            replacements: None,
            places: Vec::new(),
            receipt: None,
            becomes: None,
        }
    }

    /// The plan of a search that found nothing, where that is no more than a warning.
    ///
    /// Errors: `INTERNAL`, should an empty plan be refused.
    pub fn nothing(buffer: &Buffer, warning: String) -> Result<PlannedEdit, Error> {
        let planned = PlannedEdit::new(buffer.plan(Vec::new())?, Vec::new());
        Ok(PlannedEdit { warnings: vec![warning], replacements: Some(0), ..planned })
    }
}

impl Edit {
    /// What the edit would do to a file, where it needs one to be there; nothing where it can create one.
    pub const fn needs_file_to(&self) -> Option<&'static str> {
        match self {
            Edit::Content(_) | Edit::Restore(_) => None,
            Edit::Lines(_) => Some("apply line edits to"),
            Edit::Insert(_) => Some("insert lines into"),
            Edit::Search(_) => Some("search in"),
            Edit::Remove => Some("remove"),
        }
    }

    /// Whether it speaks of lines by their numbers.
    pub const fn counts_lines(&self) -> bool {
        match self {
            Edit::Lines(_) | Edit::Insert(_) | Edit::Search(Search { lines: Some(_), .. }) => true,
            Edit::Content(_) | Edit::Search(_) | Edit::Restore(_) | Edit::Remove => false,
        }
    }

    /// Whether it is about the text as a whole, so that a change anywhere in it matters.
    pub const fn is_whole(&self) -> bool {
        match self {
            Edit::Content(_) | Edit::Remove => true,
            Edit::Lines(_) | Edit::Insert(_) | Edit::Search(_) | Edit::Restore(_) => false,
        }
    }

    /// The mode's name as callers know it.
    pub const fn mode(&self) -> &'static str {
        match self {
            Edit::Content(_) => "content",
            Edit::Lines(_) => "line_edits",
            Edit::Insert(_) => "insert_lines",
            Edit::Search(_) => "search/replace",
            Edit::Restore(_) => "restore",
            Edit::Remove => "remove",
        }
    }
}

/// Plans an edit for a text; all parts of the edit are planned or none is.
///
/// Errors: what each mode refuses, and `NOT_ENCODABLE` where the file's encoding cannot hold the new text.
pub fn plan(edit: &Edit, buffer: &Buffer, scene: PlanContext<'_>) -> Result<PlannedEdit, Error> {
    match edit {
        Edit::Content(content) => content::plan(content, buffer, scene.bounds.bytes),
        Edit::Lines(edits) => line_edits::plan(edits, buffer),
        Edit::Insert(insertions) => insert_lines::plan(insertions, buffer),
        Edit::Search(search) => search_replace::plan(search, buffer, scene),
        Edit::Restore(bytes) => restore::plan(bytes, buffer),
        Edit::Remove => restore::remove(buffer),
    }
}

/// The place of a line, for a report: its number and at most 60 characters of it.
fn place(buffer: &Buffer, line: usize) -> EvidenceLine {
    let preview = buffer.lines().text(line).trim_end().chars().take(60).collect();
    EvidenceLine { line, preview, symbol: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_window_ends_with_the_text() {
        let within = |start, end| LineWindow { start, end }.within(3);
        assert_eq!((within(2, 3), within(2, LineWindow::OPEN)), (Ok((2, 3)), Ok((2, 3))));
        for (start, end, field) in
            [(4, LineWindow::OPEN, "lines.start"), (1, 4, "lines.end"), (4, 5, "lines.end")]
        {
            let refused = within(start, end).unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (Code::RangeOutOfBounds, Some(field)));
        }
    }
}
