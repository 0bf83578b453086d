//! Detects edits that were already made: the replacement is at its target.

use std::collections::HashSet;

use super::fold::fold;
use super::indent::indent_of;
use super::levels::{self, Strictness};
use super::rebase::Block;
use super::rows::{FoldedLines, NonBlankLines};
use super::search_text::LineRange;

/// The maximum number of blank lines between the lines of such a replacement.
const BLANKS: usize = 64;

/// Returns the line at which a replacement with more lines than the search is already around a site. It must match as
/// strictly as the search does, or with an indentation that one rule maps. The site begins at `line`; the replacement
/// may reach beyond the searched lines.
pub(super) fn find_around(
    block: &Block<'_>,
    range: LineRange<'_>,
    line: usize,
    strictness: Strictness,
) -> Option<usize> {
    let (search, replace) = (&block.search, &block.replace);
    let more = replace.len().checked_sub(search.len()).filter(|more| *more > 0)?;
    let keeps = |offset: &usize| {
        let own = replace.lines.iter().skip(*offset).take(search.len());
        own.map(|line| fold(line.trim())).eq(search.lines.iter().map(|line| fold(line.trim())))
    };
    let mut offsets = (0..=more).filter(keeps).peekable();
    offsets.peek()?;
    let distance = 2 * replace.len() + BLANKS;
    let (first, last) = (line.saturating_sub(distance).max(1), line + distance);
    let folded = FoldedLines::new(LineRange { first, last, ..range });
    let at = folded.index_of(line);
    let applied_at = |offset: usize| {
        let start = at.checked_sub(offset).filter(|start| start + replace.len() <= folded.len())?;
        let own = levels::strictness(replace, &folded, start)?;
        let strictly =
            own <= strictness || own == Strictness::Indent && levels::is_moved_block(replace, &folded, start);
        strictly.then(|| folded.number(start))
    };
    offsets.find_map(applied_at)
}

/// Returns the line at which a replacement is at a site with its own indentation, where the search has another one: its
/// lines instead of all lines of the search, or of all but brackets at its start or end, which the edit then removed.
pub(super) fn find_replaced(
    block: &Block<'_>,
    folded: &FoldedLines<'_>,
    at: usize,
    strictness: Strictness,
) -> Option<usize> {
    let Block { search, replace } = block;
    let removed = search.len().checked_sub(replace.len()).filter(|_| replace.len() > 0)?;
    let differs = if removed > 0 { strictness.is_loose() } else { strictness.has_other_indent() };
    let changes_gaps = removed == 0 && search.gaps != replace.gaps;
    // A search that lost its indentation shows none.
    if search.is_flat() || changes_gaps || !differs {
        return None;
    }
    let is_moved =
        |start| removed > 0 && depths(replace) > 1 && levels::is_moved_block(replace, folded, start);
    let is_applied = |(start, removed): &(usize, Option<&[&str]>)| {
        let own = levels::strictness(replace, folded, *start);
        // Any other line than a bracket is the removed one.
        let is_bracket = |line: &&str| line.trim().chars().all(|sign| "()[]{};,".contains(sign));
        removed.is_some_and(|lines| lines.iter().all(is_bracket))
            && own.is_some_and(|own| own.has_quoted_indent() || is_moved(*start))
    };
    let sites = [(at, search.lines.get(replace.len()..)), (at + removed, search.lines.get(..removed))];
    sites.into_iter().find(is_applied).map(|(start, _)| folded.number(start))
}

/// Returns the number of different indentations of a block.
fn depths(block: &NonBlankLines<'_>) -> usize {
    block.lines.iter().map(|line| indent_of(line)).collect::<HashSet<_>>().len()
}
