//! Line ends of a file.
//!
//! Invariant: only `\n` and `\r\n` end a line; a lone carriage return is a character of its line.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;

/// One of the two line ends that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineEnd {
    /// A line feed alone: `\n`.
    Lf,
    /// A carriage return and a line feed: `\r\n`.
    CrLf,
}

impl LineEnd {
    /// Returns the characters of the line end.
    pub const fn text(self) -> &'static str {
        match self {
            LineEnd::Lf => "\n",
            LineEnd::CrLf => "\r\n",
        }
    }
}

impl fmt::Display for LineEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LineEnd::Lf => "LF",
            LineEnd::CrLf => "CRLF",
        })
    }
}

/// The number of lines of a text by line end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineEnds {
    /// Lines that end in `\n` alone.
    pub lf: usize,
    /// Lines that end in `\r\n`.
    pub crlf: usize,
}

impl LineEnds {
    /// Counts the line ends of a text.
    pub fn count(text: &str) -> LineEnds {
        let crlf = memmem::find_iter(text.as_bytes(), "\r\n").count();
        let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        LineEnds { lf: all - crlf, crlf }
    }

    /// Returns the most common line end; LF if both are equally common, `None` if no line is terminated.
    pub fn majority(&self) -> Option<LineEnd> {
        match (self.lf, self.crlf) {
            (0, 0) => None,
            (lf, crlf) if crlf > lf => Some(LineEnd::CrLf),
            _ => Some(LineEnd::Lf),
        }
    }

    /// Returns true if both line ends occur.
    pub fn is_mixed(&self) -> bool {
        self.lf > 0 && self.crlf > 0
    }

    /// Returns a sentence about the change of line ends, or `None` if they stay the same.
    pub fn change_to(&self, new: &LineEnds) -> Option<String> {
        let same = self.majority() == new.majority() && self.is_mixed() == new.is_mixed();
        if same || self.majority().is_none() || new.majority().is_none() {
            return None;
        }
        Some(format!("line ends changed from {self} to {new}"))
    }
}

impl fmt::Display for LineEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.majority() {
            None => f.write_str("none"),
            Some(_) if self.is_mixed() => write!(f, "mixed ({} LF, {} CRLF)", self.lf, self.crlf),
            Some(end) => end.fmt(f),
        }
    }
}

/// Replaces every `\r\n` by `\n`.
pub(super) fn fold(text: &str) -> Cow<'_, str> {
    let mut folded = String::new();
    let mut from = 0;
    for at in memmem::find_iter(text.as_bytes(), "\r\n") {
        if from == 0 {
            folded.reserve(text.len());
        }
        folded.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    folded.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_pairs_and_leaves_lone_carriage_returns() {
        assert_eq!(fold("a\r\nb\rc\r\r\n\n\r"), "a\nb\rc\r\n\n\r");
        assert!(matches!(fold("a\nb\r"), Cow::Borrowed("a\nb\r")));
    }

    #[test]
    fn counts_and_names_the_majority() {
        let line_ends = LineEnds::count("a\r\nb\nc\r\nd\r");
        assert_eq!((line_ends, line_ends.majority()), (LineEnds { lf: 1, crlf: 2 }, Some(LineEnd::CrLf)));
        assert_eq!(LineEnds::count("a\r\nb\n").majority(), Some(LineEnd::Lf));
        assert_eq!(LineEnds::count("a\rb").majority(), None);
    }

    #[test]
    fn says_what_changed_only_when_something_did() {
        let [lf, crlf, mixed] = ["a\nb\n", "a\r\n", "a\nb\nc\r\n"].map(LineEnds::count);
        assert_eq!(lf.change_to(&crlf).as_deref(), Some("line ends changed from LF to CRLF"));
        assert_eq!(
            lf.change_to(&mixed).as_deref(),
            Some("line ends changed from LF to mixed (2 LF, 1 CRLF)")
        );
        assert_eq!(mixed.change_to(&mixed), None);
        assert_eq!(crlf.change_to(&LineEnds::count("one open line")), None);
    }
}
