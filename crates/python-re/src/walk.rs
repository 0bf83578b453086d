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
use super::linear::{Linear, LinearCaches, LinearOutcome};
use super::machine::EmptyMatch;
use super::search::BacktrackingSearch;

/// The cost of a match besides the search, in steps.
pub(super) const MATCH: usize = 16;

/// The details of a match that a walk finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchDetail {
    /// The span of the whole match.
    Span,
    /// The spans of its groups, too.
    Groups,
}

/// An iteration over the matches of a text.
pub(super) struct MatchWalk<'s> {
    linear: Option<(&'s Linear, LinearCaches)>,
    search: BacktrackingSearch<'s>,
    text: &'s str,
    at: usize,
    empty_match: EmptyMatch,
    detail: MatchDetail,
}

impl<'s> MatchWalk<'s> {
    pub(super) fn new(
        pattern: &'s Pattern,
        text: &'s str,
        detail: MatchDetail,
        budget: &'s mut StepBudget,
    ) -> MatchWalk<'s> {
        MatchWalk {
            linear: pattern.linear.as_ref().map(|linear| (linear, linear.create_caches())),
            search: BacktrackingSearch::new(pattern, text, budget),
            text,
            at: 0,
            empty_match: EmptyMatch::Accepted,
            detail: if pattern.groups > 0 { detail } else { MatchDetail::Span },
        }
    }

    /// Returns the span of the next match, or `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Range<usize>>, Error> {
        self.spend(MATCH)?;
        let Some((start, end)) = self.find()? else { return Ok(None) };
        self.at = end;
        self.empty_match = if start == end { EmptyMatch::Rejected } else { EmptyMatch::Accepted };
        Ok(Some(start..end))
    }

    /// Returns the span of a group of the last match.
    pub(super) fn group(&self, group: usize) -> Option<(usize, usize)> {
        self.search.machine.group(group)
    }

    /// Spends steps of the budget of the walk.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Error> {
        self.search.machine.budget.spend(steps)
    }

    fn find(&mut self) -> Result<Option<(usize, usize)>, Error> {
        let Some((linear, caches)) = &mut self.linear else {
            return self.search.find(self.at, self.empty_match);
        };
        let from = match self.empty_match {
            EmptyMatch::Accepted => Some(self.at),
            // An empty match is the last choice of every pattern here: nothing else matches at its position.
            EmptyMatch::Rejected => {
                self.text.get(self.at..).and_then(|rest| rest.chars().next()).map(|c| self.at + c.len_utf8())
            }
        };
        let Some(from) = from else { return Ok(None) };
        match linear.find(self.text, from, caches, self.search.machine.budget)? {
            LinearOutcome::NotFound => Ok(None),
            LinearOutcome::GivenUp => {
                self.linear = None;
                self.search.find(self.at, self.empty_match)
            }
            LinearOutcome::Found((start, end)) => {
                if self.detail == MatchDetail::Groups
                    && self.search.machine.attempt(start, EmptyMatch::Accepted)? != Some(end)
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
        std::iter::from_fn(|| walk.next().unwrap()).collect()
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
                let found = [true, false].map(|is_linear| {
                    let mut budget = StepBudget::new(u64::MAX);
                    let mut walk = MatchWalk::new(&pattern, &text, MatchDetail::Span, &mut budget);
                    walk.linear = walk.linear.filter(|_| is_linear);
                    spans(walk)
                });
                assert_eq!(found[0], found[1], "{pattern:?} {text:?}");
            }
        }
    }
}
