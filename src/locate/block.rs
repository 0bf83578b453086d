//! One block and its one place: the ladder from `exact` down, and what the edit comes to there.

use std::cmp::Reverse;

use super::carry::{Block, Conflict, Site, carry};
use super::elision::{self, Elided};
use super::ladder::{self, Places, Rung, Search};
use super::proposal::Proposal;
use super::rows::{Ground, Rows};
use super::scope::Outline;
use super::similar::{self, Neighbours};
use super::steps::Steps;
use super::wrapping::{Reading, prefix, readings};
use super::{Field, Found, Located, Quote, Receipt, Repeat, Slip, Tier, Tolerance, fragment, standing};
use crate::error::Score;

/// Looks for a block on the rungs from `exact` to `wrapping`, and for its replacement.
pub(super) struct Seeker<'a> {
    pub(super) quote: Quote<'a>,
    pub(super) field: Field<'a>,
    pub(super) ground: Ground<'a>,
    pub(super) steps: Steps,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(quote: Quote<'a>, field: Field<'a>) -> Seeker<'a> {
        let ground = Ground::new(field.text, field.first, field.last);
        Seeker { quote, field, ground, steps: Steps::of_one_search() }
    }

    /// Finds the one place; nothing where no rung has any.
    pub(super) fn seek(&mut self) -> Option<Located> {
        self.below_exact(self.quote.search, self.quote.replace)
            .or_else(|| self.pieces(self.quote.search, self.quote.replace, Tier::Marks))
            .or_else(|| self.made())
            .or_else(|| self.wrapped())
            .or_else(|| self.standing())
            .or_else(|| self.elided())
    }

    /// Rung `similar`, as far as it may be gone to; what is nearest where that finds nothing.
    pub(super) fn similar(&mut self, tolerance: Tolerance, outline: &dyn Fn() -> Option<Outline>) -> Located {
        let usual = (Tolerance::THRESHOLD, Slip::Pen);
        let asked = match tolerance {
            Tolerance::Wrapping => None,
            Tolerance::Similar { threshold, slip } => Some((threshold, slip)),
        };
        let neighbours = Neighbours::of(self, asked.map_or(usual.0, |(threshold, _)| threshold.min(usual.0)));
        if let Some(found) = asked.and_then(|asked| similar::find(self, &neighbours, asked, outline)) {
            return found;
        }
        let proposal = match similar::find(self, &neighbours, usual, outline) {
            Some(Located::One(found)) => Proposal::of(&found, self.field),
            _ => None,
        };
        Located::Nowhere { near: neighbours.best(), proposal }
    }

    /// The rungs from `space` to `marks`; of a diff that only adds lines, `space` alone.
    pub(super) fn below_exact(&mut self, search: &str, replace: &str) -> Option<Located> {
        let block = Block::of(search, replace);
        match ladder::find(&block.search, &self.ground, &mut self.steps) {
            Search::Nowhere => None,
            Search::TooMany(at) => Some(self.many(Tier::Marks, &at)),
            Search::At(Places { rung, at }) if is_diff(rung, search, replace) => self.signed(&block, &at),
            Search::At(Places { rung, at }) => Some(match at.as_slice() {
                [one] => self.carried(&block, *one, rung.tier()),
                _ => self.many(rung.tier(), &at),
            }),
        }
    }

    /// A diff that adds lines where it is one without doubt: nothing, so that it is read as one. Else the signs may as
    /// well be text.
    fn signed(&mut self, block: &Block<'_>, at: &[usize]) -> Option<Located> {
        let bare: Vec<&str> =
            block.search.lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let bare = Rows::from_lines(bare.into_iter());
        let strict = match ladder::find(&bare, &self.ground, &mut self.steps) {
            Search::At(Places { rung, .. }) => [Rung::Space, Rung::MarkedSpace].contains(&rung),
            Search::Nowhere | Search::TooMany(_) => false,
        };
        let (line, quoted) = (self.ground.number(*at.first()?), block.search.line(0));
        let why = "the signs before the added lines may be those of a diff, or text";
        let conflict = Conflict::new(line, why, quoted, self.field.text.text(line));
        (!strict).then_some(Located::Conflict(conflict))
    }

    /// Every place of the strictest rung; those that overlap are refused.
    pub(super) fn every(&mut self) -> Result<Vec<Found>, Located> {
        let block = Block::of(self.quote.search, self.quote.replace);
        let Places { rung, at } = match ladder::find(&block.search, &self.ground, &mut self.steps) {
            Search::Nowhere => return Ok(Vec::new()),
            Search::TooMany(at) => return Err(self.many(Tier::Marks, &at)),
            Search::At(Places { rung, .. }) if is_diff(rung, self.quote.search, self.quote.replace) => {
                return Ok(Vec::new());
            }
            Search::At(places) => places,
        };
        if at.iter().zip(at.iter().skip(1)).any(|(one, next)| one + block.search.len() > *next) {
            return Err(self.many(rung.tier(), &at));
        }
        at.iter()
            .map(|one| match self.carried(&block, *one, rung.tier()) {
                Located::One(found) => {
                    Ok(Found { receipt: Receipt { candidates: at.len(), ..found.receipt }, ..found })
                }
                other => Err(other),
            })
            .collect()
    }

    fn many(&self, tier: Tier, at: &[usize]) -> Located {
        Located::Many { tier, lines: at.iter().map(|at| self.ground.number(*at)).collect() }
    }

    /// Carries the edit over onto the place that begins at this index of the ground.
    fn carried(&self, block: &Block<'_>, at: usize, tier: Tier) -> Located {
        if self.quote.repeat == Repeat::Refused
            && let Some(line) = standing::around(block, self.field.text, self.ground.number(at))
        {
            return Located::Standing { line };
        }
        let site = Site::at(&block.search, &self.ground, at);
        let (first, last) = site.ends();
        let receipt =
            Receipt { tier, score: self.score(block, &site), candidates: 1, runner_up: None, line: first };
        match carry(block, &site, self.field.text) {
            Ok(changes) => Located::One(Found { changes, receipt, lines: first..=last }),
            Err(conflict) => Located::Conflict(conflict),
        }
    }

    /// The share of characters that the quoted lines and the file's have in common, blanks aside.
    fn score(&self, block: &Block<'_>, site: &Site) -> Score {
        let (mut distance, mut longer) = (0, 0);
        for (quoted, line) in block.search.lines.iter().zip(&site.lines) {
            let [quoted, there] = [quoted, self.field.text.text(*line)].map(written);
            longer += quoted.chars().count().max(there.chars().count());
            if quoted != there {
                distance += strsim::levenshtein(&quoted, &there);
            }
        }
        Score::of(distance, longer)
    }

    /// A piece of one line, with other marks.
    fn pieces(&self, search: &str, replace: &str, tier: Tier) -> Option<Located> {
        let found = fragment::find(search, &self.ground);
        match found.as_slice() {
            [] => None,
            [piece] => {
                let changes = fragment::carry(search, replace, piece, self.field.text).into_iter().collect();
                let receipt =
                    Receipt { tier, score: Score::WHOLE, candidates: 1, runner_up: None, line: piece.line };
                Some(Located::One(Found { changes, receipt, lines: piece.line..=piece.line }))
            }
            many => Some(Located::Many { tier, lines: many.iter().map(|piece| piece.line).collect() }),
        }
    }

    /// Rung `wrapping`: the strictest place of all readings, when they agree on what the edit comes to.
    fn wrapped(&mut self) -> Option<Located> {
        let mut best = None;
        let mut distinct: Vec<Located> = Vec::new();
        for reading in readings(self.quote.search, self.quote.replace) {
            let Some((rung, located)) = self.read(&reading) else { continue };
            // Pieces of a line come after every rung; on one rung the reading that keeps the most lines is meant.
            let rank = (rung.is_none(), rung, Reverse(reading.kept()));
            if best.is_none_or(|best| rank < best) {
                distinct.clear();
                best = Some(rank);
            }
            if best == Some(rank) && !distinct.iter().any(|one| one.comes_to_the_same(&located)) {
                distinct.push(located);
            }
        }
        one_of(distinct)
    }

    fn read(&mut self, reading: &Reading) -> Option<(Option<Rung>, Located)> {
        let block = Block::of(&reading.search, &reading.replace);
        let found = match ladder::find(&block.search, &self.ground, &mut self.steps) {
            Search::Nowhere => {
                let piece = self.pieces(&reading.search, &reading.replace, Tier::Wrapping)?;
                return reading.line.is_none().then_some((None, piece));
            }
            Search::TooMany(at) => return Some((Some(Rung::Space), self.many(Tier::Wrapping, &at))),
            Search::At(places) => places,
        };
        let at: Vec<usize> = match reading.line {
            Some(line) => found.at.into_iter().filter(|at| self.ground.number(*at) == line).collect(),
            None => found.at,
        };
        let located = match at.as_slice() {
            [] => return None,
            [one] => self.carried(&block, *one, Tier::Wrapping),
            _ => self.many(Tier::Wrapping, &at),
        };
        Some((Some(found.rung), located))
    }

    /// An elided middle, also in the readings of the quote, which must all come to the same.
    fn elided(&mut self) -> Option<Located> {
        let Quote { search, replace, .. } = self.quote;
        if let Some(found) = self.elided_in(search, replace) {
            return Some(found);
        }
        let mut distinct: Vec<Located> = Vec::new();
        for reading in readings(search, replace) {
            if let Some(located) = self.elided_in(&reading.search, &reading.replace)
                && !distinct.iter().any(|one| one.comes_to_the_same(&located))
            {
                distinct.push(located);
            }
        }
        one_of(distinct)
    }

    fn elided_in(&mut self, search: &str, replace: &str) -> Option<Located> {
        Some(
            match elision::find(
                Quote { search, replace, ..self.quote },
                &self.ground,
                self.field.text,
                &mut self.steps,
            )? {
                Elided::Many(lines) => Located::Many { tier: Tier::Wrapping, lines },
                Elided::Standing(line) => Located::Standing { line },
                Elided::Conflict(conflict) => Located::Conflict(conflict),
                Elided::Found { changes, first, last } => {
                    let receipt = Receipt {
                        tier: Tier::Wrapping,
                        score: Score::WHOLE,
                        candidates: 1,
                        runner_up: None,
                        line: first,
                    };
                    Located::One(Found { changes, receipt, lines: first..=last })
                }
            },
        )
    }
}

/// Tells whether a quote that is found with another indentation is a diff that adds lines: its signs are no indentation.
fn is_diff(rung: Rung, search: &str, replace: &str) -> bool {
    ![Rung::Space, Rung::MarkedSpace].contains(&rung) && prefix::adds(search, replace)
}

/// What several readings come to: the one thing, or more places than one.
fn one_of(mut distinct: Vec<Located>) -> Option<Located> {
    if distinct.len() > 1 {
        let lines = distinct.iter().flat_map(Located::lines).collect();
        return Some(Located::Many { tier: Tier::Wrapping, lines });
    }
    distinct.pop().map(|one| one.on(Tier::Wrapping))
}

/// The characters of a line that are no blanks.
fn written(line: &str) -> String {
    line.chars().filter(|character| !character.is_whitespace()).collect()
}

impl Located {
    /// Tells whether two readings of a quote lead to the same text.
    fn comes_to_the_same(&self, other: &Located) -> bool {
        match (self, other) {
            (Located::One(one), Located::One(other)) => one.changes == other.changes,
            (one, other) => one == other,
        }
    }

    fn on(self, tier: Tier) -> Located {
        match self {
            Located::One(found) => {
                Located::One(Found { receipt: Receipt { tier, ..found.receipt }, ..found })
            }
            Located::Many { lines, .. } => Located::Many { tier, lines },
            other @ (Located::Unchanged
            | Located::Standing { .. }
            | Located::Conflict(_)
            | Located::Nowhere { .. }) => other,
        }
    }

    fn lines(&self) -> Vec<usize> {
        match self {
            Located::One(found) => vec![found.receipt.line],
            Located::Many { lines, .. } => lines.clone(),
            Located::Standing { line } => vec![*line],
            Located::Conflict(Conflict { line, .. }) => vec![*line],
            Located::Unchanged | Located::Nowhere { .. } => Vec::new(),
        }
    }
}
