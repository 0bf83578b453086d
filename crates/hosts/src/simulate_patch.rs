//! The text that `apply_patch` of Codex would write for a file, and the places of the chunks of a patch.
//!
//! Invariant: a simulation that is not certain says so.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use super::edit::NamedLines;
use super::patch::{Chunk, ChunkLine};
use super::simulate::{MARK, Simulated, Simulation};
use lockgate_text::{Buffer, Change, Hints, Lines};

/// Applies the chunks of a patch to a file.
pub fn update(before: &[u8], chunks: &[Chunk]) -> Simulation {
    let Ok(buffer) = Buffer::read(before.to_vec(), Hints::default()) else { return Simulation::Unknown };
    let Ok(text) = std::str::from_utf8(before) else { return Simulation::Unknown };
    let lines = buffer.lines();
    let target = PatchTarget::new(&buffer);
    let mut placed: Vec<(Range<usize>, Vec<&ChunkLine>)> = Vec::new();
    let mut from = 0;
    for chunk in chunks {
        match target.place(chunk, from) {
            Ok(found) => {
                from = found.next;
                placed.push((found.range, found.lines));
            }
            Err(other) => return other,
        }
    }
    placed.sort_by_key(|(range, _)| range.start);
    if placed.windows(2).any(|pair| matches!(pair, [one, two] if one.0.end > two.0.start)) {
        return Simulation::Unknown;
    }
    let runs: Vec<LineRun<'_>> =
        placed.iter().flat_map(|(range, lines)| line_runs(range.start, lines)).collect();
    let changes = runs.iter().map(|run| line_change(&lines, run)).collect();
    let faithful = buffer.plan(changes).and_then(|plan| buffer.apply(&plan));
    let Ok(faithful) = faithful else { return Simulation::Unknown };
    let written = write_lines(text, &runs).into_bytes();
    Simulation::Made(Simulated { faithful: faithful.bytes().to_vec(), written: Some(written) })
}

/// What the chunks of a patch that the tool finds show about the place of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkPlace {
    /// The lines of the file that the chunk quotes exactly.
    pub exact: Option<NamedLines>,
    /// The last known lines above the chunk, in the same section: those of a chunk that the tool finds, or the header of an
    /// insertion.
    pub above: Option<NamedLines>,
}

/// Returns the place of each chunk of a patch, as the tool looks for its lines: in the order of the chunks, and below a
/// header the first ones. A chunk without exact lines, or with several, has none. If its lines are not in one place with
/// other blanks, either, the chunks of the same section below it have none.
pub(super) fn chunk_places(buffer: &Buffer, chunks: &[Chunk]) -> Vec<ChunkPlace> {
    let target = PatchTarget::new(buffer);
    let (mut from, mut above) = (Some(0), None);
    let mut places = Vec::new();
    let named = |range: &Range<usize>| NamedLines { start: range.start + 1, end: range.end };
    for chunk in chunks {
        if chunk.starts_section {
            (from, above) = (Some(0), None);
        }
        let mut place = ChunkPlace { exact: None, above };
        if let Some(start) = from.take() {
            match target.place(chunk, start) {
                Ok(PlacedChunk { range, next, .. }) if range.len() == chunk.old().count() => {
                    place.exact = (!range.is_empty()).then(|| named(&range));
                    let header = (next > start).then_some(NamedLines { start: next, end: next });
                    (from, above) = (Some(next), place.exact.or(header).or(above));
                }
                Err(Simulation::Missing) => {
                    if let Some(range) = target.place_with_other_blanks(chunk, start) {
                        (from, above) = (Some(range.end), Some(named(&range)));
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
        places.push(place);
    }
    places
}

/// Returns the same places, except for the sections whose chunks fit into the file in one way only, in their order and without
/// overlap: their chunks have the places of that way. The tool, which takes the first match for each chunk, finds the same.
pub(super) fn ordered_places(buffer: &Buffer, chunks: &[Chunk]) -> Vec<ChunkPlace> {
    let target = PatchTarget::new(buffer);
    let mut places = chunk_places(buffer, chunks);
    let mut rest = places.as_mut_slice();
    for section in chunks.chunk_by(|_, next| !next.starts_section) {
        let Some((own, others)) = rest.split_at_mut_checked(section.len()) else { break };
        rest = others;
        let mut above = None;
        for (place, range) in own.iter_mut().zip(target.only_places(section).unwrap_or_default()) {
            let lines = NamedLines { start: range.start + 1, end: range.end };
            *place = ChunkPlace { exact: (!range.is_empty()).then_some(lines), above };
            // An insertion is below its header.
            let header =
                (range.is_empty() && range.end > 0).then_some(NamedLines { start: range.end, ..lines });
            above = place.exact.or(header).or(above);
        }
    }
    places
}

/// Returns the line, from 1, before which a chunk without a quote inserts its lines; one past the last line for the end.
pub(super) fn insertion_line(buffer: &Buffer) -> usize {
    PatchTarget::new(buffer).insertion_end() + 1
}

/// The most places of the chunks of a section that are compared.
const MAX_PLACES: usize = 1_000_000;

static BLANK_ADDED: ChunkLine = ChunkLine::Added(String::new());
static BLANK_REMOVED: ChunkLine = ChunkLine::Removed(String::new());

/// The lines of a file that a patch changes.
struct PatchTarget<'t> {
    lines: Vec<&'t str>,
    /// The first line that a quote can equal, from 0.
    first_quotable: usize,
    /// The lines that have each text, from 0 and in their order, so that many chunks are found in a long file.
    places: HashMap<&'t str, Vec<usize>>,
    /// The same for the plain characters of each line, once they are needed.
    similar: OnceCell<HashMap<String, Vec<usize>>>,
}

/// Returns the characters of a line that the tool never reads as others, or ignores.
fn plain(line: &str) -> impl Iterator<Item = char> {
    line.chars().filter(|c| c.is_ascii_graphic() && !matches!(c, '-' | '\'' | '"'))
}

/// Returns the positions of each item, in their order.
fn index<T: Eq + Hash>(items: impl Iterator<Item = T>) -> HashMap<T, Vec<usize>> {
    let mut positions: HashMap<T, Vec<usize>> = HashMap::new();
    for (at, item) in items.enumerate() {
        positions.entry(item).or_default().push(at);
    }
    positions
}

/// Returns the lines, from 0, at which the quoted lines can start, by the places of the rarest of them; `None` if there are
/// no quoted lines.
fn possible_starts<'p>(
    old: &[&str],
    places: impl Fn(&str) -> &'p [usize],
) -> Option<impl Iterator<Item = usize> + 'p> {
    let by_line = old.iter().map(|line| places(line)).enumerate();
    let (above, rarest) = by_line.min_by_key(|(_, places)| places.len())?;
    Some(rarest.iter().filter_map(move |at| at.checked_sub(above)))
}

impl<'t> PatchTarget<'t> {
    fn new(buffer: &'t Buffer) -> PatchTarget<'t> {
        let lines: Vec<&str> = buffer.lines().iter().collect();
        // The tool takes a byte order mark for a part of the first line, which therefore differs from every quote.
        let first_quotable = usize::from(buffer.bytes().starts_with(MARK.as_bytes()));
        let places = index(lines.iter().copied());
        PatchTarget { lines, first_quotable, places, similar: OnceCell::new() }
    }

    /// Returns the lines that have this text, from 0.
    fn places(&self, text: &str) -> &[usize] {
        self.places.get(text).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the line, from 0, before which the tool inserts lines without a quote: a blank last line, else the end.
    fn insertion_end(&self) -> usize {
        let last = self.lines.len().checked_sub(1).filter(|last| *last >= self.first_quotable);
        let blank = last.filter(|last| self.lines.get(*last).is_some_and(|line| line.is_empty()));
        blank.unwrap_or(self.lines.len())
    }

    /// Returns the first line, from 0, of each place that the tool may take for these lines: it differs at most in blanks,
    /// dashes, quotation marks, and characters that are not ASCII.
    fn similar_places(&self, old: &[&str]) -> Vec<usize> {
        let by_plain =
            self.similar.get_or_init(|| index(self.lines.iter().map(|line| plain(line).collect())));
        let places =
            |line: &str| by_plain.get(&plain(line).collect::<String>()).map_or(&[][..], Vec::as_slice);
        let starts = possible_starts(old, places).into_iter().flatten();
        starts.filter(|start| self.equal_at(*start, old, |line, old| plain(line).eq(plain(old)))).collect()
    }

    fn equal_at(&self, start: usize, old: &[&str], are_equal: impl Fn(&str, &str) -> bool) -> bool {
        let lines = self.lines.get(start..start + old.len());
        lines.is_some_and(|lines| lines.iter().zip(old).all(|(line, old)| are_equal(line, old)))
    }

    /// Returns the lines of a chunk that the tool finds although blanks at the ends of the lines differ; `None` if that is
    /// not one place.
    fn place_with_other_blanks(&self, chunk: &Chunk, from: usize) -> Option<Range<usize>> {
        let from = self.below_header(chunk, from)?;
        let old: Vec<&str> = chunk.old().collect();
        let last = self.lines.len().checked_sub(old.len())?;
        let first = if chunk.at_end { last } else { from }.max(self.first_quotable);
        let mut similar = self.similar_places(&old);
        similar.retain(|start| (first..=last).contains(start));
        match self.equal_places(&similar, &old, &[str::trim_end, str::trim]).as_slice() {
            [only] => Some(*only..only + old.len()),
            _ => None,
        }
    }

    /// Returns those of some places that have the lines of a quote without these blanks: without those that the first
    /// function removes, or else without those that the next one removes.
    fn equal_places(&self, places: &[usize], old: &[&str], trims: &[fn(&str) -> &str]) -> Vec<usize> {
        let mut found = trims.iter().map(|trim| -> Vec<usize> {
            let are_equal = |line: &str, old: &str| trim(line) == trim(old);
            places.iter().copied().filter(|start| self.equal_at(*start, old, are_equal)).collect()
        });
        found.find(|places| !places.is_empty()).unwrap_or_default()
    }

    /// Returns the first line, from 0, below the header of a chunk, or `from` without one; `None` if the header is not below
    /// `from`.
    fn below_header(&self, chunk: &Chunk, from: usize) -> Option<usize> {
        line_below(self.headers(chunk), from)
    }

    /// Returns the lines that are the header of a chunk, from 0; `None` without a header.
    fn headers(&self, chunk: &Chunk) -> Option<&[usize]> {
        let places = self.places(chunk.header.as_deref()?);
        places.get(places.partition_point(|at| *at < self.first_quotable)..)
    }

    /// Returns the lines of each chunk of a section, from 0, if only one choice of places has all chunks in their order and
    /// without overlap. Below a header, the first place counts. Lines without a quote have an empty range: below their
    /// header, or else below the chunk before.
    fn only_places(&self, section: &[Chunk]) -> Option<Vec<Range<usize>>> {
        let (mut quotes, mut first) = (Vec::new(), Vec::new());
        let (mut from, mut count) = (0, 0);
        for chunk in section {
            let quote = self.quote(chunk);
            count += quote.starts.len();
            let range = quote.first_from(line_below(quote.headers, from)?)?;
            if count > MAX_PLACES {
                return None;
            }
            from = range.end;
            first.push(range);
            quotes.push(quote);
        }
        // No choice has a chunk above its first place, or below its last one. If they are the same, there is no other choice.
        let mut end = self.lines.len();
        for (quote, first) in quotes.iter().zip(&first).rev() {
            let (start, above) = quote.last_until(end)?;
            if quote.count > 0 && start != first.start {
                return None;
            }
            end = above;
        }
        Some(first)
    }

    /// Returns what is known of a chunk's place without the other chunks.
    fn quote<'a>(&'a self, chunk: &Chunk) -> ChunkQuote<'a> {
        let old: Vec<&str> = chunk.old().collect();
        let last = self.lines.len().saturating_sub(old.len());
        let mut similar = self.similar_places(&old);
        similar.retain(|start| *start >= self.first_quotable && (!chunk.at_end || *start == last));
        let starts = self.equal_places(&similar, &old, &[|line| line, str::trim_end, str::trim]);
        ChunkQuote { headers: self.headers(chunk), count: old.len(), starts }
    }

    /// Returns the place of a chunk, which is looked for from line `from` on.
    fn place<'a>(&self, chunk: &'a Chunk, from: usize) -> Result<PlacedChunk<'a>, Simulation> {
        let texts = &self.lines;
        let from = self.below_header(chunk, from).ok_or(Simulation::Missing)?;
        let mut lines: Vec<&ChunkLine> = chunk.lines.iter().collect();
        let mut old: Vec<&str> = chunk.old().collect();
        if old.is_empty() {
            let end = self.insertion_end();
            return Ok(PlacedChunk { range: end..end, lines, next: from });
        }
        let possible = |old: &[&str]| {
            let last = texts.len().saturating_sub(old.len());
            let first = if chunk.at_end && old.len() <= texts.len() { last } else { from };
            first.max(self.first_quotable)..=last
        };
        let starts = |old: &[&str]| -> Vec<usize> {
            let possible = possible(old);
            let is_at = |start: &usize| self.equal_at(*start, old, |line, old| line == old);
            match possible_starts(old, |line| self.places(line)) {
                Some(starts) => starts.filter(|start| possible.contains(start)).filter(is_at).collect(),
                None => possible.collect(),
            }
        };
        let mut found = starts(&old);
        // The tool tries again without a blank line at the end of the quote, and of the new lines, unless it takes other lines
        // for the whole quote.
        let is_blank_end = found.is_empty() && old.last().is_some_and(|line| line.is_empty());
        let is_possible = |start: &usize| possible(&old).contains(start);
        if is_blank_end && !self.similar_places(&old).iter().any(is_possible) {
            old.pop();
            let last_old = lines.iter().rposition(|line| !matches!(line, ChunkLine::Added(_)));
            let last_new = lines.iter().rposition(|line| !matches!(line, ChunkLine::Removed(_)));
            let is_blank = |at: &usize| lines.get(*at).is_some_and(|line| line.text().is_empty());
            let last_new = last_new.filter(is_blank);
            let mut at = 0..;
            // A line of the context that only one side loses is added or removed.
            let shortened = |line: &'a ChunkLine| {
                let at = at.next();
                match (line, at == last_old, at == last_new) {
                    (ChunkLine::Context(_), true, false) => Some(&BLANK_ADDED),
                    (ChunkLine::Context(_), false, true) => Some(&BLANK_REMOVED),
                    (_, true, _) | (_, _, true) => None,
                    (line, false, false) => Some(line),
                }
            };
            lines = lines.into_iter().filter_map(shortened).collect();
            found = starts(&old);
        }
        match found.as_slice() {
            [] => Err(Simulation::Missing),
            // Below a header, the first match is meant.
            [at, rest @ ..] if rest.is_empty() || chunk.header.is_some() => {
                let end = at + old.len();
                Ok(PlacedChunk { range: *at..end, lines, next: end })
            }
            several => Err(Simulation::Several(several.len())),
        }
    }
}

/// Returns the first line, from 0, below one of some headers from line `from` on, or `from` without headers to look for.
fn line_below(headers: Option<&[usize]>, from: usize) -> Option<usize> {
    let Some(headers) = headers else { return Some(from) };
    headers.get(headers.partition_point(|at| *at < from)).map(|at| at + 1)
}

/// The possible places of a chunk in a file.
struct ChunkQuote<'a> {
    /// The lines that are its header, from 0; `None` without a header.
    headers: Option<&'a [usize]>,
    /// The number of lines that it quotes.
    count: usize,
    /// The first line of each place that has the quoted lines, from 0: exactly, or else with other blanks around.
    starts: Vec<usize>,
}

impl ChunkQuote<'_> {
    /// Returns the first place from line `from` on.
    fn first_from(&self, from: usize) -> Option<Range<usize>> {
        if self.count == 0 {
            return Some(from..from);
        }
        let start = *self.starts.get(self.starts.partition_point(|start| *start < from))?;
        Some(start..start + self.count)
    }

    /// Returns the first line of the last place that ends above line `end`, and the line above which the chunk before ends
    /// then.
    fn last_until(&self, end: usize) -> Option<(usize, usize)> {
        let Some(headers) = self.headers else {
            let fits = self.starts.partition_point(|start| start + self.count <= end).checked_sub(1);
            let start = if self.count == 0 { end } else { *self.starts.get(fits?)? };
            return Some((start, start));
        };
        let fits = |header: &usize| self.first_from(header + 1).is_some_and(|range| range.end <= end);
        let header = *headers.get(headers.partition_point(fits).checked_sub(1)?)?;
        Some((self.first_from(header + 1)?.start, header))
    }
}

/// The place of a chunk in a file.
struct PlacedChunk<'a> {
    /// The lines of the file that the chunk quotes, from 0.
    range: Range<usize>,
    /// The lines of the chunk.
    lines: Vec<&'a ChunkLine>,
    /// The line of the file, from 0, from which on the tool looks for the next chunk. An insertion at the end of the file
    /// does not change it.
    next: usize,
}

/// Lines of a file, from 0, and the new lines in their place.
struct LineRun<'a> {
    removed: Range<usize>,
    added: Vec<&'a str>,
}

/// Returns the runs of lines that a chunk removes and adds between its context; the chunk quotes the lines from `first` on.
fn line_runs<'a>(first: usize, lines: &[&'a ChunkLine]) -> Vec<LineRun<'a>> {
    let mut runs = Vec::new();
    let mut run = LineRun { removed: first..first, added: Vec::new() };
    for line in lines {
        match line {
            ChunkLine::Context(_) => {
                let next = run.removed.end + 1;
                runs.push(std::mem::replace(&mut run, LineRun { removed: next..next, added: Vec::new() }));
            }
            ChunkLine::Removed(_) => run.removed.end += 1,
            ChunkLine::Added(text) => run.added.push(text),
        }
    }
    runs.push(run);
    runs.retain(|run| !run.removed.is_empty() || !run.added.is_empty());
    runs
}

/// Returns the change of whole lines, without those that stay the same at the start and end.
fn line_change(lines: &Lines<'_>, run: &LineRun<'_>) -> Change {
    let LineRun { removed: range, added: new } = run;
    let same = |at: usize, text: &&str| lines.text(at + 1) == *text;
    let above = range.clone().zip(new).take_while(|(at, text)| same(*at, text)).count();
    let left = (range.len() - above).min(new.len() - above);
    let pairs = range.clone().rev().zip(new.iter().rev());
    let below = pairs.take(left).take_while(|(at, text)| same(*at, text)).count();
    let kept = new.get(above..new.len() - below).unwrap_or_default();
    let (first, last) = (range.start + above + 1, range.end - below);
    let span = lines.block(first, last);
    let mut text: String = kept.iter().map(|line| format!("{line}\n")).collect();
    let is_open = |end: usize| end > 0 && end == lines.span(lines.count()).end && !lines.ends_with_newline();
    if is_open(span.end) {
        if span.is_empty() && !text.is_empty() {
            // The new lines follow a last line without an end.
            text.insert(0, '\n');
        }
        text.truncate(text.trim_end_matches('\n').len().max(text.len().saturating_sub(1)));
        if kept.is_empty() && !span.is_empty() {
            return Change { span: span.start.saturating_sub(1)..span.end, text };
        }
    }
    Change { span, text }
}

/// Returns the text that Codex writes: added lines get the line end of the first line, and so does a last line without one.
/// Lines of the context stay as they are in the file.
fn write_lines(text: &str, runs: &[LineRun<'_>]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first_end = lines.iter().find(|line| line.ends_with('\n'));
    let end = if first_end.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let mut result = String::with_capacity(text.len());
    let keep = |result: &mut String, lines: &[&str]| {
        for line in lines {
            result.push_str(line);
            if !line.ends_with('\n') {
                result.push_str(end);
            }
        }
    };
    let mut from = 0;
    for LineRun { removed, added } in runs {
        keep(&mut result, lines.get(from..removed.start).unwrap_or_default());
        for line in added {
            result.push_str(line);
            result.push_str(end);
        }
        from = removed.end;
    }
    keep(&mut result, lines.get(from..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXED: &[u8] = b"a\r\nb\nc\r\nd\n";

    fn made(simulation: Simulation) -> Simulated {
        match simulation {
            Simulation::Made(made) => made,
            other => panic!("{other:?}"),
        }
    }

    fn chunk(old: &[&str], new: &[&str]) -> Chunk {
        let removed = old.iter().map(|line| ChunkLine::Removed((*line).to_owned()));
        let added = new.iter().map(|line| ChunkLine::Added((*line).to_owned()));
        Chunk { lines: removed.chain(added).collect(), ..Chunk::default() }
    }

    /// A chunk whose lines begin with a blank, `-` or `+`.
    fn marked(lines: &[&str]) -> Chunk {
        let line = |line: &&str| {
            let (mark, text) = line.split_at(1);
            match mark {
                " " => ChunkLine::Context(text.to_owned()),
                "-" => ChunkLine::Removed(text.to_owned()),
                _ => ChunkLine::Added(text.to_owned()),
            }
        };
        Chunk { lines: lines.iter().map(line).collect(), ..Chunk::default() }
    }

    #[test]
    fn codex_keeps_the_context_and_writes_added_lines_with_the_first_line_end() {
        // What Codex 0.169.0 and 0.171.0 wrote.
        const LF: &[u8] = b"a\nb\r\nc\r\nd\r\ne\n";
        const CRLF: &[u8] = b"a\r\nb\nc\nd\ne\n";
        for (before, lines, after) in [
            (LF, &[" b", "-c", "+C", " d"][..], &b"a\nb\r\nC\nd\r\ne\n"[..]),
            (LF, &["-b", "-c", "+b", "+C"], b"a\nb\nC\nd\r\ne\n"),
            (LF, &["-b", "-c", "-d", "+b", "+C", "+d"], b"a\nb\nC\nd\ne\n"),
            (LF, &[" b", "+n", " c"], b"a\nb\r\nn\nc\r\nd\r\ne\n"),
            (LF, &[" b", " c", "-d", "+D"], b"a\nb\r\nc\r\nD\ne\n"),
            (CRLF, &[" b", "-c", "+C", "+X", " d", "-e", "+E"], b"a\r\nb\nC\r\nX\r\nd\nE\r\n"),
            (b"a\nb\r\nc\r\nd", &[" c", "-d", "+D"], b"a\nb\r\nc\r\nD\n"),
            // A blank line at the end of the quote that the file does not have.
            (b"a\n", &[" a", " ", "+x"], b"a\n\nx\n"),
            (b"a\n", &[" a", " ", "+"], b"a\n\n"),
            (b"a\n\n", &[" a", " ", "-"], b"a\n"),
        ] {
            let found = made(update(before, &[marked(lines)]));
            assert_eq!(found.written.as_deref(), Some(after), "{lines:?}");
        }

        let found = made(update(MIXED, &[chunk(&["d"], &["D"])]));
        assert_eq!(
            (found.written.as_deref(), &*found.faithful),
            (Some(&b"a\r\nb\nc\r\nD\r\n"[..]), &b"a\r\nb\nc\r\nD\n"[..])
        );
        assert!(found.is_at_risk());
        let found = made(update(b"a\nb", &[chunk(&["a"], &["A"])]));
        assert_eq!((found.written.as_deref(), found.is_at_risk()), (Some(&b"A\nb\n"[..]), false));
        for (before, chunk_of, after) in [
            (&b"a\nb"[..], chunk(&["b"], &["b", "c"]), &b"a\nb\nc"[..]),
            (b"a\nb", chunk(&["b"], &[]), b"a"),
            (b"a\nb\n", chunk(&["b"], &[]), b"a\n"),
            (b"a\nb\n", chunk(&[], &["c"]), b"a\nb\nc\n"),
            (b"a\nb", chunk(&[], &["c"]), b"a\nb\nc"),
            (b"", chunk(&[], &["c"]), b"c\n"),
        ] {
            assert_eq!(made(update(before, &[chunk_of])).faithful, after, "{before:?}");
        }
    }

    #[test]
    fn codex_does_not_find_a_first_line_with_a_mark() {
        assert_eq!(update(b"\xef\xbb\xbfa\nb\n", &[chunk(&["a", "b"], &["a", "B"])]), Simulation::Missing);
        let found = made(update(b"\xef\xbb\xbfa\nb\n", &[chunk(&["b"], &["B"])]));
        assert_eq!(found.written.as_deref(), Some(&b"\xef\xbb\xbfa\nB\n"[..]));
        let below = Chunk { header: Some("f".into()), ..chunk(&["x"], &["y"]) };
        let found = made(update(b"\xef\xbb\xbff\nx\nf\nx\n", std::slice::from_ref(&below)));
        assert_eq!(found.written.as_deref(), Some(&b"\xef\xbb\xbff\nx\nf\ny\n"[..]));
        assert_eq!(update(b"\xef\xbb\xbff\nx\n", &[below]), Simulation::Missing);
    }

    #[test]
    fn codex_looks_for_a_chunk_above_an_insertion_at_the_end() {
        let insertion = chunk(&[], &["c"]);
        let found = made(update(b"a\nb\n", &[insertion.clone(), chunk(&["a"], &["A"])]));
        assert_eq!(found.written.as_deref(), Some(&b"A\nb\nc\n"[..]));
        // It is below the insertion's header.
        let below = Chunk { header: Some("b".into()), ..insertion };
        let found = made(update(b"a\nb\na\n", &[below, chunk(&["a"], &["A"])]));
        assert_eq!(found.written.as_deref(), Some(&b"a\nb\nA\nc\n"[..]));
    }

    #[test]
    fn codex_inserts_lines_before_a_blank_last_line() {
        for (before, after) in [
            (&b"a\n\n"[..], &b"a\nc\n\n"[..]),
            (b"a\r\n\r\n", b"a\r\nc\r\n\r\n"),
            (b"\n", b"c\n\n"),
            (b"a\n  \n", b"a\n  \nc\n"),
            (b"\xef\xbb\xbf\n", b"\xef\xbb\xbf\nc\n"),
        ] {
            let found = made(update(before, &[chunk(&[], &["c"])]));
            assert_eq!((found.written.as_deref(), &*found.faithful), (Some(after), after), "{before:?}");
        }
        let blank = marked(&["-", "+x"]);
        let found = made(update(b"a\n\n", &[chunk(&[], &["c"]), blank.clone()]));
        assert_eq!(found.faithful, b"a\nc\nx\n");
        assert_eq!(update(b"a\n\n", &[blank, chunk(&[], &["c"])]), Simulation::Unknown);
    }

    #[test]
    fn codex_shortens_no_quote_that_it_finds_with_other_blanks() {
        let quote = chunk(&["  x", ""], &["y"]);
        let text = b"f\nx\n\nf\n  x\n";
        assert_eq!(update(text, std::slice::from_ref(&quote)), Simulation::Missing);
        let control = b"f\nx\nf\n  x\n";
        assert_eq!(made(update(control, &[quote])).faithful, b"f\nx\nf\ny\n");
    }

    #[test]
    fn a_header_narrows_the_place() {
        let text = b"def f():\n  x\ndef g():\n  x\n  x\n";
        let x = chunk(&["  x"], &["  y"]);
        assert_eq!(update(text, std::slice::from_ref(&x)), Simulation::Several(3));
        let with = Chunk { header: Some("def g():".into()), ..x.clone() };
        assert_eq!(made(update(text, &[with])).faithful, b"def f():\n  x\ndef g():\n  y\n  x\n");
        let end = Chunk { at_end: true, ..x };
        assert_eq!(made(update(text, &[end])).faithful, b"def f():\n  x\ndef g():\n  x\n  y\n");
    }
}
