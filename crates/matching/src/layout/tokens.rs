//! A text as tokens.

use std::ops::Range;

use super::lexer::{self, CodeToken, TokenKind};
use super::rules::LexicalRules;

/// The minimum number of tokens, and of non-blank characters, of a quote. A shorter one occurs anywhere.
const LEAST_TOKENS: usize = 4;
const LEAST_CHARS: usize = 10;

/// The maximum number of words that are looked for before the file is parsed.
const MAX_WORDS: usize = 256;

/// The characters, other than a line feed, that end a line in some language.
const LINE_ENDS: [char; 6] = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// A text with its tokens.
pub(super) struct Tokens<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<CodeToken>,
}

impl<'t> Tokens<'t> {
    /// Returns the tokens of a text; `None` if a string or a comment does not end in it.
    pub(super) fn new(text: &'t str, rules: &LexicalRules) -> Option<Tokens<'t>> {
        Some(Tokens { text, tokens: lexer::tokens(text, rules)? })
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn token(&self, index: usize) -> Option<&CodeToken> {
        self.tokens.get(index)
    }

    /// Returns the text of a token; empty for an index beyond the last one.
    pub(super) fn text(&self, index: usize) -> &'t str {
        self.token(index).and_then(|token| self.text.get(token.span.clone())).unwrap_or_default()
    }

    /// Returns the text of the token before another one; empty before the first one.
    pub(super) fn text_before(&self, index: usize) -> &'t str {
        index.checked_sub(1).map(|before| self.text(before)).unwrap_or_default()
    }

    /// Returns true if a token is an opening bracket.
    pub(super) fn opens(&self, index: usize) -> bool {
        matches!(self.text(index), "(" | "[" | "{")
    }

    /// Returns true if a token is a closing bracket.
    pub(super) fn closes(&self, index: usize) -> bool {
        matches!(self.text(index), ")" | "]" | "}")
    }

    /// Returns the text between a token and the one before it; empty before the first one.
    pub(super) fn gap(&self, index: usize) -> &'t str {
        let end = index.checked_sub(1).and_then(|before| self.token(before)).map(|before| before.span.end);
        end.zip(self.token(index))
            .and_then(|(end, token)| self.text.get(end..token.span.start))
            .unwrap_or_default()
    }

    pub(super) fn breaks_before(&self, index: usize) -> bool {
        self.gap(index).contains('\n')
    }

    /// Returns the indentation of a token that is the first of its line.
    pub(super) fn indent(&self, index: usize) -> Option<&'t str> {
        let before = self.text.get(..self.token(index)?.span.start)?;
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim_start_matches([' ', '\t']).is_empty().then_some(line)
    }

    /// Returns true for a directive, which ends with its line.
    pub(super) fn has_directive(&self, rules: &LexicalRules) -> bool {
        rules.has_directives && (0..self.len()).any(|index| self.text(index) == "#")
    }

    /// Returns true if a blank between tokens is neither a space, a tab nor a line end, or if a comment has a character
    /// that ends a line, and so the comment, in one language and not in another.
    pub(super) fn has_odd_blank(&self) -> bool {
        let is_odd = |blank: char| blank.is_whitespace() && ![' ', '\t', '\n'].contains(&blank);
        let mut from = 0;
        let has_odd = self.tokens.iter().any(|token| {
            let gap = self.text.get(from..token.span.start).unwrap_or_default();
            from = token.span.end;
            let text = self.text.get(token.span.clone()).unwrap_or_default();
            gap.contains(is_odd) || token.kind == TokenKind::Comment && text.contains(LINE_ENDS)
        });
        has_odd || self.text.get(from..).unwrap_or_default().contains(is_odd)
    }

    /// Returns true if a text has all words, so that parsing it may be worth the time.
    pub(super) fn occurs_in(&self, view: &str) -> bool {
        let words = self.tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Alphanumeric);
        words.into_iter().take(MAX_WORDS).all(|(index, _)| view.contains(self.text(index)))
    }

    pub(super) fn is_long_enough(&self) -> bool {
        let char_count: usize = (0..self.len()).map(|index| self.text(index).chars().count()).sum();
        self.len() >= LEAST_TOKENS && char_count >= LEAST_CHARS
    }

    /// Returns the bytes from one token to another, inclusive.
    pub(super) fn span(&self, first: usize, last: usize) -> Option<Range<usize>> {
        Some(self.token(first)?.span.start..self.token(last)?.span.end)
    }
}
