//! The error for a search without a match: the nearest lines, their first difference, and the next call.

use super::nearest_part::nearest_part;
use super::window::Window;
use crate::operations::{Needle, Occurrences, Search};
use lockgate_error::{Best, Code, Difference, Error, FieldValue, NextCall};
use lockgate_matching::{Proposal, SimilarLines, exact};
use lockgate_python_re::{Flags, Pattern, ReplacementTemplate, StepBudget};
use lockgate_text::differing_lines;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// The maximum number of lines shown of a text without a match, with their indentation, and the number of those
/// before the nearest line.
const SHOWN: usize = 10;
const BEFORE: usize = 2;

/// The maximum number of characters shown of each line.
const WIDTH: usize = 120;

/// The maximum number of characters shown from the first difference on.
const DIFFERENCE_WIDTH: usize = 40;

/// The maximum number of lines shown of the nearest match.
const LINES: usize = 40;

/// The minimum similarity, in per cent, of lines that are shown as the nearest ones.
const LEAST_SIMILAR: u16 = 50;

/// The maximum size, in bytes, of the lines that a proposed call reads.
const MAX_READ: usize = 8 << 10;

/// The minimum length in bytes of a text that is looked for in another case, and the maximum product of its length and
/// that of the searched text.
const LEAST_CASED: usize = 4;
const MAX_CASED: usize = 1 << 32;

/// The number of lines shown around each difference.
const AROUND: usize = 2;

/// The parts of a pattern that few texts have.
const PATTERN_SYNTAX: [&str; 17] = [
    "\\w", "\\d", "\\s", "\\b", "\\S", "\\W", "\\D", "\\.", "\\(", "\\[", "\\{", ".*", ".+", "]+", "]*",
    ")+", "(?",
];

/// The share of the steps that a quote may take that is tried as a pattern for a hint: one in so many.
const HINT_SHARE: u64 = 20;

/// The flags that are tried for a pattern without a match: each of them, then two, then all.
const TRIED_FLAGS: [(&[Flags], &str); 7] = [
    (&[Flags::MULTILINE], "M"),
    (&[Flags::DOTALL], "S"),
    (&[Flags::IGNORECASE], "I"),
    (&[Flags::MULTILINE, Flags::DOTALL], "M and S"),
    (&[Flags::MULTILINE, Flags::IGNORECASE], "M and I"),
    (&[Flags::DOTALL, Flags::IGNORECASE], "S and I"),
    (&[Flags::MULTILINE, Flags::DOTALL, Flags::IGNORECASE], "M, S and I"),
];

/// Returns the error for a pattern without a match. The fewest flags with which the pattern matches are proposed.
pub(super) fn pattern_error(search: &Search, pattern: &str, flags: Flags, window: &Window<'_>) -> Error {
    let mut error = not_found(search, window);
    let mut budget = StepBudget::new(window.context.limits.steps);
    for (added, letters) in TRIED_FLAGS {
        if added.iter().any(|flag| flags.has(*flag)) {
            continue;
        }
        let bits = added.iter().fold(flags.bits(), |bits, flag| bits | flag.bits());
        let with = Flags::from_bits(i64::from(bits)).ok();
        let with = with.and_then(|with| matches(pattern, with, window, &mut budget));
        if let Some(count) = with {
            let are = if count == 1 { "is" } else { "are" };
            error.message.push_str(&format!(
                "; no match without {letters}; with search_flags {bits} there {are} {count}"
            ));
            let set = vec![("search_flags", FieldValue::Number(u64::from(bits)))];
            let next = NextCall::Fields { set, unset: Vec::new() };
            let next = Some(next).filter(|_| accepts(search, count));
            return error.hint(format!("send search_flags: {bits}")).with_next_if(next);
        }
    }
    match exact::occurrences(window.buffer.view(), window.bytes(), pattern).count() {
        0 => {
            let first = *window_lines(window).start();
            let next = NextCall::read_around(first, first, window.buffer.lines().count());
            error.hint(quotable(pattern, window)).with_next_if(next)
        }
        count => {
            error.message.push_str(&format!("; as a text it occurs {}", times(count)));
            as_text(error, "send it without `regex`, which makes it a pattern".to_owned(), search, count)
        }
    }
}

/// Returns the error for a pattern whose only match is the empty one behind the last of the searched lines.
pub(super) fn behind_lines(search: &Search, window: &Window<'_>) -> Error {
    let mut error = not_found(search, window);
    error.message.push_str("; the only match is empty, and behind the last of these lines");
    error.hint("to add text there, use `insert_lines`")
}

/// Returns true if the edit accepts this number of matches, so that a call with so many works.
fn accepts(search: &Search, count: usize) -> bool {
    search.expect_matches.is_none_or(|expected| expected.get() == count)
}

/// Adds the edit with the pattern as a text to an error about the pattern, if it occurs as such.
pub(super) fn text_error(error: Error, pattern: &str, search: &Search, window: &Window<'_>) -> Error {
    let count = exact::occurrences(window.buffer.view(), window.bytes(), pattern).take(100).count();
    if count == 0 {
        return error;
    }
    let times = times(count);
    as_text(
        error,
        format!("as a text it occurs {times}; send it without `regex`, which makes it a pattern"),
        search,
        count,
    )
}

/// Proposes the call with the pattern as a text, which occurs this often. A replacement with backslashes is a template, which
/// means something else as a text: then only the hint is given.
fn as_text(error: Error, hint: String, search: &Search, count: usize) -> Error {
    if search.replace.contains('\\') {
        return error.hint(format!("{hint}, and write the replacement without escapes"));
    }
    let next = NextCall::Fields { set: Vec::new(), unset: vec!["regex", "search_flags"] };
    error.hint(hint).with_next_if(Some(next).filter(|_| accepts(search, count)))
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Returns the number of matches of a pattern; `None` if there are none, or if the limits do not suffice to count them.
fn matches(pattern: &str, flags: Flags, window: &Window<'_>, budget: &mut StepBudget) -> Option<usize> {
    let pattern = Pattern::compile_for_newlines(pattern, flags).ok()?;
    let template = ReplacementTemplate::parse("", &pattern).ok()?;
    let found = pattern.replace(window.buffer.view(), window.bytes(), &template, None, budget).ok()?;
    let count = found.iter().filter(|one| window.has_match(one.span.start)).count();
    Some(count).filter(|count| *count > 0)
}

/// Returns the error for a block without a match.
pub(super) fn block_error(
    search: &Search,
    needle: &str,
    window: &Window<'_>,
    similar: Option<SimilarLines>,
    proposal: Option<Proposal>,
) -> Error {
    let error = not_found(search, window);
    let same_edit = format!("`next` is the same edit with the {}'s actual text", window.context.noun);
    if let Some((line, last)) = only_lines(needle, window) {
        if window_lines(window).contains(&line) {
            let unset = vec!["within", "lines", "start_line", "end_line"];
            let next = NextCall::Fields { set: Vec::new(), unset };
            return error
                .hint(format!("the text begins at line {line}, and reaches beyond {}", window.name))
                .with_next_if(Some(next).filter(|_| accepts(search, 1)));
        }
        // The caller does not want an edit there, or was wrong about the lines: these have to be read.
        return error
            .hint(format!("the text is at line {line}, which is outside of {}", window.name))
            .with_next_if(NextCall::read_around(line, last, window.buffer.lines().count()));
    }
    let is_accepted = accepts(search, 1);
    if let Some(found) = other_case(needle, window).filter(|_| is_accepted)
        && let Some(replace) = respelled(&search.replace, needle, found)
    {
        let hint = format!("the {} has it in another case; {same_edit}", window.context.noun);
        return error.hint(hint).with_next(NextCall::Edit { search: found.to_owned(), replace });
    }
    // An edit of a text by itself would change nothing.
    if let Some(Proposal { search, replace }) = proposal.filter(|it| is_accepted && it.search != it.replace) {
        let best = similar
            .filter(|similar| is_about(&search, similar, window))
            .map(|similar| best(needle, window, similar));
        let error = error.hint(same_edit);
        let error = error.with_next(NextCall::Edit { search, replace });
        return best.into_iter().fold(error, Error::best);
    }
    let error = nearest_error(error, needle, window, similar);
    match matches_as_pattern(search, needle, window) {
        Some(count) => as_pattern(error, search, count),
        None => error,
    }
}

/// Adds the nearest text to an error about a block without a match, or says that there is none.
fn nearest_error(error: Error, needle: &str, window: &Window<'_>, similar: Option<SimilarLines>) -> Error {
    let similar = similar.filter(|similar| similar.score.percent() >= LEAST_SIMILAR);
    if let Some(part) = nearest_part(needle, window) {
        let (line, whole) = (part.line, window.buffer.lines().text(part.line));
        let is_cut = clipped(whole) != whole;
        let own = SimilarLines { first: line, last: line, score: part.score(needle, whole) };
        let nearest = similar.filter(|similar| is_cut || similar.score > own.score);
        let best = nearest.or((!is_cut).then_some(own)).map(|nearest| best(needle, window, nearest));
        let hint = if is_cut {
            format!("the nearest text is {:?} at line {line}", part.text)
        } else {
            format!("the nearest text is in line {line}; quote the actual text")
        };
        let error = best.into_iter().fold(error, Error::best);
        return error.hint(hint).with_next(NextCall::Read { start_line: line, end_line: line });
    }
    let Some(similar) = similar else {
        let Some((line, start)) = same_beginning(needle, window) else {
            return error.hint(unlike(needle, window));
        };
        let end_line = (line + AROUND).min(*window_lines(window).end());
        let hint = format!("line {line} begins with {start:?}; read it, and quote the actual text");
        return error.hint(hint).with_next(NextCall::Read { start_line: line, end_line });
    };
    let best = best(needle, window, without_other_lines(needle, window, similar));
    let (start_line, end_line) = readable(&best, window);
    let beyond = reaches_beyond(needle, window).filter(|line| *line == best.start_line);
    let reason = beyond.map(|line| format!("it begins at line {line}, and reaches beyond {}; ", window.name));
    error
        .hint(format!("{}read the nearest lines, and quote the actual text", reason.unwrap_or_default()))
        .best(best)
        .with_next(NextCall::Read { start_line, end_line })
}

/// Returns similar lines without those at their ends that have no word of the quote, down to the number of its lines. A
/// bracket that opens before the other lines, or closes behind them, belongs to them.
fn without_other_lines(needle: &str, window: &Window<'_>, similar: SimilarLines) -> SimilarLines {
    let lines = window.buffer.lines();
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|character: char| !is_word(character)).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let quoted = words(needle);
    let is_other = |text: &str, brackets: [char; 3]| {
        words(text).is_disjoint(&quoted) && !text.contains(brackets) && !needle.contains(text.trim())
    };
    let wanted = needle.lines().filter(|line| !is_blank(line)).count();
    let SimilarLines { mut first, mut last, score } = similar;
    let is_cut_off = |line: usize, brackets: [char; 3], (first, last): (usize, usize)| {
        let count = (first..=last).filter(|line| !is_blank(lines.text(*line))).count();
        let text = lines.text(line);
        first < last && (is_blank(text) || count > wanted && is_other(text, brackets))
    };
    while is_cut_off(first, ['(', '[', '{'], (first, last)) {
        first += 1;
    }
    while is_cut_off(last, [')', ']', '}'], (first, last)) {
        last -= 1;
    }
    SimilarLines { first, last, score }
}

/// Returns the only line of the window that begins as the first line of the quote does, up to the first parenthesis, and that
/// beginning. It has at least two words, as in `def pause(`. Of a short window, all lines are shown instead.
fn same_beginning<'n>(needle: &'n str, window: &Window<'_>) -> Option<(usize, &'n str)> {
    let quoted = needle.lines().map(str::trim).find(|line| !line.is_empty())?;
    let (start, _) = quoted.split_at_checked(quoted.find('(')? + 1)?;
    let has_two_words =
        start.split(|character: char| !is_word(character)).filter(|word| !word.is_empty()).nth(1);
    let lines = window.buffer.lines();
    let mut found = window_lines(window).filter(|line| lines.text(*line).trim_start().starts_with(start));
    let line = found.next().filter(|_| has_two_words.is_some() && !is_short(window))?;
    found.next().is_none().then_some((line, start))
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Adds to an error about a text that it matches this often as a pattern.
fn as_pattern(mut error: Error, search: &Search, count: usize) -> Error {
    error.message.push_str(&format!("; as a pattern it matches {}", times(count)));
    let escapes = if search.replace.contains('\\') { ", with escapes in `replace`" } else { "" };
    let as_text = error.next_step();
    let hint =
        format!("send `regex: true`, which makes it a pattern of Python's re{escapes}; as a text: {as_text}");
    error.hint(hint)
}

/// Returns how often a quote with the syntax of a pattern matches as one; `None` if it does not, if the edit does not accept
/// so many matches, or if the tool has no patterns. Only the tools that replace every match have them.
fn matches_as_pattern(search: &Search, needle: &str, window: &Window<'_>) -> Option<usize> {
    let has_syntax = PATTERN_SYNTAX.iter().any(|syntax| needle.contains(syntax));
    if !has_syntax || search.occurrences != Occurrences::Matches {
        return None;
    }
    let mut budget = StepBudget::new(window.context.limits.steps / HINT_SHARE);
    matches(needle, Flags::default(), window, &mut budget).filter(|count| accepts(search, *count))
}

/// Returns true if the proposed edit is about the similar lines: two places in one answer would contradict each other.
fn is_about(search: &str, similar: &SimilarLines, window: &Window<'_>) -> bool {
    let lines = window.buffer.lines();
    exact::occurrences(window.buffer.view(), window.bytes(), search).next().is_some_and(|place| {
        let place = lines.lines_at(&place);
        *place.start() <= similar.last && similar.first <= *place.end()
    })
}

/// Returns the only text of the window that differs from the quote in nothing but the case of its letters.
fn other_case<'a>(needle: &str, window: &Window<'a>) -> Option<&'a str> {
    let text = window.buffer.view().get(window.bytes())?;
    let is_worth_searching =
        needle.len() >= LEAST_CASED && text.len().checked_mul(needle.len())? <= MAX_CASED;
    if !is_worth_searching {
        return None;
    }
    let (lower, wanted) = (text.to_ascii_lowercase(), needle.to_ascii_lowercase());
    let mut found = exact::occurrences(&lower, 0..lower.len(), &wanted);
    let place = found.next().filter(|_| found.next().is_none())?;
    let actual = text.get(place)?;
    let is_only = exact::occurrences(text, 0..text.len(), actual).take(2).count() == 1;
    is_only.then_some(actual)
}

/// Returns the replacement with the words of the quote in the case in which the file has them; `None` if it has one of them
/// in two cases, or if the result is the text of the file.
fn respelled(replace: &str, needle: &str, found: &str) -> Option<String> {
    let separates = |character: char| !is_word(character);
    let mut spellings = HashMap::new();
    for (quoted, actual) in needle.split(separates).zip(found.split(separates)) {
        if *spellings.entry(quoted).or_insert(actual) != actual {
            return None;
        }
    }
    let mut result = String::with_capacity(replace.len());
    for part in replace.split_inclusive(separates) {
        let word = part.trim_end_matches(separates);
        result.push_str(spellings.get(word).copied().unwrap_or(word));
        result.extend(part.get(word.len()..));
    }
    (result != found).then_some(result)
}

/// Says that nothing in the window is like the search text, and shows a short window.
fn unlike(needle: &str, window: &Window<'_>) -> String {
    let nothing = format!("nothing like it is in {}", window.name);
    if let Some(line) = reaches_beyond(needle, window) {
        return format!("{nothing}; it begins at line {line}, and reaches beyond {}", window.name);
    }
    if is_short(window) { format!("{nothing}; {}", quotable(needle, window)) } else { nothing }
}

/// Returns true if all lines of the window are shown.
fn is_short(window: &Window<'_>) -> bool {
    let range = window_lines(window);
    range.end().saturating_sub(*range.start()) < SHOWN
}

/// Returns the numbers of the lines of the window.
fn window_lines(window: &Window<'_>) -> RangeInclusive<usize> {
    window.buffer.lines().lines_at(&window.bytes())
}

/// Returns the first and the last line of a text that occurs exactly once in the file. The window does not hold all of
/// it.
fn only_lines(needle: &str, window: &Window<'_>) -> Option<(usize, usize)> {
    let view = window.buffer.view();
    let place = exact::only_occurrence(view, 0..view.len(), needle).filter(|_| !needle.trim().is_empty())?;
    Some(window.buffer.lines().lines_at(&place).into_inner())
}

/// Returns the line at which the quote begins, if the window ends before the quote does.
fn reaches_beyond(needle: &str, window: &Window<'_>) -> Option<usize> {
    let first = needle.lines().next().filter(|line| !line.trim().is_empty())?;
    let lines = window.buffer.lines();
    let window_lines = window_lines(window);
    let is_first = |line: &usize| lines.text(*line).trim() == first.trim();
    let start = window_lines.clone().rev().find(is_first)?;
    (start + needle.lines().count() - 1 > *window_lines.end()).then_some(start)
}

/// Returns the lines of the nearest block that a proposed call reads: all of them, or the largest part around the first
/// difference.
fn readable(best: &Best, window: &Window<'_>) -> (usize, usize) {
    let lines = window.buffer.lines();
    let (first, last) = (best.start_line, best.end_line);
    if lines.block(first, last).len() <= MAX_READ {
        return (first, last);
    }
    let line = best.first_difference.as_ref().map_or(first, |difference| difference.line);
    let around = |reach: usize| (line.saturating_sub(reach).max(first), (line + reach).min(last));
    let fits = |reach: &usize| {
        let (first, last) = around(*reach);
        lines.block(first, last).len() <= MAX_READ
    };
    around((0..=last - first).take_while(fits).last().unwrap_or_default())
}

fn not_found(search: &Search, window: &Window<'_>) -> Error {
    let (kind, needle) = match &search.needle {
        Needle::Literal(needle) => ("search text", needle),
        Needle::Regex { pattern, .. } => ("pattern", pattern),
    };
    let shown: String = needle.chars().take(WIDTH).collect();
    let message = format!("{kind} not found in {}: {shown:?}", window.name);
    Error::new(Code::MatchNotFound, message).field("search")
}

fn best(needle: &str, window: &Window<'_>, similar: SimilarLines) -> Best {
    let lines = window.buffer.lines();
    let shown = (similar.first..=similar.last).take(LINES);
    Best {
        start_line: similar.first,
        end_line: similar.last,
        score: similar.score,
        lines: shown.map(|line| clipped(lines.text(line))).collect(),
        excerpt: excerpt(needle, window, similar),
        first_difference: first_difference(needle, window, similar),
    }
}

/// Returns the lines around each difference from the search text, with their numbers: all lines of a short block.
fn excerpt(needle: &str, window: &Window<'_>, similar: SimilarLines) -> Vec<(usize, String)> {
    let lines = window.buffer.lines();
    let found: Vec<&str> = (similar.first..=similar.last).map(|line| lines.text(line).trim()).collect();
    let quoted: Vec<&str> = needle.lines().map(str::trim).collect();
    let differing = differing_lines(&quoted, &found);
    let is_near = |index: usize| {
        differing.iter().any(|(_, found)| {
            index + AROUND >= found.start && index < found.end.max(found.start + 1) + AROUND
        })
    };
    let shown = (0..found.len()).filter(|index| found.len() <= SHOWN || is_near(*index)).take(LINES);
    shown.map(|index| (similar.first + index, clipped(lines.text(similar.first + index)))).collect()
}

/// Returns a line, or the beginning of a long one with an ellipsis.
fn clipped(line: &str) -> String {
    let start: String = line.chars().take(2 * WIDTH).collect();
    if start.len() < line.len() { start + "..." } else { start }
}

/// Returns the first character in which the search lines differ from the nearest ones, or the first line that only the
/// nearest ones have. Blank lines, and blanks at both ends of a line, are ignored.
fn first_difference(needle: &str, window: &Window<'_>, similar: SimilarLines) -> Option<Difference> {
    let lines = window.buffer.lines();
    let lines_found = (similar.first..=similar.last).map(|line| (line, lines.text(line)));
    let mut lines_found = lines_found.filter(|(_, text)| !text.trim().is_empty());
    let start = |text: &str| text.chars().take(DIFFERENCE_WIDTH).collect::<String>();
    let added =
        |line: usize, text: &str| Difference { line, column: 1, expected: String::new(), found: start(text) };
    for quoted in needle.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((line, text)) = lines_found.next() else {
            let column = lines.text(similar.last).chars().count() + 1;
            return Some(Difference {
                line: similar.last,
                column,
                expected: start(quoted),
                found: String::new(),
            });
        };
        if quoted == text.trim() {
            continue;
        }
        if lines_found.clone().next().is_some_and(|(_, next)| next.trim() == quoted) {
            return Some(added(line, text));
        }
        let indent = text.len() - text.trim_start().len();
        let same = quoted.chars().zip(text.trim().chars()).take_while(|(one, other)| one == other);
        let same: usize = same.map(|(character, _)| character.len_utf8()).sum();
        let found = text.trim_end().get(indent + same..).unwrap_or_default();
        let column = text.get(..indent + same).map_or(0, |before| before.chars().count()) + 1;
        let expected = quoted.get(same..).unwrap_or_default();
        return Some(Difference { line, column, expected: start(expected), found: start(found) });
    }
    let (line, text) = lines_found.next()?;
    Some(added(line, text))
}

/// Returns the lines of the window to quote from: around the first one that contains the longest line of the search text,
/// otherwise its first lines.
fn quotable(needle: &str, window: &Window<'_>) -> String {
    let (view, lines) = (window.buffer.view(), window.buffer.lines());
    if view.is_empty() {
        return format!("the {} is empty", window.context.noun);
    }
    let longest = needle.lines().map(str::trim).max_by_key(|line| line.len()).unwrap_or_default();
    let nearest = exact::occurrences(view, window.bytes(), longest).next();
    let (top, bottom) = window_lines(window).into_inner();
    let first = nearest.map_or(top, |found| lines.line_at(found.start).saturating_sub(BEFORE).max(top));
    let last = bottom.min(first + SHOWN - 1);
    let text: Vec<String> =
        (first..=last).map(|line| format!("{line}: {}", clipped(lines.text(line)))).collect();
    let is_cut = (first..=last).any(|line| clipped(lines.text(line)) != lines.text(line));
    let step = if is_cut {
        format!("read lines {first} to {last} before you quote them; here, long lines are cut at `...`:")
    } else {
        format!("quote the actual text, which from line {first} is:")
    };
    format!("{step}\n{}", text.join("\n"))
}
