//! What the tool of a host would write: its own edit on the bytes of the file, with the tool's habits.
//!
//! Only exact quotes are simulated. A tool that would accept another quote may change another place, so such a call is
//! left to the caller.
//!
//! Invariant: a simulation that is not certain says so.

use std::ops::Range;

use super::edit::{NamedLines, QuoteMatches, QuotedReplacement};
use super::host::TextHabit;
use lockgate_text::{Buffer, Change, Hints, LineEnd, LineEnds, common_suffix};

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
    let text = match habit {
        TextHabit::CrLfIfAny | TextHabit::NewLinesCrLfIfAny | TextHabit::Lossy => {
            String::from_utf8_lossy(bytes)
        }
        TextHabit::Majority => std::str::from_utf8(bytes).ok()?.into(),
        TextHabit::FirstLine | TextHabit::Unknown => return None,
    };
    let (mark, text) = match text.strip_prefix(MARK) {
        Some(text) => (MARK, text),
        None => ("", &*text),
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
    let crlf_if = |is_crlf, text: String| if is_crlf { text.replace('\n', "\r\n") } else { text };
    let written = match habit {
        TextHabit::Majority => {
            let is_crlf = LineEnds::count(text).majority() == Some(LineEnd::CrLf);
            crlf_if(is_crlf, replaced(&unix(text), &old, &new)?)
        }
        TextHabit::CrLfIfAny => {
            let view = unix(text);
            crlf_if(has_crlf, with_same_end(&view, replaced(&view, &old, &new)?))
        }
        TextHabit::NewLinesCrLfIfAny => replaced(text, &crlf_if(has_crlf, old), &crlf_if(has_crlf, new))?,
        TextHabit::Lossy => {
            let is_crlf = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
            match has_crlf && (old.contains('\n') || new.contains('\n')) {
                false => replaced(text, &old, &new)?,
                // How it treats other quotes of several lines in such a file is not known.
                true if ![text, &quote.old, &quote.new].into_iter().all(is_crlf) => return None,
                true => replaced(text, &quote.old, &quote.new)?,
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

/// The byte order mark.
pub(super) const MARK: &str = "\u{feff}";

/// Returns the text with `\n` for each `\r\n`.
pub fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
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
}
