//! Collects the lines of the result in order, and computes the changes.

use super::blanks::Blanks;
use super::block::MatchSite;
use lockgate_text::{Change, Lines, common_prefix, common_suffix};

/// A line of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OutputLine {
    /// An unchanged line of the file.
    File(usize),
    /// A line of the file with new text; its line end stays.
    Edited(usize, String),
    New(String),
}

/// The lines of the result so far, and the lines of the file that they replace.
#[derive(Debug)]
pub(super) struct Output<'a> {
    text: Lines<'a>,
    first: usize,
    last: usize,
    window: (usize, usize),
    lines: Vec<OutputLine>,
}

impl<'a> Output<'a> {
    pub(super) fn new(text: Lines<'a>, site: &MatchSite) -> Output<'a> {
        let (first, last) = site.ends();
        Output { text, first, last, window: site.window, lines: Vec::new() }
    }

    /// Removes blank lines above the block, as far as the file has them.
    pub(super) fn remove_above(&mut self, count: usize) {
        let above = (self.window.0..self.first).rev().take(count);
        self.first -= above.take_while(|line| self.is_blank(*line)).count();
    }

    /// Does the same below the block.
    pub(super) fn remove_below(&mut self, count: usize) {
        let below = (self.last + 1..=self.window.1).take(count);
        self.last += below.take_while(|line| self.is_blank(*line)).count();
    }

    pub(super) fn blanks(&mut self, Blanks { existing, added }: Blanks) {
        self.lines.extend(existing.map(OutputLine::File));
        self.lines.extend(std::iter::repeat_n(OutputLine::New(String::new()), added));
    }

    pub(super) fn push(&mut self, out: OutputLine) {
        self.lines.push(out);
    }

    fn is_blank(&self, line: usize) -> bool {
        self.text.text(line).trim().is_empty()
    }

    /// Returns the changes that turn the file's lines into the result.
    pub(super) fn changes(mut self) -> Vec<Change> {
        self.keep_blanks();
        let (mut changes, mut fresh, mut next) = (Vec::new(), Vec::new(), self.first);
        for out in &self.lines {
            let (line, text) = match out {
                OutputLine::New(text) => {
                    fresh.push(text.as_str());
                    continue;
                }
                OutputLine::File(line) => (*line, None),
                OutputLine::Edited(line, text) => (*line, Some(text)),
            };
            changes.extend(self.instead_of(next, line - 1, &fresh));
            changes.extend(text.and_then(|text| self.edited(line, text)));
            fresh.clear();
            next = line + 1;
        }
        changes.extend(self.instead_of(next, self.last, &fresh));
        changes
    }

    /// Keeps blank lines of the file, with their whitespace and line ends, where new ones would replace them.
    fn keep_blanks(&mut self) {
        let mut lines = std::mem::take(&mut self.lines);
        let mut next = self.first;
        // Each run is new lines up to the next line of the file.
        for run in lines.chunk_by_mut(|line, _| matches!(line, OutputLine::New(_))) {
            let end = match run.last() {
                Some(OutputLine::File(line) | OutputLine::Edited(line, _)) => *line,
                Some(OutputLine::New(_)) | None => self.last + 1,
            };
            let existing = (next..end).filter(|line| self.is_blank(*line));
            let added =
                run.iter_mut().filter(|line| matches!(line, OutputLine::New(text) if text.is_empty()));
            added.zip(existing).for_each(|(added, existing)| *added = OutputLine::File(existing));
            next = end + 1;
        }
        self.lines = lines;
    }

    /// Returns the change that replaces the lines from `first` to `last`, which may be an empty range.
    fn instead_of(&self, first: usize, last: usize, fresh: &[&str]) -> Option<Change> {
        let span = self.text.block(first, last);
        let span = if last < first { span.start..span.start } else { span };
        if span.is_empty() && fresh.is_empty() {
            return None;
        }
        let joined = fresh.join("\n");
        let reaches_open_end = last >= self.text.count() && !self.text.ends_with_newline();
        let (span, text) = match (reaches_open_end && self.text.count() > 0, fresh.is_empty()) {
            (false, true) => (span, String::new()),
            (false, false) => (span, joined + "\n"),
            // The last line stays unterminated: the removed range takes the line end before it.
            (true, true) => (span.start.saturating_sub(1)..span.end, String::new()),
            (true, false) if span.is_empty() => (span, format!("\n{joined}")),
            (true, false) => (span, joined),
        };
        Some(Change { span, text })
    }

    /// Returns the change of a line's text, without its common head and tail.
    fn edited(&self, line: usize, text: &str) -> Option<Change> {
        let (start, actual) = (self.text.span(line).start, self.text.text(line));
        trimmed(start, actual, text)
    }
}

/// Returns the change from one text to another, without the common head and tail; `None` if they are the same.
pub(crate) fn trimmed(start: usize, actual: &str, text: &str) -> Option<Change> {
    if actual == text {
        return None;
    }
    // Both ends are cut to whole characters.
    let head = actual.floor_char_boundary(common_prefix(actual.as_bytes(), text.as_bytes()));
    let (actual, text) = (actual.get(head..)?, text.get(head..)?);
    let tail = common_suffix(actual.as_bytes(), text.as_bytes());
    let end = actual.ceil_char_boundary(actual.len() - tail);
    let text = text.get(..text.len() - (actual.len() - end))?.to_owned();
    Some(Change { span: start + head..start + head + end, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::{Buffer, Hints};

    fn laid(file: &str, lines: std::ops::RangeInclusive<usize>, out: Vec<OutputLine>) -> String {
        let buffer = Buffer::read(file.as_bytes().to_vec(), Hints::default()).unwrap();
        let window = (1, buffer.lines().count());
        let site = MatchSite { lines: lines.collect(), differing: None, extra: None, window };
        let output = Output { lines: out, ..Output::new(buffer.lines(), &site) };
        let plan = buffer.plan(output.changes()).unwrap();
        String::from_utf8(buffer.apply(&plan).unwrap().bytes().to_vec()).unwrap()
    }

    fn new(text: &str) -> OutputLine {
        OutputLine::New(text.to_owned())
    }

    #[test]
    fn lines_that_stay_are_not_touched() {
        assert_eq!(
            laid("a\r\nb\nc\r\n", 1..=3, vec![OutputLine::File(1), new("x"), OutputLine::File(3)]),
            "a\r\nx\nc\r\n"
        );
        assert_eq!(
            laid("a\r\nb\n", 1..=2, vec![OutputLine::Edited(1, "z".into()), OutputLine::File(2)]),
            "z\r\nb\n"
        );
        assert_eq!(laid("a\r\nb\n", 1..=1, vec![OutputLine::File(1), new("x")]), "a\r\nx\r\nb\n");
    }

    #[test]
    fn a_blank_line_is_not_replaced_by_another() {
        let file = "a\n  \r\nb\n\t\nc\n";
        assert_eq!(laid(file, 1..=3, vec![new("")]), "  \r\n\t\nc\n");
        assert_eq!(laid(file, 3..=5, vec![new(""), OutputLine::File(5)]), "a\n  \r\n\t\nc\n");
        assert_eq!(laid(file, 1..=5, vec![new("x"), new(""), new("y"), new("")]), "x\n  \r\ny\n\t\n");
        assert_eq!(laid(file, 1..=3, vec![OutputLine::File(1), new(""), new("")]), "a\n  \r\n\n\t\nc\n");
        assert_eq!(laid("a\n  \nb", 1..=3, vec![new("")]), "  ");
    }

    #[test]
    fn an_open_end_stays_open() {
        assert_eq!(laid("a\nb", 2..=2, vec![OutputLine::File(2), new("c")]), "a\nb\nc");
        assert_eq!(laid("a\nb", 2..=2, vec![new("c"), new("d")]), "a\nc\nd");
        assert_eq!(laid("a\nb", 2..=2, vec![]), "a");
        assert_eq!(laid("a\nb", 1..=2, vec![]), "");
        assert_eq!(laid("a\nb\n", 2..=2, vec![]), "a\n");
    }

    #[test]
    fn a_change_is_as_small_as_it_can_be() {
        assert_eq!(trimmed(5, "abcd", "abXcd"), Some(Change { span: 7..7, text: "X".into() }));
        assert_eq!(trimmed(0, "aa", "aaa"), Some(Change { span: 2..2, text: "a".into() }));
        assert_eq!(trimmed(0, "é", "è"), Some(Change { span: 0..2, text: "è".into() }));
        assert_eq!(trimmed(0, "a", "a"), None);
    }
}
