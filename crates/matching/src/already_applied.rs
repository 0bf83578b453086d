//! Detects edits that were already made: the replacement is at its target.

use super::fold::fold;
use super::levels::{self, Strictness};
use super::rebase::Block;
use super::rows::FoldedLines;
use super::search_text::LineRange;

/// The maximum number of blank lines between the lines of such a replacement.
const BLANKS: usize = 64;

/// Returns the line at which a replacement with more lines than the search is already around a site. It must match as
/// strictly as the search does, or with an indentation that one rule maps. The site begins at `line`; the replacement
/// may reach beyond the searched lines.
pub(super) fn around(
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
