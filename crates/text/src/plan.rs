//! The byte splices that implement changes of a text.
//!
//! Invariant: the splices of a [`Plan`] are sorted and disjoint, each one changes something, and all belong to one
//! version of one file. A replacement by the same text is no splice, but its lines must stay the same in a rebase.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::ops::Range;

use encoding_rs::WINDOWS_1252;

use super::buffer::Buffer;
use super::change::{Change, Splice, new_spans};
use super::encoding;
use super::line_end::LineEnd;
use super::line_end_style::with_line_ends;
use super::version::Version;
use lockgate_error::{Code, Error, EvidenceLine, NextCall};

/// The byte order mark, as a character.
pub(super) const MARK: char = '\u{feff}';

/// The splices that turn one version of a file into the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    version: Version,
    splices: Vec<Splice>,
    /// The bytes that are replaced by themselves.
    unchanged: Vec<Range<usize>>,
    notes: Vec<String>,
}

impl Default for Plan {
    /// Returns the plan that leaves an empty file unchanged.
    fn default() -> Plan {
        Plan { version: Version::hash(b""), splices: Vec::new(), unchanged: Vec::new(), notes: Vec::new() }
    }
}

impl Buffer {
    /// Plans changes of the view. They may be in any order; only insertions at one offset keep theirs.
    ///
    /// Errors: `RANGE_OVERLAP` if two changes touch the same text, `NOT_ENCODABLE` for a character that the file's
    /// encoding cannot represent.
    pub fn plan(&self, changes: Vec<Change>) -> Result<Plan, Error> {
        let mut splices = Vec::with_capacity(changes.len());
        for change in &changes {
            if self.view().get(change.span.clone()).is_none() {
                let message = format!("a change at {:?} does not fit the text", change.span);
                return Err(Error::new(Code::Internal, message));
            }
            let text = with_line_ends(self, change);
            // At the start the text may repeat the mark of the file, which is not part of the view.
            let may_repeat_mark =
                change.span.start == 0 && self.has_byte_order_mark() && !self.view().starts_with(MARK);
            let text = text.strip_prefix(MARK).filter(|_| may_repeat_mark).unwrap_or(&text);
            let bytes = self.encode(text, self.lines().line_at(change.span.start))?;
            splices.push(Splice { span: self.byte_span(change.span.clone()), bytes });
        }
        self.checked(Plan::new(self, splices)?)
    }

    /// Plans the replacement of the whole file by `bytes`, as one splice.
    ///
    /// Errors: `INTERNAL` if the plan is invalid.
    pub fn replace_all(&self, bytes: &[u8]) -> Result<Plan, Error> {
        Plan::new(self, vec![Splice { span: 0..self.bytes().len(), bytes: bytes.to_vec() }])
    }

    /// Applies a plan's splices.
    ///
    /// Errors: `INTERNAL` for a plan of another version.
    pub fn apply(&self, plan: &Plan) -> Result<Buffer, Error> {
        if plan.version() != self.version() {
            let message =
                format!("a plan for version {} was applied to version {}", plan.version(), self.version());
            return Err(Error::new(Code::Internal, message));
        }
        self.spliced(plan.splices()).map_or_else(|| self.with_bytes(plan.splice(self.bytes())), Ok)
    }

    /// Encodes new text for this line, or names the first character that the file's encoding cannot represent.
    pub(super) fn encode(&self, text: &str, line: usize) -> Result<Vec<u8>, Error> {
        self.encoding().encode(text).map_err(|c| {
            let before = text.split(c).next().unwrap_or_default();
            let line = line + before.matches('\n').count();
            let own = before.rsplit('\n').next().unwrap_or_default();
            let rest = text.get(before.len() - own.len()..).unwrap_or_default();
            let preview = rest.lines().next().unwrap_or_default().chars().take(60).collect();
            let (name, number) = (c.escape_debug(), u32::from(c));
            let message = format!("{} cannot hold '{name}' (U+{number:04X}) on line {line}", self.encoding());
            Error::new(Code::NotEncodable, message).places(vec![EvidenceLine { line, preview, symbol: None }])
        })
    }

    /// Rejects a plan with new characters beyond ASCII if the encoding is doubtful: the file could have other bytes for
    /// them. Those that the file has anywhere, together, and those of the replaced text may be written.
    pub(super) fn checked(&self, plan: Plan) -> Result<Plan, Error> {
        if !self.is_doubtful {
            return Ok(plan);
        }
        let of_file: LazyCell<HashSet<&[u8]>, _> = LazyCell::new(|| beyond_ascii(self.bytes()).collect());
        for splice in plan.splices() {
            // The replaced text can begin or end within a run.
            let replaced = self.bytes().get(splice.span.clone()).unwrap_or_default();
            let replaced: LazyCell<HashSet<&[u8]>, _> = LazyCell::new(|| beyond_ascii(replaced).collect());
            let is_new = |run: &&[u8]| !replaced.contains(run) && !of_file.contains(run);
            let Some(new) = beyond_ascii(&splice.bytes).find(is_new) else { continue };
            let name: String = WINDOWS_1252.decode_without_bom_handling(new).0.chars().take(1).collect();
            let line = self.lines().line_at(self.offset(splice.span.start));
            let message = format!("the edit adds '{name}' at line {line}, but {}", self.doubt());
            let hint = "write only ASCII, convert the file to UTF-8, or name its charset in `.editorconfig` (`charset = latin1`)";
            return Err(Error::new(Code::NotEncodable, message).hint(hint));
        }
        Ok(plan)
    }

    /// Says why the encoding is doubtful.
    fn doubt(&self) -> String {
        let encoding = self.encoding();
        let is_doubtful_without_hint = encoding::is_doubtful(encoding, self.bytes(), None);
        match self.hints().charset.filter(|_| !is_doubtful_without_hint) {
            Some(charset) => format!("`.editorconfig` says {charset}, and the file is not {charset}"),
            None => format!("the encoding of the file is a guess: it is probably not {encoding}"),
        }
    }
}

/// Returns the runs of bytes that are not ASCII.
fn beyond_ascii(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(u8::is_ascii).filter(|run| !run.is_empty())
}

impl Splice {
    /// True if the new bytes end with a line end, or if there are none and the splice begins at the start of a line.
    pub fn ends_line(&self, before: &Buffer) -> bool {
        if self.bytes.is_empty() {
            let kept = before.view().get(..before.offset(self.span.start)).unwrap_or_default();
            return kept.is_empty() || kept.ends_with('\n');
        }
        line_ends(before).any(|line_end| self.bytes.ends_with(&line_end))
    }
}

/// Returns the line ends in the encoding of a text.
fn line_ends(text: &Buffer) -> impl Iterator<Item = Vec<u8>> {
    let line_ends = [LineEnd::CrLf, LineEnd::Lf].into_iter();
    line_ends.filter_map(|line_end| text.encoding().encode(line_end.text()).ok())
}

impl Plan {
    /// Sorts splices into a plan for this version of a file; those that change nothing become its unchanged bytes.
    pub(super) fn new(before: &Buffer, mut splices: Vec<Splice>) -> Result<Plan, Error> {
        splices.sort_by_key(|splice| (splice.span.start, splice.span.end));
        let pairs = splices.iter().zip(splices.iter().skip(1));
        if let Some((one, other)) = pairs.into_iter().find(|(one, other)| one.span.end > other.span.start) {
            let [named, also_named] = [one, other].map(|splice| describe_lines(before, &splice.span));
            let message = format!("Overlapping edits detected: lines {named} and {also_named}");
            let lines = before.lines();
            let line = |byte: usize| lines.line_at(before.offset(byte));
            let last = line(one.span.end.max(other.span.end));
            let next = NextCall::read_around(line(one.span.start), last, lines.count());
            return Err(Error::new(Code::RangeOverlap, message).with_next_if(next));
        }
        let is_unchanged =
            |splice: &mut Splice| before.bytes().get(splice.span.clone()) == Some(splice.bytes.as_slice());
        let unchanged = splices.extract_if(.., is_unchanged).map(|splice| splice.span);
        let unchanged = unchanged.filter(|span| !span.is_empty()).collect();
        Ok(Plan { version: before.version(), splices, unchanged, notes: Vec::new() })
    }

    /// Joins plans for the same version of a file. The notes of the parts are dropped. Of the insertions at one place, that
    /// of the earlier part comes first.
    ///
    /// Errors: `RANGE_OVERLAP` if two of them touch the same text.
    pub fn join(before: &Buffer, parts: impl Iterator<Item = Plan>) -> Result<Plan, Error> {
        Plan::join_by(before, parts, |_, _| 0)
    }

    /// Does the same. Of the insertions at one place, the one with the lowest key comes first: `key` gets the index of the
    /// part, and the splice.
    ///
    /// Errors: `RANGE_OVERLAP` if two of them touch the same text.
    pub fn join_by(
        before: &Buffer,
        parts: impl Iterator<Item = Plan>,
        key: impl Fn(usize, &Splice) -> usize,
    ) -> Result<Plan, Error> {
        let (mut splices, mut unchanged) = (Vec::new(), Vec::new());
        for (index, part) in parts.enumerate() {
            splices.extend(part.splices.into_iter().map(|splice| (key(index, &splice), splice)));
            unchanged.extend(part.unchanged);
        }
        splices.sort_by_key(|(key, _)| *key);
        let mut joined = Plan::new(before, splices.into_iter().map(|(_, splice)| splice).collect())?;
        joined.unchanged.extend(unchanged);
        Ok(joined)
    }

    /// Drops the whole lines at the start and the end of each splice that stay the same. They become unchanged bytes.
    #[must_use]
    pub fn without_kept_lines(mut self, before: &Buffer) -> Plan {
        let lines = before.lines();
        let line_at = |byte: usize| lines.line_at(before.offset(byte));
        let start_of = |line: usize| before.byte_span(lines.span(line)).start;
        for Splice { span, bytes: new } in &mut self.splices {
            let old = before.bytes().get(span.clone()).unwrap_or_default();
            let same = old.iter().zip(new.iter()).take_while(|(old, new)| old == new).count();
            let above = start_of(line_at(span.start + same)).saturating_sub(span.start);
            let above = if above <= same { above } else { 0 };
            let rest = old.len().min(new.len()) - above;
            let pairs = old.iter().rev().zip(new.iter().rev()).take(rest);
            let end = span.end - pairs.take_while(|(old, new)| old == new).count();
            let start = Some(start_of(line_at(end))).filter(|start| *start == end);
            let start = start.unwrap_or_else(|| start_of(line_at(end) + 1));
            let below = span.end.saturating_sub(start);
            let bytes = new.get(above..new.len() - below).unwrap_or_default().to_vec();
            let changed = Splice { span: span.start + above..span.end - below, bytes };
            // A line that the new version joins with the kept ones is none of its own.
            let below = if changed.ends_line(before) { below } else { 0 };
            new.truncate(new.len() - below);
            new.drain(..above);
            let kept = [span.start..span.start + above, span.end - below..span.end];
            self.unchanged.extend(kept.into_iter().filter(|kept| !kept.is_empty()));
            *span = span.start + above..span.end - below;
        }
        self
    }

    /// Drops the line end at the end of the new version, if it has one there.
    #[must_use]
    pub fn without_last_line_end(mut self, before: &Buffer) -> Plan {
        let end = before.bytes().len();
        let mut tail = Splice { span: end..end, bytes: Vec::new() };
        while let Some(last) =
            self.splices.pop_if(|last| tail.bytes.is_empty() && last.span.end == tail.span.start)
        {
            tail = Splice { span: last.span.start..tail.span.end, bytes: last.bytes };
        }
        let start = before.offset(tail.span.start);
        if !tail.bytes.is_empty() {
            if let Some(line_end) = line_ends(before).find(|line_end| tail.bytes.ends_with(line_end)) {
                tail.bytes.truncate(tail.bytes.len() - line_end.len());
            }
        } else if before.view().get(..start).is_some_and(|kept| kept.ends_with('\n')) {
            tail.span.start = before.byte_span(start - 1..start).start;
        }
        if before.bytes().get(tail.span.clone()) != Some(tail.bytes.as_slice()) {
            self.splices.push(tail);
        }
        self
    }

    /// Returns the bytes that it removes and those that it adds, together.
    pub fn size(&self) -> usize {
        self.splices.iter().map(|splice| splice.span.len() + splice.bytes.len()).sum()
    }

    /// Adds a note for the caller.
    pub(super) fn with_note(mut self, note: Option<String>) -> Plan {
        self.notes.extend(note);
        self
    }

    /// Returns the version of the file that the plan applies to.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the splices from the file's start to its end.
    pub fn splices(&self) -> &[Splice] {
        &self.splices
    }

    /// Returns the bytes that are replaced by themselves.
    pub(super) fn unchanged(&self) -> &[Range<usize>] {
        &self.unchanged
    }

    /// Returns the notes for the caller, for example that the file's line ends change.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the plan that restores `before` from `after`.
    #[cfg(test)]
    pub(super) fn inverse(&self, before: &Buffer, after: &Buffer) -> Plan {
        let back = || self.splices.iter().zip(self.new_spans());
        let undo = |(splice, span): (&Splice, _)| Splice {
            span,
            bytes: before.bytes().get(splice.span.clone()).unwrap_or_default().to_vec(),
        };
        let moved = |span: &Range<usize>| {
            let earlier = back().take_while(|(splice, _)| splice.span.end <= span.start).last();
            let start = earlier.map_or(span.start, |(splice, new)| new.end + span.start - splice.span.end);
            start..start + span.len()
        };
        let unchanged = self.unchanged.iter().map(moved).collect();
        Plan { version: after.version(), splices: back().map(undo).collect(), unchanged, notes: Vec::new() }
    }

    /// Returns the byte range of each splice's new bytes in the new version.
    pub(super) fn new_spans(&self) -> impl Iterator<Item = Range<usize>> {
        new_spans(&self.splices)
    }

    /// Builds the new bytes from the splices and the unchanged bytes.
    pub(super) fn splice(&self, before: &[u8]) -> Vec<u8> {
        let added: usize = self.splices.iter().map(|splice| splice.bytes.len()).sum();
        let mut after = Vec::with_capacity(before.len() + added);
        let mut from = 0;
        for splice in &self.splices {
            after.extend_from_slice(before.get(from..splice.span.start).unwrap_or_default());
            after.extend_from_slice(&splice.bytes);
            from = splice.span.end;
        }
        after.extend_from_slice(before.get(from..).unwrap_or_default());
        after
    }
}

/// Returns true if every byte outside the splices is the same before and after.
pub fn bytes_outside_unchanged(before: &[u8], after: &[u8], plan: &Plan) -> bool {
    let (mut from, mut new_from) = (0, 0);
    for (splice, landing) in plan.splices().iter().zip(plan.new_spans()) {
        let unchanged = before.get(from..splice.span.start);
        if unchanged.is_none() || unchanged != after.get(new_from..landing.start) {
            return false;
        }
        (from, new_from) = (splice.span.end, landing.end);
    }
    let unchanged = before.get(from..);
    unchanged.is_some() && unchanged == after.get(new_from..)
}

/// Returns the first and the last line of some bytes, for a message.
fn describe_lines(before: &Buffer, bytes: &Range<usize>) -> String {
    let last = bytes.end.saturating_sub(1).max(bytes.start);
    let [first, last] = [bytes.start, last].map(|byte| before.lines().line_at(before.offset(byte)));
    format!("{first}-{last}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Hints};

    fn read(bytes: &[u8]) -> Buffer {
        Buffer::read(bytes.to_vec(), Hints::default()).unwrap()
    }

    fn change(span: Range<usize>, text: &str) -> Change {
        Change { span, text: text.into() }
    }

    fn made(bytes: &[u8], changes: Vec<Change>) -> Vec<u8> {
        let before = read(bytes);
        before.apply(&before.plan(changes).unwrap()).unwrap().bytes().to_vec()
    }

    #[test]
    fn insertions_at_one_place_keep_their_order_and_stand_before_a_replacement() {
        let changes =
            vec![change(2..4, "B\n"), change(2..2, "1\n"), change(4..4, "9\n"), change(2..2, "2\n")];
        assert_eq!(made(b"a\nb\nc\n", changes), b"a\n1\n2\nB\n9\nc\n");
    }

    #[test]
    fn only_the_splice_is_encoded() {
        assert_eq!(made(b"\xE9\x81\r\nb\r\n", vec![change(5..6, "\u{20ac}\n")]), b"\xE9\x81\r\n\x80\r\n\r\n");
        assert_eq!(
            made(b"\xFE\xFF\0a\0\n", vec![change(0..0, "\u{1d11e}\n")]),
            b"\xFE\xFF\xD8\x34\xDD\x1E\0\n\0a\0\n"
        );
    }

    #[test]
    fn a_splice_without_the_lines_that_stay_writes_the_same() {
        for (bytes, span, text, changed) in [
            (&b"a\nb\nc\n"[..], 0..6, "a\nB\nc\n", (2..4, &b"B\n"[..])),
            (b"a\nb\nc\n", 0..5, "a\nB\nc", (2..4, b"B\n")),
            (b"a\nb\nc\n", 0..6, "a\nc\n", (2..4, b"")),
            (b"a\nb\nc\n", 0..4, "a\nb\nx\n", (4..4, b"x\n")),
            (b"a\na\n", 0..4, "a\n", (2..4, b"")),
            (b"ab\nc", 1..4, "b\nd", (3..4, b"d")),
            (b"ab\ncd\n", 1..4, "xb\nc", (1..3, b"xb\n")),
            (b"a\r\nb\r\nc\r\n", 0..6, "a\nB\nc\n", (3..6, b"B\r\n")),
            (b"\xef\xbb\xbfa\nb\n", 0..4, "A\nb\n", (3..5, b"A\n")),
            (b"\xff\xfea\0\n\0b\0", 0..3, "a\nc", (6..8, b"c\0")),
            (b"a [\n]\nb\n", 0..6, "a []\n", (0..6, b"a []\n")),
        ] {
            let before = read(bytes);
            let whole = before.plan(vec![change(span, text)]).unwrap();
            let plan = whole.clone().without_kept_lines(&before);
            let [Splice { span, bytes: new }] = plan.splices() else { panic!("{plan:?}") };
            assert_eq!((span.clone(), new.as_slice()), changed, "{text:?}");
            assert_eq!(plan.splice(before.bytes()), whole.splice(before.bytes()), "{text:?}");
        }
    }

    /// True if a plan's splices can be applied without reading the whole text.
    fn stays_plain(before: &Buffer, plan: &Plan) -> bool {
        let Ok(text) = str::from_utf8(before.bytes()) else { return false };
        let mark = if before.has_byte_order_mark() { 3 } else { 0 };
        let fits = |at: usize| at >= mark && text.is_char_boundary(at);
        let after = String::from_utf8(plan.splice(before.bytes()));
        plan.splices().iter().all(|splice| fits(splice.span.start) && fits(splice.span.end))
            && !text.contains("\r\n")
            && after.is_ok_and(|after| !after.contains("\r\n"))
    }

    proptest::proptest! {
        #[test]
        fn a_spliced_text_is_as_if_it_were_read(
            before in "\u{feff}?[a\n\ré\u{feff}]{0,12}",
            new in proptest::collection::vec(("[a\n\ré\u{feff}]{0,4}", 0..5_usize, 0..4_usize), 0..4),
        ) {
            let before = read(before.as_bytes());
            let length = before.bytes().len();
            // Nearly always at a boundary of characters, and one after the other.
            let boundary = |at: usize| match str::from_utf8(before.bytes()) {
                Ok(text) if at % 16 != 15 => text.floor_char_boundary(at),
                Ok(_) | Err(_) => at.min(length),
            };
            let mut end = 0;
            let splices = new.into_iter().map(|(text, gap, count)| {
                let start = boundary(end + gap);
                end = boundary(start + count).max(start);
                Splice { span: start..end, bytes: text.into_bytes() }
            });
            let Ok(plan) = Plan::new(&before, splices.collect()) else { return Ok(()) };
            let spliced = before.spliced(plan.splices());
            proptest::prop_assert_eq!(spliced.is_some(), stays_plain(&before, &plan));
            if let Some(spliced) = spliced {
                let read = before.with_bytes(plan.splice(before.bytes())).unwrap();
                proptest::prop_assert_eq!(format!("{spliced:?}"), format!("{read:?}"));
            }
        }
    }

    #[test]
    fn the_mark_of_the_file_is_not_doubled() {
        for (bytes, span, expected) in [
            ("\u{feff}a\n", 0..1, "\u{feff}b\n"),
            ("\u{feff}a\n", 0..0, "\u{feff}ba\n"),
            // The controls: elsewhere, and where the file has none, it is a character of the text.
            ("\u{feff}a\n", 1..1, "\u{feff}a\u{feff}b\n"),
            ("a\n", 0..1, "\u{feff}b\n"),
        ] {
            let buffer = read(bytes.as_bytes());
            let plan = buffer.plan(vec![change(span, "\u{feff}b")]).unwrap();
            assert_eq!(buffer.apply(&plan).unwrap().bytes(), expected.as_bytes(), "{bytes:?}");
        }
    }

    #[test]
    fn overlapping_changes_are_refused_by_their_lines() {
        let text = "x\n".repeat(30);
        let [one, other, inside] = [change(18..30, ""), change(22..40, "y"), change(20..20, "z")];
        let error = read(text.as_bytes()).plan(vec![other, one.clone()]).unwrap_err();
        assert_eq!(error.code, Code::RangeOverlap);
        assert_eq!(error.message, "Overlapping edits detected: lines 10-15 and 12-20");
        assert_eq!(read(text.as_bytes()).plan(vec![inside, one]).unwrap_err().code, Code::RangeOverlap);
    }

    #[test]
    fn the_last_line_end_of_the_new_version_is_dropped() {
        let without = |bytes: &[u8], changes| {
            let before = read(bytes);
            let plan = before.plan(changes).unwrap().without_last_line_end(&before);
            before.apply(&plan).unwrap().bytes().to_vec()
        };
        let (last, insertion) = (change(4..5, ""), change(4..4, "x\n"));
        assert_eq!(without(b"a\nb\nc", vec![last.clone()]), b"a\nb");
        assert_eq!(without(b"a\nb\nc", vec![change(2..4, ""), last.clone()]), b"a");
        assert_eq!(without(b"a\nb\nc", vec![insertion.clone(), last.clone()]), b"a\nb\nx");
        assert_eq!(without(b"a\r\nb\r\nc", vec![last.clone()]), b"a\r\nb");
        assert_eq!(without(b"a\r\nb\r\nc", vec![insertion, last]), b"a\r\nb\r\nx");
        let utf_16 = b"\xFF\xFEa\0\n\0b\0";
        assert_eq!(without(utf_16, vec![change(2..3, "")]), b"\xFF\xFEa\0");
        assert_eq!(without(utf_16, vec![change(2..3, "x\n")]), b"\xFF\xFEa\0\n\0x\0");
        assert_eq!(without(b"\xEF\xBB\xBFa", vec![change(0..1, "")]), b"\xEF\xBB\xBF");
        assert_eq!(without(b"a\nb\n", Vec::new()), b"a\nb");
        assert_eq!(without(b"a\nb", Vec::new()), b"a\nb");
    }

    #[test]
    fn a_character_that_the_file_cannot_hold_is_named_with_its_line() {
        let before = read(b"a\n\xE9\n");
        assert_eq!(before.encoding(), Encoding::Windows1252);
        let error = before.plan(vec![change(2..2, "b\nto \u{2192} here\n")]).unwrap_err();
        assert_eq!(error.code, Code::NotEncodable);
        assert_eq!(error.message, "windows-1252 cannot hold '\u{2192}' (U+2192) on line 3");
        assert_eq!(
            *error.places,
            [EvidenceLine { line: 3, preview: "to \u{2192} here".into(), symbol: None }]
        );
    }

    #[test]
    fn a_doubtful_encoding_takes_no_new_characters_beyond_ascii() {
        let before = read("na\u{ef}ve\nx\n\u{65e5}\u{672c}\n".as_bytes());
        assert!(!before.is_doubtful);
        let before = read(&[before.bytes(), b"\xFF\n"].concat());
        let own = before.lines().text(1).to_owned();
        let refused = |result: Result<Plan, Error>| result.unwrap_err();
        let at = own.len() + 1;
        let error = refused(before.plan(vec![change(at..at + 1, "caf\u{e9}")]));
        assert_eq!(error.code, Code::NotEncodable);
        let reason = "but the encoding of the file is a guess: it is probably not windows-1252";
        assert_eq!(error.message, format!("the edit adds '\u{e9}' at line 2, {reason}"));
        let content = |line: &str| before.view().replace("\nx\n", &format!("\n{line}\n"));
        assert_eq!(refused(before.rewrite(&content("\u{201c}"))).code, Code::NotEncodable);
        let ascii = before.apply(&before.rewrite(&content("y")).unwrap()).unwrap();
        assert_eq!(refused(ascii.rewrite(&content("\u{201c}"))).code, Code::NotEncodable, "the result, too");
        // The characters of a replaced line stay, and another version comes back.
        let plan = before.plan(vec![change(0..own.len(), &format!("so {own}"))]).unwrap();
        assert!(before.apply(&plan).unwrap().bytes().starts_with("so na\u{ef}ve\n".as_bytes()));
        let without = before.apply(&before.plan(vec![change(0..at, "")]).unwrap()).unwrap();
        assert_eq!(without.apply(&without.plan_to(&before).unwrap()).unwrap().bytes(), before.bytes());
    }

    #[test]
    fn a_doubtful_encoding_takes_the_characters_of_the_file() {
        let hints = Hints { charset: Some(Encoding::Utf8), line_end: None };
        let before = Buffer::read(b"caf\xE9\nGr\xF6\xDFe\nx\n".to_vec(), hints).unwrap();
        assert!(before.is_doubtful);
        let made = |changes| Ok(before.apply(&before.plan(changes)?)?.bytes().to_vec());
        let rewritten = |content: &str| Ok(before.apply(&before.rewrite(content)?)?.bytes().to_vec());
        let result: [Result<Vec<u8>, Error>; 4] = [
            made(vec![change(0..6, ""), change(16..16, "caf\u{e9}\n")]),
            rewritten("Gr\u{f6}\u{df}e\nx\ncaf\u{e9}\n"),
            made(vec![change(16..16, "Gr\u{f6}\u{df}e 2\n")]),
            // A part of the replaced run.
            made(vec![change(8..10, "o\u{f6}")]),
        ];
        let expected = [
            &b"Gr\xF6\xDFe\nx\ncaf\xE9\n"[..],
            b"Gr\xF6\xDFe\nx\ncaf\xE9\n",
            b"caf\xE9\nGr\xF6\xDFe\nx\nGr\xF6\xDFe 2\n",
            b"caf\xE9\nGro\xF6\xDFe\nx\n",
        ];
        assert_eq!(result.map(Result::unwrap), expected);
        // The control: a character that the file does not have.
        let error = before.plan(vec![change(16..16, "caf\u{e8}\n")]).unwrap_err();
        assert_eq!(error.code, Code::NotEncodable);
        let message =
            "the edit adds '\u{e8}' at line 4, but `.editorconfig` says UTF-8, and the file is not UTF-8";
        assert_eq!(error.message, message);
    }

    #[test]
    fn a_span_that_does_not_fit_the_text_is_refused() {
        for span in [0..9, 1..2, 9..9] {
            assert_eq!(
                read("\u{e9}\n".as_bytes()).plan(vec![change(span, "")]).unwrap_err().code,
                Code::Internal
            );
        }
    }

    #[test]
    fn a_plan_for_another_version_is_refused() {
        let plan = read(b"a\n").plan(vec![change(0..1, "b")]).unwrap();
        assert_eq!(read(b"a\n\n").apply(&plan).unwrap_err().code, Code::Internal);
    }

    #[test]
    fn what_changes_nothing_is_no_splice() {
        let before = read(b"a\r\nb\r\n");
        let same = before.plan(vec![change(0..4, "a\nb\n"), change(4..4, "")]).unwrap();
        assert!(same.splices().is_empty());
        assert_eq!(before.plan(vec![change(0..2, "a\n"), change(2..3, "c")]).unwrap().splices().len(), 1);
    }
}
