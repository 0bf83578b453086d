//! What is looked for: a regular expression that lines of a text match.
//!
//! Invariant: the time that a pattern takes is linear in the text; one that would be too large is refused.

use super::clock::Clock;
use crate::error::{Code, Error};
use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use regex_syntax::hir::Look;
use regex_syntax::{Parser, ParserBuilder};
use std::io;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// The longest pattern, in bytes; and the largest program and cache that one may be turned into.
const LONGEST: usize = 10_000;
const LARGEST: usize = 1 << 20;
const CACHE: usize = 16 << 20;

/// Bytes that are searched before the clock is looked at: the first time, and within which bounds afterwards.
const FIRST_PIECE: usize = 64 << 10;
const PIECES: (usize, usize) = (1 << 10, 8 << 20);
/// How long a piece should take: shorter ones are followed by larger ones, longer ones by smaller ones.
const PIECE_TIME: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(20));

const SYNTAX: &str = "the syntax is that of the Rust crate regex: look-around and back references are not supported; \
    write \\( \\[ \\{ \\. \\* \\+ \\? \\| \\\\ to find these characters themselves";

/// How far a match may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It lies within one line.
    Line,
    /// It may go on over line ends.
    Lines,
}

/// A regular expression that was understood.
#[derive(Debug)]
pub struct Pattern {
    matcher: RegexMatcher,
    /// Whether it must see a text as a whole: it reaches over lines, or asks for the text's start or end.
    is_whole: bool,
}

impl Pattern {
    /// Understands a pattern in the syntax of the crate `regex`; `^` and `$` are the start and end of a line.
    ///
    /// Errors: `BAD_PATTERN` for one that is not valid, too large, or reaches over lines where it may not.
    pub fn new(pattern: &str, reach: Reach) -> Result<Pattern, Error> {
        if pattern.len() > LONGEST {
            return Err(bad(format!("it is longer than {LONGEST} bytes")));
        }
        let mut parser: Parser = ParserBuilder::new().multi_line(true).utf8(false).build();
        let looks = match parser.parse(pattern) {
            Ok(parsed) => parsed.properties().look_set(),
            Err(error) => return Err(bad(said(&error, pattern))),
        };
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).size_limit(LARGEST).dfa_size_limit(CACHE);
        if reach == Reach::Line {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(pattern).map_err(|error| unbuilt(&error))?;
        let is_whole = reach == Reach::Lines || looks.contains(Look::Start) || looks.contains(Look::End);
        Ok(Pattern { matcher, is_whole })
    }

    /// The first match in a piece of text, from an offset on.
    pub fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let found = self.matcher.find_at(text.as_bytes(), from).ok().flatten()?;
        Some(found.start()..found.end())
    }
}

fn bad(what: String) -> Error {
    Error::new(Code::BadPattern, format!("invalid regex: {what}")).field("pattern").hint(SYNTAX)
}

/// What is wrong with a pattern, and where.
fn said(error: &regex_syntax::Error, pattern: &str) -> String {
    let (what, at) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span().start.offset),
        other => return other.to_string(),
    };
    let before = pattern.get(..at).unwrap_or_default().chars().count();
    format!("{what}, at character {}", before + 1)
}

fn unbuilt(error: &grep_regex::Error) -> Error {
    match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) => bad("it asks for a line end".to_owned())
            .hint("give multiline: true to find what reaches over lines"),
        _ => {
            let said = error.to_string();
            let large = said.contains("size limit");
            bad(if large { "it is too large once its repetitions are written out".to_owned() } else { said })
        }
    }
}

/// Looks for a pattern, with what is used again for the next text.
#[derive(Debug)]
pub struct Finder<'p> {
    pattern: &'p Pattern,
    searcher: Searcher,
    piece: usize,
}

impl<'p> Finder<'p> {
    /// Looks for this pattern.
    pub fn new(pattern: &'p Pattern) -> Finder<'p> {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(LineTerminator::byte(b'\n'))
            .line_number(false)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none());
        Finder { pattern, searcher: builder.build(), piece: FIRST_PIECE }
    }

    /// Goes through the matches in a text whose lines end in `\n`: the span of each one's lines, their line ends included.
    /// A line is given once.
    pub fn each(&mut self, text: &[u8], mut found: impl FnMut(Range<usize>) -> ControlFlow<()>) {
        self.run(text, &|| true, &mut found);
    }

    /// Counts the matches in a text, until the time is up.
    pub(super) fn count(&mut self, text: &[u8], clock: &Clock<'_>) -> usize {
        let mut count = 0;
        let counts = &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        };
        self.run(text, &|| clock.goes_on(), counts);
        count
    }

    fn run(
        &mut self,
        text: &[u8],
        goes_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Range<usize>) -> ControlFlow<()>,
    ) {
        if self.pattern.is_whole {
            self.whole(text, goes_on, found)
        } else {
            self.lines(text, goes_on, found)
        }
    }

    /// Searches piece by piece, so that the clock is seen however long a pattern takes.
    fn lines(
        &mut self,
        text: &[u8],
        goes_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Range<usize>) -> ControlFlow<()>,
    ) {
        let mut from = 0;
        while from < text.len() {
            let end = piece_end(text, from, self.piece);
            let mut lines = Lines { from, found: &mut *found, is_over: false };
            let began = Instant::now();
            // Neither the matcher nor the sink has an error to give.
            let _ = self.searcher.search_slice(
                &self.pattern.matcher,
                text.get(from..end).unwrap_or_default(),
                &mut lines,
            );
            if lines.is_over {
                return;
            }
            self.weigh(began.elapsed(), end - from);
            from = end;
            if !goes_on() {
                return;
            }
        }
    }

    fn weigh(&mut self, took: Duration, bytes: usize) {
        let ((least, most), (short, long)) = (PIECES, PIECE_TIME);
        if took > long {
            self.piece = (self.piece / 4).max(least);
        } else if took < short && bytes >= self.piece {
            self.piece = (self.piece * 4).min(most);
        }
    }

    /// Searches a text as a whole; behind the lines of one match the next is looked for.
    fn whole(
        &self,
        text: &[u8],
        goes_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Range<usize>) -> ControlFlow<()>,
    ) {
        let mut from = 0;
        while from < text.len() && goes_on() {
            let Ok(Some(matched)) = self.pattern.matcher.find_at(text, from) else { return };
            let lines = around(text, matched.start()..matched.end());
            if lines.is_empty() {
                return;
            }
            from = lines.end;
            if found(lines).is_break() {
                return;
            }
        }
    }
}

/// Passes on the lines of one piece.
struct Lines<'f> {
    /// Where the piece begins in the text.
    from: usize,
    found: &'f mut dyn FnMut(Range<usize>) -> ControlFlow<()>,
    is_over: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        let within = line.bytes_range_in_buffer();
        self.is_over = (self.found)(self.from + within.start..self.from + within.end).is_break();
        Ok(!self.is_over)
    }
}

/// The end of a piece of about so many bytes: behind a line end, or that of the text.
fn piece_end(text: &[u8], from: usize, bytes: usize) -> usize {
    let least = from.saturating_add(bytes.max(1)) - 1;
    let rest = text.get(least..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |end| least + end + 1)
}

/// The lines that a match lies in, their ends included; nothing behind the end of the last line.
fn around(text: &[u8], matched: Range<usize>) -> Range<usize> {
    let before = text.get(..matched.start).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    // What ends in a line end does not lie in the line behind it.
    let last = if matched.is_empty() { matched.end } else { matched.end - 1 };
    let rest = text.get(last..).unwrap_or_default();
    start..memchr::memchr(b'\n', rest).map_or(text.len(), |end| last + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text, Reach::Line).unwrap()
    }

    fn lines(pattern: &Pattern, text: &str, piece: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut finder = Finder { piece, ..Finder::new(pattern) };
        finder.each(text.as_bytes(), |lines| {
            found.push(text[lines].to_owned());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn lines_are_found_once_and_whole() {
        for (given, text, wanted) in [
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
                assert_eq!(lines(&pattern(given), text, piece), wanted, "{given} in {text:?}");
            }
        }
    }

    #[test]
    fn a_match_may_reach_over_lines_where_that_is_asked() {
        for (given, text, wanted) in [
            (r"a\nb", "x\na\nb\na\nb", vec!["a\nb\n", "a\nb"]),
            (r"a\n", "a\nb\n", vec!["a\n"]),
            (r"(?s)a.*b", "1\na\n\nb\n2\n", vec!["a\n\nb\n"]),
            (r"\n", "a\nb", vec!["a\n"]),
            ("a|b", "a\nb b\n", vec!["a\n", "b b\n"]),
            ("$", "a\n", vec!["a\n"]),
        ] {
            let pattern = Pattern::new(given, Reach::Lines).unwrap();
            assert_eq!(lines(&pattern, text, FIRST_PIECE), wanted, "{given} in {text:?}");
        }
    }

    #[test]
    fn what_cannot_be_looked_for_is_refused_with_the_reason() {
        for (given, said) in [
            ("(a", "unclosed group, at character 1"),
            ("ä(", "unclosed group, at character 2"),
            ("a{2,1}", "invalid repetition count range"),
            ("(?=a)", "look-around"),
            ("(?<!a)b", "look-around"),
            (r"(a)\1", "backreferences are not supported"),
            ("(x{1000}){1000}", "too large"),
            (r"a\nb", "a line end"),
            ("a\nb", "a line end"),
            (&"x".repeat(1 << 20), "longer than 10000 bytes"),
            (&"(".repeat(9_000), ""),
            (r"\p{Klingon}", "Unicode property"),
        ] {
            let refused = Pattern::new(given, Reach::Line).unwrap_err();
            assert_eq!((refused.code, refused.field.as_deref()), (Code::BadPattern, Some("pattern")));
            assert!(refused.message.starts_with("invalid regex: "), "{}", refused.message);
            assert!(refused.message.contains(said) && refused.message.len() < 300, "{}", refused.message);
        }
        assert!(Pattern::new(r"\w{100}", Reach::Line).is_ok());
    }

    proptest! {
        #[test]
        fn pieces_do_not_show(
            given in prop::sample::select(vec!["a", "^b", "b$", "a.b", "^$", "[ab]+$", r"\bb", "(?i)A", "c*", r"\Ba"]),
            text in "[abc \n]{0,40}",
            piece in 1_usize..20,
        ) {
            let pattern = pattern(given);
            let naive: Vec<String> = text
                .split_inclusive('\n')
                .filter(|line| {
                    let line = line.strip_suffix('\n').unwrap_or(line);
                    regex::Regex::new(given).unwrap().is_match(line)
                })
                .map(str::to_owned)
                .collect();
            prop_assert_eq!(lines(&pattern, &text, piece), naive.clone());
            let whole = Pattern { matcher: pattern.matcher.clone(), is_whole: true };
            prop_assert_eq!(lines(&whole, &text, piece), naive);
        }
    }
}
