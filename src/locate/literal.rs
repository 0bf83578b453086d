//! Finds literal matches, and the result of a block edit there.
//!
//! A literal match may not consist of the text's own lines: the first lacks its indentation, the last its trailing
//! blanks, or a blank line is the end of the line above. The line-based levels then decide the result.

use std::ops::Range;

use super::levels::Strictness;
use super::matcher::Matcher;
use super::rebase::Block;
use super::wrapping::prefix;
use super::{Field, Located, MatchInfo, MatchLevel, OnRepeat, SearchText, UniqueMatch, exact, standing};
use crate::error::Score;

/// The maximum number of counted matches, and of bytes that may be compared for that. Overlapping matches are each
/// compared anew.
const PLACES: usize = 100_000;
const STEPS: usize = 50_000_000;

/// Finds the only match of a search; `None` if it does not occur literally.
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

/// Finds every match of a search, without overlap.
///
/// Errors: the reason why one of them cannot be edited.
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

/// Returns the line at which a replacement with more lines is already around a hit.
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
