//! The error for a search without a match: the nearest lines, their first difference, and the next call.

use super::window::Window;
use crate::edit::{Needle, Search};
use crate::error::{Best, Code, Difference, Error, NextCall};
use crate::locate::{Proposal, SimilarLines, exact};

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

/// Returns the error for a pattern without a match.
pub(super) fn pattern_error(search: &Search, window: &Window<'_>) -> Error {
    not_found(search, window).hint(quotable(needle(search), window))
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
    let Some(similar) = similar else { return error.hint(quotable(needle, window)) };
    let best = best(needle, window, similar);
    let (next, hint) = match proposal {
        Some(Proposal { search, replace }) => {
            (NextCall::Edit { search, replace }, "`next` is the same edit with the file's actual text")
        }
        None => (
            NextCall::Read { start_line: similar.first, end_line: similar.last },
            "read the nearest lines, and quote the actual text",
        ),
    };
    error.hint(hint).best(best).with_next(next)
}

fn not_found(search: &Search, window: &Window<'_>) -> Error {
    let kind = match &search.needle {
        Needle::Literal(_) => "search text",
        Needle::Regex { .. } => "pattern",
    };
    let shown: String = needle(search).chars().take(WIDTH).collect();
    let message = format!("{kind} not found in {}: {shown:?}", window.name);
    Error::new(Code::MatchNotFound, message).field("search")
}

fn needle(search: &Search) -> &str {
    match &search.needle {
        Needle::Literal(needle) => needle,
        Needle::Regex { pattern, .. } => pattern,
    }
}

fn best(needle: &str, window: &Window<'_>, similar: SimilarLines) -> Best {
    let lines = window.buffer.lines();
    let shown = (similar.first..=similar.last).take(LINES);
    Best {
        start_line: similar.first,
        end_line: similar.last,
        score: similar.score,
        lines: shown.map(|line| clipped(lines.text(line))).collect(),
        first_difference: first_difference(needle, window, similar),
    }
}

/// Returns a line, or the beginning of a long one with an ellipsis.
fn clipped(line: &str) -> String {
    let start: String = line.chars().take(2 * WIDTH).collect();
    if start.len() < line.len() { start + "..." } else { start }
}

/// Returns the first character in which the search lines differ from the nearest ones. Blank lines, and blanks at
/// both ends of a line, are ignored.
fn first_difference(needle: &str, window: &Window<'_>, similar: SimilarLines) -> Option<Difference> {
    let lines = window.buffer.lines();
    let lines_found = (similar.first..=similar.last).map(|line| (line, lines.text(line)));
    let mut lines_found = lines_found.filter(|(_, text)| !text.trim().is_empty());
    let start = |text: &str| text.chars().take(DIFFERENCE_WIDTH).collect::<String>();
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
        let indent = text.len() - text.trim_start().len();
        let same = quoted.chars().zip(text.trim().chars()).take_while(|(one, other)| one == other);
        let same: usize = same.map(|(character, _)| character.len_utf8()).sum();
        let found = text.trim_end().get(indent + same..).unwrap_or_default();
        let column = text.get(..indent + same).map_or(0, |before| before.chars().count()) + 1;
        let expected = quoted.get(same..).unwrap_or_default();
        return Some(Difference { line, column, expected: start(expected), found: start(found) });
    }
    let (line, text) = lines_found.next()?;
    Some(Difference { line, column: 1, expected: String::new(), found: start(text) })
}

/// Returns the lines to quote from: around the first one that contains the longest line of the search text, otherwise
/// the first lines of the text.
fn quotable(needle: &str, search_window: &Window<'_>) -> String {
    let (view, lines, window) =
        (search_window.buffer.view(), search_window.buffer.lines(), search_window.bytes());
    if view.is_empty() {
        return "the file is empty".to_owned();
    }
    let longest = needle.lines().map(str::trim).max_by_key(|line| line.len()).unwrap_or_default();
    let nearest = exact::occurrences(view, window.clone(), longest).next();
    let top = lines.line_at(window.start).max(1);
    let first = nearest.map_or(top, |found| lines.line_at(found.start).saturating_sub(BEFORE).max(top));
    let last = lines.count().min(first + SHOWN - 1);
    let line = |line: usize| -> String {
        format!("{line}: {}", lines.text(line).chars().take(WIDTH).collect::<String>())
    };
    let text: Vec<String> = (first..=last).map(line).collect();
    format!("quote what is there; the text from line {first} is:\n{}", text.join("\n"))
}
