//! Where a quote stands byte for byte, and what the edit of a block comes to there.

use std::ops::Range;

use super::seeker::Seeker;
use super::{Field, Found, Located, Quote, Receipt, Repeat, Tier, exact};
use crate::error::Score;

/// The places that are counted at most where there are several, and the bytes that may be compared for that: places that
/// overlap are found by comparing each anew.
const PLACES: usize = 100_000;
const STEPS: usize = 50_000_000;

/// Finds the one place of a quote; nothing where it does not stand literally in the text.
pub(super) fn literal(quote: Quote<'_>, field: Field<'_>) -> Option<Located> {
    let window = field.window();
    let mut hits = exact::beginnings(field.view, window.clone(), quote.search);
    let hit = hits.next()?;
    if hits.next().is_some() {
        let most = (STEPS / quote.search.len().max(1)).clamp(2, PLACES);
        let hits = exact::beginnings(field.view, window, quote.search).take(most);
        let lines = hits.map(|hit| field.text.at(hit.start)).collect();
        return Some(Located::Many { tier: Tier::Exact, lines });
    }
    let by_lines = || Seeker::new(quote, field).below_exact();
    let found = exact::begins_in_indent(field.view, &hit).then(by_lines).flatten();
    Some(found.unwrap_or_else(|| place(quote, field, hit)))
}

/// Finds every place of a quote, without overlap.
pub(super) fn every_literal(quote: Quote<'_>, field: Field<'_>) -> Vec<Found> {
    let hits: Vec<Range<usize>> = exact::occurrences(field.view, field.window(), quote.search).collect();
    let candidates = hits.len();
    let found = |hit| found(quote, field, hit, candidates);
    hits.into_iter().map(found).collect()
}

fn place(quote: Quote<'_>, field: Field<'_>, hit: Range<usize>) -> Located {
    match stands(quote, field, &hit) {
        Some(line) => Located::Standing { line },
        None => Located::One(found(quote, field, hit, 1)),
    }
}

/// The line at which a replacement with more lines stands around a hit already.
fn stands(quote: Quote<'_>, field: Field<'_>, hit: &Range<usize>) -> Option<usize> {
    if quote.repeat == Repeat::Wanted {
        return None;
    }
    let exactly = exact::stands(field.view, hit, quote.search, quote.replace);
    exactly.map(|at| field.text.at(at)).or_else(|| {
        let reach = quote.replace.matches('\n').count() * 2 + 2;
        let (first, last) = (field.text.at(hit.start), field.text.at(hit.end));
        let around = Field {
            first: first.saturating_sub(reach).max(field.first),
            last: (last + reach).min(field.last),
            ..field
        };
        let more = quote.replace.lines().count() > quote.search.lines().count();
        let whole = field.text.starts_at(hit.start) && field.text.span(last).start == hit.end
            || field.view.get(hit.end..).is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'));
        (more && whole).then(|| Seeker::new(quote, around).stands_at(first)).flatten()
    })
}

fn found(quote: Quote<'_>, field: Field<'_>, hit: Range<usize>, candidates: usize) -> Found {
    let (line, last) = (field.text.at(hit.start), field.text.at(hit.end.saturating_sub(1).max(hit.start)));
    let receipt = Receipt { candidates, ..Receipt::only(Tier::Exact, Score::WHOLE, line) };
    Found {
        changes: exact::splice(field.view, hit, quote.search, quote.replace),
        receipt,
        lines: line..=last,
    }
}
