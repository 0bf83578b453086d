//! What is looked for: a regular expression that lines of a text match.
//!
//! Invariant: the time that a pattern takes is linear in the text; one that would be too large is refused.

use super::needle::{Piece, pieces};
use crate::error::{Code, Error};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::hir::Look;
use regex_syntax::{Parser, ParserBuilder};
use std::ops::Range;

/// The longest pattern, in bytes; the largest program that one may be turned into, and what each thread may remember of it.
const LONGEST: usize = 10_000;
const LARGEST: usize = 10 << 20;
const MEMORY: usize = 4 << 20;

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
    pub(super) matcher: RegexMatcher,
    /// Whether it must see a text as a whole: it reaches over lines, or asks for the text's start or end.
    pub(super) is_whole: bool,
    /// What stands in every match.
    pub(super) pieces: Vec<Piece>,
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
        let (looks, pieces) = match parser.parse(pattern) {
            Ok(parsed) => (parsed.properties().look_set(), pieces(&parsed)),
            Err(error) => return Err(bad(said(&error, pattern))),
        };
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).size_limit(LARGEST).dfa_size_limit(MEMORY);
        if reach == Reach::Line {
            builder.line_terminator(Some(b'\n'));
        }
        let matcher = builder.build(pattern).map_err(|error| unbuilt(&error))?;
        let is_whole = reach == Reach::Lines || looks.contains(Look::Start) || looks.contains(Look::End);
        Ok(Pattern { matcher, is_whole, pieces })
    }

    /// What stands in every match, in this order; the same characters as in the text that is searched.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The same pattern, of which nothing is known.
    #[cfg(test)]
    pub(in crate::store) fn unnarrowed(self) -> Pattern {
        Pattern { pieces: Vec::new(), ..self }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
