//! A quick check that a block has no match, without parsing all lines of the text. Most blocks without a match
//! contain a word that occurs in few lines, none of them in the right position.
//!
//! Invariant: a block that is reported as absent has no site at the levels from `space` to `marks`.

use std::cell::{Cell, OnceCell};

use super::exact::occurrences;
use super::fold::{fold, is_blank_line, is_invisible};
use super::quotes::same_trimmed;
use super::rows::{FoldedLines, NonBlankLines};
use super::search_text::LineRange;

/// The maximum number of words of a block to look up.
const WORDS: usize = 4;
/// The maximum number of occurrences of a word to check.
const FEW: usize = 64;
/// The minimum length of a word.
const SHORTEST: usize = 3;
/// The maximum length in bytes of a line that is compared here.
const LONGEST: usize = 1 << 12;
/// The number of lookups after which parsing all lines is cheaper.
const ENOUGH: usize = 16;

/// The lines of a text, folded on demand.
#[derive(Debug)]
pub(super) struct LineIndex<'a> {
    pub(super) range: LineRange<'a>,
    folded_lines: OnceCell<FoldedLines<'a>>,
    odd: OnceCell<Vec<usize>>,
    lookups_left: Cell<usize>,
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(range: LineRange<'a>) -> LineIndex<'a> {
        LineIndex {
            range,
            folded_lines: OnceCell::new(),
            odd: OnceCell::new(),
            lookups_left: Cell::new(ENOUGH),
        }
    }

    /// Returns all lines that are not blank.
    pub(super) fn folded_lines(&self) -> &FoldedLines<'a> {
        self.folded_lines.get_or_init(|| FoldedLines::new(self.range))
    }

    /// Returns true if the block certainly has no site. A false negative costs little.
    pub(super) fn lacks(&self, block: &NonBlankLines<'_>) -> bool {
        if self.folded_lines.get().is_some() || self.odd().len() > FEW {
            return false;
        }
        let word = |(row, line): (usize, &&str)| Some((row, word(&fold(line))?.to_owned()));
        let mut words: Vec<(usize, String)> = block.lines.iter().enumerate().filter_map(word).collect();
        words.sort_by_key(|(_, word)| std::cmp::Reverse(word.len()));
        words.iter().take(WORDS).any(|(row, word)| self.is_elsewhere(block, *row, word))
    }

    /// Returns the lines that may contain a part of a line, in any typographic marks.
    pub(super) fn lines_with(&self, piece: &str) -> Vec<usize> {
        let folded = fold(piece);
        let Some(word) = word(&folded) else { return (self.range.first..=self.range.last).collect() };
        let mut lines: Vec<usize> = self.lines_of(word).chain(self.odd().iter().copied()).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Returns the line of each occurrence of a text, in order.
    fn lines_of<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        occurrences(self.range.view, self.range.window(), text).map(|hit| self.range.text.line_at(hit.start))
    }

    /// Returns the lines in which a word may have invisible characters between its letters.
    fn odd(&self) -> &[usize] {
        self.odd.get_or_init(|| {
            let window = self.range.window();
            let text = self.range.view.get(window.clone()).unwrap_or_default();
            if text.is_ascii() {
                return Vec::new();
            }
            let signs = text.match_indices(is_invisible);
            let mut lines: Vec<usize> =
                signs.map(|(at, _)| self.range.text.line_at(window.start + at)).collect();
            lines.dedup();
            lines
        })
    }

    /// Returns true if the word of this row occurs in few lines, and the block matches at none of them.
    fn is_elsewhere(&self, block: &NonBlankLines<'_>, row: usize, word: &str) -> bool {
        let Some(remaining) = self.lookups_left.get().checked_sub(1) else { return false };
        self.lookups_left.set(remaining);
        let mut lines = self.lines_of(word);
        let elsewhere = |line: usize| !self.may_match(block, row, line);
        lines.by_ref().take(FEW).all(elsewhere)
            && lines.next().is_none()
            && self.odd().iter().copied().all(elsewhere)
    }

    /// Returns true if the block may match with its row `row` at this line.
    fn may_match(&self, block: &NonBlankLines<'_>, row: usize, line: usize) -> bool {
        let text = |line: usize| self.range.text.text(line);
        let full = |line: &usize| !is_blank_line(text(*line));
        let same = |(row, line): (usize, Option<usize>)| {
            let Some(actual) = line.map(text) else { return false };
            actual.len() > LONGEST || same_trimmed(block.line(row), actual)
        };
        let padding = std::iter::repeat(None);
        let below = (line..=self.range.last).filter(full).map(Some).chain(padding.clone());
        let above = (self.range.first..line).rev().filter(full).map(Some).chain(padding);
        (row..block.len()).zip(below).all(same) && (0..row).rev().zip(above).all(same)
    }
}

/// Returns the longest run of ASCII letters and digits in a folded line.
fn word(folded: &str) -> Option<&str> {
    let words = folded.split(|character: char| !character.is_ascii_alphanumeric());
    words.max_by_key(|word| word.len()).filter(|word| word.len() >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::super::budget::MatchBudget;
    use super::super::levels::{LevelSearch, find};
    use super::*;
    use lockgate_text::{Buffer, Hints};

    fn search_both(view: &str, search: &str) -> (bool, bool) {
        let buffer = Buffer::read(view.as_bytes().to_vec(), Hints::default()).unwrap();
        let range = LineRange::new(&buffer, 1, usize::MAX);
        let (line_index, block) = (LineIndex::new(range), NonBlankLines::new(search));
        let lacks = line_index.lacks(&block);
        let found = find(&block, line_index.folded_lines(), &mut MatchBudget::of_one_search());
        (lacks, found == LevelSearch::NotFound)
    }

    #[test]
    fn a_block_with_a_word_found_only_elsewhere_is_lacking() {
        let view = "alpha(1)\n\n  beta(2)\ngamma\n";
        for (search, lacks) in [
            ("alpha(1)\nbeta(2)\n", false),
            ("  alpha(1)\n\tbeta(2)\n", false),
            ("alpha(1)\ngamma\n", true),
            ("alpha(1)\nbeta(3)\n", true),
            ("gamma\nalpha(1)\n", true),
            ("delta\n", true),
            ("a\n", false),
        ] {
            assert_eq!(search_both(view, search).0, lacks, "{search}");
        }
    }

    #[test]
    fn invisible_characters_may_be_inside_a_word() {
        assert_eq!(search_both("al\u{200b}pha = 1\n", "alpha = 1\n"), (false, false));
        assert_eq!(search_both("alpha = 1\n", "al\u{ad}pha = 1\n"), (false, false));
        assert_eq!(search_both("alpha&nbsp;= 1\n", "alpha = 1\n"), (false, false));
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lacking_that_has_a_place(
            view in "(abc|xyz|a1b|abc|[ \n\u{ad}\u{a0}\u{201c}\"&])(abc|xyz|[ \n\"]|&nbsp;|\u{ad}){0,16}",
            search in "(abc|xyz|a1b|[ \n\u{ad}\u{a0}\u{201c}\"&])(abc|xyz|[ \n\"]|&nbsp;|\u{ad}){0,6}",
        ) {
            let (lacks, nowhere) = search_both(&view, &search);
            proptest::prop_assert!(nowhere || !lacks);
        }
    }
}
