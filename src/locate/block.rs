//! One block and its one place: the ladder from `exact` down, and what the edit comes to there.

use std::cmp::Reverse;
use std::ops::Range;

use super::carry::{Block, Conflict, Site, carry};
use super::elision::{self, Elided};
use super::glance::Glance;
use super::ladder::{self, Places, Rung, Search};
use super::proposal::Proposal;
use super::rows::{Ground, Rows};
use super::scope::Outline;
use super::similar::{self, Neighbours};
use super::steps::Steps;
use super::wrapping::{Reading, readings};
use super::{Field, Found, Located, Quote, Receipt, Repeat, Slip, Tier, Tolerance, exact, fragment};
use crate::error::Score;

/// Looks for a block on the rungs from `exact` to `wrapping`, and for its replacement.
pub(super) struct Seeker<'a> {
    pub(super) quote: Quote<'a>,
    pub(super) field: Field<'a>,
    pub(super) glance: Glance<'a>,
    pub(super) steps: Steps,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(quote: Quote<'a>, field: Field<'a>) -> Seeker<'a> {
        Seeker { quote, field, glance: Glance::new(field), steps: Steps::of_one_search() }
    }

    /// Finds the one place; nothing where no rung has any.
    pub(super) fn seek(&mut self) -> Option<Located> {
        self.below_exact(self.quote.search, self.quote.replace)
            .or_else(|| self.pieces(self.quote.search, self.quote.replace, Tier::Marks))
            .or_else(|| self.otherwise())
    }

    /// What the other readings of the quote come to.
    fn otherwise(&mut self) -> Option<Located> {
        let others = readings(self.quote.search, self.quote.replace);
        self.wrapped(&others).or_else(|| self.elided(&others)).or_else(|| self.standing(&others))
    }

    fn places(&mut self, block: &Rows<'_>) -> Search {
        if self.glance.lacks(block) {
            return Search::Nowhere;
        }
        ladder::find(block, self.glance.ground(), &mut self.steps)
    }

    fn ground(&self) -> &Ground<'a> {
        self.glance.ground()
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
        let usual =
            (asked != Some(usual)).then(|| similar::find(self, &neighbours, usual, outline)).flatten();
        let proposal = match usual {
            Some(Located::One(found)) => Proposal::of(&found, self.field),
            _ => None,
        };
        Located::Nowhere { near: neighbours.best(), proposal }
    }

    /// The rungs from `space` to `marks`.
    pub(super) fn below_exact(&mut self, search: &str, replace: &str) -> Option<Located> {
        let block = Block::of(search, replace);
        match self.places(&block.search) {
            Search::Nowhere => None,
            Search::TooMany(at) => Some(self.many(Tier::Marks, &at)),
            Search::At(Places { rung, at }) => Some(match at.as_slice() {
                [one] => self.carried(&block, *one, rung.tier()),
                _ => self.many(rung.tier(), &at),
            }),
        }
    }

    /// Every place of the strictest rung; those that overlap are refused.
    pub(super) fn every(&mut self) -> Result<Vec<Found>, Located> {
        let block = Block::of(self.quote.search, self.quote.replace);
        let Places { rung, at } = match self.places(&block.search) {
            Search::Nowhere => return Ok(Vec::new()),
            Search::TooMany(at) => return Err(self.many(Tier::Marks, &at)),
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
        Located::Many { tier, lines: at.iter().map(|at| self.ground().number(*at)).collect() }
    }

    /// Carries the edit over onto the place that begins at this index of the ground.
    fn carried(&self, block: &Block<'_>, at: usize, tier: Tier) -> Located {
        if self.quote.repeat == Repeat::Refused
            && let Some(line) = self.stands_around(block, at)
        {
            return Located::Standing { line };
        }
        let site = Site::at(&block.search, self.ground(), at);
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
        let (mut distance, mut longer, mut cells) = (0, 0, MOST_CELLS);
        for (quoted, line) in block.search.lines.iter().zip(&site.lines) {
            let [quoted, there] = [quoted, self.field.text.text(*line)].map(written);
            longer += quoted.chars().count().max(there.chars().count());
            if quoted != there {
                distance += far(&quoted, &there, &mut cells);
            }
        }
        Score::of(distance, longer)
    }

    /// The line at which a replacement with more lines than the search stands around a place already.
    fn stands_around(&self, block: &Block<'_>, at: usize) -> Option<usize> {
        let (n, m) = (block.search.len(), block.replace.len());
        let offsets = 0..=m.checked_sub(n + 1)? + 1;
        let keeps = |offset: usize| {
            let own = block.replace.lines.iter().skip(offset).take(n);
            own.map(|line| line.trim()).eq(block.search.lines.iter().map(|line| line.trim()))
        };
        let stands = |offset: &usize| {
            let start = at.checked_sub(*offset)?;
            let fits = start + m <= self.ground().len();
            (fits && ladder::rung(&block.replace, self.ground(), start).is_some()).then_some(start)
        };
        offsets
            .filter(|offset| keeps(*offset))
            .find_map(|offset| stands(&offset))
            .map(|start| self.ground().number(start))
    }

    /// A piece of one line, with other marks.
    fn pieces(&self, search: &str, replace: &str, tier: Tier) -> Option<Located> {
        let found = fragment::find(search, &self.glance);
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
    fn wrapped(&mut self, others: &[Reading]) -> Option<Located> {
        let mut best = None;
        let mut distinct: Vec<Located> = Vec::new();
        for reading in others {
            let Some((rung, located)) = self.read(reading) else { continue };
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
        match distinct.as_slice() {
            [] => None,
            [_] => distinct.pop().map(|one| one.on(Tier::Wrapping)),
            several => {
                let lines = several.iter().flat_map(Located::lines).collect();
                Some(Located::Many { tier: Tier::Wrapping, lines })
            }
        }
    }

    fn read(&mut self, reading: &Reading) -> Option<(Option<Rung>, Located)> {
        let block = Block::of(&reading.search, &reading.replace);
        let found = match self.places(&block.search) {
            Search::Nowhere => {
                let piece = self.pieces(&reading.search, &reading.replace, Tier::Wrapping)?;
                return reading.line.is_none().then_some((None, piece));
            }
            Search::TooMany(at) => return Some((Some(Rung::Space), self.many(Tier::Wrapping, &at))),
            Search::At(places) => places,
        };
        let at: Vec<usize> = match reading.line {
            Some(line) => found.at.into_iter().filter(|at| self.ground().number(*at) == line).collect(),
            None => found.at,
        };
        let located = match at.as_slice() {
            [] => return None,
            [one] => self.carried(&block, *one, Tier::Wrapping),
            _ => self.many(Tier::Wrapping, &at),
        };
        Some((Some(found.rung), located))
    }

    /// An elided middle, also in a reading of the quote.
    fn elided(&mut self, others: &[Reading]) -> Option<Located> {
        let plain = Reading::plain(self.quote.search, self.quote.replace);
        std::iter::once(&plain).chain(others).find_map(|Reading { search, replace, .. }| {
            let found = elision::find(search, replace, &self.glance, &mut self.steps)?;
            Some(match found {
                Elided::Many(lines) => Located::Many { tier: Tier::Wrapping, lines },
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
            })
        })
    }

    /// Already applied: the replacement stands in the text, and it adds or changes a line.
    fn standing(&mut self, others: &[Reading]) -> Option<Located> {
        let plain = Reading::plain(self.quote.search, self.quote.replace);
        std::iter::once(&plain).chain(others).find_map(|reading| {
            let block = Block::of(&reading.search, &reading.replace);
            let found = self.places(&block.replace);
            match found {
                Search::At(Places { at, .. }) if block.adds() => match at.as_slice() {
                    [one] => Some(Located::Standing { line: self.ground().number(*one) }),
                    _ => None,
                },
                Search::At(_) | Search::Nowhere | Search::TooMany(_) => None,
            }
        })
    }
}

/// The pairs of characters that are compared for one score.
const MOST_CELLS: usize = 1 << 24;

/// How far two lines are apart, at most: what there is not enough work left for is taken to be another text.
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

/// The characters of a line that are no blanks.
fn written(line: &str) -> String {
    line.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Finds the one place of a block that stands literally in the text; nothing where it does not.
pub(super) fn literal(quote: Quote<'_>, field: Field<'_>) -> Option<Located> {
    let window = field.window();
    let mut hits = exact::beginnings(field.view, window.clone(), quote.search);
    let hit = hits.next()?;
    if hits.next().is_some() {
        let lines = exact::occurrences(field.view, window, quote.search)
            .map(|hit| field.text.at(hit.start))
            .collect();
        return Some(Located::Many { tier: Tier::Exact, lines });
    }
    if exact::begins_in_indent(field.view, &hit)
        && let Some(found) = Seeker::new(quote, field).below_exact(quote.search, quote.replace)
    {
        return Some(found);
    }
    Some(place(quote, field, hit))
}

/// Finds every place where a quote stands literally, without overlap.
pub(super) fn every_literal(quote: Quote<'_>, field: Field<'_>) -> Vec<Found> {
    let hits: Vec<Range<usize>> = exact::occurrences(field.view, field.window(), quote.search).collect();
    let candidates = hits.len();
    let found = |hit| match place(Quote { repeat: Repeat::Wanted, ..quote }, field, hit) {
        Located::One(found) => Some(Found { receipt: Receipt { candidates, ..found.receipt }, ..found }),
        _ => None,
    };
    hits.into_iter().filter_map(found).collect()
}

fn place(quote: Quote<'_>, field: Field<'_>, hit: Range<usize>) -> Located {
    let line = field.text.at(hit.start);
    if quote.repeat == Repeat::Refused && exact::stands(field.view, &hit, quote.search, quote.replace) {
        return Located::Standing { line };
    }
    let last = field.text.at(hit.end.saturating_sub(1).max(hit.start));
    let receipt = Receipt { tier: Tier::Exact, score: Score::WHOLE, candidates: 1, runner_up: None, line };
    let changes = exact::splice(field.view, hit, quote.search, quote.replace);
    Located::One(Found { changes, receipt, lines: line..=last })
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
