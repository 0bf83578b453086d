//! Iterates over the matches of a text, by the rules of `re.sub`.
//!
//! A match may be empty at the end of a longer one. After an empty match, the next one must not be empty at the same
//! position.
//!
//! Invariant: each match begins at or after the end of the previous one.

use std::ops::Range;

use super::budget::StepBudget;
use super::compiled::Pattern;
use super::error::Error;
use super::linear::{Linear, LinearOutcome, Memory};
use super::machine::Layer;
use super::search::BacktrackingSearch;

/// The cost of a match besides the search, in steps.
const MATCH: usize = 16;

/// The details of a match that a walk finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchDetail {
    /// The span of the whole match.
    Span,
    /// The spans of its groups, too.
    Groups,
}

pub(super) struct Match {
    pub(super) span: Range<usize>,
}

/// An iteration over the matches of a text.
pub(super) struct MatchWalk<'p, 't> {
    linear: Option<(&'p Linear, Memory)>,
    search: BacktrackingSearch<'p, 't>,
    text: &'t str,
    at: usize,
    layer: Layer,
    detail: MatchDetail,
}

impl<'p, 't> MatchWalk<'p, 't> {
    pub(super) fn new(pattern: &'p Pattern, text: &'t str, detail: MatchDetail) -> MatchWalk<'p, 't> {
        MatchWalk {
            linear: pattern.linear.as_ref().map(|linear| (linear, linear.memory())),
            search: BacktrackingSearch::new(pattern, text),
            text,
            at: 0,
            layer: Layer::Free,
            detail: if pattern.groups > 0 { detail } else { MatchDetail::Span },
        }
    }

    /// Returns the next match, or `None` at the end of the text.
    pub(super) fn next(&mut self, budget: &mut StepBudget) -> Result<Option<Match>, Error> {
        budget.spend(MATCH)?;
        let Some((start, end)) = self.find(budget)? else { return Ok(None) };
        self.at = end;
        self.layer = if start == end { Layer::MustAdvance } else { Layer::Free };
        Ok(Some(Match { span: start..end }))
    }

    /// Returns the span of a group of the last match.
    pub(super) fn group(&self, group: usize) -> Option<(usize, usize)> {
        self.search.machine.group(group)
    }

    fn find(&mut self, budget: &mut StepBudget) -> Result<Option<(usize, usize)>, Error> {
        let Some((linear, memory)) = &mut self.linear else {
            return self.search.find(self.at, self.layer, budget);
        };
        let from = match self.layer {
            Layer::Free => Some(self.at),
            // An empty match is the last choice of every pattern here: nothing else matches at its position.
            Layer::MustAdvance => {
                self.text.get(self.at..).and_then(|rest| rest.chars().next()).map(|c| self.at + c.len_utf8())
            }
        };
        let Some(from) = from else { return Ok(None) };
        match linear.find(self.text, from, memory, budget)? {
            LinearOutcome::NoMatch => Ok(None),
            LinearOutcome::GivenUp => {
                self.linear = None;
                self.search.find(self.at, self.layer, budget)
            }
            LinearOutcome::Match(start, end) => {
                if self.detail == MatchDetail::Groups
                    && self.search.machine.attempt(start, Layer::Free, budget)? != Some(end)
                {
                    return Err(Error::Disagreement);
                }
                Ok(Some((start, end)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    /// Returns every text of at most `length` characters of the alphabet.
    fn texts(alphabet: &[char], length: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..length {
            let grown: Vec<String> = all
                .iter()
                .skip(from)
                .flat_map(|text| alphabet.iter().map(move |char| format!("{text}{char}")))
                .collect();
            from = all.len();
            all.extend(grown);
        }
        all
    }

    fn spans(mut walk: MatchWalk) -> Vec<Range<usize>> {
        let budget = &mut StepBudget::new(u64::MAX);
        std::iter::from_fn(|| walk.next(budget).unwrap()).map(|found| found.span).collect()
    }

    #[test]
    fn both_engines_find_the_same() {
        let patterns = [
            "a|ab",
            "ab|a",
            "a*",
            "a+?",
            "(?:a|b)*",
            "a*$",
            "$",
            "^",
            "(?m)^",
            "(?m)$",
            "(?m)a*$",
            "[^a]$",
            "\\n$",
            "$a*",
            "\\Z",
            "\\Aa?",
            ".+",
            "(?s).+",
            "(?:a+b?)+",
            "(?:ab|a)(?:b|ba)",
            "(?:a|é)+?b",
            "é*",
            "a{2,3}",
            "(?:aa|a){2}",
            "b?$",
            "(?m)^.*$",
            "(?:a|$)b?",
            "\\s$",
            "b(?:a|ba$)",
        ];
        for pattern in patterns {
            let pattern = Pattern::compile(pattern, Flags::default()).unwrap();
            assert!(pattern.linear.is_some());
            for text in texts(&['a', 'b', '\n'], 5).into_iter().chain(texts(&['a', 'é'], 4)) {
                let mut backtracking = MatchWalk::new(&pattern, &text, MatchDetail::Span);
                backtracking.linear = None;
                assert_eq!(
                    spans(MatchWalk::new(&pattern, &text, MatchDetail::Span)),
                    spans(backtracking),
                    "{pattern:?} {text:?}"
                );
            }
        }
    }
}
