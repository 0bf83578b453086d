//! Rebases an edit: applies the difference between search and replacement to the actual text, and leaves the rest of
//! that text unchanged.
//!
//! This is a three-way merge: the search is the base, the replacement is one side, the file is the other.
//!
//! Invariant: a line that the edit does not touch keeps its bytes, its line end and its position.

mod blanks;
mod output;
mod pairs;
mod render;
mod tokens;

use std::ops::Range;

use super::rows::{FoldedLines, NonBlankLines};
use lockgate_text::{Change, Lines};
use output::Output;
use pairs::Segment;
use render::LineRenderer;

pub(super) use output::trimmed;
pub(super) use tokens::{Evidence, is_word_char, merged, tokens};

/// A quoted block and its replacement.
#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    pub(super) search: NonBlankLines<'a>,
    pub(super) replace: NonBlankLines<'a>,
}

impl<'a> Block<'a> {
    pub(super) fn new(search: &'a str, replace: &'a str) -> Block<'a> {
        Block { search: NonBlankLines::new(search), replace: NonBlankLines::new(replace) }
    }

    /// Returns true if the replacement adds or changes a line, and does not only remove lines.
    pub(super) fn adds(&self) -> bool {
        pairs::origins(self)
            .iter()
            .enumerate()
            .any(|(row, origin)| origin.is_none_or(|base| self.search.line(base) != self.replace.line(row)))
    }
}

/// The site of a block: the number of the file's line for each line of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchSite {
    pub(super) lines: Vec<usize>,
    /// The line of the search that differs in the file.
    pub(super) differing: Option<usize>,
    /// The line of the search before which the file has an extra line.
    pub(super) extra: Option<usize>,
    /// The first and the last line of the file that may be changed.
    pub(super) window: (usize, usize),
}

impl MatchSite {
    /// Returns the site of a block whose lines begin at an index of the folded lines.
    pub(super) fn at(block: &NonBlankLines<'_>, folded: &FoldedLines<'_>, at: usize) -> MatchSite {
        let lines = (0..block.len()).map(|index| folded.number(at + index)).collect();
        MatchSite { lines, differing: None, extra: None, window: folded.window() }
    }

    /// Returns the number of the file's line for a line of the search.
    pub(super) fn line(&self, index: usize) -> usize {
        self.lines.get(index).copied().unwrap_or_default()
    }

    /// Returns the first and the last line of the site.
    pub(super) fn ends(&self) -> (usize, usize) {
        (self.lines.first().copied().unwrap_or(1), self.lines.last().copied().unwrap_or_default())
    }

    /// Returns the lines of the file between a line of the search and the one before it.
    fn between(&self, index: usize) -> Range<usize> {
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
    pub(super) fn new(line: usize, reason: &'static str, quoted: &str, actual: &str) -> Conflict {
        Conflict { line, reason, expected: quoted.to_owned(), actual: actual.to_owned() }
    }
}

/// Applies the difference between search and replacement to the lines of a site.
///
/// Returns no changes if the file already has the requested text.
pub(super) fn rebase(block: &Block<'_>, site: &MatchSite, text: Lines<'_>) -> Result<Vec<Change>, Conflict> {
    let Block { search, replace } = block;
    let origins = pairs::origins(block);
    let renderer = LineRenderer::new(block, site, text, &origins);
    let mut output = Output::new(text, site);
    output.begin(search.gap(0), if replace.len() == 0 { 0 } else { replace.gap(0) });
    for segment in pairs::segments(&origins, search.len()) {
        check(block, site, &segment, text)?;
        let wanted: Vec<usize> = segment.gaps(replace.len()).map(|gap| replace.gap(gap)).collect();
        let base = segment.base_gaps(search.len());
        let quoted: Vec<usize> = base.clone().map(|gap| search.gap(gap)).collect();
        let actual: Vec<Range<usize>> = base.map(|gap| site.between(gap)).collect();
        let mut shared = blanks::distribute(&wanted, &quoted, &actual).into_iter();
        for row in segment.rows() {
            if row > 0 && row < replace.len() {
                output.blanks(shared.next().unwrap_or_default());
            }
            if row < replace.len() {
                output.push(renderer.row(row)?);
            }
        }
    }
    output.end(search.gap(search.len()), replace.gap(replace.len()));
    Ok(output.changes())
}

/// Rejects the removal of a line that differs in the file, and changes next to a line that only the file has.
fn check(block: &Block<'_>, site: &MatchSite, segment: &Segment, text: Lines<'_>) -> Result<(), Conflict> {
    if let Some(apart) = site.differing.filter(|apart| segment.deletes(*apart)) {
        let why = "the edit removes a line that differs in the file";
        return Err(Conflict::new(
            site.line(apart),
            why,
            block.search.line(apart),
            text.text(site.line(apart)),
        ));
    }
    let Some(extra) = site.extra.filter(|extra| segment.spans(*extra)) else { return Ok(()) };
    if segment.is_plain() && block.search.gap(extra) == block.replace.gap(segment.last_row()) {
        return Ok(());
    }
    let extra_lines = site.between(extra).map(|line| (line, text.text(line)));
    let (line, actual) =
        extra_lines.into_iter().find(|(_, text)| !text.trim().is_empty()).unwrap_or_default();
    let why = "the edit changes the place where the file has an extra line";
    Err(Conflict::new(line, why, block.search.line(extra), actual))
}
