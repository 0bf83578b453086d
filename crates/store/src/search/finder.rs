//! Searches one text: line by line, or as a whole if a match may span lines.
//!
//! Invariant: the lines that are found depend neither on the pieces in which a text is searched, nor on the
//! clock, except that lines after the deadline are not found.

use super::clock::Clock;
use super::pattern::SearchPattern;
use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use std::io;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// The bytes that are searched between two looks at the clock: the first piece, and the bounds of later ones.
const FIRST_PIECE: usize = 2 << 10;
const PIECES: (usize, usize) = (512, 256 << 10);
/// The desired time for a piece: after a faster one the next is larger, after a slower one smaller.
const PIECE_TIME: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));
/// The bytes above which a text that cannot be split is sampled first, to estimate the time for the whole:
/// the number of samples, and the bytes of each.
const WIDE: usize = 512 << 10;
const SAMPLES: (usize, usize) = (8, 1 << 10);

/// The end of a search through a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// The text was searched completely, or as far as was wanted.
    Done,
    /// The time limit was reached during the search.
    Late,
    /// The text was not searched, because that would take longer than the time left.
    Slow,
}

/// Receives the range of a match's lines, and returns if more are wanted.
type Take<'f> = dyn FnMut(Range<usize>) -> ControlFlow<()> + 'f;

/// Searches texts for a pattern, and reuses its buffers.
#[derive(Debug)]
pub struct Finder<'p> {
    pattern: &'p SearchPattern,
    searcher: Searcher,
    piece: usize,
    /// The number of bytes searched so far.
    searched: usize,
}

impl<'p> Finder<'p> {
    /// A finder for this pattern.
    pub fn new(pattern: &'p SearchPattern) -> Finder<'p> {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(LineTerminator::byte(b'\n'))
            .line_number(false)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none());
        Finder { pattern, searcher: builder.build(), piece: FIRST_PIECE, searched: 0 }
    }

    /// Passes on the matches in a text with `\n` line ends: for each the range of its lines, including their
    /// line ends. A line is reported once; the next match is searched for after the lines of the last one.
    pub fn each(
        &mut self,
        text: &[u8],
        clock: &Clock<'_>,
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> SearchEnd {
        if self.pattern.is_whole {
            self.whole(text, clock, &mut found)
        } else {
            self.lines(text, clock, &mut found)
        }
    }

    /// Searches piece by piece, so that the clock is checked however slow a pattern is.
    fn lines(&mut self, text: &[u8], clock: &Clock<'_>, found: &mut Take<'_>) -> SearchEnd {
        let mut from = 0;
        while from < text.len() {
            let end = piece_end(text, from, self.piece);
            let piece = text.get(from..end).unwrap_or_default();
            if !self.is_affordable(piece, clock) {
                return SearchEnd::Slow;
            }
            let mut lines = PieceLines { from, found: &mut *found, is_over: false };
            let began = Instant::now();
            self.pattern.engines.after(self.searched).search(&mut self.searcher, piece, &mut lines);
            self.searched = self.searched.saturating_add(piece.len());
            if lines.is_over {
                return SearchEnd::Done;
            }
            self.weigh(began.elapsed(), piece.len());
            from = end;
            if !clock.may_continue() {
                return if from < text.len() { SearchEnd::Late } else { SearchEnd::Done };
            }
        }
        SearchEnd::Done
    }

    fn weigh(&mut self, took: Duration, bytes: usize) {
        let ((least, most), (short, long)) = (PIECES, PIECE_TIME);
        if took > long {
            self.piece = (self.piece / 4).max(least);
        } else if took < short && bytes >= self.piece {
            self.piece = (self.piece * 4).min(most);
        }
    }

    /// Searches a text as a whole.
    fn whole(&self, text: &[u8], clock: &Clock<'_>, found: &mut Take<'_>) -> SearchEnd {
        if !self.is_affordable(text, clock) {
            return SearchEnd::Slow;
        }
        let engine = self.pattern.engines.after(self.searched);
        let mut from = 0;
        while from < text.len() {
            let Some(matched) = engine.find_at(text, from) else { return SearchEnd::Done };
            let lines = around(text, matched);
            if lines.is_empty() {
                return SearchEnd::Done;
            }
            from = lines.end;
            if found(lines).is_break() {
                return SearchEnd::Done;
            }
            if !clock.may_continue() {
                return SearchEnd::Late;
            }
        }
        SearchEnd::Done
    }

    /// True if there is time for a text that must be searched in one go. Samples give the estimate: the time
    /// of a pattern is linear in the text, but the factor may be anything up to the size of its program.
    fn is_affordable(&self, text: &[u8], clock: &Clock<'_>) -> bool {
        if text.len() < WIDE {
            return true;
        }
        let (samples, length) = SAMPLES;
        let share = clock.left() / u32::try_from(text.len() / (samples * length)).unwrap_or(u32::MAX).max(1);
        let began = Instant::now();
        let step = text.len() / samples;
        let engine = self.pattern.engines.after(self.searched);
        (0..samples).all(|sample| {
            let sample = text.get(sample * step..).and_then(|rest| rest.get(..length)).unwrap_or_default();
            let mut from = 0;
            while let Some(matched) = engine.find_at(sample, from) {
                // As in the search, the lines of a match are not searched again.
                from = around(sample, matched).end.max(from + 1);
                if from >= sample.len() {
                    break;
                }
            }
            began.elapsed() <= share
        })
    }
}

/// Passes on the lines of one piece.
struct PieceLines<'f> {
    /// The start of the piece in the text.
    from: usize,
    found: &'f mut Take<'f>,
    is_over: bool,
}

impl Sink for PieceLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        let within = line.bytes_range_in_buffer();
        self.is_over = (self.found)(self.from + within.start..self.from + within.end).is_break();
        Ok(!self.is_over)
    }
}

/// Returns the end of a piece of about this many bytes: after a line end, or the end of the text.
fn piece_end(text: &[u8], from: usize, bytes: usize) -> usize {
    let least = from.saturating_add(bytes.max(1)) - 1;
    let rest = text.get(least..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |end| least + end + 1)
}

/// The range of the lines of a match, including their ends; limited to the last line.
fn around(text: &[u8], matched: Range<usize>) -> Range<usize> {
    let before = text.get(..matched.start).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    // A match that ends with a line end does not extend to the next line.
    let last = if matched.is_empty() { matched.end } else { matched.end - 1 };
    let rest = text.get(last..).unwrap_or_default();
    start..memchr::memchr(b'\n', rest).map_or(text.len(), |end| last + end + 1)
}

#[cfg(test)]
mod tests {
    use super::super::engine::{LITTLE, MatchReach};
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> SearchPattern {
        SearchPattern::new(text, MatchReach::Line).unwrap()
    }

    fn lines(pattern: &SearchPattern, text: &str, piece: usize) -> Vec<String> {
        let clock = Clock::new(Instant::now() + Duration::from_secs(600), &());
        let [light, heavy] = [0, LITTLE].map(|searched| {
            let mut found = Vec::new();
            let end =
                Finder { piece, searched, ..Finder::new(pattern) }.each(text.as_bytes(), &clock, |lines| {
                    found.push(text.get(lines).unwrap().to_owned());
                    ControlFlow::Continue(())
                });
            assert_eq!(end, SearchEnd::Done);
            found
        });
        assert_eq!(light, heavy);
        light
    }

    #[test]
    fn lines_are_found_once_and_whole() {
        for (source, text, expected) in [
            ("return", "return return\nx\nreturn", vec!["return return\n", "return"]),
            ("^$", "a\n\nb\n", vec!["\n"]),
            ("$", "a\nb", vec!["a\n", "b"]),
            ("a$", "a\nba\n", vec!["a\n", "ba\n"]),
            ("x*", "a\n", vec!["a\n"]),
            (r"\s", "a\n b\n", vec![" b\n"]),
            (r"\Aa", "a\na\n", vec!["a\n"]),
            (r"a\z", "a\na", vec!["a"]),
            ("(?i)ÄB", "äb\n", vec!["äb\n"]),
            ("a", "", vec![]),
            ("^", "", vec![]),
        ] {
            for piece in [1, 3, 100] {
                assert_eq!(lines(&pattern(source), text, piece), expected, "{source} in {text:?}");
            }
        }
    }

    #[test]
    fn a_match_may_reach_over_lines_where_that_is_asked() {
        for (source, text, expected) in [
            (r"a\nb", "x\na\nb\na\nb", vec!["a\nb\n", "a\nb"]),
            (r"a\n", "a\nb\n", vec!["a\n"]),
            (r"(?s)a.*b", "1\na\n\nb\n2\n", vec!["a\n\nb\n"]),
            (r"\n", "a\nb", vec!["a\n"]),
            ("a|b", "a\nb b\n", vec!["a\n", "b b\n"]),
            ("$", "a\n", vec!["a\n"]),
        ] {
            let pattern = SearchPattern::new(source, MatchReach::Lines).unwrap();
            assert_eq!(lines(&pattern, text, FIRST_PIECE), expected, "{source} in {text:?}");
        }
    }

    #[test]
    fn a_pattern_that_is_slow_ends_with_the_time() {
        // Every `x` adds another way to continue the pattern. No machine reads these texts within the time, even
        // as plain bytes.
        let slow = SearchPattern::new("x.{0,900}y.{0,900}z", MatchReach::Line).unwrap();
        for (text, expected) in
            [("x\n".repeat(3 << 20), SearchEnd::Late), ("x".repeat(6 << 20), SearchEnd::Slow)]
        {
            let clock = Clock::new(Instant::now() + Duration::from_millis(1), &());
            let end = Finder::new(&slow).each(text.as_bytes(), &clock, |_| ControlFlow::Continue(()));
            assert_eq!(end, expected);
        }
    }

    const PARTS: &[&str] = &["a", "^", "$", ".", "[ab]+", r"\b", r"\B", "(?i:A)", "c*", r"\s", "[^a]", "ä"];

    proptest! {
        #[test]
        fn neither_pieces_nor_engines_show(
            source in prop::collection::vec(prop::sample::select(PARTS), 1..5)
                .prop_map(|parts| parts.concat()),
            text in "[abcä \r\n]{0,40}",
            piece in 1_usize..20,
        ) {
            let pattern = pattern(&source);
            let naive: Vec<String> = text
                .split_inclusive('\n')
                .filter(|line| {
                    let line = line.strip_suffix('\n').unwrap_or(line);
                    regex::Regex::new(&source).unwrap().is_match(line)
                })
                .map(str::to_owned)
                .collect();
            prop_assert_eq!(lines(&pattern, &text, piece), naive.clone());
            let whole = SearchPattern { is_whole: true, ..pattern };
            prop_assert_eq!(lines(&whole, &text, piece), naive);
        }
    }
}
