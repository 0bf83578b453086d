//! Match level `layout`: the file has the quoted code token for token, in another layout.
//!
//! A formatter moves line breaks, adds a trailing comma to a list that it breaks, and puts a broken expression in
//! parentheses. The quote then has the same tokens as one part of the file. Strings and comments are single tokens, as
//! the grammar of the language sees them, so their blanks count. In Python, line breaks outside of brackets count as
//! well.
//!
//! Invariant: only tokens that the edit changes are replaced; all others keep the layout of the file. The result is
//! parsed again, and must have the replacement token for token in the place of the match.

mod code;
mod lexer;
mod rebase;
mod rules;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::matcher::Matcher;
use super::rebase::Conflict;
use super::{Located, MatchInfo, MatchLevel, OnRepeat, Source, UniqueMatch};
use code::{CodeMatch, SourceCode};
use lexer::{CodeToken, TokenKind};
use lockgate_error::Score;
use rules::LexicalRules;

/// The minimum number of tokens, and of non-blank characters, of a quote. A shorter one occurs anywhere.
const LEAST_TOKENS: usize = 4;
const LEAST_CHARS: usize = 10;

/// The maximum number of words that are looked for before the file is parsed.
const MAX_WORDS: usize = 256;

/// A text with its tokens.
struct Tokens<'t> {
    text: &'t str,
    tokens: Vec<CodeToken>,
}

impl<'t> Tokens<'t> {
    /// Returns the tokens of a text; `None` if a string or a comment does not end in it.
    fn new(text: &'t str, rules: &LexicalRules) -> Option<Tokens<'t>> {
        Some(Tokens { text, tokens: lexer::tokens(text, rules)? })
    }

    fn len(&self) -> usize {
        self.tokens.len()
    }

    fn token(&self, index: usize) -> Option<&CodeToken> {
        self.tokens.get(index)
    }

    /// Returns the text of a token; empty for an index beyond the last one.
    fn text(&self, index: usize) -> &'t str {
        self.token(index).and_then(|token| self.text.get(token.span.clone())).unwrap_or_default()
    }

    /// Returns the text between a token and the one before it; empty before the first one.
    fn gap(&self, index: usize) -> &'t str {
        let end = index.checked_sub(1).and_then(|before| self.token(before)).map(|before| before.span.end);
        end.zip(self.token(index))
            .and_then(|(end, token)| self.text.get(end..token.span.start))
            .unwrap_or_default()
    }

    fn breaks_before(&self, index: usize) -> bool {
        self.gap(index).contains('\n')
    }

    /// Returns the indentation of a token that is the first of its line.
    fn indent(&self, index: usize) -> Option<&'t str> {
        let before = self.text.get(..self.token(index)?.span.start)?;
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim_start_matches([' ', '\t']).is_empty().then_some(line)
    }

    fn char_count(&self) -> usize {
        (0..self.len()).map(|index| self.text(index).chars().count()).sum()
    }

    /// Returns true for a directive, which ends with its line.
    fn has_directive(&self, rules: &LexicalRules) -> bool {
        rules.has_directives && (0..self.len()).any(|index| self.text(index) == "#")
    }

    /// Returns true if a text has all words, so that parsing it may be worth the time.
    fn occurs_in(&self, view: &str) -> bool {
        let words = self.tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Word);
        words.into_iter().take(MAX_WORDS).all(|(index, _)| view.contains(self.text(index)))
    }

    fn is_long_enough(&self) -> bool {
        self.len() >= LEAST_TOKENS && self.char_count() >= LEAST_CHARS
    }

    /// Returns the bytes from one token to another, inclusive.
    fn span(&self, first: usize, last: usize) -> Option<Range<usize>> {
        Some(self.token(first)?.span.start..self.token(last)?.span.end)
    }
}

/// Finds the only match of the quote, token for token.
pub(super) fn find(matcher: &mut Matcher<'_>) -> Option<Located> {
    let (search_text, range) = (matcher.search_text, matcher.range);
    let Source { language, path, syntax } = range.source?;
    let rules = rules::of_language(language)?;
    let tokens = |text| Tokens::new(text, rules).filter(|tokens| !tokens.has_directive(rules));
    let quote = tokens(search_text.search).filter(Tokens::is_long_enough)?;
    let replacement = tokens(search_text.replace)?;
    let is_new = search_text.on_repeat == OnRepeat::Reject && replacement.is_long_enough();
    let has_words = quote.occurs_in(range.view);
    let may_be_applied = is_new && replacement.occurs_in(range.view);
    if !has_words && !may_be_applied {
        return None;
    }
    let code = SourceCode::parse(language, path, range.view, rules, syntax)?;
    let found =
        if has_words { code.matches(&quote, range.window(), &mut matcher.steps)? } else { Vec::new() };
    let line = |found: &CodeMatch| range.text.line_at(found.span(&code).start);
    match found.as_slice() {
        [] => {
            if !may_be_applied || replacement.len() < quote.len() {
                return None;
            }
            let applied = code.matches(&replacement, range.window(), &mut matcher.steps)?;
            let [applied] = applied.as_slice() else { return None };
            Some(Located::AlreadyApplied { line: line(applied) })
        }
        [one] => {
            if may_be_applied && replacement.len() > quote.len() {
                let applied = code.matches(&replacement, 0..range.view.len(), &mut matcher.steps)?;
                let own = one.span(&code);
                let overlaps = |other: &&CodeMatch| {
                    let other = other.span(&code);
                    other.start < own.end && own.start < other.end
                };
                if let Some(applied) = applied.iter().find(overlaps) {
                    return Some(Located::AlreadyApplied { line: line(applied) });
                }
            }
            let own = one.span(&code);
            let (first, last) =
                (range.text.line_at(own.start), range.text.line_at(own.end.saturating_sub(1).max(own.start)));
            Some(match rebase::rebase(&code, one, &quote, &replacement) {
                Some(changes) => {
                    let match_info = MatchInfo::only(MatchLevel::Layout, Score::IDENTICAL, first);
                    Located::One(UniqueMatch { changes, match_info, lines: first..=last })
                }
                None => {
                    let reason = "the file has this code in another layout, and the edit does not fit there";
                    Located::Conflict(Conflict::new(
                        first,
                        reason,
                        search_text.search,
                        range.text.text(first),
                    ))
                }
            })
        }
        several => {
            Some(Located::Ambiguous { level: MatchLevel::Layout, lines: several.iter().map(line).collect() })
        }
    }
}
