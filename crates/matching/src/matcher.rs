//! The search for the only match of one text: the levels below `exact` in order, and the result of the edit.

use std::cell::OnceCell;
use std::rc::Rc;

use super::budget::MatchBudget;
use super::fragment;
use super::levels::{self, LevelSearch, MatchSites, Strictness};
use super::line_index::LineIndex;
use super::located::{Located, MatchLevel, UniqueMatch};
use super::rebase::{Block, Conflict, MatchSite, is_made_from_file, rebase, trimmed};
use super::rows::{FoldedLines, NonBlankLines};
use super::search_text::{LineRange, OnDuplicate, SearchText};
use super::wrapping::{AlternativeEdit, alternatives_in, prefix};
use super::{already_applied, exact};
use lockgate_error::Score;
use lockgate_text::Change;

/// Searches for a text, and for its replacement, at the levels below `exact`.
pub(super) struct Matcher<'a> {
    pub(super) search_text: SearchText<'a>,
    pub(super) range: LineRange<'a>,
    pub(super) index: LineIndex<'a>,
    pub(super) steps: MatchBudget,
    alternatives: OnceCell<Rc<[AlternativeEdit]>>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(search_text: SearchText<'a>, range: LineRange<'a>) -> Matcher<'a> {
        let index = LineIndex::new(range);
        Matcher {
            search_text,
            range,
            index,
            steps: MatchBudget::of_one_search(),
            alternatives: OnceCell::new(),
        }
    }

    /// Finds the only match at the levels down to `wrapping`, or finds that the edit was already made.
    pub(super) fn find(&mut self) -> Option<Located> {
        self.below_exact()
            .or_else(|| {
                self.find_fragment(self.search_text.search, self.search_text.replace, MatchLevel::Marks)
            })
            .or_else(|| self.wrapped())
            .or_else(|| self.find_literal_replacement_or_around())
            .or_else(|| self.find_replacement())
            .or_else(|| self.elided())
    }

    /// Returns all lines that are not blank.
    pub(super) fn folded_lines(&self) -> &FoldedLines<'a> {
        self.index.folded_lines()
    }

    /// Returns the sites of a block at the levels from `space` to `marks`.
    pub(super) fn sites(&mut self, block: &NonBlankLines<'_>) -> LevelSearch {
        if self.index.lacks(block) {
            return LevelSearch::NotFound;
        }
        levels::find(block, self.index.folded_lines(), &mut self.steps)
    }

    /// Tries the levels from `space` to `marks`; only `space` for a diff that only adds lines.
    pub(super) fn below_exact(&mut self) -> Option<Located> {
        let block = Block::new(self.search_text.search, self.search_text.replace);
        match self.sites(&block.search) {
            LevelSearch::NotFound => None,
            LevelSearch::TooMany(at) => Some(self.too_many(MatchLevel::Marks, &at)),
            LevelSearch::Found(MatchSites { strictness, at }) if self.is_diff(strictness) => {
                self.check_signs(&block, &at)
            }
            LevelSearch::Found(MatchSites { strictness, at }) => Some(match at.as_slice() {
                [one] => self.rebase_at(&block, *one, strictness, strictness.level()),
                _ => self.ambiguous(strictness.level(), &at),
            }),
        }
    }

    /// Returns true if a match with another indentation is a diff that adds lines: signs are not indentation.
    fn is_diff(&self, strictness: Strictness) -> bool {
        !strictness.has_quoted_indent() && prefix::adds(self.search_text.search, self.search_text.replace)
    }

    /// Returns `None` for a certain diff that adds lines, so that it is parsed as a diff. Otherwise the signs may be
    /// text.
    fn check_signs(&mut self, block: &Block<'_>, at: &[usize]) -> Option<Located> {
        let bare = block.search.lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
        let strict = match self.sites(&NonBlankLines::from_lines(bare)) {
            LevelSearch::Found(MatchSites { strictness, .. }) => strictness.has_quoted_indent(),
            LevelSearch::NotFound | LevelSearch::TooMany(_) => false,
        };
        let (line, quoted) = (self.folded_lines().number(*at.first()?), block.search.line(0));
        let why = "the signs before the added lines may be diff signs or text";
        let conflict = Conflict::new(line, why, quoted, self.range.text.text(line));
        (!strict).then_some(Located::Conflict(conflict))
    }

    /// Finds a part of one line with other typographic marks.
    pub(super) fn find_fragment(&self, search: &str, replace: &str, level: MatchLevel) -> Option<Located> {
        let found = fragment::find(search, &self.index, level);
        match found.as_slice() {
            [] => None,
            [piece] => {
                let changes = fragment::rebase(search, replace, piece, self.range.text).into_iter().collect();
                let lines = piece.line..=piece.line;
                Some(Located::One(UniqueMatch::new(changes, level, Score::IDENTICAL, lines)))
            }
            several => {
                let lines = several.iter().map(|piece| piece.line).collect();
                Some(Located::Ambiguous { level, lines, is_complete: true })
            }
        }
    }

    /// Finds every match at the strictest level that has any, down to `wrapping`; overlapping matches are rejected.
    pub(super) fn find_every(&mut self) -> Result<Vec<UniqueMatch>, Located> {
        let plain = AlternativeEdit::plain(self.search_text.search, self.search_text.replace);
        let found = self.every_of(&plain, None)?;
        if !found.is_empty() {
            return Ok(found);
        }
        match self.best_alternative() {
            Some(alternative) => self.every_of(&alternative, Some(MatchLevel::Wrapping)),
            None => Ok(Vec::new()),
        }
    }

    fn every_of(
        &mut self,
        alternative: &AlternativeEdit,
        level: Option<MatchLevel>,
    ) -> Result<Vec<UniqueMatch>, Located> {
        let block = Block::new(&alternative.search, &alternative.replace);
        let MatchSites { strictness, at } = match self.sites(&block.search) {
            LevelSearch::NotFound => return Ok(Vec::new()),
            LevelSearch::TooMany(at) => return Err(self.too_many(level.unwrap_or(MatchLevel::Marks), &at)),
            LevelSearch::Found(MatchSites { strictness, .. })
                if level.is_none() && self.is_diff(strictness) =>
            {
                return Ok(Vec::new());
            }
            LevelSearch::Found(sites) => sites,
        };
        let level = level.unwrap_or(strictness.level());
        if at.iter().zip(at.iter().skip(1)).any(|(one, next)| one + block.search.len() > *next) {
            return Err(self.ambiguous(level, &at));
        }
        if let Some(conflict) = self.mixed_bases(&block, &at) {
            return Err(Located::Conflict(conflict));
        }
        let matches = at.iter().map(|one| match self.rebase_at(&block, *one, strictness, level) {
            Located::One(found) => Ok(found.with_candidates(at.len())),
            other => Err(other),
        });
        matches.collect()
    }

    /// Returns a conflict if the replacement has the indentation or marks of some matches, but not of all.
    fn mixed_bases(&self, block: &Block<'_>, at: &[usize]) -> Option<Conflict> {
        let site = |at: &usize| MatchSite::at(&block.search, self.folded_lines(), *at);
        let mut others = at.iter().map(site).filter(|site| !is_made_from_file(block, site, self.range.text));
        let other = others.next()?;
        if others.count() + 1 == at.len() {
            return None;
        }
        let (line, _) = other.ends();
        let why = "the replacement is indented like some of the matches, and not like this one";
        Some(Conflict::new(line, why, block.search.line(0), self.range.text.text(line)))
    }

    /// Returns the edit without possible wrapping such as a fence; computed once.
    pub(super) fn alternatives(&self) -> Rc<[AlternativeEdit]> {
        let SearchText { search, replace, .. } = self.search_text;
        Rc::clone(self.alternatives.get_or_init(|| alternatives_in(self.range.view, search, replace).into()))
    }

    pub(super) fn ambiguous(&self, level: MatchLevel, at: &[usize]) -> Located {
        Located::Ambiguous { level, lines: self.numbers(at), is_complete: true }
    }

    /// Does the same for sites that are only some of all.
    pub(super) fn too_many(&self, level: MatchLevel, at: &[usize]) -> Located {
        Located::Ambiguous { level, lines: self.numbers(at), is_complete: false }
    }

    fn numbers(&self, at: &[usize]) -> Vec<usize> {
        at.iter().map(|at| self.folded_lines().number(*at)).collect()
    }

    /// Rebases the edit onto the site that begins at this index of the folded lines.
    pub(super) fn rebase_at(
        &self,
        block: &Block<'_>,
        at: usize,
        strictness: Strictness,
        level: MatchLevel,
    ) -> Located {
        let folded = self.folded_lines();
        let applied = || {
            already_applied::find_around(block, self.range, folded.number(at), strictness)
                .or_else(|| already_applied::find_replaced(block, folded, at, strictness))
        };
        if self.search_text.on_duplicate == OnDuplicate::Reject
            && let Some(line) = applied()
        {
            return Located::AlreadyApplied { line };
        }
        let site = MatchSite::at(&block.search, self.folded_lines(), at);
        let (first, last) = site.ends();
        let mut cells = MAX_CELLS;
        let score = self.score(block, &site, &mut cells);
        let exact = self.without_final_line_end(&site).map(Ok);
        match exact.unwrap_or_else(|| rebase(block, &site, self.range.text)) {
            Ok(changes) => Located::One(UniqueMatch::new(changes, level, score, first..=last)),
            Err(conflict) => Located::Conflict(conflict),
        }
    }

    /// Returns the changes for a search that differs from a site only by a line end, which the text lacks at its end. Then
    /// its blank lines are those of the file, and the replacement's are meant as they are.
    fn without_final_line_end(&self, site: &MatchSite) -> Option<Vec<Change>> {
        let SearchText { search, replace, .. } = self.search_text;
        let (search, text) = (search.strip_suffix('\n')?, self.range.view);
        let before = text.strip_suffix(search).filter(|_| !text.ends_with('\n'))?;
        let first = self.range.text.line_at(before.len());
        let is_whole = exact::is_line_start(text, before.len()) && site.ends().0 >= first;
        let is_inside = self.range.first <= first && self.range.last >= self.range.text.count();
        let changes = || match replace {
            "" => exact::splice(text, before.len()..text.len(), search, ""),
            _ => exact::line_by_line(before.len(), search, replace.strip_suffix('\n').unwrap_or(replace)),
        };
        (is_whole && is_inside).then(changes)
    }

    /// Returns the share of characters that the quoted lines and the file's lines have in common, without blanks. `cells`
    /// is the number of character pairs that may be compared, and then that of those that are left.
    pub(super) fn score(&self, block: &Block<'_>, site: &MatchSite, cells: &mut usize) -> Score {
        let (mut distance, mut longer) = (0, 0);
        for (quoted, line) in block.search.lines.iter().zip(&site.lines) {
            let [quoted, actual] = [quoted, self.range.text.text(*line)].map(non_blank);
            longer += quoted.chars().count().max(actual.chars().count());
            distance += max_distance(&quoted, &actual, cells);
        }
        Score::from_distance(distance, longer)
    }
}

/// The maximum number of character pairs that are compared for the scores of one search.
pub(super) const MAX_CELLS: usize = 1 << 24;

/// Returns an upper bound of the distance between two lines. Lines that the budget cannot compare count as entirely
/// different.
fn max_distance(one: &str, other: &str, cells: &mut usize) -> usize {
    let Some(Change { span, text: to }) = trimmed(0, one, other) else { return 0 };
    let from = one.get(span).unwrap_or_default();
    let (from_length, to_length) = (from.chars().count(), to.chars().count());
    match cells.checked_sub(from_length.saturating_mul(to_length)) {
        Some(remaining) => {
            *cells = remaining;
            strsim::levenshtein(from, &to)
        }
        None => from_length.max(to_length),
    }
}

/// Returns the non-blank characters of a line.
fn non_blank(line: &str) -> String {
    line.chars().filter(|character| !character.is_whitespace()).collect()
}
