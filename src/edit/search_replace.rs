//! Mode `search` with `replace`: new text for every match, or for the first few.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::edit::pattern::{Budget, Pattern, Template};
use crate::edit::{LineWindow, Needle, Planned, Search, place};
use crate::error::{Code, Error, Place};
use crate::locate::exact;
use crate::text::{Buffer, Change};

/// The most places of a search that a report lists.
pub const PLACES: usize = 20;

/// The most matches of a literal search that one edit replaces.
const MATCHES: usize = 1_000_000;

/// Lines shown of a text in which nothing was found, with their indentation.
const SHOWN: usize = 10;

/// Characters shown of each.
const WIDTH: usize = 120;

/// Plans the replacement of what a search finds.
///
/// Errors: `TOO_LARGE` for more matches or more new text than can be wanted, `NO_MATCH`, `BAD_PATTERN`, `REGEX_BUDGET`, `RANGE_OUT_OF_BOUNDS` for a window beyond the text.
pub fn plan(search: &Search, buffer: &Buffer, limit: u64) -> Result<Planned, Error> {
    let window = match search.lines {
        None => 0..buffer.view().len(),
        Some(lines) => window(lines, buffer)?,
    };
    let changes = match &search.needle {
        Needle::Literal(needle) => literal(needle, search, buffer.view(), window, limit)?,
        Needle::Regex { pattern, flags } => {
            let pattern = Pattern::compile(pattern, *flags)?;
            let template = Template::parse(&search.replace, &pattern)?;
            pattern.replace(buffer.view(), window, &template, search.count, &mut Budget::per_call())?
        }
    };
    if changes.is_empty() {
        return Err(not_found(search, buffer));
    }
    let replacements = Some(changes.len());
    let places = places(&changes, buffer);
    Ok(Planned { replacements, places, ..Planned::new(buffer.plan(changes)?, Vec::new()) })
}

fn window(lines: LineWindow, buffer: &Buffer) -> Result<Range<usize>, Error> {
    let count = buffer.lines().count();
    if lines.end > count {
        let message = format!("Line {} is out of bounds (file has {count} lines)", lines.end);
        return Err(Error::new(Code::RangeOutOfBounds, message).field("lines.end"));
    }
    Ok(buffer.lines().span(lines.start).start..buffer.lines().span(lines.end).end)
}

fn literal(
    needle: &str,
    search: &Search,
    view: &str,
    window: Range<usize>,
    limit: u64,
) -> Result<Vec<Change>, Error> {
    let needle = needle.replace("\r\n", "\n");
    let wanted = search.count.map_or(usize::MAX, NonZeroUsize::get);
    let fitting = usize::try_from(limit).unwrap_or(usize::MAX) / search.replace.len().max(1);
    let most = fitting.min(MATCHES);
    let change = |span| Change { span, text: search.replace.clone() };
    let changes: Vec<Change> =
        exact::occurrences(view, window, &needle).take(wanted.min(most + 1)).map(change).collect();
    if changes.len() <= most {
        return Ok(changes);
    }
    let message = format!("the search matches more than {most} times, which is more than one edit may replace");
    Err(Error::new(Code::TooLarge, message)
        .field("search")
        .hint("give search_count, or narrow `lines` to look at fewer of them"))
}

fn places(changes: &[Change], buffer: &Buffer) -> Vec<Place> {
    let line = |change: &Change| place(buffer, buffer.lines().at(change.span.start).max(1));
    changes.iter().take(PLACES).map(line).collect()
}

fn not_found(search: &Search, buffer: &Buffer) -> Error {
    let (kind, needle) = match &search.needle {
        Needle::Literal(needle) => ("search text", needle),
        Needle::Regex { pattern, .. } => ("pattern", pattern),
    };
    let shown: String = needle.chars().take(120).collect();
    let place_searched = match search.lines {
        None => "the file".to_owned(),
        Some(LineWindow { start, end }) => format!("lines {start} to {end}"),
    };
    let message = format!("{kind} not found in {place_searched}: {shown:?}");
    Error::new(Code::MatchNotFound, message).field("search").hint(beginning(search, buffer))
}

fn beginning(search: &Search, buffer: &Buffer) -> String {
    let first = search.lines.map_or(1, |lines| lines.start);
    let last = buffer.lines().count().min(first + SHOWN - 1);
    if buffer.view().is_empty() {
        return "the file is empty".to_owned();
    }
    let shown = |line: usize| -> String { buffer.lines().text(line).chars().take(WIDTH).collect() };
    let lines: Vec<String> = (first..=last).map(|line| format!("{line}: {}", shown(line))).collect();
    format!("quote what is there; the text from line {first} is:\n{}", lines.join("\n"))
}
