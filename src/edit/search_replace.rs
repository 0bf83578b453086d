//! Mode `search` with `replace`: new text for every match, or for the first few.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::edit::pattern::{Budget, Pattern, Template};
use crate::edit::{LineWindow, Needle, Planned, Scene, Search, place};
use crate::error::{Code, Error, Place};
use crate::locate::exact;
use crate::text::{Buffer, Change};

/// The most places of a search that a report lists.
pub const PLACES: usize = 20;

/// The most matches that one edit replaces; each takes some 150 bytes of memory until it is applied.
const MATCHES: usize = 200_000;

/// Lines shown of a text in which nothing was found, with their indentation, and how many of them before the line
/// that comes nearest.
const SHOWN: usize = 10;
const BEFORE: usize = 2;

/// Characters shown of each.
const WIDTH: usize = 120;

/// Plans the replacement of what a search finds.
///
/// Errors: `NO_MATCH`, `BAD_PATTERN`, `REGEX_BUDGET`, `RANGE_OUT_OF_BOUNDS` for a window beyond the text, `TOO_LARGE`
/// for more matches than one edit replaces, or surely more new text than the bounds allow.
pub fn plan(search: &Search, buffer: &Buffer, scene: Scene<'_>) -> Result<Planned, Error> {
    let window = match search.lines {
        None => 0..buffer.view().len(),
        Some(lines) => window(lines, buffer)?,
    };
    let most = search.count.map_or(MATCHES + 1, |count| count.get().min(MATCHES + 1));
    let changes = match &search.needle {
        Needle::Literal(needle) => {
            let spans = spans(needle, buffer.view(), window.clone(), most);
            check_size(&search.replace, spans.len(), scene.bounds.bytes)?;
            spans.into_iter().map(|span| Change { span, text: search.replace.clone() }).collect()
        }
        Needle::Regex { pattern, flags } => {
            let pattern = Pattern::compile(pattern, *flags)?;
            let template = Template::parse(&search.replace, &pattern)?;
            let (count, budget) = (NonZeroUsize::new(most), &mut Budget::of(scene.bounds.steps));
            pattern.replace(buffer.view(), window.clone(), &template, count, budget)?
        }
    };
    match changes.len() {
        0 => Err(not_found(search, buffer, window)),
        found if found > MATCHES => Err(too_many()),
        found => {
            let places = places(&changes, buffer);
            let planned = Planned::new(buffer.plan(changes)?, Vec::new());
            Ok(Planned { replacements: Some(found), places, ..planned })
        }
    }
}

fn window(lines: LineWindow, buffer: &Buffer) -> Result<Range<usize>, Error> {
    let count = buffer.lines().count();
    if lines.end > count {
        let message = format!("Line {} is out of bounds (file has {count} lines)", lines.end);
        return Err(Error::new(Code::RangeOutOfBounds, message).field("lines.end"));
    }
    Ok(buffer.lines().span(lines.start).start..buffer.lines().span(lines.end).end)
}

fn spans(needle: &str, view: &str, window: Range<usize>, most: usize) -> Vec<Range<usize>> {
    exact::occurrences(view, window, &needle.replace("\r\n", "\n")).take(most).collect()
}

/// Refuses replacements that have more characters than the result may have bytes, before they are made.
fn check_size(replace: &str, matches: usize, limit: u64) -> Result<(), Error> {
    let each = replace.chars().count() as u64;
    if each.saturating_mul(matches as u64) <= limit {
        return Ok(());
    }
    let message =
        format!("the result is too large: {matches} replacements of {each} characters, limit {limit} bytes");
    Err(Error::new(Code::TooLarge, message).field("replace"))
}

fn too_many() -> Error {
    let message =
        format!("the search matches more than {MATCHES} times, which is more than one edit replaces");
    Error::new(Code::TooLarge, message)
        .field("search")
        .hint("give search_count, or narrow `lines` to look at fewer of them")
}

fn places(changes: &[Change], buffer: &Buffer) -> Vec<Place> {
    let line = |change: &Change| place(buffer, buffer.lines().at(change.span.start).max(1));
    changes.iter().take(PLACES).map(line).collect()
}

fn not_found(search: &Search, buffer: &Buffer, window: Range<usize>) -> Error {
    let (kind, needle) = match &search.needle {
        Needle::Literal(needle) => ("search text", needle),
        Needle::Regex { pattern, .. } => ("pattern", pattern),
    };
    let shown: String = needle.chars().take(WIDTH).collect();
    let searched = match search.lines {
        None => "the file".to_owned(),
        Some(LineWindow { start, end }) => format!("lines {start} to {end}"),
    };
    let message = format!("{kind} not found in {searched}: {shown:?}");
    Error::new(Code::MatchNotFound, message).field("search").hint(quotable(needle, buffer, window))
}

/// The lines to quote from: around the first that holds the longest line of what was searched, else the first ones.
fn quotable(needle: &str, buffer: &Buffer, window: Range<usize>) -> String {
    if buffer.view().is_empty() {
        return "the file is empty".to_owned();
    }
    let (view, lines) = (buffer.view(), buffer.lines());
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
