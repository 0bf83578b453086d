//! Carrying an edit over: what the caller changes between search and replacement is done to the text that is really
//! there, and all the rest of that text stays as it is.
//!
//! A merge of three: the search is the base, the replacement is one side, the file is the other.
//!
//! Invariant: a line that the edit does not touch keeps its bytes, its line end and its place.

mod blanks;
mod lay;
mod pairs;
mod render;
mod tokens;

use std::ops::Range;

use super::rows::{FoldedLines, NonBlankLines};
use crate::text::{Change, Lines};
use lay::Laid;
use pairs::Segment;
use render::Scribe;

pub(super) use lay::trimmed;
pub(super) use tokens::{Evidence, is_word_char, merged, tokens};

/// A quoted block and what is to stand in its place.
#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    pub(super) search: NonBlankLines<'a>,
    pub(super) replace: NonBlankLines<'a>,
}

impl<'a> Block<'a> {
    pub(super) fn new(search: &'a str, replace: &'a str) -> Block<'a> {
        Block { search: NonBlankLines::new(search), replace: NonBlankLines::new(replace) }
    }

    /// Returns true if the replacement adds a line to the search or changes one, and does not only take lines away.
    pub(super) fn adds(&self) -> bool {
        pairs::origins(self)
            .iter()
            .enumerate()
            .any(|(row, origin)| origin.is_none_or(|base| self.search.line(base) != self.replace.line(row)))
    }
}

/// Where a block stands: the number of the file's line for each line of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchSite {
    pub(super) lines: Vec<usize>,
    /// The line of the search that the file has otherwise.
    pub(super) apart: Option<usize>,
    /// The line of the search before which the file has a line more.
    pub(super) extra: Option<usize>,
    /// The first and the last line of the file that may be touched.
    pub(super) window: (usize, usize),
}

impl MatchSite {
    /// The place of a block whose lines begin at an index of the ground.
    pub(super) fn at(block: &NonBlankLines<'_>, ground: &FoldedLines<'_>, at: usize) -> MatchSite {
        let lines = (0..block.len()).map(|index| ground.number(at + index)).collect();
        MatchSite { lines, apart: None, extra: None, window: ground.window() }
    }

    /// The number of the file's line for a line of the search.
    pub(super) fn line(&self, index: usize) -> usize {
        self.lines.get(index).copied().unwrap_or_default()
    }

    /// The first and the last line of the place.
    pub(super) fn ends(&self) -> (usize, usize) {
        (self.lines.first().copied().unwrap_or(1), self.lines.last().copied().unwrap_or_default())
    }

    /// The lines of the file between a line of the search and the one before it.
    fn between(&self, index: usize) -> Range<usize> {
        self.line(index.saturating_sub(1)) + 1..self.line(index)
    }
}

/// Why an edit cannot be carried over: the two versions that conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file's line, from 1.
    pub line: usize,
    /// What speaks against it, for a message.
    pub why: &'static str,
    /// What the request takes to be there.
    pub quoted: String,
    /// What is there.
    pub there: String,
}

impl Conflict {
    pub(super) fn new(line: usize, why: &'static str, quoted: &str, there: &str) -> Conflict {
        Conflict { line, why, quoted: quoted.to_owned(), there: there.to_owned() }
    }
}

/// Carries the difference between search and replacement over onto the lines of a site.
///
/// No changes come of it where the text there is already as the replacement asks.
pub(super) fn carry(block: &Block<'_>, site: &MatchSite, text: Lines<'_>) -> Result<Vec<Change>, Conflict> {
    let Block { search, replace } = block;
    let origins = pairs::origins(block);
    let scribe = Scribe::new(block, site, text, &origins);
    let mut laid = Laid::new(text, site);
    laid.begin(search.gap(0), if replace.len() == 0 { 0 } else { replace.gap(0) });
    for segment in pairs::segments(&origins, search.len()) {
        check(block, site, &segment, text)?;
        let asked: Vec<usize> = segment.gaps(replace.len()).map(|gap| replace.gap(gap)).collect();
        let base = segment.base_gaps(search.len());
        let quoted: Vec<usize> = base.clone().map(|gap| search.gap(gap)).collect();
        let there: Vec<Range<usize>> = base.map(|gap| site.between(gap)).collect();
        let mut shared = blanks::share(&asked, &quoted, &there).into_iter();
        for row in segment.rows() {
            if row > 0 && row < replace.len() {
                laid.blanks(shared.next().unwrap_or_default());
            }
            if row < replace.len() {
                laid.push(scribe.row(row)?);
            }
        }
    }
    laid.end(search.gap(search.len()), replace.gap(replace.len()));
    Ok(laid.changes())
}

/// Refuses to take away a line that the file has otherwise, and to change what stands around a line that only the
/// file has.
fn check(block: &Block<'_>, site: &MatchSite, segment: &Segment, text: Lines<'_>) -> Result<(), Conflict> {
    if let Some(apart) = site.apart.filter(|apart| segment.deletes(*apart)) {
        let why = "the edit takes away a line that is another one in the file";
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
    let there = site.between(extra).map(|line| (line, text.text(line)));
    let (line, there) = there.into_iter().find(|(_, text)| !text.trim().is_empty()).unwrap_or_default();
    let why = "the edit changes the very place where the file has a line more";
    Err(Conflict::new(line, why, block.search.line(extra), there))
}
