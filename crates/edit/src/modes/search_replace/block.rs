//! Finds the matches of a block, and plans the edit there.

use super::limits::{MATCHES, check_size, too_many};
use super::missing;
use super::window::Window;
use crate::operations::{Occurrences, Search};
use crate::planned::{MAX_MATCH_LINES, PlannedEdit, PlannedEnd, SearchMatches, evidence_line, has_open_line};
use lockgate_error::{Code, Error, EvidenceLine, NextCall};
use lockgate_matching::{self as locate, Conflict, Located, SearchText, UniqueMatch, exact};
use lockgate_text::{Buffer, Change, Outline};
use std::ops::Range;

/// The maximum number of characters of a line in a message.
const WIDTH: usize = 60;
/// The maximum number of characters of a line that a hint asks to quote.
const QUOTABLE_WIDTH: usize = 400;
/// The number of context lines before and behind a conflicting line.
const AROUND: usize = 5;
/// The maximum number of lines before a match that a hint asks to quote.
const LINES_BEFORE: usize = 5;
/// The maximum number of matches that a rejection tries to replace, to learn whether the replacement of every match is
/// possible. With more, this would take longer than the rejected edit itself, and the proposed call finds out.
const MAX_TRIED_MATCHES: usize = 20;

/// Plans the edit of the only match of a block, or of every match if the search asks for that.
///
/// Errors: `NO_MATCH`, `AMBIGUOUS_MATCH`, `ALREADY_APPLIED`, `EDIT_CONFLICT`. For every match, `AMBIGUOUS_MATCH` only if
/// matches overlap or are too many to examine, and `TOO_LARGE`.
pub(super) fn plan(search: &Search, needle: &str, window: &Window<'_>) -> Result<PlannedEdit, Error> {
    let (needle, replace) = (needle.replace("\r\n", "\n"), search.replace.replace("\r\n", "\n"));
    if needle == replace && search.expect_matches.is_none() {
        return unchanged(window, None);
    }
    let search_text = SearchText { search: &needle, replace: &replace, on_duplicate: search.on_duplicate };
    let found = match search.occurrences {
        Occurrences::EveryBlock => locate::locate_every(search_text, window.line_range()),
        Occurrences::Matches | Occurrences::Block => {
            Err(locate::locate(search_text, window.line_range(), search.tolerance, &|| window.outline()))
        }
    };
    match found {
        Ok(found) if found.len() > MATCHES => Err(too_many()),
        Ok(found) => {
            check_size(&replace, found.len(), window.context.limits.bytes)?;
            plan_matches(found, window)
        }
        Err(located) => into_plan(search, &needle, located, window),
    }
}

fn into_plan(
    search: &Search,
    needle: &str,
    located: Located,
    window: &Window<'_>,
) -> Result<PlannedEdit, Error> {
    match located {
        Located::One(found) => plan_matches(vec![found], window),
        Located::Unchanged => unchanged(window, Some(1)),
        Located::Ambiguous { lines, is_complete, .. } => {
            let error = ambiguous(needle, &lines, is_complete, window);
            let is_possible = || lines.len() > MAX_TRIED_MATCHES || can_replace_every(search, needle, window);
            Err(if is_complete && is_possible() { error.allowing_every_match() } else { error })
        }
        Located::AlreadyApplied { line } => Err(already_applied(line, window)),
        Located::Conflict(conflict) => Err(conflict_error(&conflict, window)),
        Located::NotFound { nearest: similar, proposal } => {
            Err(missing::block_error(search, needle, window, similar, proposal))
        }
    }
}

fn can_replace_every(search: &Search, needle: &str, window: &Window<'_>) -> bool {
    let replace = search.replace.replace("\r\n", "\n");
    let search_text = SearchText { search: needle, replace: &replace, on_duplicate: search.on_duplicate };
    locate::locate_every(search_text, window.line_range()).is_ok_and(|found| found.len() <= MATCHES)
}

/// Returns the plan of an edit that changes nothing. `total` is the number of matches, if they were looked for: a text that
/// replaces itself need not be in the file, unless the caller expects a number of matches.
fn unchanged(window: &Window<'_>, total: Option<usize>) -> Result<PlannedEdit, Error> {
    let planned = PlannedEdit::new(window.buffer.plan(Vec::new())?);
    Ok(PlannedEdit { matches: SearchMatches { total, ..SearchMatches::default() }, ..planned })
}

fn plan_matches(found: Vec<UniqueMatch>, window: &Window<'_>) -> Result<PlannedEdit, Error> {
    let places = found
        .iter()
        .take(MAX_MATCH_LINES)
        .map(|found| evidence_line(window.buffer, found.match_info.line))
        .collect();
    let spans = found.iter().map(|found| found.lines.clone()).collect();
    let (count, match_info) = (found.len(), found.first().map(|found| found.match_info));
    let mut changes: Vec<Change> = found.into_iter().flat_map(|found| found.changes).collect();
    let removal = changes.iter_mut().find(|change| removes_open_line(change, window.buffer));
    let loses_line_end = removal.is_some();
    if let Some(removal) = removal {
        removal.span.start += 1;
    }
    let end = PlannedEnd { loses_line_end, ..PlannedEnd::default() };
    let planned = PlannedEdit { end, ..PlannedEdit::new(window.buffer.plan(changes)?) };
    let matches = SearchMatches {
        replacements: Some(count),
        total: Some(count),
        lines: places,
        spans,
        info: match_info,
    };
    Ok(PlannedEdit { matches, ..planned })
}

/// Returns true for the removal of an open last line together with the line end before it. Another edit of the call may
/// change that line end.
fn removes_open_line(change: &Change, buffer: &Buffer) -> bool {
    let removed = buffer.view().get(change.span.clone()).unwrap_or_default();
    change.text.is_empty()
        && change.span.end == buffer.view().len()
        && has_open_line(buffer)
        && removed.starts_with('\n')
}

fn ambiguous(needle: &str, lines: &[usize], is_complete: bool, window: &Window<'_>) -> Error {
    let (count, outline) = (lines.len(), window.outline_if_small());
    let places: Vec<EvidenceLine> = lines
        .iter()
        .take(MAX_MATCH_LINES)
        .map(|line| window.evidence_line(*line, outline.as_ref()))
        .collect();
    let at_least = if is_complete { "" } else { "at least " };
    let message = format!("the search text appears {at_least}{count} times in {}", window.name);
    let error = Error::new(Code::AmbiguousMatch, message);
    // A symbol may hold more than one of the matches that are not known.
    let known = outline.as_ref().filter(|_| is_complete);
    let symbol = known.and_then(|outline| distinguishing_symbol(lines, outline, window));
    let hint = longer_quote(needle, lines, window)
        .or_else(|| symbol.is_some().then(|| "quote more surrounding lines".to_owned()));
    let error = match hint {
        Some(hint) => error.hint(hint),
        None => error,
    };
    let next = symbol.map(|symbol| NextCall::Within { symbol });
    let error = error.field("search").places(places).with_next_if(next);
    if is_complete { error.with_place_count(count) } else { error.with_least_place_count(count) }
}

/// Returns the name of a symbol with exactly one of the matches in its lines.
fn distinguishing_symbol(lines: &[usize], outline: &Outline, window: &Window<'_>) -> Option<String> {
    let text = window.buffer.lines();
    let candidates =
        lines.iter().take(MAX_MATCH_LINES).filter_map(|line| outline.selector(text.span(*line).start));
    let tells_apart = |symbol: &String| match outline.spans(symbol).as_slice() {
        [span] if outline.sharing_lines(symbol, window.buffer.view()).is_none() => {
            lines.iter().filter(|line| span.contains(&text.span(**line).start)).count() == 1
        }
        _ => false,
    };
    candidates.into_iter().find(tells_apart)
}

/// Returns the hint that makes the quote unique: to quote the last newline of several lines, or the text line before one
/// of the matches, and all lines between both.
fn longer_quote(needle: &str, lines: &[usize], window: &Window<'_>) -> Option<String> {
    let text = window.buffer.lines();
    let is_open = !needle.ends_with('\n') && needle.trim_start_matches('\n').contains('\n');
    let ended = is_open.then(|| format!("{needle}\n"));
    if let Some(hit) = ended.and_then(|ended| only_occurrence(&ended, window)) {
        let line = text.line_at(hit.start);
        return Some(format!(
            "end the quote with a newline: only the match at line {line} ends with its line"
        ));
    }
    let is_whole = |line: usize| {
        text.with_line_end(line).trim_end_matches('\n').starts_with(needle.lines().next()?).then_some(())
    };
    let text_line_before = |line: usize| {
        let nearest = (line.saturating_sub(LINES_BEFORE).max(1)..line).rev();
        nearest.into_iter().find(|before| !text.text(*before).trim().is_empty())
    };
    let (unique, from) = lines
        .iter()
        .take(MAX_MATCH_LINES)
        .filter(|line| is_whole(**line).is_some())
        .filter_map(|line| Some((*line, text_line_before(*line)?)))
        .find(|(line, from)| {
            let before: String = (*from..*line).map(|line| text.with_line_end(line)).collect();
            only_occurrence(&(before + needle), window).is_some()
        })?;
    let line = text.text(from).trim();
    let before: String = line.chars().take(QUOTABLE_WIDTH).collect();
    Some(if from + 1 == unique {
        let is = if before == line { "is" } else { "begins with" };
        format!("quote the line before it, too; for line {unique} that {is} {before:?}")
    } else {
        format!("quote the lines before it, too; for line {unique} they begin with {before:?}")
    })
}

/// Returns the span of a text that occurs in the window exactly once.
fn only_occurrence(text: &str, window: &Window<'_>) -> Option<Range<usize>> {
    exact::only_occurrence(window.buffer.view(), window.bytes(), text)
}

fn already_applied(line: usize, window: &Window<'_>) -> Error {
    let message = format!("the replacement is already at line {line}");
    let next = NextCall::read_around(line, line, window.buffer.lines().count());
    Error::new(Code::AlreadyApplied, message)
        .places(vec![evidence_line(window.buffer, line)])
        .with_next_if(next)
}

fn conflict_error(conflict: &Conflict, window: &Window<'_>) -> Error {
    let short = |text: &str| text.trim().chars().take(WIDTH).collect::<String>();
    let message = if conflict.expected.is_empty() {
        format!("{}: line {}", conflict.reason, conflict.line)
    } else {
        let (line, quoted, actual) = (conflict.line, short(&conflict.expected), short(&conflict.actual));
        format!("{}: the edit expects {quoted:?} at line {line}, the file has {actual:?}", conflict.reason)
    };
    let last = window.buffer.lines().count();
    Error::new(Code::EditConflict, message)
        .field("search")
        .places(vec![evidence_line(window.buffer, conflict.line)])
        .with_next(NextCall::Read {
            start_line: conflict.line.saturating_sub(AROUND).max(1),
            end_line: (conflict.line + AROUND).min(last),
        })
}
