//! Unified diffs of two versions of a file, rendered from the lines that a plan touched.
//!
//! Only the lines of the plan are compared, and hunks are rendered on demand. The work depends on the size of the
//! edit, not on that of the file.
//!
//! Invariant: for UTF-8 files `git apply` turns the old version into the new one, byte for byte. Other encodings are
//! shown decoded.

use std::borrow::Cow;
use std::ops::Range;

use super::align::{DifferingLines, push};
use super::buffer::Buffer;
use super::common_ends::common_prefix;
use super::enclosing::enclosing_line;
use super::encoding::Encoding;
use super::line_map::LineMap;
use super::plan::Plan;

/// The number of unchanged lines around changed ones.
const CONTEXT: usize = 3;
/// The maximum number of characters of a line that [`Diff::numbered`] shows.
const MAX_SHOWN_CHARS: usize = 500;

/// A unified diff whose hunks are rendered on demand.
#[derive(Debug)]
pub struct Diff<'a> {
    header: String,
    before: Option<&'a Buffer>,
    after: &'a Buffer,
    hunks: Vec<Vec<DifferingLines>>,
}

/// The rendered part of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffCut {
    /// The whole diff was rendered.
    Whole,
    /// Only the first hunks were rendered.
    Partial {
        /// The number of rendered hunks.
        shown: usize,
        /// The number of all hunks.
        total: usize,
    },
}

/// The part of a diff that [`Diff::numbered`] shows.
#[derive(Debug, Clone, Default)]
pub struct Extent {
    /// The maximum length of a run of lines that is shown in full.
    pub max_run: usize,
    /// The lines of the new version, from 1, around which changes are shown; all changes if none is near.
    pub near: Option<Vec<usize>>,
    /// The lines of a change that are shown.
    pub side: ShownSide,
}

/// The lines of a change that [`Diff::numbered`] shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShownSide {
    /// The old and the new lines, after the line that encloses them.
    #[default]
    Both,
    /// The new lines; the old ones only where no line replaces them.
    New,
}

impl Extent {
    /// Returns true if the changed lines are at most [`CONTEXT`] lines from a wanted line.
    fn covers(&self, piece: &DifferingLines) -> bool {
        let (first, last) =
            ((piece.new.start + 1).saturating_sub(CONTEXT), piece.new.end.max(piece.new.start + 1) + CONTEXT);
        self.near.as_ref().is_none_or(|near| near.iter().any(|line| (first..=last).contains(line)))
    }
}

/// Compares two versions of the file at this root-relative path. Without `before` the diff creates the file.
pub fn unified<'a>(path: &str, before: Option<&'a Buffer>, after: &'a Buffer, plan: &Plan) -> Diff<'a> {
    let map = before.map(|before| plan.line_map(before, after)).unwrap_or_default();
    unified_with_map(path, before, after, &map)
}

/// Compares two versions like [`unified`], with an existing line map.
pub fn unified_with_map<'a>(
    path: &str,
    before: Option<&'a Buffer>,
    after: &'a Buffer,
    map: &LineMap,
) -> Diff<'a> {
    let whole = || vec![DifferingLines { old: 0..before.map_or(0, line_count), new: 0..line_count(after) }];
    let pieces = match before {
        Some(before) if before.version() == after.version() => Vec::new(),
        Some(before) if is_lone_mark(before) || is_lone_mark(after) => whole(),
        Some(before) => printed(before, after, map),
        None => whole(),
    };
    let hunks = grouped(pieces.into_iter().filter(|piece| !piece.is_empty()));
    Diff { header: header(path, before, after, &hunks), before, after, hunks }
}

/// Returns the diff that removes the file at this root-relative path. `after` is the empty text.
pub fn removal<'a>(path: &str, before: &'a Buffer, after: &'a Buffer) -> Diff<'a> {
    let hunks = match line_count(before) {
        0 => Vec::new(),
        count => vec![vec![DifferingLines { old: 0..count, new: 0..0 }]],
    };
    let [old, new] = ["a/", "b/"].map(|side| quoted(&format!("{side}{path}")));
    let tab = if path.contains(' ') { "\t" } else { "" };
    let sides = if hunks.is_empty() { String::new() } else { format!("--- {old}{tab}\n+++ /dev/null\n") };
    let header = format!("diff --git {old} {new}\ndeleted file mode 100644\n{sides}");
    Diff { header, before: Some(before), after, hunks }
}

impl Diff<'_> {
    /// Returns the number of hunks.
    pub fn hunks(&self) -> usize {
        self.hunks.len()
    }

    /// Returns the number of lines that the diff adds.
    pub fn added(&self) -> usize {
        self.hunks.iter().flatten().map(|piece| piece.new.len()).sum()
    }

    /// Returns the number of lines that the diff removes.
    pub fn removed(&self) -> usize {
        self.hunks.iter().flatten().map(|piece| piece.old.len()).sum()
    }

    /// Renders the header and as many whole hunks as fit into `max_bytes`; an empty text if not even one hunk fits.
    pub fn render(&self, max_bytes: usize) -> (String, DiffCut) {
        self.render_near(max_bytes, None)
    }

    /// Renders the hunks with changes near the wanted lines of an extent, as many as fit into `max_bytes`; all hunks if no
    /// line is wanted, or none is near a change.
    pub fn render_near(&self, max_bytes: usize, extent: Option<&Extent>) -> (String, DiffCut) {
        let covered = |hunk: &&Vec<DifferingLines>| {
            extent.is_none_or(|extent| hunk.iter().any(|piece| extent.covers(piece)))
        };
        let near: Vec<&Vec<DifferingLines>> = self.hunks.iter().filter(covered).collect();
        let hunks = if near.is_empty() { self.hunks.iter().collect() } else { near };
        let (mut text, mut shown, total) = (self.header.clone(), 0, self.hunks.len());
        for hunk in hunks {
            let end = text.len();
            if self.write(hunk, &mut text, max_bytes).is_none() {
                text.truncate(end);
                break;
            }
            shown += 1;
        }
        if shown == total {
            return (text, DiffCut::Whole);
        }
        (if shown == 0 { String::new() } else { text }, DiffCut::Partial { shown, total })
    }

    /// Renders the changed lines with their numbers, as in `17- old` and `17+ new`, without context: as many whole runs of
    /// changed lines as fit into `max_bytes`. The line that encloses a change comes first, as in `in def main():`. Without
    /// context, each run is a hunk.
    pub fn numbered(&self, max_bytes: usize, extent: &Extent) -> (String, DiffCut) {
        let near: Vec<&DifferingLines> = self.pieces().filter(|piece| extent.covers(piece)).collect();
        let pieces = if near.is_empty() { self.pieces().collect() } else { near };
        let (mut text, mut last_enclosing) = (String::new(), None);
        for (shown, piece) in pieces.iter().enumerate() {
            let end = text.len();
            let is_new_alone = extent.side == ShownSide::New;
            let enclosing = enclosing_line(self.after.lines(), piece.new.start + 1);
            let enclosing = enclosing.filter(|_| !is_new_alone);
            if let Some(enclosing) = enclosing.filter(|_| enclosing != last_enclosing) {
                let head = self.after.lines().text(enclosing).trim().trim_end_matches('{').trim_end();
                text.push_str(&format!("in {}\n", shortened(head, None)));
            }
            last_enclosing = enclosing;
            let is_replaced = is_new_alone && !piece.new.is_empty();
            let before = self.before.map(|before| (before, piece.old.clone()));
            let after = (self.after, piece.new.clone());
            if let Some(before) = before.clone().filter(|_| !is_replaced) {
                write_numbered('-', before, Some(after.clone()), extent, &mut text);
            }
            write_numbered('+', after, before, extent, &mut text);
            if text.len() > max_bytes {
                text.truncate(end);
                return (text, DiffCut::Partial { shown, total: pieces.len() });
            }
        }
        (text, DiffCut::Whole)
    }

    /// Returns the runs of changed lines, in their order.
    fn pieces(&self) -> impl Iterator<Item = &DifferingLines> {
        self.hunks.iter().flatten()
    }

    fn write(&self, hunk: &[DifferingLines], text: &mut String, max_bytes: usize) -> Option<()> {
        let (first, last) = (hunk.first()?, hunk.last()?);
        let count = self.before.map_or(0, line_count);
        let before = first.old.start.min(CONTEXT);
        let behind = (count - last.old.end).min(CONTEXT);
        let old = first.old.start - before..last.old.end + behind;
        let new = first.new.start - before..last.new.end + behind;
        text.push_str(&format!("@@ -{} +{} @@\n", numbers(&old), numbers(&new)));
        let mut from = old.start;
        for piece in hunk {
            self.write_old(' ', from..piece.old.start, text, max_bytes)?;
            self.write_old('-', piece.old.clone(), text, max_bytes)?;
            write_lines('+', self.after, piece.new.clone(), text, max_bytes)?;
            from = piece.old.end;
        }
        self.write_old(' ', from..old.end, text, max_bytes)
    }

    fn write_old(&self, sign: char, lines: Range<usize>, text: &mut String, max_bytes: usize) -> Option<()> {
        match self.before {
            Some(before) => write_lines(sign, before, lines, text, max_bytes),
            None => Some(()),
        }
    }
}

/// Groups pieces whose context lines meet into hunks.
fn grouped(pieces: impl Iterator<Item = DifferingLines>) -> Vec<Vec<DifferingLines>> {
    let mut hunks: Vec<Vec<DifferingLines>> = Vec::new();
    for piece in pieces {
        let last_end = hunks.last().and_then(|hunk| hunk.last()).map(|last| last.old.end);
        match hunks.last_mut() {
            Some(hunk) if last_end.is_some_and(|end| piece.old.start <= end + 2 * CONTEXT) => {
                hunk.push(piece)
            }
            Some(_) | None => hunks.push(vec![piece]),
        }
    }
    hunks
}

/// Returns the lines that differ in their text, in their line end or in the byte order mark before them.
fn printed(before: &Buffer, after: &Buffer, map: &LineMap) -> Vec<DifferingLines> {
    let mut printed = Vec::new();
    let differs_in_mark = shows_mark(before) != shows_mark(after);
    let mut pieces = map.pieces().iter().peekable();
    for block in map.blocks() {
        let (mut old, mut new) = (block.old.start, block.new.start);
        let end = DifferingLines { old: block.old.end..block.old.end, new: block.new.end..block.new.end };
        let inside = std::iter::from_fn(|| {
            pieces.next_if(|piece| piece.old.end <= block.old.end && piece.new.end <= block.new.end).cloned()
        });
        for piece in inside.chain([end]) {
            for (i, j) in (old..piece.old.start).zip(new..piece.new.start) {
                let is_marked = differs_in_mark && i == 0 && j == 0;
                if is_marked || before.line_end(i + 1) != after.line_end(j + 1) {
                    push(&mut printed, DifferingLines { old: i..i + 1, new: j..j + 1 });
                }
            }
            (old, new) = (piece.old.end, piece.new.end);
            push(&mut printed, piece);
        }
    }
    if shows_mark(before) { with_marked_line(printed, before, after) } else { printed }
}

/// Adds the line, if there is one, that gains or loses the byte order mark when lines above it are added or removed.
fn with_marked_line(pieces: Vec<DifferingLines>, before: &Buffer, after: &Buffer) -> Vec<DifferingLines> {
    let mut wider = Vec::with_capacity(pieces.len());
    for mut piece in pieces {
        let is_first = piece.old.start == 0 && piece.new.start == 0;
        let is_followed = piece.old.end < line_count(before) && piece.new.end < line_count(after);
        if is_first && is_followed && piece.old.is_empty() != piece.new.is_empty() {
            (piece.old.end, piece.new.end) = (piece.old.end + 1, piece.new.end + 1);
        }
        push(&mut wider, piece);
    }
    wider
}

/// Returns true if a file is only a byte order mark: no line for lockgate, one unterminated line for git.
fn is_lone_mark(buffer: &Buffer) -> bool {
    shows_mark(buffer) && buffer.view().is_empty()
}

fn shows_mark(buffer: &Buffer) -> bool {
    buffer.has_byte_order_mark() && buffer.encoding() == Encoding::Utf8
}

fn line_count(buffer: &Buffer) -> usize {
    if is_lone_mark(buffer) { 1 } else { buffer.lines().count() }
}

fn header(path: &str, before: Option<&Buffer>, after: &Buffer, hunks: &[Vec<DifferingLines>]) -> String {
    let [old, new] = ["a/", "b/"].map(|side| quoted(&format!("{side}{path}")));
    let tab = if path.contains(' ') { "\t" } else { "" };
    let is_empty = |buffer: &Buffer| buffer.bytes().is_empty();
    match before {
        None if hunks.is_empty() => format!("diff --git {old} {new}\nnew file mode 100644\n"),
        None => format!("--- /dev/null\n+++ {new}{tab}\n"),
        Some(_) if hunks.is_empty() => String::new(),
        // Without this header git would read an empty side as a creation or a deletion.
        Some(before) if is_empty(before) || is_empty(after) => {
            format!("diff --git {old} {new}\n--- {old}{tab}\n+++ {new}{tab}\n")
        }
        Some(_) => format!("--- {old}{tab}\n+++ {new}{tab}\n"),
    }
}

/// Quotes a path as git does: as a C string if any byte is not a printable ASCII character.
fn quoted(path: &str) -> String {
    let plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if path.bytes().all(plain) {
        return path.to_owned();
    }
    let inside: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { escaped(byte) })
        .collect();
    format!("\"{inside}\"")
}

fn escaped(byte: u8) -> String {
    match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0x0b => "\\v".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        _ => format!("\\{byte:03o}"),
    }
}

fn numbers(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// Writes lines with their numbers. Of a run that is longer than the extent allows, only the lines near the wanted ones
/// are written, or only the ends. `other` are the lines of the other side.
fn write_numbered(
    sign: char,
    (buffer, run): (&Buffer, Range<usize>),
    other: Option<(&Buffer, Range<usize>)>,
    extent: &Extent,
    text: &mut String,
) {
    let other = other.filter(|(_, lines)| lines.len() == run.len());
    let other_line = |index: usize| {
        other.as_ref().map(|(buffer, lines)| buffer.lines().text(lines.start + index - run.start + 1))
    };
    let (half, near) =
        (extent.max_run / 2, extent.near.as_deref().filter(|_| sign == '+').unwrap_or_default());
    let is_near = |index: usize| near.iter().any(|line| (index + 1).abs_diff(*line) <= CONTEXT);
    let is_short = run.len() <= extent.max_run;
    let has_near = !is_short && run.clone().any(is_near);
    let mut hidden = 0;
    for index in run.clone() {
        let shown = is_short
            || if has_near { is_near(index) } else { index < run.start + half || index >= run.end - half };
        if !shown {
            hidden += 1;
            continue;
        }
        write_hidden(&mut hidden, text);
        let line = shortened(buffer.lines().text(index + 1), other_line(index));
        text.push_str(&format!("{}{sign} {line}\n", index + 1));
    }
    write_hidden(&mut hidden, text);
}

/// Writes the number of lines that were left out, if any, and resets it.
fn write_hidden(hidden: &mut usize, text: &mut String) {
    match std::mem::take(hidden) {
        0 => {}
        1 => text.push_str("... 1 line\n"),
        count => text.push_str(&format!("... {count} lines\n")),
    }
}

/// Returns the line, or a part of a long one: its start, or what surrounds the first difference from the other line.
fn shortened<'l>(line: &'l str, other: Option<&str>) -> Cow<'l, str> {
    if line.char_indices().nth(MAX_SHOWN_CHARS).is_none() {
        return line.into();
    }
    let equal = other.map_or(0, |other| common_prefix(line.as_bytes(), other.as_bytes()));
    let start = line.floor_char_boundary(equal.saturating_sub(MAX_SHOWN_CHARS / 2));
    let rest = line.get(start..).unwrap_or_default();
    let end = rest.char_indices().nth(MAX_SHOWN_CHARS).map(|(end, _)| end);
    let part = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
    let [before, behind] = [start > 0, end.is_some()].map(|is_cut| if is_cut { "..." } else { "" });
    format!("{before}{part}{behind}").into()
}

fn write_lines(
    sign: char,
    buffer: &Buffer,
    lines: Range<usize>,
    text: &mut String,
    max_bytes: usize,
) -> Option<()> {
    for index in lines {
        let line = buffer.lines().text(index + 1);
        // A line can be as long as the file, so one that does not fit is not copied.
        if text.len() + line.len() > max_bytes {
            return None;
        }
        text.push(sign);
        if index == 0 && shows_mark(buffer) {
            text.push('\u{feff}');
        }
        text.push_str(line);
        match buffer.line_end(index + 1) {
            Some(end) => text.push_str(end.text()),
            None => text.push_str("\n\\ No newline at end of file\n"),
        }
        if text.len() > max_bytes {
            return None;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Hints};

    fn edited(before: &[u8], changes: &[(Range<usize>, &str)]) -> (Buffer, Buffer, Plan) {
        let before = Buffer::read(before.to_vec(), Hints::default()).unwrap();
        let change =
            |(span, text): &(Range<usize>, &str)| Change { span: span.clone(), text: (*text).into() };
        let plan = before.plan(changes.iter().map(change).collect()).unwrap();
        let after = before.apply(&plan).unwrap();
        (before, after, plan)
    }

    fn shown(before: &[u8], changes: &[(Range<usize>, &str)]) -> String {
        let (before, after, plan) = edited(before, changes);
        unified("f", Some(&before), &after, &plan).render(usize::MAX).0
    }

    #[test]
    fn a_byte_order_mark_alone_is_a_difference() {
        let [marked, plain] = ["\u{feff}a\nb\n", "a\nb\n"]
            .map(|text| Buffer::read(text.as_bytes().to_vec(), Hints::default()).unwrap());
        let shown = |before: &Buffer, after: &Buffer| {
            let plan = before.replace_all(after.bytes()).unwrap();
            unified("f", Some(before), after, &plan).render(usize::MAX).0
        };
        let head = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n";
        assert_eq!(shown(&marked, &plain), format!("{head}-\u{feff}a\n+a\n b\n"));
        assert_eq!(shown(&plain, &marked), format!("{head}-a\n+\u{feff}a\n b\n"));
        assert_eq!(shown(&marked, &marked), "");
    }

    #[test]
    fn all_lines_behind_a_byte_order_mark_can_be_removed() {
        let before = Buffer::read("\u{feff}x\r\ny".as_bytes().to_vec(), Hints::default()).unwrap();
        let plan = before.replace_all(b"").unwrap();
        let after = Buffer::read(Vec::new(), Hints::default()).unwrap();
        let shown = unified("f", Some(&before), &after, &plan).render(usize::MAX).0;
        let lines = "-\u{feff}x\r\n-y\n\\ No newline at end of file\n";
        assert_eq!(shown, format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +0,0 @@\n{lines}"));
    }

    #[test]
    fn a_line_that_does_not_fit_is_not_copied() {
        let line = "x".repeat(1 << 20);
        let (before, after, plan) = edited(line.as_bytes(), &[(5..6, "y")]);
        let diff = unified("a", Some(&before), &after, &plan);
        for (max_bytes, is_copied) in [(1000, false), (usize::MAX, true)] {
            let (text, _) = diff.render(max_bytes);
            assert_eq!(text.capacity() > line.len(), is_copied, "{max_bytes}");
        }
    }

    #[test]
    fn of_a_long_line_the_part_around_the_first_difference_is_shown() {
        let filler = "\u{e9}".repeat(MAX_SHOWN_CHARS);
        let before = format!("{filler}a{filler}\n");
        let start = filler.len();
        let (old, new, plan) = edited(before.as_bytes(), &[(start..start + 1, "b")]);
        let shown = unified("f", Some(&old), &new, &plan)
            .numbered(usize::MAX, &Extent { max_run: 9, ..Extent::default() })
            .0;
        let [removed, added] = ["- ...", "+ ..."].map(|sign| {
            let line = shown.lines().find(|line| line.starts_with(&format!("1{sign}"))).unwrap();
            line.chars().filter(|char| *char != '\u{e9}').collect::<String>()
        });
        assert_eq!([removed.as_str(), added.as_str()], ["1- ...a...", "1+ ...b..."]);
        assert!(shown.chars().count() < 2 * MAX_SHOWN_CHARS + 30, "{shown}");
        // A line without a counterpart shows its start.
        let (old, new, plan) = edited(before.as_bytes(), &[(0..before.len(), "x\ny\n")]);
        let shown = unified("f", Some(&old), &new, &plan)
            .numbered(usize::MAX, &Extent { max_run: 9, ..Extent::default() })
            .0;
        assert!(shown.starts_with("1- \u{e9}"), "{shown}");
    }

    #[test]
    fn changed_lines_are_shown_with_their_numbers() {
        let before = b"def f():\n    a\n    b\n\nc\n";
        let (old, new, plan) = edited(before, &[(15..21, "    x\n    y\n"), (24..24, "d\n")]);
        let diff = unified("f", Some(&old), &new, &plan);
        let shown = |max_bytes, extent: Extent| diff.numbered(max_bytes, &extent);
        let all = Extent { max_run: 9, ..Extent::default() };
        let wanted = "in def f():\n3- b\n3+ x\n4+ y\n7+ d\n"
            .replace("- b", "-     b")
            .replace("+ x", "+     x")
            .replace("+ y", "+     y");
        assert_eq!(shown(usize::MAX, all.clone()), (wanted, DiffCut::Whole));
        assert_eq!(shown(3, all.clone()), (String::new(), DiffCut::Partial { shown: 0, total: 2 }));
        let first = "in def f():\n3-     b\n3+     x\n4+     y\n";
        let cut = DiffCut::Partial { shown: 1, total: 2 };
        assert_eq!(shown(first.len(), all.clone()), (first.to_owned(), cut), "each run is shown or left out");
        let new = Extent { side: ShownSide::New, ..all.clone() };
        assert_eq!(shown(usize::MAX, new.clone()).0, "3+     x\n4+     y\n7+ d\n");
        let (removed, left, plan_of_removal) = edited(before, &[(15..21, "")]);
        let removal = unified("f", Some(&removed), &left, &plan_of_removal).numbered(usize::MAX, &new).0;
        assert_eq!(removal, "3-     b\n", "no line replaces it");
        let near = |line| Extent { near: Some(vec![line]), ..all.clone() };
        assert_eq!(shown(usize::MAX, near(1)).0.lines().last(), Some("4+     y"));
        assert_eq!(
            shown(usize::MAX, near(90)).0.lines().last(),
            Some("7+ d"),
            "nothing is near: all is shown"
        );
        let (old, new, plan) = edited(b"", &[(0..0, &self::numbered(20))]);
        let long = unified("f", Some(&old), &new, &plan)
            .numbered(usize::MAX, &Extent { max_run: 4, ..Extent::default() })
            .0;
        assert_eq!(long, "1+ 001\n2+ 002\n... 16 lines\n19+ 019\n20+ 020\n");
        let near = Extent { max_run: 4, near: Some(vec![2, 15]), ..Extent::default() };
        let lines = unified("f", Some(&old), &new, &plan).numbered(usize::MAX, &near).0;
        let shown: Vec<&str> = lines.lines().filter(|line| !line.contains('+')).collect();
        assert_eq!((shown, lines.lines().count()), (vec!["... 6 lines", "... 2 lines"], 14));
    }

    fn numbered(count: usize) -> String {
        (1..=count).map(|line| format!("{line:03}\n")).collect()
    }

    #[test]
    fn lines_that_a_replaced_block_keeps_are_context() {
        let wanted = "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n-b\n+x\n c\n d\n";
        assert_eq!(shown(b"a\nb\nc\nd\n", &[(0..8, "a\nx\nc\nd\n")]), wanted);
    }

    #[test]
    fn open_last_lines_are_named() {
        let open = "\\ No newline at end of file\n";
        let wanted = format!("--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n{open}+a\n+b\n{open}");
        assert_eq!(shown(b"a", &[(1..1, "\nb")]), wanted);
    }

    #[test]
    fn line_ends_stand_as_in_the_file_and_other_encodings_are_decoded() {
        let wanted = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\r\n+\u{e9}\r\n b\n";
        assert_eq!(shown(b"a\r\nb\n", &[(0..1, "\u{e9}")]), wanted);
        assert_eq!(shown(b"\xFF\xFEa\0\r\0\n\0b\0\n\0", &[(0..1, "\u{e9}")]), wanted);
    }

    #[test]
    fn hunks_nearer_than_their_contexts_are_one() {
        let text = numbered(30);
        for (lines_between, hunks) in [(6, 1), (7, 2)] {
            let second = 40 + 4 * (lines_between + 1);
            let (before, after, plan) = edited(text.as_bytes(), &[(40..43, "x"), (second..second + 3, "y")]);
            let diff = unified("f", Some(&before), &after, &plan);
            assert_eq!((diff.hunks(), diff.added(), diff.removed()), (hunks, 2, 2), "{lines_between}");
        }
    }

    #[test]
    fn is_cut_between_hunks() {
        let (before, after, plan) =
            edited(numbered(90).as_bytes(), &[(0..3, "x"), (160..163, "y"), (320..323, "z")]);
        let diff = unified("f", Some(&before), &after, &plan);
        let (all, _) = diff.render(usize::MAX);
        let borders: Vec<usize> = all.match_indices("@@ -").map(|(at, _)| at).chain([all.len()]).collect();
        for max_bytes in 0..=all.len() {
            let (text, cut) = diff.render(max_bytes);
            let shown = borders.iter().filter(|&&border| border <= max_bytes).count().saturating_sub(1);
            assert!(text.len() <= max_bytes && all.starts_with(&text));
            match cut {
                DiffCut::Whole => assert_eq!((shown, text.len()), (3, all.len())),
                DiffCut::Partial { shown: 0, total: of } => assert_eq!((shown, of, text.len()), (0, 3, 0)),
                DiffCut::Partial { shown: count, total: of } => {
                    assert_eq!((count, of, text.len()), (shown, 3, borders[shown]))
                }
            }
        }
    }

    #[test]
    fn hunks_near_wanted_lines_come_alone() {
        let (before, after, plan) =
            edited(numbered(90).as_bytes(), &[(0..3, "x"), (160..163, "y"), (320..323, "z")]);
        let diff = unified("f", Some(&before), &after, &plan);
        let near = |lines: &[usize]| Extent { max_run: 12, near: Some(lines.to_vec()), ..Extent::default() };
        let (shown, cut) = diff.render_near(usize::MAX, Some(&near(&[41])));
        assert!(shown.contains("+y") && !shown.contains("+x") && !shown.contains("+z"), "{shown}");
        assert_eq!(cut, DiffCut::Partial { shown: 1, total: 3 });
        assert_eq!(diff.render_near(20, Some(&near(&[41]))).0, "");
        let all = diff.render(usize::MAX);
        for extent in [None, Some(near(&[20])), Some(near(&[1, 41, 81]))] {
            assert_eq!(diff.render_near(usize::MAX, extent.as_ref()), all, "{extent:?}");
        }
    }

    #[test]
    fn quotes_paths_as_git_does() {
        for (path, wanted) in [
            ("b/a b", "b/a b"),
            ("b/\u{e4}", r#""b/\303\244""#),
            ("b/\"\\\t\n\u{1}\u{7f}", r#""b/\"\\\t\n\001\177""#),
        ] {
            assert_eq!(quoted(path), wanted);
        }
    }

    #[test]
    fn says_nothing_of_what_is_the_same() {
        assert_eq!(shown(b"a\nb\n", &[(0..1, "a")]), "");
    }
}
