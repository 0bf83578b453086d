//! Match level `marks` within one line: the folded search occurs in a folded line.

use super::fold::{Folded, fold, is_plain};
use super::line_index::LineIndex;
use super::rebase::{Evidence, is_word_char, merged};
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

/// The lines in which a part is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineFilter {
    /// All lines of the range.
    All,
    /// Lines with marks that folding changes. A plain line with a plain match was found at a stricter level.
    Marked,
}

/// Finds the search within lines; a match begins and ends at word boundaries.
pub(super) fn find(search: &str, line_index: &LineIndex<'_>, lines: LineFilter) -> Vec<Fragment> {
    let letter_count = search.chars().filter(|character| !character.is_whitespace()).count();
    if search.contains('\n') || search.trim() != search || letter_count < LEAST {
        return Vec::new();
    }
    let (wanted, plain) = (fold(search), is_plain(search));
    let in_line = |number: usize| {
        let line = line_index.range.text.text(number);
        let worth = lines == LineFilter::All || !plain || !is_plain(line);
        let pieces = if worth { pieces(&wanted, line) } else { Vec::new() };
        pieces.into_iter().map(move |span| Fragment { line: number, span })
    };
    line_index.lines_with(search).into_iter().flat_map(in_line).collect()
}

fn pieces(wanted: &str, line: &str) -> Vec<std::ops::Range<usize>> {
    let folded = Folded::new(line);
    let whole = |range: &std::ops::Range<usize>| {
        let before = folded.text.get(..range.start).and_then(|text| text.chars().next_back());
        let after = folded.text.get(range.end..).and_then(|text| text.chars().next());
        let joins = |outer: Option<char>, inner: Option<char>| {
            outer.is_some_and(is_word_char) && inner.is_some_and(is_word_char)
        };
        !joins(before, wanted.chars().next()) && !joins(after, wanted.chars().next_back())
    };
    let found = super::exact::beginnings(&folded.text, 0..folded.text.len(), wanted).filter(whole);
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
