//! Mode `search` with `replace`: replaces every match, or the first few.

mod block;
mod limits;
mod missing;
mod nearest_part;
mod window;

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::operations::{Needle, Occurrences, Search};
use crate::pattern_error::pattern_error;
use crate::planned::{MAX_MATCH_LINES, PlanContext, PlannedEdit, SearchMatches, evidence_line};
use limits::{MATCHES, check_size, too_many};
use lockgate_error::{Code, Error, EvidenceLine, Score};
use lockgate_matching::{MatchInfo, MatchLevel, exact};
use lockgate_python_re::{Flags, Pattern, Replacement, ReplacementTemplate, StepBudget};
use lockgate_text::{Buffer, Change};
use window::Window;

/// Plans the replacement of the matches of a search.
///
/// Errors: `NO_MATCH`, `AMBIGUOUS_MATCH`, `ALREADY_APPLIED`, `EDIT_CONFLICT` if the changed text differs from the
/// file, `BAD_PATTERN`, `REGEX_BUDGET`, `MATCH_COUNT` for
/// another number of matches than expected, `RANGE_OUT_OF_BOUNDS` for a window beyond the text, `TOO_LARGE` for more
/// matches than one edit replaces, or for new text that certainly exceeds the limits.
pub fn plan(search: &Search, buffer: &Buffer, context: PlanContext<'_>) -> Result<PlannedEdit, Error> {
    let mut planned = plan_matches(search, buffer, context)?;
    let is_capped = planned.matches.total.is_some_and(|total| total > MATCHES);
    match (search.expect_matches, planned.matches.total) {
        (Some(expected), Some(found)) if expected.get() != found || is_capped => {
            return Err(unexpected_count(expected.get(), found, planned.matches.lines));
        }
        _ => {}
    }
    if is_capped {
        planned.matches.total = None;
        planned.notes.push(format!("the search matches more than {MATCHES} times"));
    }
    Ok(planned)
}

/// Returns the error for another number of matches than the caller expects.
fn unexpected_count(expected: usize, found: usize, places: Vec<EvidenceLine>) -> Error {
    let narrow = "narrow the search with `lines` or `within`";
    // Further matches were not counted.
    let (matches, hint) = if found > MATCHES {
        (format!("more than {MATCHES} matches"), narrow.to_owned())
    } else {
        let matches = if found == 1 { "1 match".to_owned() } else { format!("{found} matches") };
        (matches, format!("send expect_matches: {found} if all of them are meant, or {narrow}"))
    };
    let message = format!("expected {expected} of the search text, found {matches}");
    Error::new(Code::MatchCount, message)
        .field("expect_matches")
        .hint(hint)
        .places(places)
        .with_place_count(found)
}

fn plan_matches(search: &Search, buffer: &Buffer, context: PlanContext<'_>) -> Result<PlannedEdit, Error> {
    let window = Window::new(search, buffer, context)?;
    match (&search.needle, search.occurrences) {
        (Needle::Regex { pattern, flags }, _) => plan_pattern(search, pattern, *flags, &window),
        (Needle::Literal(needle), Occurrences::Matches) => {
            let mut spans = spans(needle, buffer.view(), window.bytes());
            if spans.is_empty() {
                return block::plan(search, needle, &window);
            }
            let total = spans.len();
            spans.truncate(most(search));
            check_size(&search.replace, spans.len(), context.limits.bytes)?;
            let changes =
                spans.into_iter().map(|span| Change { span, text: search.replace.clone() }).collect();
            replace_every(changes, Some(total), Some(MatchLevel::Exact), buffer)
        }
        (Needle::Literal(needle), Occurrences::Block | Occurrences::EveryBlock) => {
            block::plan(search, needle, &window)
        }
    }
}

/// Plans the replacement of the matches of a pattern.
fn plan_pattern(
    search: &Search,
    pattern_text: &str,
    flags: Flags,
    window: &Window<'_>,
) -> Result<PlannedEdit, Error> {
    let pattern_text = &pattern_text.replace("\r\n", "\n");
    let pattern = Pattern::compile_for_newlines(pattern_text, flags)
        .map_err(|error| missing::text_error(pattern_error(error), pattern_text, search, window))?;
    let template = ReplacementTemplate::parse(&search.replace, &pattern).map_err(pattern_error)?;
    let limits = window.context.limits;
    let budget = &mut StepBudget::new(limits.steps).with_max_chars(limits.bytes);
    let count = NonZeroUsize::new(most(search));
    let mut found = pattern
        .replace(window.buffer.view(), window.bytes(), &template, count, budget)
        .map_err(pattern_error)?;
    let inside = |one: &Replacement| window.has_match(one.span.start);
    let has_match = !found.is_empty();
    found.retain(&inside);
    if found.is_empty() && has_match {
        return Err(missing::behind_lines(search, window));
    }
    if found.is_empty() {
        return Err(missing::pattern_error(search, pattern_text, flags, window));
    }
    let total = match search.count {
        None => Some(found.len()),
        Some(_) => {
            let (none, most) = (ReplacementTemplate::parse("", &pattern), NonZeroUsize::new(MATCHES + 1));
            none.and_then(|none| pattern.replace(window.buffer.view(), window.bytes(), &none, most, budget))
                .ok()
                .map(|all| all.iter().filter(|one| inside(one)).count())
        }
    };
    let changes = found.into_iter().map(|Replacement { span, text }| Change { span, text }).collect();
    let mut planned = replace_every(changes, total, None, window.buffer)?;
    planned.warnings.extend(plain_dollar(&search.replace, &pattern));
    Ok(planned)
}

/// Returns a warning if a replacement has a `$1` where other tools would put a group of the pattern, and no group.
fn plain_dollar(replace: &str, pattern: &Pattern) -> Option<String> {
    let digit_after = |sign: &str| {
        let mut rests = replace.split(sign).skip(1);
        rests.find_map(|rest| rest.chars().next().filter(char::is_ascii_digit))
    };
    let digit = digit_after("$").or_else(|| digit_after("${"))?;
    let has_groups = ReplacementTemplate::parse("\\1", pattern).is_ok();
    let uses_group = digit_after("\\").is_some() || replace.contains("\\g<");
    let warning =
        || format!("`${digit}` was written as it is; the text of a group is `\\{digit}` in `replace`");
    (has_groups && !uses_group).then(warning)
}

fn most(search: &Search) -> usize {
    search.count.map_or(MATCHES + 1, |count| count.get().min(MATCHES + 1))
}

/// Returns the plan of changes, each of which replaces one match.
fn replace_every(
    changes: Vec<Change>,
    total_matches: Option<usize>,
    level: Option<MatchLevel>,
    buffer: &Buffer,
) -> Result<PlannedEdit, Error> {
    let found = changes.len();
    if found > MATCHES {
        return Err(too_many());
    }
    let places = match_lines(&changes, buffer);
    let spans = changes.iter().map(|change| buffer.lines().lines_at(&change.span)).collect();
    let match_info = level.zip(places.first()).map(|(level, place)| MatchInfo {
        level,
        score: Score::IDENTICAL,
        candidates: found,
        runner_up: None,
        line: place.line,
    });
    // A match that stays the same is not quoted, so it may have changed since.
    let is_changed = |change: &Change| buffer.view().get(change.span.clone()) != Some(change.text.as_str());
    let changes = changes.into_iter().filter(is_changed).collect();
    let planned = PlannedEdit::new(buffer.plan(changes)?);
    let matches = SearchMatches {
        replacements: Some(found),
        total: total_matches,
        lines: places,
        spans,
        info: match_info,
    };
    Ok(PlannedEdit { matches, ..planned })
}

/// Returns the matches of a literal text, but at most one more than one edit replaces.
fn spans(needle: &str, view: &str, window: Range<usize>) -> Vec<Range<usize>> {
    exact::occurrences(view, window, &needle.replace("\r\n", "\n")).take(MATCHES + 1).collect()
}

fn match_lines(changes: &[Change], buffer: &Buffer) -> Vec<EvidenceLine> {
    let line = |change: &Change| evidence_line(buffer, buffer.lines().line_at(change.span.start));
    changes.iter().take(MAX_MATCH_LINES).map(line).collect()
}
