//! A quote that stands literally in the text, edited as a block of lines.
//!
//! Where its lines are not those of the text, because the first lacks its indentation, the last its trailing blanks, or
//! a blank line is the end of the line above, the rungs by lines decide what the edit comes to.

use std::ops::Range;

use super::block::Seeker;
use super::carry::Block;
use super::wrapping::prefix;
use super::{Field, Found, Located, Quote, Receipt, Repeat, Tier, exact, standing};
use crate::error::Score;

/// Finds the one place of a block that stands literally in the text; nothing where it does not.
pub(super) fn one(quote: Quote<'_>, field: Field<'_>) -> Option<Located> {
    let window = field.window();
    let mut hits = exact::beginnings(field.view, window.clone(), quote.search);
    let hit = hits.next()?;
    if hits.next().is_some() {
        let lines = exact::occurrences(field.view, window, quote.search)
            .map(|hit| field.text.at(hit.start))
            .collect();
        return Some(Located::Many { tier: Tier::Exact, lines });
    }
    if exact::begins_in_indent(field.view, &hit, quote.replace) {
        let found = Seeker::new(quote, field).below_exact(quote.search, quote.replace);
        if found.is_some() || prefix::adds(quote.search, quote.replace) {
            return found;
        }
    }
    Some(place(quote, field, hit))
}

/// Finds every place where a quote stands literally, without overlap.
///
/// Errors: what stands against the edit of one of them.
pub(super) fn every(quote: Quote<'_>, field: Field<'_>) -> Result<Vec<Found>, Located> {
    let hits: Vec<Range<usize>> = exact::occurrences(field.view, field.window(), quote.search).collect();
    let (candidates, quote) = (hits.len(), Quote { repeat: Repeat::Wanted, ..quote });
    let found = |hit| match place(quote, field, hit) {
        Located::One(found) => Ok(Found { receipt: Receipt { candidates, ..found.receipt }, ..found }),
        other => Err(other),
    };
    hits.into_iter().map(found).collect()
}

fn place(quote: Quote<'_>, field: Field<'_>, hit: Range<usize>) -> Located {
    let first = field.text.at(hit.start);
    if quote.repeat == Repeat::Refused && exact::stands(field.view, &hit, quote.search, quote.replace) {
        return Located::Standing { line: first };
    }
    if quote.repeat == Repeat::Refused
        && field.text.span(first).start == hit.start
        && let Some(line) = standing::around(&Block::of(quote.search, quote.replace), field.text, first)
    {
        return Located::Standing { line };
    }
    let last = field.text.at(hit.end.saturating_sub(1).max(hit.start));
    let ragged =
        exact::begins_in_indent(field.view, &hit, quote.replace) || exact::is_ragged(field.view, &hit);
    if ragged
        && let Some(found) =
            Seeker::new(quote, Field { first, last, ..field }).below_exact(quote.search, quote.replace)
    {
        return found;
    }
    let receipt =
        Receipt { tier: Tier::Exact, score: Score::WHOLE, candidates: 1, runner_up: None, line: first };
    let changes = exact::splice(field.view, hit, quote.search, quote.replace);
    Located::One(Found { changes, receipt, lines: first..=last })
}
