//! Match level `wrapping`: chooses among the alternative forms of an edit.

use std::cmp::Reverse;

use super::Conflict;
use super::elision;
use super::levels::{LevelSearch, Strictness};
use super::located::{Located, MatchLevel};
use super::matcher::Matcher;
use super::rebase::Block;
use super::search_text::SearchText;
use super::wrapping::AlternativeEdit;

/// The rank of an alternative. Parts of a line come after all line-based levels; at one level, the alternative that
/// keeps more lines comes first, and of equal ones that whose replacement begins at the depth of the search.
type AlternativeRank = (bool, Option<Strictness>, Reverse<usize>, bool);

impl Matcher<'_> {
    /// Returns the match of the strictest alternatives if they have the same result.
    pub(super) fn wrapped(&mut self) -> Option<Located> {
        one_of(self.best_alternatives().into_iter().map(|(_, located)| located))
    }

    /// Returns the strictest alternative that has a match at a line-based level.
    pub(super) fn best_alternative(&mut self) -> Option<AlternativeEdit> {
        let mut best = self.best_alternatives().into_iter().map(|(alternative, _)| alternative);
        best.next().filter(|first| best.all(|other| other.replace == first.replace))
    }

    /// Returns the alternatives of the best rank, each with its result.
    fn best_alternatives(&mut self) -> Vec<(AlternativeEdit, Located)> {
        let mut first: Option<AlternativeRank> = None;
        let mut best = Vec::new();
        for alternative in self.alternatives().iter() {
            let Some((strictness, located)) = self.try_alternative(alternative) else { continue };
            // Of two readings of one text, neither is better.
            let (common, changes_depth) = match alternative.is_ambiguous {
                true => (0, false),
                false => (alternative.common_line_count(), alternative.changes_depth()),
            };
            let rank = (strictness.is_none(), strictness, Reverse(common), changes_depth);
            if first.is_none_or(|first| rank < first) {
                best.clear();
                first = Some(rank);
            }
            if first == Some(rank) {
                best.push((alternative.clone(), located));
            }
        }
        best
    }

    fn try_alternative(&mut self, alternative: &AlternativeEdit) -> Option<(Option<Strictness>, Located)> {
        let block = Block::new(&alternative.search, &alternative.replace);
        let found = match self.sites(&block.search) {
            LevelSearch::NotFound if alternative.line.is_some() => return None,
            LevelSearch::NotFound => {
                let piece =
                    self.find_fragment(&alternative.search, &alternative.replace, MatchLevel::Wrapping)?;
                return Some((None, piece));
            }
            LevelSearch::TooMany(at) => {
                return Some((Some(Strictness::Space), self.too_many(MatchLevel::Wrapping, &at)));
            }
            LevelSearch::Found(places) => places,
        };
        if alternative.keeps_indent && !found.strictness.has_quoted_indent() {
            return None;
        }
        let at: Vec<usize> = match alternative.line {
            Some(line) => found.at.into_iter().filter(|at| self.folded_lines().number(*at) == line).collect(),
            None => found.at,
        };
        let located = match at.as_slice() {
            [] => return None,
            [one] => self.rebase_at(&block, *one, found.strictness, MatchLevel::Wrapping),
            _ => self.ambiguous(MatchLevel::Wrapping, &at),
        };
        Some((Some(found.strictness), located))
    }

    /// Returns the match of an elided block, also in the alternatives of the edit, which must all have the same
    /// result.
    pub(super) fn elided(&mut self) -> Option<Located> {
        let (search_text, alternatives) = (self.search_text, self.alternatives());
        elision::find(search_text, &self.index, &mut self.steps).or_else(|| {
            let in_any_line = alternatives.iter().filter(|alternative| alternative.line.is_none());
            let quotes = in_any_line.map(|AlternativeEdit { search, replace, .. }| SearchText {
                search,
                replace,
                ..search_text
            });
            one_of(quotes.filter_map(|quote| elision::find(quote, &self.index, &mut self.steps)))
        })
    }
}

/// Returns the common result of several alternatives, or an ambiguous match.
fn one_of(all: impl Iterator<Item = Located>) -> Option<Located> {
    let mut distinct: Vec<Located> = Vec::new();
    for located in all {
        if !distinct.iter().any(|one| one.has_same_result(&located)) {
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
            let is_complete = several.iter().all(Located::is_complete);
            Some(match lines.as_slice() {
                [line] => Located::Conflict(Conflict {
                    line: *line,
                    reason: "the edit can be read in several ways with different results; send it as the file has \
                             it, without line numbers or escapes",
                    expected: String::new(),
                    actual: String::new(),
                }),
                [..] => Located::Ambiguous { level: MatchLevel::Wrapping, lines, is_complete },
            })
        }
    }
}

impl Located {
    /// Returns true if two alternatives have the same result.
    fn has_same_result(&self, other: &Located) -> bool {
        match (self, other) {
            (Located::One(one), Located::One(other)) => one.changes == other.changes,
            (one, other) => one == other,
        }
    }

    /// Returns false if there may be more matches than the known ones.
    fn is_complete(&self) -> bool {
        !matches!(self, Located::Ambiguous { is_complete: false, .. })
    }

    fn lines(&self) -> Vec<usize> {
        match self {
            Located::One(found) => vec![found.match_info.line],
            Located::Ambiguous { lines, .. } => lines.clone(),
            Located::AlreadyApplied { line } | Located::Conflict(Conflict { line, .. }) => vec![*line],
            Located::Unchanged | Located::NotFound { .. } => Vec::new(),
        }
    }
}
