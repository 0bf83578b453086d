//! Finds literal matches, and the result of a block edit there.
//!
//! A literal match may not consist of the text's own lines: the first lacks its indentation, the last its trailing
//! blanks, or a blank line is the end of the line above. The line-based levels then decide the result.

use std::ops::Range;

use super::levels::Strictness;
use super::matcher::Matcher;
use super::rebase::Block;
use super::wrapping::prefix;
use super::{
    LineRange, Located, MatchInfo, MatchLevel, OnRepeat, SearchText, UniqueMatch, already_applied, exact,
};
use crate::error::Score;

/// The maximum number of counted matches, and of bytes that may be compared for that. Overlapping matches are each
/// compared anew.
const PLACES: usize = 100_000;
const STEPS: usize = 50_000_000;

/// Finds the only match of a search; `None` if it does not occur literally.
pub(super) fn literal(quote: SearchText<'_>, field: LineRange<'_>) -> Option<Located> {
    let window = field.window();
    let mut hits = exact::beginnings(field.view, window.clone(), quote.search);
    let hit = hits.next()?;
    if hits.next().is_some() {
        let most = (STEPS / quote.search.len().max(1)).clamp(2, PLACES);
        let hits = exact::beginnings(field.view, window, quote.search).take(most);
        let lines = hits.map(|hit| field.text.line_at(hit.start)).collect();
        return Some(Located::Ambiguous { level: MatchLevel::Exact, lines });
    }
    if exact::begins_in_indent(field.view, &hit, quote.replace) {
        let found = Matcher::new(quote, field).below_exact();
        if found.is_some() || prefix::adds(quote.search, quote.replace) {
            return found;
        }
    }
    Some(locate_hit(quote, field, hit))
}

/// Finds every match of a search, without overlap.
///
/// Errors: the reason why one of them cannot be edited.
pub(super) fn every_literal(
    quote: SearchText<'_>,
    field: LineRange<'_>,
) -> Result<Vec<UniqueMatch>, Located> {
    let hits: Vec<Range<usize>> = exact::occurrences(field.view, field.window(), quote.search).collect();
    let (candidates, quote) = (hits.len(), SearchText { on_repeat: OnRepeat::Insert, ..quote });
    let found = |hit| match locate_hit(quote, field, hit) {
        Located::One(found) => {
            Ok(UniqueMatch { match_info: MatchInfo { candidates, ..found.match_info }, ..found })
        }
        other => Err(other),
    };
    hits.into_iter().map(found).collect()
}

fn locate_hit(quote: SearchText<'_>, field: LineRange<'_>, hit: Range<usize>) -> Located {
    if let Some(line) = applied_line(quote, field, &hit) {
        return Located::AlreadyApplied { line };
    }
    let (first, last) =
        (field.text.line_at(hit.start), field.text.line_at(hit.end.saturating_sub(1).max(hit.start)));
    let ragged =
        exact::begins_in_indent(field.view, &hit, quote.replace) || exact::is_ragged(field.view, &hit);
    let by_lines = || Matcher::new(quote, LineRange { first, last, ..field }).below_exact();
    let found = ragged.then(by_lines).flatten();
    found.unwrap_or_else(|| {
        let changes = exact::splice(field.view, hit, quote.search, quote.replace);
        let receipt = MatchInfo::only(MatchLevel::Exact, Score::IDENTICAL, first);
        Located::One(UniqueMatch { changes, match_info: receipt, lines: first..=last })
    })
}

/// Returns the line at which a replacement with more lines is already around a hit.
fn applied_line(quote: SearchText<'_>, field: LineRange<'_>, hit: &Range<usize>) -> Option<usize> {
    if quote.on_repeat == OnRepeat::Insert {
        return None;
    }
    let exactly = exact::applied_line(field.view, hit, quote.search, quote.replace);
    exactly.map(|at| field.text.line_at(at)).or_else(|| {
        let first = field.text.line_at(hit.start);
        let rest = field.view.get(hit.end..).unwrap_or_default();
        let ends_line = quote.search.ends_with('\n') || rest.is_empty() || rest.starts_with('\n');
        let whole = ends_line && field.text.span(first).start == hit.start;
        whole.then(|| {
            already_applied::around(&Block::new(quote.search, quote.replace), field, first, Strictness::Space)
        })?
    })
}
