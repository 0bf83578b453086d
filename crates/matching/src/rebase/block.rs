//! A quoted block, its site in the file, and a conflict of both.

use std::ops::Range;

use crate::rows::{FoldedLines, NonBlankLines};

/// A quoted block and its replacement.
#[derive(Debug, Clone)]
pub(crate) struct Block<'a> {
    pub(crate) search: NonBlankLines<'a>,
    pub(crate) replace: NonBlankLines<'a>,
}

impl<'a> Block<'a> {
    pub(crate) fn new(search: &'a str, replace: &'a str) -> Block<'a> {
        Block { search: NonBlankLines::new(search), replace: NonBlankLines::new(replace) }
    }

    /// Returns the block with other text in the lines of the search.
    pub(super) fn with_search<'b>(&self, lines: &'b [String]) -> Block<'b>
    where
        'a: 'b,
    {
        let lines = lines.iter().map(String::as_str).collect();
        Block {
            search: NonBlankLines { lines, gaps: self.search.gaps.clone() },
            replace: self.replace.clone(),
        }
    }
}

/// The site of a block: the number of the file's line for each line of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MatchSite {
    pub(crate) lines: Vec<usize>,
    /// The line of the search that differs in the file.
    pub(crate) differing: Option<usize>,
    /// The line of the search before which the file has an extra line.
    pub(crate) extra: Option<usize>,
    /// The first and the last line of the file that may be changed.
    pub(crate) window: (usize, usize),
}

impl MatchSite {
    /// Returns the site of a block whose lines begin at an index of the folded lines.
    pub(crate) fn at(block: &NonBlankLines<'_>, folded: &FoldedLines<'_>, at: usize) -> MatchSite {
        let lines = (0..block.len()).map(|index| folded.number(at + index)).collect();
        MatchSite { lines, differing: None, extra: None, window: folded.window() }
    }

    /// Returns the number of the file's line for a line of the search.
    pub(crate) fn line(&self, index: usize) -> usize {
        self.lines.get(index).copied().unwrap_or_default()
    }

    /// Returns the first and the last line of the site.
    pub(crate) fn ends(&self) -> (usize, usize) {
        (self.lines.first().copied().unwrap_or(1), self.lines.last().copied().unwrap_or_default())
    }

    /// Returns the lines of the file between a line of the search and the one before it.
    pub(crate) fn between(&self, index: usize) -> Range<usize> {
        self.line(index.saturating_sub(1)) + 1..self.line(index)
    }
}

/// A conflict between an edit and the file: the two versions of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file's line, from 1.
    pub line: usize,
    /// The reason, for a message.
    pub reason: &'static str,
    /// The text that the request expects.
    pub expected: String,
    /// The text that the file has.
    pub actual: String,
}

impl Conflict {
    pub(crate) fn new(line: usize, reason: &'static str, quoted: &str, actual: &str) -> Conflict {
        Conflict { line, reason, expected: quoted.to_owned(), actual: actual.to_owned() }
    }
}
