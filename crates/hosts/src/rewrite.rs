//! Other arguments for the same edit: a quote that the host's tool finds, and with which it writes the wanted text.
//!
//! Invariant: what is returned was tried with the simulation of the tool, and gives the wanted bytes.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::edit::{NamedLines, QuoteMatches, QuotedReplacement};
use super::host::TextHabit;
use super::patch::{Chunk, ChunkLine};
use super::simulate::{self, Simulation, unix};
use super::simulate_patch;

/// The most lines of context that are added on each side to make a quote unique.
const MAX_CONTEXT: usize = 24;
/// The most lines that are compared, from the first that differs to the last.
const MAX_LINES: usize = 50_000;
/// The most bytes that all attempts for one edit may read; each of them reads the whole file.
const MAX_TRIED: usize = 64 << 20;

/// The reason why there are no arguments for an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRewrite {
    /// With all of those that were tried, the tool changes other bytes or fails.
    Impossible,
    /// There are more than [`MAX_LINES`] lines between the changes, or the attempts would read more than [`MAX_TRIED`] bytes.
    TooLarge,
}

/// The result of one attempt.
enum Attempt {
    Works,
    /// Other context may work.
    Fails,
    /// With any context, the tool changes the same other bytes.
    FailsAlways,
}

impl Attempt {
    /// Returns the result of a simulation that must give exactly the wanted bytes, except for a line end at the end of the
    /// file. If the habits of the tool are known, so must be the bytes that it writes. `is_harm_in_quote` tells whether
    /// written bytes differ only in lines that the attempt quotes, so that other lines may work.
    fn new(
        simulation: Simulation,
        wanted: &[u8],
        habit: TextHabit,
        is_harm_in_quote: impl Fn(&[u8]) -> bool,
    ) -> Attempt {
        let Simulation::Made(made) = simulation else { return Attempt::Fails };
        if made.faithful != wanted {
            return Attempt::Fails;
        }
        match &made.written {
            Some(written) if made.is_at_risk() && is_harm_in_quote(written) => Attempt::Fails,
            Some(_) if made.is_at_risk() => Attempt::FailsAlways,
            None if habit != TextHabit::Unknown => Attempt::Fails,
            Some(_) | None => Attempt::Works,
        }
    }
}

/// The bytes that further attempts may read.
struct Budget {
    left: usize,
}

impl Budget {
    const fn new() -> Budget {
        Budget { left: MAX_TRIED }
    }

    /// Errors: an attempt that reads so many bytes would be too much.
    fn spend(&mut self, bytes: usize) -> Result<(), NoRewrite> {
        self.left = self.left.checked_sub(bytes).ok_or(NoRewrite::TooLarge)?;
        Ok(())
    }
}

/// The lines that differ between two texts.
struct LineDifference<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// The lines from the first that differs to the last, in both texts.
    changed: (Range<usize>, Range<usize>),
}

impl<'a> LineDifference<'a> {
    /// Compares two texts line by line, with their line ends.
    ///
    /// Errors: no difference, too many lines between the changes, or bytes that are not UTF-8.
    fn new(before: &'a [u8], wanted: &'a [u8]) -> Result<LineDifference<'a>, NoRewrite> {
        let text = |bytes: &'a [u8]| -> Option<Vec<&'a str>> {
            let text = std::str::from_utf8(bytes).ok()?;
            Some(text.strip_prefix('\u{feff}').unwrap_or(text).split_inclusive('\n').collect())
        };
        let (Some(old), Some(new)) = (text(before), text(wanted)) else { return Err(NoRewrite::Impossible) };
        let above = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - above;
        let ends = old.iter().rev().zip(new.iter().rev()).take(rest);
        let below = ends.take_while(|(old, new)| old == new).count();
        let changed = (above..old.len() - below, above..new.len() - below);
        match changed.0.len().max(changed.1.len()) {
            0 => Err(NoRewrite::Impossible),
            1..=MAX_LINES => Ok(LineDifference { old, new, changed }),
            _ => Err(NoRewrite::TooLarge),
        }
    }

    /// Returns the ranges of lines that differ, in both texts.
    fn runs(&self) -> Vec<(Range<usize>, Range<usize>)> {
        let above = self.changed.0.start;
        let old = self.old.get(self.changed.0.clone()).unwrap_or_default();
        let new = self.new.get(self.changed.1.clone()).unwrap_or_default();
        let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        let operations = capture_diff_slices(Algorithm::Myers, old, new).into_iter();
        for op in operations.filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            let shifted = |range: Range<usize>| range.start + above..range.end + above;
            let (old, new) = (shifted(op.old_range()), shifted(op.new_range()));
            match runs.last_mut() {
                Some(last) if last.0.end == old.start && last.1.end == new.start => {
                    (last.0.end, last.1.end) = (old.end, new.end);
                }
                _ => runs.push((old, new)),
            }
        }
        runs
    }
}

/// Returns a quote with which a tool of this habit turns one text into the other, and the lines that it is in.
pub fn quote(before: &[u8], wanted: &[u8], habit: TextHabit) -> Result<QuotedReplacement, NoRewrite> {
    let difference = LineDifference::new(before, wanted)?;
    let mut budget = Budget::new();
    for (up, down) in contexts() {
        for quote in quotes(&difference, up, down) {
            budget.spend(before.len())?;
            let simulation = simulate::replace(before, std::slice::from_ref(&quote), habit);
            let is_harm_in_quote = |written: &[u8]| keeps_others(before, written, &difference, (up, down));
            match Attempt::new(simulation, wanted, habit, is_harm_in_quote) {
                Attempt::Works => {
                    let old = &difference.changed.0;
                    let lines = NamedLines { start: (old.start + 1).saturating_sub(up), end: old.end + down };
                    return Ok(QuotedReplacement { lines: Some(lines), ..quote });
                }
                Attempt::Fails => {}
                Attempt::FailsAlways => return Err(NoRewrite::Impossible),
            }
        }
    }
    Err(NoRewrite::Impossible)
}

/// Returns quotes of the changed lines with so many lines of context: with the last line end, and without it.
fn quotes(difference: &LineDifference<'_>, up: usize, down: usize) -> Vec<QuotedReplacement> {
    let at = |lines: &[&str], range: &Range<usize>| -> Option<String> {
        let start = range.start.checked_sub(up)?;
        lines.get(start..range.end + down).map(|lines| lines.concat())
    };
    let (old, new) = &difference.changed;
    let Some((old, new)) = at(&difference.old, old).zip(at(&difference.new, new)) else { return Vec::new() };
    let open = without_last_end(&old).zip(without_last_end(&new)).filter(|(old, new)| old.1 == new.1);
    let open = open.map(|(old, new)| (old.0, new.0));
    let quote = |(old, new)| QuotedReplacement { old, new, matches: QuoteMatches::Only, lines: None };
    std::iter::once((old, new)).chain(open).map(quote).collect()
}

/// True if a written text has all lines as before that a quote with so many lines of context does not have.
fn keeps_others(
    before: &[u8],
    written: &[u8],
    difference: &LineDifference<'_>,
    (up, down): (usize, usize),
) -> bool {
    let length_from = |line: usize| -> usize {
        let lines = difference.old.get(line..).unwrap_or_default();
        lines.iter().map(|line| line.len()).sum()
    };
    let quoted = &difference.changed.0;
    let from_quote = length_from(quoted.start.saturating_sub(up));
    let above = before.get(..before.len() - from_quote).unwrap_or_default();
    let below = before.get(before.len() - length_from(quoted.end + down)..).unwrap_or_default();
    written.starts_with(above) && written.ends_with(below)
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
pub fn chunks(before: &[u8], wanted: &[u8]) -> Result<Vec<Chunk>, NoRewrite> {
    let difference = LineDifference::new(before, wanted)?;
    let runs = difference.runs();
    let mut budget = Budget::new();
    for (up, down) in contexts() {
        let chunks = with_context(&difference, &runs, up, down);
        // Each chunk is looked for in all lines.
        budget.spend(before.len().saturating_add(chunks.len().saturating_mul(difference.old.len())))?;
        let simulation = simulate_patch::update(before, &chunks);
        // Codex writes lines of context as they are in the file.
        match Attempt::new(simulation, wanted, TextHabit::FirstLine, |_| false) {
            Attempt::Works => return Ok(chunks),
            Attempt::Fails => {}
            Attempt::FailsAlways => return Err(NoRewrite::Impossible),
        }
    }
    Err(NoRewrite::Impossible)
}

/// Returns a chunk for each run of differing lines, with context; runs whose context meets are one chunk.
fn with_context(
    difference: &LineDifference<'_>,
    runs: &[(Range<usize>, Range<usize>)],
    up: usize,
    down: usize,
) -> Vec<Chunk> {
    let lines = |lines: &[&str], range: Range<usize>, kind: fn(String) -> ChunkLine| -> Vec<ChunkLine> {
        let lines = lines.get(range).unwrap_or_default();
        lines.iter().map(|line| kind(unix(line).trim_end_matches('\n').to_owned())).collect()
    };
    let mut chunks: Vec<Chunk> = Vec::new();
    // The end of the last run, and that of the context below it.
    let (mut changed, mut shown) = (0, 0);
    for (old, new) in runs {
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

#[cfg(test)]
mod tests {
    use super::*;
    use TextHabit::{CrLfIfAny, Majority, NewLinesCrLfIfAny};

    fn found(before: &str, wanted: &str, habit: TextHabit) -> Option<(String, String)> {
        quote(before.as_bytes(), wanted.as_bytes(), habit).map(|quote| (quote.old, quote.new)).ok()
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
        assert!(super::chunks(mixed.as_bytes(), b"a\r\nb\nC\r\nd\n").is_ok());
        assert!(super::chunks(mixed.as_bytes(), b"a\r\nB\nc\r\nd\n").is_err(), "it would get CRLF");
    }

    #[test]
    fn of_a_long_text_only_the_lines_between_the_changes_count() {
        let before: String = (0..MAX_LINES + 100).map(|line| format!("line {line}\n")).collect();
        let near = before.replace("line 60\n", "line x\n").replace("line 63\n", "line y\n");
        let quoted = quote(before.as_bytes(), near.as_bytes(), Majority).unwrap();
        assert_eq!(quoted.old, "line 60\nline 61\nline 62\nline 63\n");
        assert_eq!(quoted.lines, Some(NamedLines { start: 61, end: 64 }));
        assert_eq!(chunks(before.as_bytes(), near.as_bytes()).unwrap().len(), 2);
        let far = near.replace(&format!("line {}\n", MAX_LINES + 90), "line z\n");
        assert_eq!(quote(before.as_bytes(), far.as_bytes(), Majority), Err(NoRewrite::TooLarge));
        assert_eq!(chunks(before.as_bytes(), far.as_bytes()), Err(NoRewrite::TooLarge));
    }

    #[test]
    fn the_attempts_for_a_large_text_end() {
        let line = format!("{}\n", "x".repeat(99));
        let half = line.repeat(MAX_TRIED / line.len() / 20);
        let (same, wanted) = (format!("{half}{line}{half}"), format!("{half}y\n{half}"));
        assert_eq!(quote(same.as_bytes(), wanted.as_bytes(), Majority), Err(NoRewrite::TooLarge));
        let (small, wanted) = ("x\n".repeat(200), format!("{0}y\n{0}", "x\n".repeat(100)));
        assert_eq!(quote(small.as_bytes(), wanted.as_bytes(), Majority), Err(NoRewrite::Impossible));
        // Every chunk is looked for in the whole text.
        let lines =
            |odd: &str| -> String { (0..20_000).map(|line| format!("{line}\n{odd}{line}\n")).collect() };
        assert_eq!(chunks(lines("a").as_bytes(), lines("b").as_bytes()), Err(NoRewrite::TooLarge));
    }

    /// With another quote, the tool changes the same line ends. Without a stop, the attempts would be too many.
    #[test]
    fn harm_outside_of_the_quote_ends_the_attempts() {
        let ends = |line: usize| if line.is_multiple_of(2) { "\n" } else { "\r\n" };
        let line = |line: usize| format!("{:0>60}{}", line, ends(line));
        let before: String = (0..40_000).map(line).collect();
        let wanted = before.replace(&line(70), &format!("x{}", ends(70)));
        for habit in [CrLfIfAny, Majority] {
            assert_eq!(quote(before.as_bytes(), wanted.as_bytes(), habit), Err(NoRewrite::Impossible));
        }
        let added = before.replace(&line(71), &format!("{}x\r\n", line(71)));
        assert_eq!(chunks(before.as_bytes(), added.as_bytes()), Err(NoRewrite::Impossible));
        // The control: harm within the quote, which has a line of context first.
        let small = "a\r\nb\r\nc\nb\r\nd\r\n";
        let wanted = "a\r\nb\r\nc\nB\r\nd\r\n";
        assert_eq!(
            found(small, wanted, NewLinesCrLfIfAny),
            Some(("b\r\nd\r\n".to_owned(), "B\r\nd\r\n".to_owned()))
        );
    }
}
