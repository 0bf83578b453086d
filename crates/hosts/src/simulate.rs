//! What the tool of a host would write: its own edit on the bytes of the file, with the tool's habits.
//!
//! Only exact quotes are simulated. A tool that would accept another quote may change another place, so such a call is
//! left to the caller.
//!
//! Invariant: a simulation that is not certain says so.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use super::edit::{NamedLines, QuoteMatches, QuotedReplacement};
use super::host::TextHabit;
use super::patch::{Chunk, ChunkLine};
use lockgate_text::{Buffer, Change, Hints, LineEnd, Lines, common_suffix};

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Simulation {
    /// The edit can be made.
    Made(Simulated),
    /// The quote is not in the file.
    Missing,
    /// The quote is in the file this often, or in the lines that the call names, and the tool wants it once, or would
    /// take the first.
    Several(usize),
    /// The result is not known.
    Unknown,
}

/// The text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulated {
    /// The bytes after the edit, if everything outside of it stays as it is.
    pub faithful: Vec<u8>,
    /// The bytes that the tool would write; `None` if they are not certain.
    pub written: Option<Vec<u8>>,
}

impl Simulated {
    /// True if the tool would change bytes outside of the edit. A line end that it adds to the end of the file does
    /// not count.
    pub fn is_at_risk(&self) -> bool {
        let Some(written) = &self.written else { return false };
        let added = written.strip_prefix(self.faithful.as_slice());
        !matches!(added, Some(b"" | b"\n" | b"\r\n"))
    }

    /// Returns the bytes that are to be expected in the file.
    pub fn expected(&self) -> &[u8] {
        self.written.as_deref().unwrap_or(&self.faithful)
    }
}

/// Replaces quotes, one after the other.
pub fn replace(before: &[u8], quotes: &[QuotedReplacement], habit: TextHabit) -> Simulation {
    let mut result = Simulated { faithful: before.to_vec(), written: Some(before.to_vec()) };
    let mut shifts: Vec<LengthChange> = Vec::new();
    for quote in quotes {
        let Ok(buffer) = Buffer::read(std::mem::take(&mut result.faithful), Hints::default()) else {
            return Simulation::Unknown;
        };
        let (old, new) = (unix(&quote.old), unix(&quote.new));
        if old.is_empty() {
            return Simulation::Unknown;
        }
        let range = quote.lines.map(|lines| {
            let NamedLines { start, end } = shifts.iter().fold(lines, LengthChange::applied);
            buffer.lines().block(start, end)
        });
        let spans = match spans(buffer.view(), &old, quote.matches, range) {
            Ok(spans) => spans,
            Err(other) => return other,
        };
        // From the last place on, so that the places above keep their lines.
        shifts.extend(spans.iter().rev().map(|span| LengthChange::new(&buffer, span, &old, &new)));
        let changes = spans.iter().map(|span| change(span, &old, &new)).collect();
        let Ok(after) = buffer.plan(changes).and_then(|plan| buffer.apply(&plan)) else {
            return Simulation::Unknown;
        };
        result.faithful = after.bytes().to_vec();
        result.written = result.written.and_then(|bytes| write_quote(&bytes, quote, habit));
    }
    Simulation::Made(result)
}

/// The lines that the replacement of one quote adds below itself.
struct LengthChange {
    /// The line that the quote starts in, from 1.
    at: usize,
    removed: usize,
    added: usize,
}

impl LengthChange {
    fn new(buffer: &Buffer, span: &Range<usize>, old: &str, new: &str) -> LengthChange {
        let count = |text: &str| text.matches('\n').count();
        LengthChange { at: buffer.lines().line_at(span.start), removed: count(old), added: count(new) }
    }

    /// Returns where lines are after the replacement.
    fn applied(lines: NamedLines, shift: &LengthChange) -> NamedLines {
        let moved = |line: usize| {
            if line > shift.at { (line + shift.added).saturating_sub(shift.removed) } else { line }
        };
        NamedLines { start: moved(lines.start), end: moved(lines.end) }
    }
}

/// Returns the places of a quote in a text. If it has several, those in `range` count.
fn spans(
    view: &str,
    old: &str,
    matches: QuoteMatches,
    range: Option<Range<usize>>,
) -> Result<Vec<Range<usize>>, Simulation> {
    let mut starts: Vec<usize> = overlapping(view, old).take(MAX_PLACES).collect();
    if let Some(range) = range.filter(|_| starts.len() > 1) {
        if starts.len() == MAX_PLACES {
            return Err(Simulation::Unknown);
        }
        // The range of bytes may end before a last line end.
        let length = old.trim_end_matches('\n').len();
        starts.retain(|start| range.start <= *start && start + length <= range.end);
        if starts.is_empty() {
            // The tool may fail, or look further.
            return Err(Simulation::Unknown);
        }
    }
    match (starts.as_slice(), matches) {
        ([], _) => Err(Simulation::Missing),
        ([only], _) => Ok(std::iter::once(*only..only + old.len()).collect()),
        (several, QuoteMatches::Only) => Err(Simulation::Several(several.len())),
        (several, QuoteMatches::Every) => {
            let mut spans: Vec<Range<usize>> = Vec::new();
            for start in several {
                if spans.last().is_none_or(|last| last.end <= *start) {
                    spans.push(*start..start + old.len());
                }
            }
            if several.len() == MAX_PLACES { Err(Simulation::Unknown) } else { Ok(spans) }
        }
    }
}

/// The most places of a quote that are simulated.
const MAX_PLACES: usize = 10_000;

/// Finds every occurrence of a text, including overlapping ones.
fn overlapping<'a>(view: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let step = needle.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = from + memchr::memmem::find(view.as_bytes().get(from..)?, needle.as_bytes())?;
        from = found + step;
        Some(found)
    })
}

/// Returns the change of a quoted span, without the lines that stay the same at its start and end.
fn change(span: &Range<usize>, old: &str, new: &str) -> Change {
    let lines = |one: &str, other: &str| -> usize {
        let pairs = one.split_inclusive('\n').zip(other.split_inclusive('\n'));
        pairs.take_while(|(one, other)| one == other && one.ends_with('\n')).map(|(one, _)| one.len()).sum()
    };
    let above = lines(old, new);
    let (old, new) = (old.get(above..).unwrap_or_default(), new.get(above..).unwrap_or_default());
    let below = common_end(old, new);
    let keep = |text: &str| text.get(..text.len() - below).unwrap_or_default().to_owned();
    Change { span: span.start + above..span.end - below, text: keep(new) }
}

/// Returns the length of the whole lines that both texts have at their end.
fn common_end(old: &str, new: &str) -> usize {
    let shared = common_suffix(old.as_bytes(), new.as_bytes());
    let tail = old.get(old.floor_char_boundary(old.len() - shared)..).unwrap_or_default();
    // From behind the first line end on, these are whole lines.
    tail.find('\n').map_or(0, |at| tail.len() - at - 1)
}

/// Returns the bytes that a tool writes for one quote; `None` if that is not certain.
fn write_quote(bytes: &[u8], quote: &QuotedReplacement, habit: TextHabit) -> Option<Vec<u8>> {
    let (mark, text) = match habit {
        TextHabit::CrLfIfAny | TextHabit::NewLinesCrLfIfAny | TextHabit::Lossy => split_lossy(bytes),
        TextHabit::Majority => split_strict(bytes)?,
        TextHabit::FirstLine | TextHabit::Unknown => return None,
    };
    let has_crlf = text.contains("\r\n");
    let (old, new) = (unix(&quote.old), unix(&quote.new));
    let replaced = |text: &str, old: &str, new: &str| -> Option<String> {
        let spans = spans(text, old, quote.matches, None).ok()?;
        let mut result = String::with_capacity(text.len());
        let mut from = 0;
        for span in spans {
            result.push_str(text.get(from..span.start)?);
            result.push_str(new);
            from = span.end;
        }
        result.push_str(text.get(from..)?);
        Some(result)
    };
    let written = match habit {
        TextHabit::Majority | TextHabit::CrLfIfAny => {
            let ends = lockgate_text::LineEnds::count(&text);
            let view = unix(&text);
            let mut after = replaced(&view, &old, &new)?;
            if habit == TextHabit::CrLfIfAny {
                after = with_same_end(&view, after);
            }
            let crlf = match habit {
                TextHabit::CrLfIfAny => has_crlf,
                _ => ends.majority() == Some(LineEnd::CrLf),
            };
            if crlf { after.replace('\n', "\r\n") } else { after }
        }
        TextHabit::NewLinesCrLfIfAny => {
            let with_line_ends =
                |text: &str| if has_crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
            replaced(&text, &with_line_ends(&old), &with_line_ends(&new))?
        }
        TextHabit::Lossy => {
            let is_crlf = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
            match has_crlf && (old.contains('\n') || new.contains('\n')) {
                false => replaced(&text, &old, &new)?,
                // How it treats other quotes of several lines in such a file is not known.
                true if ![text.as_str(), &quote.old, &quote.new].into_iter().all(is_crlf) => return None,
                true => replaced(&text, &quote.old, &quote.new)?,
            }
        }
        TextHabit::FirstLine | TextHabit::Unknown => return None,
    };
    Some([mark.as_bytes(), written.as_bytes()].concat())
}

/// Gives a text the line end at its end that another has, or has not.
fn with_same_end(before: &str, mut after: String) -> String {
    match (before.ends_with('\n'), after.ends_with('\n')) {
        (true, false) => after.push('\n'),
        (false, true) => drop(after.pop()),
        (true, true) | (false, false) => {}
    }
    after
}

const MARK: &str = "\u{feff}";

fn split_strict(bytes: &[u8]) -> Option<(&'static str, String)> {
    std::str::from_utf8(bytes).ok().map(split_mark)
}

fn split_lossy(bytes: &[u8]) -> (&'static str, String) {
    split_mark(&String::from_utf8_lossy(bytes))
}

fn split_mark(text: &str) -> (&'static str, String) {
    match text.strip_prefix(MARK) {
        Some(text) => (MARK, text.to_owned()),
        None => ("", text.to_owned()),
    }
}

/// Returns the text with `\n` for each `\r\n`.
pub fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

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

/// Returns the line, from 1, before which a chunk without a quote inserts its lines; one past the last line for the end.
pub(super) fn insertion_line(buffer: &Buffer) -> usize {
    PatchTarget::new(buffer).insertion_end() + 1
}

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

impl<'t> PatchTarget<'t> {
    fn new(buffer: &'t Buffer) -> PatchTarget<'t> {
        let lines: Vec<&str> = buffer.lines().iter().collect();
        // The tool takes a byte order mark for a part of the first line, which therefore differs from every quote.
        let first_quotable = usize::from(buffer.bytes().starts_with(MARK.as_bytes()));
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            places.entry(line).or_default().push(at);
        }
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
        let by_plain = self.similar.get_or_init(|| {
            let mut places: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, line) in self.lines.iter().enumerate() {
                places.entry(plain(line).collect()).or_default().push(at);
            }
            places
        });
        let places =
            |line: &str| by_plain.get(&plain(line).collect::<String>()).map_or(&[][..], Vec::as_slice);
        let rarest = old.iter().map(|line| places(line)).enumerate().min_by_key(|(_, places)| places.len());
        let Some((above, places)) = rarest else { return Vec::new() };
        let starts = places.iter().filter_map(|at| at.checked_sub(above));
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
        let trims: [fn(&str) -> &str; 2] = [str::trim_end, str::trim];
        let places = trims.iter().map(|trim| -> Vec<usize> {
            let are_equal = |line: &str, old: &str| trim(line) == trim(old);
            similar.iter().copied().filter(|start| self.equal_at(*start, &old, are_equal)).collect()
        });
        match places.into_iter().find(|places| !places.is_empty())?.as_slice() {
            [only] => Some(*only..only + old.len()),
            _ => None,
        }
    }

    /// Returns the first line, from 0, below the header of a chunk, or `from` without one; `None` if the header is not below
    /// `from`.
    fn below_header(&self, chunk: &Chunk, from: usize) -> Option<usize> {
        let Some(header) = &chunk.header else { return Some(from) };
        let places = self.places(header);
        places.get(places.partition_point(|at| *at < from.max(self.first_quotable))).map(|at| at + 1)
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
            let places = old.iter().map(|line| self.places(line)).enumerate();
            match places.min_by_key(|(_, places)| places.len()) {
                Some((above, places)) => {
                    let starts = places.iter().filter_map(|at| at.checked_sub(above));
                    starts.filter(|start| possible.contains(start)).filter(is_at).collect()
                }
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

    const CAFE: &[u8] = b"caf\xe9\nx = 1\n";
    const MIXED: &[u8] = b"a\r\nb\nc\r\nd\n";

    fn quote(old: &str, new: &str) -> QuotedReplacement {
        QuotedReplacement { old: old.into(), new: new.into(), matches: QuoteMatches::Only, lines: None }
    }

    fn made(simulation: Simulation) -> Simulated {
        match simulation {
            Simulation::Made(made) => made,
            other => panic!("{other:?}"),
        }
    }

    fn replaced(before: &[u8], old: &str, new: &str, habit: TextHabit) -> Simulated {
        made(replace(before, &[quote(old, new)], habit))
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
    fn each_habit_writes_as_its_host_does() {
        use TextHabit::{CrLfIfAny, Lossy, Majority, NewLinesCrLfIfAny, Unknown};
        for (habit, before, old, written) in [
            (Majority, MIXED, "d", Some(&b"a\nb\nc\nD\n"[..])),
            (CrLfIfAny, MIXED, "d", Some(b"a\r\nb\r\nc\r\nD\r\n")),
            (NewLinesCrLfIfAny, MIXED, "d", Some(b"a\r\nb\nc\r\nD\n")),
            (Lossy, MIXED, "d", Some(b"a\r\nb\nc\r\nD\n")),
            (Unknown, MIXED, "d", None),
            (Majority, CAFE, "x = 1", None),
            (CrLfIfAny, CAFE, "x = 1", Some(b"caf\xef\xbf\xbd\nD\n")),
            (NewLinesCrLfIfAny, CAFE, "x = 1", Some(b"caf\xef\xbf\xbd\nD\n")),
            (Lossy, CAFE, "x = 1", Some(b"caf\xef\xbf\xbd\nD\n")),
            (Majority, b"\xef\xbb\xbfa\r\nb", "b", Some(b"\xef\xbb\xbfa\r\nD")),
            (CrLfIfAny, b"\xef\xbb\xbfa\r\nb", "b", Some(b"\xef\xbb\xbfa\r\nD")),
        ] {
            let found = replaced(before, old, "D", habit);
            assert_eq!(found.written.as_deref(), written, "{habit:?} {before:?}");
            let kept = found.faithful.len() + old.len() == before.len() + 1;
            assert!(kept, "{habit:?}: {:?}", found.faithful);
            assert_eq!(found.is_at_risk(), written.is_some_and(|written| written != found.faithful));
        }
    }

    #[test]
    fn only_the_lines_that_differ_are_changed() {
        let found = replaced(MIXED, "a\nb\nc", "a\nX\nY\nc", TextHabit::Unknown);
        assert_eq!(found.faithful, b"a\r\nX\nY\nc\r\nd\n");
        let found = replaced(b"a\r\nb\n", "a\nb", "b", TextHabit::Unknown);
        assert_eq!(found.faithful, b"b\n");
    }

    #[test]
    fn a_quote_in_several_places_is_not_taken() {
        let aa = replace(b"aaa", &[quote("aa", "b")], TextHabit::Majority);
        assert_eq!(aa, Simulation::Several(2));
        let every = QuotedReplacement { matches: QuoteMatches::Every, ..quote("a", "b") };
        assert_eq!(made(replace(b"a a", &[every], TextHabit::Majority)).faithful, b"b b");
        assert_eq!(replace(b"x", &[quote("a", "b")], TextHabit::Majority), Simulation::Missing);
        assert_eq!(replace(b"a\0\xff", &[quote("a", "b")], TextHabit::Majority), Simulation::Unknown);
    }

    #[test]
    fn a_range_of_lines_chooses_among_several_places() {
        let text = b"x = 1\ny\nx = 1\nz\nx = 1\n";
        let within =
            |quote, start, end| QuotedReplacement { lines: Some(NamedLines { start, end }), ..quote };
        let only = |start, end| replace(text, &[within(quote("x = 1", "w"), start, end)], TextHabit::Unknown);
        assert_eq!(made(only(3, 3)).faithful, b"x = 1\ny\nw\nz\nx = 1\n");
        assert_eq!(made(only(4, 9)).faithful, b"x = 1\ny\nx = 1\nz\nw\n");
        assert_eq!(only(1, 4), Simulation::Several(2));
        assert_eq!(only(2, 2), Simulation::Unknown);
        let whole_line = within(quote("x = 1\n", "w\n"), 1, 1);
        let found = made(replace(text, &[whole_line], TextHabit::Unknown));
        assert_eq!(found.faithful, b"w\ny\nx = 1\nz\nx = 1\n");
        let every = QuotedReplacement { matches: QuoteMatches::Every, ..quote("x = 1", "w") };
        let found = made(replace(text, &[within(every, 2, 5)], TextHabit::Unknown));
        assert_eq!(found.faithful, b"x = 1\ny\nw\nz\nw\n");
        // A single place is taken wherever it is.
        let single = made(replace(text, &[within(quote("z", "w"), 1, 1)], TextHabit::Unknown));
        assert_eq!(single.faithful, b"x = 1\ny\nx = 1\nw\nx = 1\n");
        // The ranges of a list are those of the text before the call.
        let list = [within(quote("x = 1", "a\nb\nc"), 1, 1), within(quote("x = 1", "w"), 5, 5)];
        let found = made(replace(text, &list, TextHabit::Unknown));
        assert_eq!(found.faithful, b"a\nb\nc\ny\nx = 1\nz\nw\n");
    }

    #[test]
    fn quotes_apply_one_after_the_other() {
        let quotes = [quote("a", "b"), quote("b", "c")];
        assert_eq!(made(replace(b"a\n", &quotes, TextHabit::Majority)).faithful, b"c\n");
        assert_eq!(replace(b"ab\n", &quotes, TextHabit::Majority), Simulation::Several(2));
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
