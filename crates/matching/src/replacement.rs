//! Finds the replacement of an edit that was already made.

use super::fold::non_blank_count;
use super::levels::{LevelSearch, MatchSites};
use super::located::Located;
use super::matcher::Matcher;
use super::rebase::Block;
use super::search_text::OnDuplicate;
use super::wrapping::AlternativeEdit;

/// The minimum number of non-blank characters in a replacement whose only occurrence is significant.
const LEAST: usize = 10;
impl Matcher<'_> {
    /// Detects a literal replacement that has more lines than the search and is in the text. An escaped quote has one
    /// line, and may be around a replacement that only removes some of its lines.
    pub(super) fn find_literal_replacement_or_around(&mut self) -> Option<Located> {
        let line = self.find_literal_replacement()?;
        let is_shorter = self.search_text.replace.len() < self.search_text.search.len();
        match is_shorter.then(|| self.wrapped()).flatten() {
            Some(Located::One(found)) if found.lines.contains(&line) => Some(Located::One(found)),
            Some(_) | None => Some(Located::AlreadyApplied { line }),
        }
    }

    fn find_literal_replacement(&mut self) -> Option<usize> {
        let block = Block::new(self.search_text.search, self.search_text.replace);
        if self.search_text.on_duplicate == OnDuplicate::InsertAgain
            || block.replace.len() <= block.search.len()
        {
            return None;
        }
        self.replacement_lines(&block)?.first().copied()
    }

    /// Returns the only match of the replacement, in any alternative form, if the search has none.
    pub(super) fn find_replacement(&mut self) -> Option<Located> {
        let plain = AlternativeEdit::plain(self.search_text.search, self.search_text.replace);
        let alternatives = self.alternatives();
        std::iter::once(&plain).chain(alternatives.iter()).find_map(|alternative| {
            let lines = self.replacement_lines(&Block::new(&alternative.search, &alternative.replace))?;
            <[usize; 1]>::try_from(lines).ok().map(|[line]| Located::AlreadyApplied { line })
        })
    }

    /// Returns the lines of the matches of a replacement that adds or changes a line. A short one may occur anywhere
    /// and does not count.
    fn replacement_lines(&mut self, block: &Block<'_>) -> Option<Vec<usize>> {
        let length: usize = block.replace.lines.iter().map(|line| non_blank_count(line)).sum();
        if length < LEAST || !block.adds() {
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
