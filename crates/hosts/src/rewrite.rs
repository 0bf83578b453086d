//! Other arguments for the same edit: a quote that the host's tool finds, and with which it writes the wanted text.
//!
//! Invariant: what is returned was tried with the simulation of the tool, and gives the wanted bytes.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::edit::{QuoteMatches, QuotedReplacement};
use super::host::TextHabit;
use super::patch::{Chunk, ChunkLine};
use super::simulate::{self, Simulation, unix};

/// The most lines of context that are added on each side to make a quote unique.
const MAX_CONTEXT: usize = 24;
/// The most lines of a text that are compared line by line.
const MAX_LINES: usize = 50_000;

/// The lines that differ between two texts.
struct LineDifference<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// The ranges of lines that differ, in both texts.
    runs: Vec<(Range<usize>, Range<usize>)>,
}

impl<'a> LineDifference<'a> {
    /// Compares two texts line by line, with their line ends; `None` for bytes that are not UTF-8.
    fn new(before: &'a [u8], wanted: &'a [u8]) -> Option<LineDifference<'a>> {
        let text = |bytes: &'a [u8]| -> Option<Vec<&'a str>> {
            let text = std::str::from_utf8(bytes).ok()?;
            Some(text.strip_prefix('\u{feff}').unwrap_or(text).split_inclusive('\n').collect())
        };
        let (old, new) = (text(before)?, text(wanted)?);
        if old.len().max(new.len()) > MAX_LINES {
            return None;
        }
        let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (old, new) = match op {
                DiffOp::Equal { .. } => continue,
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    (op.old_range(), op.new_range())
                }
            };
            match runs.last_mut() {
                Some(last) if last.0.end == old.start && last.1.end == new.start => {
                    (last.0.end, last.1.end) = (old.end, new.end);
                }
                _ => runs.push((old, new)),
            }
        }
        Some(LineDifference { old, new, runs })
    }

    /// Returns the lines from the first difference to the last.
    fn whole(&self) -> Option<(Range<usize>, Range<usize>)> {
        let (first, last) = (self.runs.first()?, self.runs.last()?);
        Some((first.0.start..last.0.end, first.1.start..last.1.end))
    }
}

/// Returns a quote with which a tool of this habit turns one text into the other.
pub fn quote(before: &[u8], wanted: &[u8], habit: TextHabit) -> Option<QuotedReplacement> {
    let difference = LineDifference::new(before, wanted)?;
    let (old, new) = difference.whole()?;
    let tried = |up: usize, down: usize| {
        let at = |lines: &[&str], range: &Range<usize>| -> Option<String> {
            let start = range.start.checked_sub(up)?;
            lines.get(start..range.end + down).map(|lines| lines.concat())
        };
        let (old, new) = (at(&difference.old, &old)?, at(&difference.new, &new)?);
        let open = without_last_end(&old).zip(without_last_end(&new)).filter(|(old, new)| old.1 == new.1);
        let candidates = [Some((old.clone(), new.clone())), open.map(|(old, new)| (old.0, new.0))];
        candidates.into_iter().flatten().find_map(|(old, new)| {
            let quote = QuotedReplacement { old, new, matches: QuoteMatches::Only };
            let simulation = simulate::replace(before, std::slice::from_ref(&quote), habit);
            is_right(simulation, wanted, habit).then_some(quote)
        })
    };
    contexts().find_map(|(up, down)| tried(up, down))
}

/// Returns a text without its last line end, and that line end.
fn without_last_end(text: &str) -> Option<(String, &'static str)> {
    let (text, end) = match text.strip_suffix("\r\n") {
        Some(text) => (text, "\r\n"),
        None => (text.strip_suffix('\n')?, "\n"),
    };
    Some((text.to_owned(), end))
}

/// Returns numbers of context lines above and below, the smallest first.
fn contexts() -> impl Iterator<Item = (usize, usize)> {
    (0..=MAX_CONTEXT).flat_map(|most| {
        let mut pairs = vec![(most, 0), (0, most), (most, most), (most / 2, most - most / 2)];
        pairs.dedup();
        pairs
    })
}

/// Returns the chunks of a patch with which Codex turns one text into the other.
pub fn chunks(before: &[u8], wanted: &[u8]) -> Option<Vec<Chunk>> {
    let difference = LineDifference::new(before, wanted)?;
    if difference.runs.is_empty() {
        return None;
    }
    contexts().find_map(|(up, down)| {
        let chunks = with_context(&difference, up, down);
        is_right(simulate::update(before, &chunks), wanted, TextHabit::FirstLine).then_some(chunks)
    })
}

/// Returns a chunk for each run of differing lines, with context; runs whose context meets are one chunk.
fn with_context(difference: &LineDifference<'_>, up: usize, down: usize) -> Vec<Chunk> {
    let lines = |lines: &[&str], range: Range<usize>, kind: fn(String) -> ChunkLine| -> Vec<ChunkLine> {
        let lines = lines.get(range).unwrap_or_default();
        lines.iter().map(|line| kind(unix(line).trim_end_matches('\n').to_owned())).collect()
    };
    let mut chunks: Vec<Chunk> = Vec::new();
    // The end of the last run, and that of the context below it.
    let (mut changed, mut shown) = (0, 0);
    for (old, new) in &difference.runs {
        let above = old.start.saturating_sub(up);
        if chunks.is_empty() || shown < above {
            extend_last(&mut chunks, lines(&difference.old, changed..shown, ChunkLine::Context));
            chunks.push(Chunk::default());
            changed = above;
        }
        extend_last(&mut chunks, lines(&difference.old, changed..old.start, ChunkLine::Context));
        extend_last(&mut chunks, lines(&difference.old, old.clone(), ChunkLine::Removed));
        extend_last(&mut chunks, lines(&difference.new, new.clone(), ChunkLine::Added));
        (changed, shown) = (old.end, (old.end + down).min(difference.old.len()));
    }
    extend_last(&mut chunks, lines(&difference.old, changed..shown, ChunkLine::Context));
    chunks
}

/// Adds lines to the last chunk.
fn extend_last(chunks: &mut [Chunk], lines: Vec<ChunkLine>) {
    if let Some(last) = chunks.last_mut() {
        last.lines.extend(lines);
    }
}

/// True if a simulation gives exactly the wanted bytes, except for a line end at the end of the file. If the habits of
/// the tool are known, so are the bytes that it writes.
fn is_right(simulation: Simulation, wanted: &[u8], habit: TextHabit) -> bool {
    let Simulation::Made(made) = simulation else { return false };
    let is_certain = made.written.is_some() || habit == TextHabit::Unknown;
    made.faithful == wanted && is_certain && !made.is_at_risk()
}

#[cfg(test)]
mod tests {
    use super::*;
    use TextHabit::{CrLfIfAny, Majority, NewLinesCrLfIfAny};

    fn found(before: &str, wanted: &str, habit: TextHabit) -> Option<(String, String)> {
        quote(before.as_bytes(), wanted.as_bytes(), habit).map(|quote| (quote.old, quote.new))
    }

    #[test]
    fn a_quote_has_as_many_lines_as_it_needs() {
        let pair = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
        assert_eq!(found("a\nb\nc\n", "a\nB\nc\n", Majority), pair("b\n", "B\n"));
        assert_eq!(found("a\nb\nx\nb\n", "a\nb\nx\nB\n", Majority), pair("x\nb\n", "x\nB\n"));
        assert_eq!(found("a\nb\n", "a\nx\nb\n", Majority), pair("a\n", "a\nx\n"));
        assert_eq!(found("a\nb", "a\nB", Majority), pair("b", "B"));
        assert_eq!(found("a\n", "a\n", Majority), None);
    }

    #[test]
    fn in_a_mixed_file_a_quote_has_the_ends_that_the_tool_gives() {
        let (before, wanted) = ("a\r\nb\nc\r\nd\n", "a\r\nB\nc\r\nd\n");
        assert_eq!(found(before, wanted, NewLinesCrLfIfAny), Some(("b".to_owned(), "B".to_owned())));
        assert_eq!(found(before, wanted, CrLfIfAny), None, "it changes every line end");
        let wanted = "a\r\nB\r\nc\r\nd\n";
        assert!(found(before, wanted, NewLinesCrLfIfAny).is_none(), "the quote would have both line ends");
    }

    #[test]
    fn a_patch_has_a_chunk_for_each_place() {
        let line = |at: usize| format!("line {}\n", if at.is_multiple_of(2) { at } else { 7 });
        let before: String = (0..40).map(line).collect();
        let wanted = before.replacen("line 2\nline 7\n", "line 2\none\n", 1);
        let wanted = format!("{}last\n", wanted.strip_suffix("line 7\n").unwrap());
        let chunks = chunks(before.as_bytes(), wanted.as_bytes()).unwrap();
        assert_eq!(chunks.len(), 2, "{chunks:?}");
        let mixed = "a\r\nb\nc\r\nd\n";
        assert!(super::chunks(mixed.as_bytes(), b"a\r\nb\nC\r\nd\n").is_some());
        assert!(super::chunks(mixed.as_bytes(), b"a\r\nB\nc\r\nd\n").is_none(), "it would get CRLF");
    }
}
