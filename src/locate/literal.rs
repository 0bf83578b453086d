//! Where a quote stands byte for byte, and what the edit of a block comes to there.
//!
//! Where its lines are not those of the text, because the first lacks its indentation, the last its trailing blanks, or
//! a blank line is the end of the line above, the rungs by lines decide what the edit comes to.

use std::ops::Range;

use super::levels::Strictness;
use super::matcher::Matcher;
use super::rebase::Block;
use super::wrapping::prefix;
use super::{Field, Located, MatchInfo, MatchLevel, OnRepeat, SearchText, UniqueMatch, exact, standing};
use crate::error::Score;

/// The places that are counted at most where there are several, and the bytes that may be compared for that: places that
/// overlap are found by comparing each anew.
const PLACES: usize = 100_000;
const STEPS: usize = 50_000_000;

/// Finds the one place of a quote; nothing where it does not stand literally in the text.
pub(super) fn literal(quote: SearchText<'_>, field: Field<'_>) -> Option<Located> {
    let window = field.window();
    let mut hits = exact::beginnings(field.view, window.clone(), quote.search);
    let hit = hits.next()?;
    if hits.next().is_some() {
        let most = (STEPS / quote.search.len().max(1)).clamp(2, PLACES);
        let hits = exact::beginnings(field.view, window, quote.search).take(most);
        let lines = hits.map(|hit| field.text.at(hit.start)).collect();
        return Some(Located::Many { tier: MatchLevel::Exact, lines });
    }
    if exact::begins_in_indent(field.view, &hit, quote.replace) {
        let found = Matcher::new(quote, field).below_exact();
        if found.is_some() || prefix::adds(quote.search, quote.replace) {
            return found;
        }
    }
    Some(place(quote, field, hit))
}

/// Finds every place of a quote, without overlap.
///
/// What stands against the edit of one of them comes back instead.
pub(super) fn every_literal(quote: SearchText<'_>, field: Field<'_>) -> Result<Vec<UniqueMatch>, Located> {
    let hits: Vec<Range<usize>> = exact::occurrences(field.view, field.window(), quote.search).collect();
    let (candidates, quote) = (hits.len(), SearchText { repeat: OnRepeat::Wanted, ..quote });
    let found = |hit| match place(quote, field, hit) {
        Located::One(found) => {
            Ok(UniqueMatch { receipt: MatchInfo { candidates, ..found.receipt }, ..found })
        }
        other => Err(other),
    };
    hits.into_iter().map(found).collect()
}

fn place(quote: SearchText<'_>, field: Field<'_>, hit: Range<usize>) -> Located {
    if let Some(line) = stands(quote, field, &hit) {
        return Located::Standing { line };
    }
    let (first, last) = (field.text.at(hit.start), field.text.at(hit.end.saturating_sub(1).max(hit.start)));
    let ragged =
        exact::begins_in_indent(field.view, &hit, quote.replace) || exact::is_ragged(field.view, &hit);
    let by_lines = || Matcher::new(quote, Field { first, last, ..field }).below_exact();
    let found = ragged.then(by_lines).flatten();
    found.unwrap_or_else(|| {
        let changes = exact::splice(field.view, hit, quote.search, quote.replace);
        let receipt = MatchInfo::only(MatchLevel::Exact, Score::WHOLE, first);
        Located::One(UniqueMatch { changes, receipt, lines: first..=last })
    })
}

/// The line at which a replacement with more lines stands around a hit already.
fn stands(quote: SearchText<'_>, field: Field<'_>, hit: &Range<usize>) -> Option<usize> {
    if quote.repeat == OnRepeat::Wanted {
        return None;
    }
    let exactly = exact::stands(field.view, hit, quote.search, quote.replace);
    exactly.map(|at| field.text.at(at)).or_else(|| {
        let first = field.text.at(hit.start);
        let rest = field.view.get(hit.end..).unwrap_or_default();
        let ends_line = quote.search.ends_with('\n') || rest.is_empty() || rest.starts_with('\n');
        let whole = ends_line && field.text.span(first).start == hit.start;
        whole.then(|| {
            standing::around(&Block::new(quote.search, quote.replace), field, first, Strictness::Space)
        })?
    })
}
