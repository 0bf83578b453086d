//! Match level `wrapping`: chooses among the alternative forms of an edit.

use std::cmp::Reverse;

use super::elision::{self, Elided};
use super::levels::{LevelSearch, Strictness};
use super::matcher::Matcher;
use super::rebase::Block;
use super::wrapping::AlternativeEdit;
use super::{Conflict, Located, MatchInfo, MatchLevel, SearchText, UniqueMatch};
use crate::error::Score;

/// The rank of an alternative. Parts of a line come after all line-based levels; at one level, the alternative that
/// keeps more lines comes first.
type ReadingRank = (bool, Option<Strictness>, Reverse<usize>);

impl Matcher<'_> {
    /// Returns the match of the strictest alternatives if they have the same result.
    pub(super) fn wrapped(&mut self) -> Option<Located> {
        one_of(self.best_readings().into_iter().map(|(_, located)| located))
    }

    /// Returns the strictest alternative that has a match at a line-based level.
    pub(super) fn best_reading(&mut self) -> Option<AlternativeEdit> {
        let mut best = self.best_readings().into_iter().map(|(reading, _)| reading);
        best.next().filter(|first| best.all(|other| other.replace == first.replace))
    }

    /// Returns the alternatives of the best rank, each with its result.
    fn best_readings(&mut self) -> Vec<(AlternativeEdit, Located)> {
        let mut first: Option<ReadingRank> = None;
        let mut best = Vec::new();
        for reading in self.readings().iter() {
            let Some((rung, located)) = self.read(reading) else { continue };
            let rank = (rung.is_none(), rung, Reverse(reading.kept()));
            if first.is_none_or(|first| rank < first) {
                best.clear();
                first = Some(rank);
            }
            if first == Some(rank) {
                best.push((reading.clone(), located));
            }
        }
        best
    }

    fn read(&mut self, reading: &AlternativeEdit) -> Option<(Option<Strictness>, Located)> {
        let block = Block::new(&reading.search, &reading.replace);
        let found = match self.places(&block.search) {
            LevelSearch::Nowhere if reading.line.is_some() => return None,
            LevelSearch::Nowhere => {
                let piece = self.pieces(&reading.search, &reading.replace, MatchLevel::Wrapping)?;
                return Some((None, piece));
            }
            LevelSearch::TooMany(at) => {
                return Some((Some(Strictness::Space), self.many(MatchLevel::Wrapping, &at)));
            }
            LevelSearch::At(places) => places,
        };
        let at: Vec<usize> = match reading.line {
            Some(line) => found.at.into_iter().filter(|at| self.ground().number(*at) == line).collect(),
            None => found.at,
        };
        let located = match at.as_slice() {
            [] => return None,
            [one] => self.carried(&block, *one, found.rung, MatchLevel::Wrapping),
            _ => self.many(MatchLevel::Wrapping, &at),
        };
        Some((Some(found.rung), located))
    }

    /// Returns the match of an elided block, also in the alternatives of the edit, which must all have the same
    /// result.
    pub(super) fn elided(&mut self) -> Option<Located> {
        let (quote, readings) = (self.quote, self.readings());
        self.elided_in(quote).or_else(|| {
            let quotes = readings.iter().map(|AlternativeEdit { search, replace, .. }| SearchText {
                search,
                replace,
                ..quote
            });
            let found: Vec<Located> = quotes.filter_map(|quote| self.elided_in(quote)).collect();
            one_of(found.into_iter())
        })
    }

    fn elided_in(&mut self, quote: SearchText<'_>) -> Option<Located> {
        Some(match elision::find(quote, &self.glance, &mut self.steps)? {
            Elided::Many(lines) => Located::Many { tier: MatchLevel::Wrapping, lines },
            Elided::Standing(line) => Located::Standing { line },
            Elided::Conflict(conflict) => Located::Conflict(conflict),
            Elided::Found { changes, first, last } => {
                let receipt = MatchInfo::only(MatchLevel::Wrapping, Score::WHOLE, first);
                Located::One(UniqueMatch { changes, receipt, lines: first..=last })
            }
        })
    }
}

/// Returns the common result of several alternatives, or an ambiguous match.
fn one_of(all: impl Iterator<Item = Located>) -> Option<Located> {
    let mut distinct: Vec<Located> = Vec::new();
    for located in all {
        if !distinct.iter().any(|one| one.comes_to_the_same(&located)) {
            distinct.push(located);
        }
    }
    match distinct.as_slice() {
        [] => None,
        [_] => distinct.pop(),
        several => {
            let mut lines: Vec<usize> = several.iter().flat_map(Located::lines).collect();
            lines.sort_unstable();
            lines.dedup();
            Some(match lines.as_slice() {
                [line] => Located::Conflict(Conflict {
                    line: *line,
                    why: "the search text can be read in several ways with different results",
                    quoted: String::new(),
                    there: String::new(),
                }),
                [..] => Located::Many { tier: MatchLevel::Wrapping, lines },
            })
        }
    }
}

impl Located {
    /// Returns true if two alternatives have the same result.
    fn comes_to_the_same(&self, other: &Located) -> bool {
        match (self, other) {
            (Located::One(one), Located::One(other)) => one.changes == other.changes,
            (one, other) => one == other,
        }
    }

    fn lines(&self) -> Vec<usize> {
        match self {
            Located::One(found) => vec![found.receipt.line],
            Located::Many { lines, .. } => lines.clone(),
            Located::Standing { line } | Located::Conflict(Conflict { line, .. }) => vec![*line],
            Located::Unchanged | Located::Nowhere { .. } => Vec::new(),
        }
    }
}
