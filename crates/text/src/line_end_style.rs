//! The choice of line ends for new text.
//!
//! Invariant: the returned text has the same lines as the requested text.

use std::borrow::Cow;
use std::ops::Range;

use super::align::differing_lines;
use super::buffer::Buffer;
use super::change::Change;
use super::line_end::{LineEnd, fold};

/// Returns a change's text with the line ends of the surrounding file.
///
/// A line that the replaced text has as well keeps its line end. Of the lines between two such lines, the k-th newline
/// takes the k-th line end that it replaces. Without one it takes, in this order: the last line end that is replaced
/// there, that of the line that the new text is inside, that of the line above, the file's majority, the hint.
pub(super) fn with_line_ends<'a>(buffer: &Buffer, change: &'a Change) -> Cow<'a, str> {
    let text = fold(&change.text);
    if !buffer.line_ends().is_mixed() {
        return match buffer.usual_line_end() {
            LineEnd::Lf => text,
            LineEnd::CrLf if text.contains('\n') => Cow::Owned(text.replace('\n', "\r\n")),
            LineEnd::CrLf => text,
        };
    }
    if !text.contains('\n') {
        return text;
    }
    let replaced = buffer.view().get(change.span.clone()).unwrap_or_default();
    let [old, new] = [replaced, &text].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let starts: Vec<usize> = old
        .iter()
        .scan(change.span.start, |at, line| Some(std::mem::replace(at, *at + line.len())))
        .chain([change.span.end])
        .collect();
    let start = |line: usize| starts.get(line).copied().unwrap_or(change.span.end);
    let mut line_ends = Vec::new();
    let mut from = 0;
    for (removed, added) in differing_lines(&old, &new) {
        line_ends.extend(line_ends_in(buffer, start(from)..start(removed.start)));
        let span = start(removed.start)..start(removed.end);
        let newlines = new.get(added).unwrap_or_default().iter().filter(|line| line.ends_with('\n')).count();
        let own: Vec<LineEnd> = line_ends_in(buffer, span.clone()).take(newlines).collect();
        let rest = own.last().copied().unwrap_or_else(|| nearest_line_end(buffer, &span));
        line_ends.extend(own.into_iter().chain(std::iter::repeat(rest)).take(newlines));
        from = removed.end;
    }
    line_ends.extend(line_ends_in(buffer, start(from)..change.span.end));
    Cow::Owned(with_ends(&text, line_ends.into_iter()))
}

/// Returns the line ends in a part of the view.
fn line_ends_in(buffer: &Buffer, span: Range<usize>) -> impl Iterator<Item = LineEnd> {
    let text = buffer.view().get(span.clone()).unwrap_or_default();
    memchr::memchr_iter(b'\n', text.as_bytes()).map(move |at| buffer.line_end_at(span.start + at))
}

/// Returns the line end nearest to a part of the view that has no line end.
fn nearest_line_end(buffer: &Buffer, span: &Range<usize>) -> LineEnd {
    let lines = buffer.lines();
    let line = lines.line_at(span.start);
    let between_lines = span.is_empty() && lines.starts_at(span.start);
    let inside = if between_lines { None } else { buffer.line_end(line) };
    inside.or_else(|| buffer.line_end(line - 1)).unwrap_or_else(|| buffer.usual_line_end())
}

fn with_ends(text: &str, mut line_ends: impl Iterator<Item = LineEnd>) -> String {
    let mut converted = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(open) => {
                converted.push_str(open);
                converted.push_str(line_ends.next().unwrap_or(LineEnd::Lf).text());
            }
            None => converted.push_str(line),
        }
    }
    converted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hints;

    fn converted(file: &str, span: std::ops::Range<usize>, text: &str) -> String {
        let hints = Hints { charset: None, line_end: Some(LineEnd::CrLf) };
        let buffer = Buffer::read(file.into(), hints).unwrap();
        super::with_line_ends(&buffer, &Change { span, text: text.into() }).into_owned()
    }

    #[test]
    fn a_uniform_file_decides_and_an_empty_one_asks_the_hint() {
        assert_eq!(converted("a\nb\n", 0..2, "x\r\ny\n"), "x\ny\n");
        assert_eq!(converted("a\r\nb", 3..3, "\nx\n\r"), "\r\nx\r\n\r");
        assert_eq!(converted("", 0..0, "x\ny"), "x\r\ny");
    }

    #[test]
    fn in_a_mixed_file_each_line_end_follows_the_one_it_replaces() {
        let file = "a\r\nb\nc\r\nd\ne\nf\n";
        assert_eq!(converted(file, 0..4, "x\ny\n"), "x\r\ny\n");
        assert_eq!(converted(file, 2..6, "x\ny\nz\n"), "x\ny\r\nz\r\n");
        assert_eq!(converted(file, 0..6, "x\n"), "x\r\n");
    }

    #[test]
    fn in_a_mixed_file_a_line_that_stays_keeps_its_line_end() {
        let file = "a\nb\r\nc\nd\n";
        assert_eq!(converted(file, 0..6, "x\na\nb\nc\n"), "x\na\nb\r\nc\n");
        assert_eq!(converted(file, 0..6, "b\nc\n"), "b\r\nc\n");
        assert_eq!(converted(file, 0..6, "a\nb\nx\nc\n"), "a\nb\r\nx\r\nc\n");
        assert_eq!(converted(file, 0..5, "b\nx\ny\nc"), "b\r\nx\r\ny\r\nc");
    }

    #[test]
    fn in_a_mixed_file_an_insertion_follows_the_line_above_and_a_split_line_itself() {
        let file = "a\r\nb\nc\r\nd\ne\nf";
        assert_eq!(converted(file, 2..2, "x\n"), "x\r\n");
        assert_eq!(converted(file, 4..4, "x\n"), "x\n");
        assert_eq!(converted(file, 2..3, "x\ny"), "x\ny");
        assert_eq!(converted(file, 5..5, "\n"), "\r\n");
        assert_eq!(converted(file, 0..0, "x\n"), "x\n", "no line above: the majority");
        assert_eq!(converted(file, 11..11, "\nx"), "\nx", "an open line has no line end: the line above");
    }
}
