//! A match with the tokens of the edit, and the text that the edit adds to the file.

use std::borrow::Cow;
use std::ops::Range;

use super::code::{CodeMatch, SourceCode};
use super::tokens::Tokens;
use crate::indent::IndentMap;
use crate::quotes::PlainString;

/// A match in the file, with the tokens of quote and replacement.
pub(super) struct MatchContext<'a> {
    pub(super) code: &'a SourceCode<'a>,
    pub(super) one: &'a CodeMatch,
    pub(super) quote: &'a Tokens<'a>,
    pub(super) replacement: &'a Tokens<'a>,
    quotes: Option<OtherQuotes>,
}

/// The quotes of strings in a quote, and the other ones that the file has for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OtherQuotes {
    quoted: char,
    actual: char,
}

/// Returns the quotes of the file if each matched string without quotes inside has the other ones.
fn other_quotes(code: &SourceCode<'_>, one: &CodeMatch, quote: &Tokens<'_>) -> Option<OtherQuotes> {
    let mut pairs = one.tokens.iter().enumerate().filter_map(|(row, at)| {
        let quoted = PlainString::new(quote.text(row))?.quote;
        Some(OtherQuotes { quoted, actual: PlainString::new(code.file.text((*at)?))?.quote })
    });
    let first = pairs.next().filter(|first| first.quoted != first.actual)?;
    pairs.all(|other| other == first).then_some(first)
}

/// The blanks that belong to added tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// The blanks between them.
    None,
    /// Also the blanks before the first one.
    Before,
    /// Also the blanks behind the last one.
    Behind,
    /// Also the blanks on both sides.
    Both,
}

impl<'a> MatchContext<'a> {
    pub(super) fn new(
        code: &'a SourceCode<'a>,
        one: &'a CodeMatch,
        quote: &'a Tokens<'a>,
        replacement: &'a Tokens<'a>,
    ) -> MatchContext<'a> {
        MatchContext { code, one, quote, replacement, quotes: other_quotes(code, one, quote) }
    }

    /// Returns the token of the file that matches one of the quote.
    pub(super) fn file_token(&self, index: usize) -> Option<usize> {
        self.one.tokens.get(index).copied().flatten()
    }

    /// Returns the offset at which a token of the file begins.
    pub(super) fn start_of(&self, index: usize) -> Option<usize> {
        self.code.file.token(index).map(|token| token.span.start)
    }

    /// Returns the offset at which a token of the file ends.
    pub(super) fn end_of(&self, index: usize) -> Option<usize> {
        self.code.file.token(index).map(|token| token.span.end)
    }

    /// Returns the blanks between two tokens of the file; `None` if others are between them.
    pub(super) fn file_gap(&self, one: usize, other: usize) -> Option<&str> {
        (one + 1 == other).then(|| self.code.file.gap(other))
    }

    /// Returns the text of added tokens with the indentation of the file. Where the list around a token of the file has
    /// each entry on a line of its own, so have the added entries.
    pub(super) fn added_text(&self, added: Range<usize>, edges: Edges, near: usize) -> Option<String> {
        let entry_gap = self.code.entry_gap(near);
        let gaps = match edges {
            Edges::None => added.start + 1..added.end,
            Edges::Before => added.start..added.end,
            Edges::Behind => added.start + 1..added.end + 1,
            Edges::Both => added.start..added.end + 1,
        };
        let (mut text, mut depth) = (String::new(), 0_usize);
        for index in added.start..=added.end {
            if gaps.contains(&index) {
                let gap = self.replacement.gap(index);
                let is_entry = depth == 0 && self.replacement.text_before(index) == ",";
                match entry_gap.filter(|_| is_entry && !gap.contains('\n')) {
                    Some(entry_gap) => text.push_str(entry_gap),
                    None => text.push_str(&self.indented(gap)?),
                }
            }
            if index < added.end {
                let token = self.replacement.text(index);
                match token {
                    // The commas between arguments of a type are none of the list.
                    "(" | "[" | "{" | "<" => depth += 1,
                    ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                text.push_str(&self.with_quotes_of_file(token));
            }
        }
        Some(text)
    }

    /// Returns an added string with the quotes of the file's strings; every other token stays.
    fn with_quotes_of_file<'t>(&self, token: &'t str) -> Cow<'t, str> {
        match self.quotes.zip(PlainString::new(token)) {
            Some((OtherQuotes { quoted, actual }, PlainString { prefix, quote, inside }))
                if quote == quoted && !inside.contains('\\') =>
            {
                format!("{prefix}{actual}{inside}{actual}").into()
            }
            Some(_) | None => token.into(),
        }
    }

    /// Returns a text of the replacement with the indentation of the file; `None` if no rule maps it.
    pub(super) fn indented(&self, text: &str) -> Option<String> {
        let Some((first, rest)) = text.split_once('\n') else { return Some(text.to_owned()) };
        let map = self.indent_map()?;
        let mut out = first.to_owned();
        let mut lines = rest.split('\n').peekable();
        while let Some(line) = lines.next() {
            out.push('\n');
            let bare = line.trim_start_matches([' ', '\t']);
            let indent = line.get(..line.len() - bare.len()).unwrap_or_default();
            // The last one is the indentation of the token behind the text, and the empty ones before it are blank lines.
            if !line.is_empty() || lines.peek().is_none() {
                out.push_str(&map.apply(indent)?);
            }
            out.push_str(bare);
        }
        Some(out)
    }

    /// Returns the rule that maps the indentation of the quoted lines that begin with the same token as a line of the file.
    /// Lines inside of parentheses do not count, because a formatter indents them in its own way.
    pub(super) fn indent_map(&self) -> Option<IndentMap> {
        let mut depth = 0_usize;
        let mut pairs = Vec::new();
        for index in 0..self.quote.len() {
            let text = self.quote.text(index);
            if matches!(text, ")" | "]") {
                depth = depth.saturating_sub(1);
            }
            let begins = index == 0 || self.quote.breaks_before(index);
            if let Some(at) = self.file_token(index).filter(|_| depth == 0 && begins) {
                pairs.extend(self.quote.indent(index).zip(self.code.file.indent(at)));
            }
            if matches!(text, "(" | "[") {
                depth += 1;
            }
        }
        let indents: Vec<&str> =
            (0..self.replacement.len()).filter_map(|index| self.replacement.indent(index)).collect();
        IndentMap::explaining(&pairs, &indents)
    }
}
