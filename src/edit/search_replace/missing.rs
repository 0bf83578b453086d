//! What is said where nothing was found.

use super::window::Window;
use crate::edit::{Needle, Search};
use crate::error::{Code, Error};
use crate::locate::exact;

/// Lines shown of a text in which nothing was found, with their indentation, and how many of them before the line
/// that comes nearest.
const SHOWN: usize = 10;
const BEFORE: usize = 2;

/// Characters shown of each.
const WIDTH: usize = 120;

/// The refusal of a pattern that matches nowhere.
pub(super) fn pattern(search: &Search, looked: &Window<'_>) -> Error {
    not_found(search, looked).hint(quotable(needle(search), looked))
}

/// The refusal of a search, without a hint.
pub(super) fn not_found(search: &Search, looked: &Window<'_>) -> Error {
    let kind = match &search.needle {
        Needle::Literal(_) => "search text",
        Needle::Regex { .. } => "pattern",
    };
    let shown: String = needle(search).chars().take(WIDTH).collect();
    let message = format!("{kind} not found in {}: {shown:?}", looked.name);
    Error::new(Code::MatchNotFound, message).field("search")
}

fn needle(search: &Search) -> &str {
    match &search.needle {
        Needle::Literal(needle) => needle,
        Needle::Regex { pattern, .. } => pattern,
    }
}

/// The lines to quote from: around the first that holds the longest line of what was searched, else the first ones.
pub(super) fn quotable(needle: &str, looked: &Window<'_>) -> String {
    let (view, lines, window) = (looked.buffer.view(), looked.buffer.lines(), looked.bytes());
    if view.is_empty() {
        return "the file is empty".to_owned();
    }
    let longest = needle.lines().map(str::trim).max_by_key(|line| line.len()).unwrap_or_default();
    let nearest = exact::occurrences(view, window.clone(), longest).next();
    let top = lines.at(window.start).max(1);
    let first = nearest.map_or(top, |found| lines.at(found.start).saturating_sub(BEFORE).max(top));
    let last = lines.count().min(first + SHOWN - 1);
    let line = |line: usize| -> String {
        format!("{line}: {}", lines.text(line).chars().take(WIDTH).collect::<String>())
    };
    let text: Vec<String> = (first..=last).map(line).collect();
    format!("quote what is there; the text from line {first} is:\n{}", text.join("\n"))
}
