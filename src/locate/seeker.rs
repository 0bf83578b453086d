//! One quote and its one place: the rungs below `exact`, in their order, and what the edit comes to there.

use std::cell::OnceCell;
use std::rc::Rc;

use super::carry::{Block, Conflict, Site, carry};
use super::fragment::{self, Worth};
use super::glance::Glance;
use super::ladder::{self, Places, Rung, Search};
use super::proposal::Proposal;
use super::rows::{Ground, Rows};
use super::scope::Outline;
use super::similar::{self, Neighbours};
use super::steps::Steps;
use super::wrapping::{Reading, prefix, readings};
use super::{Field, Found, Located, Quote, Receipt, Repeat, Slip, Tier, Tolerance, standing};
use crate::error::Score;

/// Looks for a quote on the rungs below `exact`, and for its replacement.
pub(super) struct Seeker<'a> {
    pub(super) quote: Quote<'a>,
    pub(super) field: Field<'a>,
    pub(super) glance: Glance<'a>,
    pub(super) steps: Steps,
    readings: OnceCell<Rc<[Reading]>>,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(quote: Quote<'a>, field: Field<'a>) -> Seeker<'a> {
        let glance = Glance::new(field);
        Seeker { quote, field, glance, steps: Steps::of_one_search(), readings: OnceCell::new() }
    }

    /// Finds the one place on the rungs down to `wrapping`, or that the edit was made before; nothing otherwise.
    pub(super) fn seek(&mut self) -> Option<Located> {
        self.below_exact()
            .or_else(|| self.pieces(self.quote.search, self.quote.replace, Tier::Marks))
            .or_else(|| self.made())
            .or_else(|| self.wrapped())
            .or_else(|| self.standing())
            .or_else(|| self.elided())
    }

    /// All lines that are not blank.
    pub(super) fn ground(&self) -> &Ground<'a> {
        self.glance.ground()
    }

    /// The places of a block on the rungs from `space` to `marks`.
    pub(super) fn places(&mut self, block: &Rows<'_>) -> Search {
        if self.glance.lacks(block) {
            return Search::Nowhere;
        }
        ladder::find(block, self.glance.ground(), &mut self.steps)
    }

    /// The rungs from `space` to `marks`; of a diff that only adds lines, `space` alone.
    pub(super) fn below_exact(&mut self) -> Option<Located> {
        let block = Block::of(self.quote.search, self.quote.replace);
        match self.places(&block.search) {
            Search::Nowhere => None,
            Search::TooMany(at) => Some(self.many(Tier::Marks, &at)),
            Search::At(Places { rung, at }) if self.is_diff(rung) => self.signed(&block, &at),
            Search::At(Places { rung, at }) => Some(match at.as_slice() {
                [one] => self.carried(&block, *one, rung, rung.tier()),
                _ => self.many(rung.tier(), &at),
            }),
        }
    }

    /// Tells whether a quote that is found with another indentation is a diff that adds lines: signs are no indentation.
    fn is_diff(&self, rung: Rung) -> bool {
        let moved = ![Rung::Space, Rung::MarkedSpace].contains(&rung);
        moved && prefix::adds(self.quote.search, self.quote.replace)
    }

    /// A diff that adds lines, where it is one without doubt: nothing, so that it is read as one. Else the signs may as
    /// well be text.
    fn signed(&mut self, block: &Block<'_>, at: &[usize]) -> Option<Located> {
        let bare = block.search.lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
        let strict = match self.places(&Rows::from_lines(bare)) {
            Search::At(Places { rung, .. }) => [Rung::Space, Rung::MarkedSpace].contains(&rung),
            Search::Nowhere | Search::TooMany(_) => false,
        };
        let (line, quoted) = (self.ground().number(*at.first()?), block.search.line(0));
        let why = "the signs before the added lines may be those of a diff, or text";
        let conflict = Conflict::new(line, why, quoted, self.field.text.text(line));
        (!strict).then_some(Located::Conflict(conflict))
    }

    /// A piece of one line, with other marks.
    pub(super) fn pieces(&self, search: &str, replace: &str, tier: Tier) -> Option<Located> {
        let worth = if tier == Tier::Wrapping { Worth::All } else { Worth::Marked };
        let found = fragment::find(search, &self.glance, worth);
        match found.as_slice() {
            [] => None,
            [piece] => {
                let changes = fragment::carry(search, replace, piece, self.field.text).into_iter().collect();
                let receipt = Receipt::only(tier, Score::WHOLE, piece.line);
                Some(Located::One(Found { changes, receipt, lines: piece.line..=piece.line }))
            }
            several => Some(Located::Many { tier, lines: several.iter().map(|piece| piece.line).collect() }),
        }
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
        // What was asked for already is not looked for again.
        let usual =
            (asked != Some(usual)).then(|| similar::find(self, &neighbours, usual, outline)).flatten();
        let proposal = match usual {
            Some(Located::One(found)) => Proposal::of(&found, self.field),
            Some(_) | None => None,
        };
        Located::Nowhere { near: neighbours.best(), proposal }
    }

    /// Every place of the strictest rung that has any, down to `wrapping`; those that overlap are refused.
    pub(super) fn every(&mut self) -> Result<Vec<Found>, Located> {
        let plain = Reading::plain(self.quote.search, self.quote.replace);
        let found = self.every_of(&plain, None)?;
        if !found.is_empty() {
            return Ok(found);
        }
        match self.best_reading() {
            Some(reading) => self.every_of(&reading, Some(Tier::Wrapping)),
            None => Ok(Vec::new()),
        }
    }

    fn every_of(&mut self, reading: &Reading, tier: Option<Tier>) -> Result<Vec<Found>, Located> {
        let block = Block::of(&reading.search, &reading.replace);
        let Places { rung, at } = match self.places(&block.search) {
            Search::Nowhere => return Ok(Vec::new()),
            Search::TooMany(at) => return Err(self.many(tier.unwrap_or(Tier::Marks), &at)),
            Search::At(Places { rung, .. }) if tier.is_none() && self.is_diff(rung) => return Ok(Vec::new()),
            Search::At(places) => places,
        };
        let tier = tier.unwrap_or(rung.tier());
        if at.iter().zip(at.iter().skip(1)).any(|(one, next)| one + block.search.len() > *next) {
            return Err(self.many(tier, &at));
        }
        let carried = at.iter().map(|one| match self.carried(&block, *one, rung, tier) {
            Located::One(found) => {
                Ok(Found { receipt: Receipt { candidates: at.len(), ..found.receipt }, ..found })
            }
            other => Err(other),
        });
        carried.collect()
    }

    /// The edit without what may have been put around it; made once.
    pub(super) fn readings(&self) -> Rc<[Reading]> {
        Rc::clone(self.readings.get_or_init(|| readings(self.quote.search, self.quote.replace).into()))
    }

    pub(super) fn many(&self, tier: Tier, at: &[usize]) -> Located {
        Located::Many { tier, lines: at.iter().map(|at| self.ground().number(*at)).collect() }
    }

    /// Carries the edit over onto the place that begins at this index of the ground.
    pub(super) fn carried(&self, block: &Block<'_>, at: usize, rung: Rung, tier: Tier) -> Located {
        if self.quote.repeat == Repeat::Refused
            && let Some(line) = standing::around(block, self.field, self.ground().number(at), rung)
        {
            return Located::Standing { line };
        }
        let site = Site::at(&block.search, self.ground(), at);
        let (first, last) = site.ends();
        let receipt = Receipt::only(tier, self.score(block, &site), first);
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
