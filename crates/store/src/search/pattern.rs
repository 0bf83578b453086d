//! The pattern of a search: a regular expression that is matched against the lines of a text.
//!
//! Invariant: the time to match is linear in the text; a pattern that would be too large is rejected.

use super::engine::{Engines, MatchReach};
use super::needle::{NeedlePiece, pieces};
use lockgate_error::{Code, Error, FieldValue, NextCall};
use regex_syntax::ast::{self, Ast, ErrorKind, Span};
use regex_syntax::hir::{Hir, HirKind, Look};
use regex_syntax::{Parser, ParserBuilder};
use std::convert::Infallible;
use std::ops::Range;

/// The longest pattern, in bytes.
const LONGEST: usize = 10_000;
/// The most characters of a pattern that an error quotes.
const QUOTED: usize = 30;

const SYNTAX: &str = "the syntax is that of the Rust crate regex: look-around and back references are not supported; \
    write \\( \\[ \\{ \\. \\* \\+ \\? \\| \\\\ to find these characters themselves";

/// A regular expression, compiled to search texts.
#[derive(Debug)]
pub struct SearchPattern {
    pub(super) engines: Engines,
    /// Set when the text must be searched as a whole: the pattern spans lines, or has an anchor for the
    /// text's start or end.
    pub(super) is_whole: bool,
    /// The literal pieces of every match.
    pub(super) pieces: Vec<NeedlePiece>,
}

impl SearchPattern {
    /// Parses a pattern in the syntax of the crate `regex`; `^` and `$` are the start and end of a line, and
    /// `\r\n` is read as `\n`.
    ///
    /// Errors: `BAD_PATTERN` for a pattern that is not valid, too large, or spans lines without permission.
    pub fn new(pattern: &str, reach: MatchReach) -> Result<SearchPattern, Error> {
        if pattern.len() > LONGEST {
            return Err(bad(format!("it is longer than {LONGEST} bytes")));
        }
        let pattern = &fold_line_ends(pattern);
        let mut parser: Parser = ParserBuilder::new().multi_line(true).utf8(false).build();
        let parsed = parser.parse(pattern).map_err(|error| {
            let rejected = bad(describe(&error, pattern));
            // Such a pattern is not meant as a text.
            if is_unsupported(&error) { rejected } else { rejected.with_next(literal_search()) }
        })?;
        if reach == MatchReach::Line && asks_for_a_line_end(&parsed) {
            let next =
                NextCall::Fields { set: vec![("multiline", FieldValue::Flag(true))], unset: Vec::new() };
            return Err(bad("it contains a line end".to_owned())
                .hint("give multiline: true to match across lines")
                .with_next(next));
        }
        let look_set = parsed.properties().look_set();
        let is_whole =
            reach == MatchReach::Lines || look_set.contains(Look::Start) || look_set.contains(Look::End);
        let engines = Engines::new(pattern, reach, is_whole).map_err(bad)?;
        Ok(SearchPattern { engines, is_whole, pieces: pieces(&parsed) })
    }

    /// The literal pieces of every match, in order; the same characters as in the text that is searched.
    pub fn pieces(&self) -> &[NeedlePiece] {
        &self.pieces
    }

    /// The first match in a piece of text, from an offset on.
    pub fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        self.engines.after(0).find_at(text.as_bytes(), from)
    }
}

/// Returns the pattern with each `\r\n` as `\n`, the only line end of the text that is searched.
fn fold_line_ends(pattern: &str) -> String {
    let mut folded = pattern.to_owned();
    // An invalid pattern is reported as it is.
    let Ok(parsed) = ast::parse::Parser::new().parse(pattern) else { return folded };
    let Ok(mut returns) = ast::visit(&parsed, CarriageReturns::default());
    returns.sort_unstable_by_key(|span| span.start.offset);
    for span in returns.into_iter().rev() {
        folded.replace_range(span.start.offset..span.end.offset, "");
    }
    folded
}

/// Collects each `\r` directly before a `\n`.
#[derive(Default)]
struct CarriageReturns(Vec<Span>);

impl ast::Visitor for CarriageReturns {
    type Output = Vec<Span>;
    type Err = Infallible;

    fn finish(self) -> Result<Vec<Span>, Infallible> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, part: &Ast) -> Result<(), Infallible> {
        let Ast::Concat(concat) = part else { return Ok(()) };
        for pair in concat.asts.windows(2) {
            if let [Ast::Literal(first), Ast::Literal(second)] = pair
                && (first.c, second.c) == ('\r', '\n')
            {
                self.0.push(first.span);
            }
        }
        Ok(())
    }
}

fn bad(message: String) -> Error {
    Error::new(Code::BadPattern, format!("invalid regex: {message}")).field("pattern").hint(SYNTAX)
}

/// The call that searches the pattern as a text.
fn literal_search() -> NextCall {
    NextCall::Fields { set: vec![("literal", FieldValue::Flag(true))], unset: vec!["search_flags"] }
}

/// True if the error is a construct that other syntaxes have and this one lacks.
fn is_unsupported(error: &regex_syntax::Error) -> bool {
    let regex_syntax::Error::Parse(error) = error else { return false };
    matches!(error.kind(), ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference)
}

/// The error in a pattern, and the pattern from there on. A position would count the flags that a caller put
/// before the pattern.
fn describe(error: &regex_syntax::Error, pattern: &str) -> String {
    let (message, at) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span().start.offset),
        other => return other.to_string(),
    };
    let rest: String = pattern.get(at..).unwrap_or_default().chars().take(QUOTED).collect();
    if rest.is_empty() { format!("{message}, at the end") } else { format!("{message}, at `{rest}`") }
}

/// True if a part of the pattern cannot match without a line end.
fn asks_for_a_line_end(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Repetition(repetition) => asks_for_a_line_end(&repetition.sub),
        HirKind::Capture(capture) => asks_for_a_line_end(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(asks_for_a_line_end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_looked_for_is_refused_with_the_reason() {
        for (source, expected) in [
            ("(a", "unclosed group, at `(a`"),
            ("ä(", "unclosed group, at `(`"),
            ("(?i)a(b|c", "unclosed group, at `(b|c`"),
            ("a\\", "incomplete escape sequence, reached end of pattern prematurely, at `\\`"),
            ("(?i", "got end of regex, at the end"),
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
            let error = SearchPattern::new(source, MatchReach::Line).unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (Code::BadPattern, Some("pattern")));
            assert!(error.message.starts_with("invalid regex: "), "{}", error.message);
            assert!(error.message.contains(expected) && error.message.len() < 300, "{}", error.message);
        }
        assert!(SearchPattern::new(r"\w{100}", MatchReach::Line).is_ok());
    }

    #[test]
    fn the_proposed_call_suits_the_mistake() {
        for (source, field) in [
            ("(a", Some("literal")),
            (r"a\nb", Some("multiline")),
            ("(?=a)", None),
            (r"(a)\1", None),
            ("(x{1000}){1000}", None),
            (&"x".repeat(LONGEST + 1), None),
        ] {
            let next = SearchPattern::new(source, MatchReach::Line).unwrap_err().next;
            let set = next.map(|next| match *next {
                NextCall::Fields { set, .. } => set[0].0,
                other => panic!("{other:?}"),
            });
            assert_eq!(set, field, "{source}");
        }
    }

    #[test]
    fn both_kinds_of_line_ends_are_the_same() {
        for (pattern, folded) in [
            (r"a\r\nb", r"a\nb"),
            ("a\r\nb\r\n", "a\nb\n"),
            (r"(a\x0d\n)+|\r\nb", r"(a\n)+|\nb"),
            ("(?x)a \\r \\n", "(?x)a  \\n"),
            (r"a\r?\nb", r"a\r?\nb"),
            (r"[^\r\n]", r"[^\r\n]"),
            (r"\\r\n\r", r"\\r\n\r"),
            (r"(\r\n", r"(\r\n"),
        ] {
            assert_eq!(fold_line_ends(pattern), folded);
        }
    }

    #[test]
    fn a_line_end_is_asked_for_where_ripgrep_says_so() {
        let refuses = |pattern: &str| {
            let mut builder = grep_regex::RegexMatcherBuilder::new();
            builder.multi_line(true).line_terminator(Some(b'\n')).build(pattern).is_err()
        };
        for source in
            ["a\nb", r"a\nb", r"[\n]", r"\x0a", r"\n?", r"\n|ab", r"a|(\n)", r"(?-u)[\n]", r"(?i)\n"]
        {
            assert!(refuses(source) && SearchPattern::new(source, MatchReach::Line).is_err(), "{source}");
        }
        for source in
            [r"\n|a", r"\s", "[^a]", r"[\n\r]", r"\n{0}", "[a&&b]", r"\\n", "$", r"(?s).", r"(?R)$", ""]
        {
            assert!(!refuses(source) && SearchPattern::new(source, MatchReach::Line).is_ok(), "{source}");
        }
    }
}
