//! The choice of line ends for new text.
//!
//! Invariant: the returned text has the same lines as the requested text.

use std::borrow::Cow;

use super::buffer::Buffer;
use super::change::Change;
use super::line_end::{LineEnd, fold};

/// Returns a change's text with the line ends of the surrounding file.
///
/// The k-th newline takes the k-th line end of the replaced text. Without one it takes, in this order: the last line
/// end of the replaced text, that of the line that the change is inside, that of the line above, the file's majority,
/// the hint.
pub(super) fn with_line_ends<'a>(buffer: &Buffer, change: &'a Change) -> Cow<'a, str> {
    let text = fold(&change.text);
    if !buffer.line_ends().is_mixed() {
        return match buffer.line_ends().majority().unwrap_or_else(|| buffer.hinted_line_end()) {
            LineEnd::Lf => text,
            LineEnd::CrLf if text.contains('\n') => Cow::Owned(text.replace('\n', "\r\n")),
            LineEnd::CrLf => text,
        };
    }
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    if newlines == 0 {
        return text;
    }
    let replaced = buffer.view().get(change.span.clone()).unwrap_or_default();
    let own = memchr::memchr_iter(b'\n', replaced.as_bytes());
    let own: Vec<LineEnd> = own.take(newlines).map(|at| buffer.line_end_at(change.span.start + at)).collect();
    let rest = own.last().copied().unwrap_or_else(|| nearest_line_end(buffer, change));
    Cow::Owned(with_ends(&text, own.into_iter().chain(std::iter::repeat(rest))))
}

/// Returns the line end nearest to a change that replaces no line end.
fn nearest_line_end(buffer: &Buffer, change: &Change) -> LineEnd {
    let lines = buffer.lines();
    let line = lines.line_at(change.span.start);
    let between_lines = change.span.is_empty() && lines.starts_at(change.span.start);
    let inside = if between_lines { None } else { buffer.line_end(line) };
    inside
        .or_else(|| buffer.line_end(line - 1))
        .or_else(|| buffer.line_ends().majority())
        .unwrap_or_else(|| buffer.hinted_line_end())
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
