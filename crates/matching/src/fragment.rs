//! Match level `marks` within one line: the folded search occurs in a folded line.

use super::exact::{beginnings, has_word_boundaries};
use super::fold::{Folded, fold, is_plain, non_blank_count};
use super::line_index::LineIndex;
use super::located::MatchLevel;
use super::rebase::{Evidence, merged};
use lockgate_text::{Change, Lines};

/// The minimum number of non-blank characters; a shorter search is too ambiguous.
const LEAST: usize = 6;

/// A part of a line that folds to the same text as the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fragment {
    /// The line's number, from 1.
    pub(super) line: usize,
    /// The byte range within the line.
    span: std::ops::Range<usize>,
}

/// Finds the search within lines; a match begins and ends at word boundaries. At level `marks`, a search without
/// marks that folding changes leaves out lines without them: such a match was found at a stricter level.
pub(super) fn find(search: &str, line_index: &LineIndex<'_>, level: MatchLevel) -> Vec<Fragment> {
    if search.contains('\n') || search.trim() != search || non_blank_count(search) < LEAST {
        return Vec::new();
    }
    let (wanted, plain) = (fold(search), is_plain(search));
    let in_line = |number: usize| {
        let line = line_index.range.text.text(number);
        let worth = level == MatchLevel::Wrapping || !plain || !is_plain(line);
        let pieces = if worth { pieces(&wanted, line) } else { Vec::new() };
        pieces.into_iter().map(move |span| Fragment { line: number, span })
    };
    line_index.lines_with(search).into_iter().flat_map(in_line).collect()
}

fn pieces(wanted: &str, line: &str) -> Vec<std::ops::Range<usize>> {
    let folded = Folded::new(line);
    let found = beginnings(&folded.text, 0..folded.text.len(), wanted);
    let found = found.filter(|range| has_word_boundaries(&folded.text, range));
    found.filter_map(|range| Some(folded.raw_at(range.start)?..folded.raw_at(range.end)?)).collect()
}

/// Returns the change that the edit makes to a matched part of a line.
pub(super) fn rebase(search: &str, replace: &str, piece: &Fragment, text: Lines<'_>) -> Option<Change> {
    let actual = text.text(piece.line).get(piece.span.clone())?;
    let mut evidence = Evidence::default();
    evidence.record(search, actual);
    let start = text.span(piece.line).start + piece.span.start;
    super::rebase::trimmed(start, actual, &merged(search, replace, actual, &evidence))
}
