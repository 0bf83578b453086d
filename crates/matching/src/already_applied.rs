//! Detects edits that were already made: the replacement is at its target.

use super::fold::fold;
use super::levels::{self, LevelSearch, MatchSites, Strictness};
use super::matcher::Matcher;
use super::rebase::Block;
use super::rows::FoldedLines;
use super::wrapping::AlternativeEdit;
use super::{LineRange, Located, OnRepeat};

/// The minimum number of non-blank characters in a replacement whose only occurrence is significant.
const LEAST: usize = 10;
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
    let folded = FoldedLines::new(range.text, first, last, range.quotes);
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

impl Matcher<'_> {
    /// Detects a literal replacement that has more lines than the search and is in the text.
    pub(super) fn find_literal_replacement(&mut self) -> Option<Located> {
        let block = Block::new(self.search_text.search, self.search_text.replace);
        if self.search_text.on_repeat == OnRepeat::Insert || block.replace.len() <= block.search.len() {
            return None;
        }
        self.replacement_lines(&block)
            .and_then(|lines| Some(Located::AlreadyApplied { line: *lines.first()? }))
    }

    /// Returns the only match of the replacement, in any alternative form, if the search has none.
    pub(super) fn find_replacement(&mut self) -> Option<Located> {
        let plain = AlternativeEdit::plain(self.search_text.search, self.search_text.replace);
        let readings = self.alternatives();
        std::iter::once(&plain).chain(readings.iter()).find_map(|reading| {
            let lines = self.replacement_lines(&Block::new(&reading.search, &reading.replace))?;
            <[usize; 1]>::try_from(lines).ok().map(|[line]| Located::AlreadyApplied { line })
        })
    }

    /// Returns the lines of the matches of a replacement that adds or changes a line. A short one may occur anywhere
    /// and does not count.
    fn replacement_lines(&mut self, block: &Block<'_>) -> Option<Vec<usize>> {
        let letter_count = |line: &&str| line.chars().filter(|character| !character.is_whitespace()).count();
        if block.replace.lines.iter().map(letter_count).sum::<usize>() < LEAST || !block.adds() {
            return None;
        }
        match self.sites(&block.replace) {
            LevelSearch::Found(MatchSites { at, .. }) => {
                Some(at.into_iter().map(|at| self.folded_lines().number(at)).collect())
            }
            LevelSearch::NotFound | LevelSearch::TooMany(_) => None,
        }
    }
}
