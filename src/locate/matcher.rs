//! The search for the only match of one text: the levels below `exact` in order, and the result of the edit.

use std::cell::OnceCell;
use std::rc::Rc;

use super::fragment::{self, Worth};
use super::levels::{self, LevelSearch, MatchSites, Strictness};
use super::line_index::LineIndex;
use super::proposal::Proposal;
use super::rebase::{Block, Conflict, MatchSite, carry};
use super::rows::{FoldedLines, NonBlankLines};
use super::scope::Outline;
use super::similar::{self, Neighbours};
use super::steps::MatchBudget;
use super::wrapping::{AlternativeEdit, prefix, readings};
use super::{
    Field, Located, MatchInfo, MatchLevel, MatchTolerance, OnRepeat, SearchText, TypoPolicy, UniqueMatch,
    standing,
};
use crate::error::Score;

/// Searches for a text, and for its replacement, at the levels below `exact`.
pub(super) struct Matcher<'a> {
    pub(super) quote: SearchText<'a>,
    pub(super) field: Field<'a>,
    pub(super) glance: LineIndex<'a>,
    pub(super) steps: MatchBudget,
    readings: OnceCell<Rc<[AlternativeEdit]>>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(quote: SearchText<'a>, field: Field<'a>) -> Matcher<'a> {
        let glance = LineIndex::new(field);
        Matcher { quote, field, glance, steps: MatchBudget::of_one_search(), readings: OnceCell::new() }
    }

    /// Finds the only match at the levels down to `wrapping`, or finds that the edit was already made.
    pub(super) fn seek(&mut self) -> Option<Located> {
        self.below_exact()
            .or_else(|| self.pieces(self.quote.search, self.quote.replace, MatchLevel::Marks))
            .or_else(|| self.made())
            .or_else(|| self.wrapped())
            .or_else(|| self.standing())
            .or_else(|| self.elided())
    }

    /// Returns all lines that are not blank.
    pub(super) fn ground(&self) -> &FoldedLines<'a> {
        self.glance.ground()
    }

    /// Returns the sites of a block at the levels from `space` to `marks`.
    pub(super) fn places(&mut self, block: &NonBlankLines<'_>) -> LevelSearch {
        if self.glance.lacks(block) {
            return LevelSearch::Nowhere;
        }
        levels::find(block, self.glance.ground(), &mut self.steps)
    }

    /// Tries the levels from `space` to `marks`; only `space` for a diff that only adds lines.
    pub(super) fn below_exact(&mut self) -> Option<Located> {
        let block = Block::new(self.quote.search, self.quote.replace);
        match self.places(&block.search) {
            LevelSearch::Nowhere => None,
            LevelSearch::TooMany(at) => Some(self.many(MatchLevel::Marks, &at)),
            LevelSearch::At(MatchSites { rung, at }) if self.is_diff(rung) => self.signed(&block, &at),
            LevelSearch::At(MatchSites { rung, at }) => Some(match at.as_slice() {
                [one] => self.carried(&block, *one, rung, rung.tier()),
                _ => self.many(rung.tier(), &at),
            }),
        }
    }

    /// Returns true if a match with another indentation is a diff that adds lines: signs are not indentation.
    fn is_diff(&self, rung: Strictness) -> bool {
        let moved = ![Strictness::Space, Strictness::MarkedSpace].contains(&rung);
        moved && prefix::adds(self.quote.search, self.quote.replace)
    }

    /// Returns `None` for a certain diff that adds lines, so that it is parsed as a diff. Otherwise the signs may be
    /// text.
    fn signed(&mut self, block: &Block<'_>, at: &[usize]) -> Option<Located> {
        let bare = block.search.lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
        let strict = match self.places(&NonBlankLines::from_lines(bare)) {
            LevelSearch::At(MatchSites { rung, .. }) => {
                [Strictness::Space, Strictness::MarkedSpace].contains(&rung)
            }
            LevelSearch::Nowhere | LevelSearch::TooMany(_) => false,
        };
        let (line, quoted) = (self.ground().number(*at.first()?), block.search.line(0));
        let why = "the signs before the added lines may be diff signs or text";
        let conflict = Conflict::new(line, why, quoted, self.field.text.text(line));
        (!strict).then_some(Located::Conflict(conflict))
    }

    /// Finds a part of one line with other typographic marks.
    pub(super) fn pieces(&self, search: &str, replace: &str, tier: MatchLevel) -> Option<Located> {
        let worth = if tier == MatchLevel::Wrapping { Worth::All } else { Worth::Marked };
        let found = fragment::find(search, &self.glance, worth);
        match found.as_slice() {
            [] => None,
            [piece] => {
                let changes = fragment::carry(search, replace, piece, self.field.text).into_iter().collect();
                let receipt = MatchInfo::only(tier, Score::WHOLE, piece.line);
                Some(Located::One(UniqueMatch { changes, receipt, lines: piece.line..=piece.line }))
            }
            several => Some(Located::Many { tier, lines: several.iter().map(|piece| piece.line).collect() }),
        }
    }

    /// Tries level `similar` up to the requested tolerance; otherwise returns the nearest lines.
    pub(super) fn similar(
        &mut self,
        tolerance: MatchTolerance,
        outline: &dyn Fn() -> Option<Outline>,
    ) -> Located {
        let usual = (MatchTolerance::THRESHOLD, TypoPolicy::Pen);
        let asked = match tolerance {
            MatchTolerance::Wrapping => None,
            MatchTolerance::Similar { threshold, slip } => Some((threshold, slip)),
        };
        let neighbours =
            Neighbours::new(self, asked.map_or(usual.0, |(threshold, _)| threshold.min(usual.0)));
        if let Some(found) = asked.and_then(|asked| similar::find(self, &neighbours, asked, outline)) {
            return found;
        }
        // The text that was searched for first is not searched for again.
        let usual =
            (asked != Some(usual)).then(|| similar::find(self, &neighbours, usual, outline)).flatten();
        let proposal = match usual {
            Some(Located::One(found)) => Proposal::from_match(&found, self.field),
            Some(_) | None => None,
        };
        Located::Nowhere { near: neighbours.best(), proposal }
    }

    /// Finds every match at the strictest level that has any, down to `wrapping`; overlapping matches are rejected.
    pub(super) fn every(&mut self) -> Result<Vec<UniqueMatch>, Located> {
        let plain = AlternativeEdit::plain(self.quote.search, self.quote.replace);
        let found = self.every_of(&plain, None)?;
        if !found.is_empty() {
            return Ok(found);
        }
        match self.best_reading() {
            Some(reading) => self.every_of(&reading, Some(MatchLevel::Wrapping)),
            None => Ok(Vec::new()),
        }
    }

    fn every_of(
        &mut self,
        reading: &AlternativeEdit,
        tier: Option<MatchLevel>,
    ) -> Result<Vec<UniqueMatch>, Located> {
        let block = Block::new(&reading.search, &reading.replace);
        let MatchSites { rung, at } = match self.places(&block.search) {
            LevelSearch::Nowhere => return Ok(Vec::new()),
            LevelSearch::TooMany(at) => return Err(self.many(tier.unwrap_or(MatchLevel::Marks), &at)),
            LevelSearch::At(MatchSites { rung, .. }) if tier.is_none() && self.is_diff(rung) => {
                return Ok(Vec::new());
            }
            LevelSearch::At(places) => places,
        };
        let tier = tier.unwrap_or(rung.tier());
        if at.iter().zip(at.iter().skip(1)).any(|(one, next)| one + block.search.len() > *next) {
            return Err(self.many(tier, &at));
        }
        let carried = at.iter().map(|one| match self.carried(&block, *one, rung, tier) {
            Located::One(found) => {
                Ok(UniqueMatch { receipt: MatchInfo { candidates: at.len(), ..found.receipt }, ..found })
            }
            other => Err(other),
        });
        carried.collect()
    }

    /// Returns the edit without possible wrapping such as a fence; computed once.
    pub(super) fn readings(&self) -> Rc<[AlternativeEdit]> {
        Rc::clone(self.readings.get_or_init(|| readings(self.quote.search, self.quote.replace).into()))
    }

    pub(super) fn many(&self, tier: MatchLevel, at: &[usize]) -> Located {
        Located::Many { tier, lines: at.iter().map(|at| self.ground().number(*at)).collect() }
    }

    /// Rebases the edit onto the site that begins at this index of the folded lines.
    pub(super) fn carried(
        &self,
        block: &Block<'_>,
        at: usize,
        rung: Strictness,
        tier: MatchLevel,
    ) -> Located {
        if self.quote.repeat == OnRepeat::Refused
            && let Some(line) = standing::around(block, self.field, self.ground().number(at), rung)
        {
            return Located::Standing { line };
        }
        let site = MatchSite::at(&block.search, self.ground(), at);
        let (first, last) = site.ends();
        let receipt = MatchInfo::only(tier, self.score(block, &site), first);
        match carry(block, &site, self.field.text) {
            Ok(changes) => Located::One(UniqueMatch { changes, receipt, lines: first..=last }),
            Err(conflict) => Located::Conflict(conflict),
        }
    }

    /// Returns the share of characters that the quoted lines and the file's lines have in common, without blanks.
    fn score(&self, block: &Block<'_>, site: &MatchSite) -> Score {
        let (mut distance, mut longer, mut cells) = (0, 0, MOST_CELLS);
        for (quoted, line) in block.search.lines.iter().zip(&site.lines) {
            let [quoted, there] = [quoted, self.field.text.text(*line)].map(written);
            longer += quoted.chars().count().max(there.chars().count());
            if quoted != there {
                distance += far(&quoted, &there, &mut cells);
            }
        }
        Score::from_distance(distance, longer)
    }
}

/// The maximum number of character pairs that are compared for one score.
const MOST_CELLS: usize = 1 << 24;

/// Returns an upper bound of the distance between two lines. Lines that the budget cannot compare count as entirely
/// different.
fn far(one: &str, other: &str, cells: &mut usize) -> usize {
    let head = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let tail = one.chars().rev().zip(other.chars().rev()).take_while(|(one, other)| one == other).count();
    let (from, to) = (one.chars().count(), other.chars().count());
    let tail = tail.min(from.min(to) - head);
    let middle =
        |text: &str, length: usize| text.chars().skip(head).take(length - head - tail).collect::<String>();
    let (from, to) = (from - head - tail, to - head - tail);
    match cells.checked_sub(from.saturating_mul(to)) {
        Some(left) => {
            *cells = left;
            strsim::levenshtein(&middle(one, from + head + tail), &middle(other, to + head + tail))
        }
        None => from.max(to),
    }
}

/// Returns the non-blank characters of a line.
fn written(line: &str) -> String {
    line.chars().filter(|character| !character.is_whitespace()).collect()
}
