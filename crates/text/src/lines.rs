//! Line starts of a text.
//!
//! Invariant: lines are split after `\n` only; joined together they are the text.

use std::ops::{Range, RangeInclusive};

/// The lines of a text, numbered from 1; `"a\nb\n"` and `"a\nb"` both have 2, `""` has none.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    text: &'a str,
    starts: &'a [u32],
}

impl<'a> Lines<'a> {
    /// Creates the lines of a text from the line starts that [`starts`] returned for it.
    pub(super) fn new(text: &'a str, starts: &'a [u32]) -> Lines<'a> {
        Lines { text, starts }
    }

    /// Returns the number of lines.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the span of a line, including its line end; beyond the last line an empty span at the end of the text.
    pub fn span(&self, line: usize) -> Range<usize> {
        self.start(line)..self.start(line.saturating_add(1))
    }

    /// Returns the span of the lines `first` to `last` inclusive, including line ends; empty if `last < first`.
    pub fn block(&self, first: usize, last: usize) -> Range<usize> {
        let start = self.start(first);
        start..self.start(last.saturating_add(1)).max(start)
    }

    /// Returns a line without its line end; `""` beyond the last line.
    pub fn text(&self, line: usize) -> &'a str {
        let whole = self.with_line_end(line);
        whole.strip_suffix('\n').unwrap_or(whole)
    }

    /// Returns a line with its line end.
    pub fn with_line_end(&self, line: usize) -> &'a str {
        self.text.get(self.span(line)).unwrap_or_default()
    }

    /// Returns the line of an offset: 1 plus the number of line ends before it. The end of a text that ends with a
    /// newline is on the line after the last.
    pub fn line_at(&self, offset: usize) -> usize {
        let line = self.starts.partition_point(|&start| start as usize <= offset);
        let beyond = offset >= self.text.len() && (self.text.is_empty() || self.ends_with_newline());
        if beyond { line + 1 } else { line }
    }

    /// Returns the first and the last line of a span of the text.
    pub fn lines_at(&self, span: &Range<usize>) -> RangeInclusive<usize> {
        self.line_at(span.start)..=self.line_at(span.end.saturating_sub(1).max(span.start))
    }

    /// Returns true if a line starts at this offset, or would start there if text followed.
    pub fn starts_at(&self, offset: usize) -> bool {
        offset == 0 || self.text.as_bytes().get(offset - 1) == Some(&b'\n')
    }

    /// Returns true if the last line ends with a newline; false for an empty text.
    pub fn ends_with_newline(&self) -> bool {
        self.text.ends_with('\n')
    }

    /// Iterates over the lines in order, without their line ends.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a str> + use<'a> {
        let lines = *self;
        (1..=lines.count()).map(move |line| lines.text(line))
    }

    fn start(&self, line: usize) -> usize {
        match line.checked_sub(1) {
            None => 0,
            Some(index) => self.starts.get(index).map_or(self.text.len(), |&start| start as usize),
        }
    }
}

/// Returns the offsets of the line starts; the text is shorter than 4 GiB.
pub(super) fn starts(text: &str) -> Vec<u32> {
    let ends = || memchr::memchr_iter(b'\n', text.as_bytes());
    let mut starts = Vec::with_capacity(ends().count() + 1);
    starts.push(0);
    starts.extend(ends().map(|end| to_start(end + 1)));
    // No line starts at the end of the text.
    starts.pop_if(|start| *start as usize >= text.len());
    starts
}

/// The line starts of a text after parts of it are replaced, from its start to its end; the other parts are not read.
pub(super) struct SplicedStarts<'a> {
    /// The starts in the text before that are neither kept nor removed yet.
    rest: &'a [u32],
    /// The end of the text before, if it ends with a newline: a line starts there once text follows.
    beyond: Option<u32>,
    after: Vec<u32>,
    added_bytes: usize,
    removed_bytes: usize,
}

impl<'a> SplicedStarts<'a> {
    /// Begins with the starts that [`starts`] returned for the text; `added_lines` reserves space for as many more.
    pub(super) fn new(text: &str, starts: &'a [u32], added_lines: usize) -> SplicedStarts<'a> {
        let mut after = Vec::with_capacity(starts.len() + 1 + added_lines);
        if text.is_empty() {
            after.push(0);
        }
        let beyond = Some(to_start(text.len())).filter(|_| text.ends_with('\n'));
        SplicedStarts { rest: starts, beyond, after, added_bytes: 0, removed_bytes: 0 }
    }

    /// Replaces a span, which is counted in the text before and follows those of earlier calls.
    pub(super) fn replace(&mut self, span: &Range<usize>, text: &str) {
        self.keep_up_to(span.start);
        self.take_up_to(span.end);
        let start = span.start + self.added_bytes - self.removed_bytes;
        self.after.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| to_start(start + end + 1)));
        self.added_bytes += text.len();
        self.removed_bytes += span.len();
    }

    /// Returns the starts in the text after, which has this length.
    pub(super) fn finish(mut self, length: usize) -> Vec<u32> {
        self.keep_up_to(usize::MAX);
        self.after.pop_if(|start| *start as usize >= length);
        self.after
    }

    fn keep_up_to(&mut self, last: usize) {
        let (kept, beyond) = self.take_up_to(last);
        let (added, removed) = (self.added_bytes, self.removed_bytes);
        let shifted =
            kept.iter().copied().chain(beyond).map(|start| to_start(start as usize + added - removed));
        self.after.extend(shifted);
    }

    /// Takes the starts up to an offset of the text before out of those that remain.
    fn take_up_to(&mut self, last: usize) -> (&'a [u32], Option<u32>) {
        let is_taken = |start: &u32| *start as usize <= last;
        let (taken, rest) = self.rest.split_at(self.rest.partition_point(is_taken));
        self.rest = rest;
        (taken, self.beyond.take_if(|beyond| is_taken(beyond)))
    }
}

/// An offset of a text that is shorter than 4 GiB.
fn to_start(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_lines(text: &str, check: impl Fn(Lines<'_>)) {
        check(Lines::new(text, &starts(text)));
    }

    #[test]
    fn an_end_of_file_newline_opens_no_line() {
        for (text, count) in [("", 0), ("\n", 1), ("a", 1), ("a\nb", 2), ("a\nb\n", 2), ("\n\n", 2)] {
            with_lines(text, |lines| assert_eq!(lines.count(), count, "{text:?}"));
        }
    }

    #[test]
    fn other_separators_end_no_line() {
        with_lines("a\rb\u{b}c\u{c}d\u{85}e\u{2028}f\u{2029}g\n", |lines| assert_eq!(lines.count(), 1));
    }

    #[test]
    fn gives_spans_and_texts_even_beyond_the_ends() {
        with_lines("ab\n\ncd", |lines| {
            assert_eq!([0, 1, 2, 3, 4, 9].map(|line| lines.span(line)), [0..0, 0..3, 3..4, 4..6, 6..6, 6..6]);
            assert_eq!([0, 1, 2, 3, 4].map(|line| lines.text(line)), ["", "ab", "", "cd", ""]);
            assert_eq!((lines.block(2, 3), lines.block(2, 1)), (3..6, 3..3));
            assert_eq!(lines.span(usize::MAX), 6..6);
            assert_eq!(lines.iter().collect::<Vec<_>>(), ["ab", "", "cd"]);
        });
    }

    #[test]
    fn finds_the_line_of_an_offset() {
        with_lines("ab\n\ncd", |lines| {
            assert_eq!([0, 2, 3, 4, 6, 99].map(|offset| lines.line_at(offset)), [1, 1, 2, 3, 3, 3]);
            assert_eq!(
                [0, 1, 3, 4, 6].map(|offset| lines.starts_at(offset)),
                [true, false, true, true, false]
            );
        });
        with_lines("a\n", |lines| {
            assert_eq!((lines.line_at(1), lines.line_at(2), lines.starts_at(2)), (1, 2, true))
        });
        with_lines("", |lines| assert_eq!(lines.line_at(0), 1));
    }

    #[test]
    fn splices_move_the_starts_after_them() {
        for (before, splices, after) in [
            ("", &[(0..0, "a\nb")][..], "a\nb"),
            ("a\nb\n", &[(1..2, "")], "ab\n"),
            ("a\nb\n", &[(3..4, "")], "a\nb"),
            ("a\nb\n", &[(4..4, "c")], "a\nb\nc"),
            ("a\nb\n", &[(2..2, "x\n"), (2..2, "y\n")], "a\nx\ny\nb\n"),
            ("a\nb\nc\n", &[(0..2, ""), (4..6, "d\ne\n")], "b\nd\ne\n"),
            ("a\nb\n", &[(0..4, "")], ""),
        ] {
            let known = starts(before);
            let mut spliced = SplicedStarts::new(before, &known, 0);
            splices.iter().for_each(|(span, text)| spliced.replace(span, text));
            assert_eq!(spliced.finish(after.len()), starts(after), "{before:?} {splices:?}");
        }
    }
}
