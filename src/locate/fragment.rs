//! Rung `marks` for a piece of one line: what the quoted piece folds to stands inside what a line folds to.

use super::fold::{Folded, fold, is_plain};
use super::line_index::LineIndex;
use super::rebase::{Evidence, is_word_char, merged};
use crate::text::{Change, Lines};

/// The characters below which a piece says too little, blanks aside.
const LEAST: usize = 6;

/// A piece of a line that folds to the quoted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fragment {
    /// The line's number, from 1.
    pub(super) line: usize,
    /// The bytes of the line that it takes.
    span: std::ops::Range<usize>,
}

/// Which lines are worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// All of them.
    All,
    /// Those with other marks: a plain one that holds a plain piece was found on a stricter rung.
    Marked,
}

/// Finds a quoted piece of a line; it must begin and end where words do.
pub(super) fn find(search: &str, glance: &LineIndex<'_>, lines: Worth) -> Vec<Fragment> {
    let written = search.chars().filter(|character| !character.is_whitespace()).count();
    if search.contains('\n') || search.trim() != search || written < LEAST {
        return Vec::new();
    }
    let (wanted, plain) = (fold(search), is_plain(search));
    let in_line = |number: usize| {
        let line = glance.field.text.text(number);
        let worth = lines == Worth::All || !plain || !is_plain(line);
        let pieces = if worth { pieces(&wanted, line) } else { Vec::new() };
        pieces.into_iter().map(move |span| Fragment { line: number, span })
    };
    glance.lines_with(search).into_iter().flat_map(in_line).collect()
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

/// The change that an edit of the quoted piece comes to.
pub(super) fn carry(search: &str, replace: &str, piece: &Fragment, text: Lines<'_>) -> Option<Change> {
    let there = text.text(piece.line).get(piece.span.clone())?;
    let mut evidence = Evidence::default();
    evidence.note(search, there);
    let start = text.span(piece.line).start + piece.span.start;
    super::rebase::trimmed(start, there, &merged(search, replace, there, &evidence))
}
