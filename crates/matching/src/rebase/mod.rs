//! Rebases an edit: applies the difference between search and replacement to the actual text, and leaves the rest of
//! that text unchanged.
//!
//! This is a three-way merge: the search is the base, the replacement is one side, the file is the other.
//!
//! Invariant: a line that the edit does not touch keeps its bytes, its line end and its position.

mod blanks;
mod block;
mod output;
mod pairs;
mod render;
mod tokens;

use std::ops::Range;

use lockgate_text::{Change, Lines};
use output::Output;
use pairs::Segment;
use render::LineRenderer;

pub use block::Conflict;
pub(super) use block::{Block, MatchSite};
pub(super) use output::trimmed;
pub(super) use tokens::{Evidence, is_word_char, merged, tokens};

/// Applies the difference between search and replacement to the lines of a site.
///
/// Returns no changes if the file already has the requested text.
pub(super) fn rebase(block: &Block<'_>, site: &MatchSite, text: Lines<'_>) -> Result<Vec<Change>, Conflict> {
    let Block { search, replace } = block;
    let origins = pairs::origins(block);
    let renderer = LineRenderer::new(block, site, text, &origins);
    let mut output = Output::new(text, site);
    let (above, below) = edge_gaps(block);
    output.begin(search.gap(0), above);
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
    output.end(search.gap(search.len()), below);
    Ok(output.changes())
}

/// Returns the numbers of blank lines that the replacement has above and below its other lines. If it has only blank lines,
/// those that the search has above its lines come first.
fn edge_gaps(Block { search, replace }: &Block<'_>) -> (usize, usize) {
    let above = replace.gap(0);
    if replace.len() > 0 {
        return (above, replace.gap(replace.len()));
    }
    let kept = above.min(search.gap(0));
    (kept, above - kept)
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
