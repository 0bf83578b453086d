//! Finds literal matches, and the result of a block edit there.
//!
//! A literal match may not consist of the text's own lines: the first lacks its indentation, the last its trailing
//! blanks, or a blank line is the end of the line above. The line-based levels then decide the result.

use std::ops::Range;

use super::levels::Strictness;
use super::located::{Located, MatchLevel, UniqueMatch};
use super::matcher::Matcher;
use super::rebase::Block;
use super::search_text::{LineRange, OnDuplicate, SearchText};
use super::wrapping::prefix;
use super::{already_applied, exact};
use lockgate_error::Score;

/// The maximum number of counted matches, and of bytes that may be compared for that. Overlapping matches are each
/// compared anew.
const PLACES: usize = 100_000;
const STEPS: usize = 50_000_000;

/// Finds the only match of a search; `None` if it does not occur literally.
pub(super) fn literal(search_text: SearchText<'_>, range: LineRange<'_>) -> Option<Located> {
    let window = range.window();
    let occurrences = || {
        let open = exact::occurrence_at_open_end(range.view, window.clone(), search_text.search);
        exact::beginnings(range.view, window.clone(), search_text.search).chain(open)
    };
    let hit = exact::beginnings(range.view, window.clone(), search_text.search).next()?;
    if occurrences().nth(1).is_some() {
        let most = (STEPS / search_text.search.len().max(1)).clamp(2, PLACES);
        let hits = occurrences().take(most + 1);
        let mut lines: Vec<usize> = hits.map(|hit| range.text.line_at(hit.start)).collect();
        let is_complete = lines.len() <= most;
        lines.truncate(most);
        return Some(Located::Ambiguous { level: MatchLevel::Exact, lines, is_complete });
    }
    if let Some(line) = applied_line(search_text, range, &hit) {
        return Some(Located::AlreadyApplied { line });
    }
    if exact::begins_in_indent(range.view, &hit, search_text.replace) {
        let found = Matcher::new(search_text, range).below_exact();
        if found.is_some() || prefix::adds(search_text.search, search_text.replace) {
            return found;
        }
    }
    Some(locate_hit(search_text, range, hit))
}

/// Finds every match of a search, without overlap.
///
/// Errors: the reason why one of them cannot be edited.
pub(super) fn every_literal(
    search_text: SearchText<'_>,
    range: LineRange<'_>,
) -> Result<Vec<UniqueMatch>, Located> {
    let mut hits: Vec<Range<usize>> =
        exact::occurrences(range.view, range.window(), search_text.search).collect();
    let end = hits.last().map(|last| last.end);
    let open = exact::occurrence_at_open_end(range.view, range.window(), search_text.search);
    hits.extend(open.filter(|open| end.is_some_and(|end| end <= open.start)));
    // One of them may have been followed by such lines before; if all are, the edit was already made.
    let applied_at = |hit: &Range<usize>| match locate_hit(search_text, range, hit.clone()) {
        Located::AlreadyApplied { line } => Some(line),
        _ => None,
    };
    let applied = || hits.iter().map(applied_at).collect::<Option<Vec<usize>>>();
    let is_examined = hits.len().saturating_mul(search_text.replace.len()) <= STEPS;
    if let Some(line) = is_examined.then(applied).flatten().and_then(|lines| lines.first().copied()) {
        return Err(Located::AlreadyApplied { line });
    }
    let (candidates, search_text) =
        (hits.len(), SearchText { on_duplicate: OnDuplicate::InsertAgain, ..search_text });
    let found = |hit| match locate_hit(search_text, range, hit) {
        Located::One(found) => Ok(found.with_candidates(candidates)),
        other => Err(other),
    };
    hits.into_iter().map(found).collect()
}

fn locate_hit(search_text: SearchText<'_>, range: LineRange<'_>, hit: Range<usize>) -> Located {
    let is_open = hit.len() < search_text.search.len();
    let search_text = if is_open { without_last_newline(search_text) } else { search_text };
    if let Some(line) = applied_line(search_text, range, &hit) {
        return Located::AlreadyApplied { line };
    }
    let lines = range.text.lines_at(&hit);
    let ragged =
        exact::begins_in_indent(range.view, &hit, search_text.replace) || exact::is_ragged(range.view, &hit);
    let by_lines = || {
        Matcher::new(search_text, LineRange { first: *lines.start(), last: *lines.end(), ..range })
            .below_exact()
    };
    let found = ragged.then(by_lines).flatten();
    found.unwrap_or_else(|| {
        let changes = exact::splice(range.view, hit, search_text.search, search_text.replace);
        Located::One(UniqueMatch::new(changes, MatchLevel::Exact, Score::IDENTICAL, lines))
    })
}

/// Returns the same edit for lines at the end of a text without a final newline.
fn without_last_newline(search_text: SearchText<'_>) -> SearchText<'_> {
    let [search, replace] =
        [search_text.search, search_text.replace].map(|text| text.strip_suffix('\n').unwrap_or(text));
    SearchText { search, replace, ..search_text }
}

/// Returns the line at which a replacement with more lines is already around a hit.
fn applied_line(search_text: SearchText<'_>, range: LineRange<'_>, hit: &Range<usize>) -> Option<usize> {
    if search_text.on_duplicate == OnDuplicate::InsertAgain {
        return None;
    }
    let exactly = exact::applied_line(range.view, hit, search_text.search, search_text.replace);
    exactly.map(|at| range.text.line_at(at)).or_else(|| {
        let ends_line = search_text.search.ends_with('\n') || exact::is_line_end(range.view, hit.end);
        if !ends_line || !range.text.starts_at(hit.start) {
            return None;
        }
        let block = Block::new(search_text.search, search_text.replace);
        already_applied::find_around(&block, range, range.text.line_at(hit.start), Strictness::Space)
    })
}
