//! Splits code into tokens: words, strings, comments, and single characters of punctuation.

use std::ops::Range;

use super::rules::LexicalRules;
use crate::rebase::is_word_char;
use lockgate_text::OpaquePart;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, a keyword or a number.
    Alphanumeric,
    /// A string with its delimiters, or a character.
    Text,
    Comment,
    /// A single character of any other kind, such as a bracket or a part of an operator.
    Punctuation,
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeToken {
    pub(super) span: Range<usize>,
    pub(super) kind: TokenKind,
}

/// Returns the tokens of a text; `None` if a string or a comment does not end in it.
pub(super) fn tokens(text: &str, rules: &LexicalRules) -> Option<Vec<CodeToken>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let (length, kind) = token(rest, rules)?;
        tokens.push(CodeToken { span: at..at + length, kind });
        at += length;
    }
    Some(tokens)
}

/// Returns the tokens of a text whose strings and comments are known: in order, without overlap.
pub(super) fn tokens_around(text: &str, known: &[OpaquePart]) -> Vec<CodeToken> {
    let mut tokens = Vec::new();
    let mut known = known.iter().peekable();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(part) = known.next_if(|part| part.span.start <= at) {
            at = part.span.end.max(at);
            let kind = if part.is_comment { TokenKind::Comment } else { TokenKind::Text };
            tokens.push(CodeToken { span: part.span.clone(), kind });
            continue;
        }
        let end = known.peek().map_or(text.len(), |token| token.span.start);
        let plain = rest.get(..end.saturating_sub(at)).unwrap_or(rest);
        let blank = plain.len() - plain.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let (length, kind) = plain_token(plain);
        tokens.push(CodeToken { span: at..at + length, kind });
        at += length;
    }
    tokens
}

/// Returns the length and the kind of the first token of a text that does not begin with a blank.
fn token(rest: &str, rules: &LexicalRules) -> Option<(usize, TokenKind)> {
    if rules.line_comment.is_some_and(|start| rest.starts_with(start)) {
        let line = rest.split('\n').next().unwrap_or(rest);
        return Some((line.trim_end().len(), TokenKind::Comment));
    }
    if let Some((open, close)) = rules.block_comment.filter(|(open, _)| rest.starts_with(open)) {
        let end = rest.get(open.len()..)?.find(close)?;
        return Some((open.len() + end + close.len(), TokenKind::Comment));
    }
    match string(rest, rules) {
        StringStart::Closed(length) => return Some((length, TokenKind::Text)),
        StringStart::Unclosed => return None,
        StringStart::NoString => {}
    }
    Some(plain_token(rest))
}

/// Returns the length and the kind of the first token of a text that begins with no blank, string or comment.
fn plain_token(text: &str) -> (usize, TokenKind) {
    match word_length(text) {
        0 => (text.chars().next().map_or(1, char::len_utf8), TokenKind::Punctuation),
        word => (word, TokenKind::Alphanumeric),
    }
}

/// Returns the length of a word; a number includes its decimal point.
fn word_length(rest: &str) -> usize {
    let is_number = rest.starts_with(|first: char| first.is_ascii_digit());
    let mut end = 0;
    let mut characters = rest.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let is_point =
            character == '.' && is_number && at > 0 && next.is_some_and(|next| next.is_ascii_digit());
        if !is_word_char(character) && !is_point {
            break;
        }
        end = at + character.len_utf8();
    }
    end
}

/// The string at the start of a text.
enum StringStart {
    NoString,
    /// A string of this length, with its prefix and delimiters.
    Closed(usize),
    /// A string that does not end.
    Unclosed,
}

fn string(rest: &str, rules: &LexicalRules) -> StringStart {
    let bare = rest.trim_start_matches(|letter| rules.prefixes.contains(letter));
    let prefix = rest.len() - bare.len();
    if prefix > 2 || (rules.has_lifetimes && prefix == 0 && is_lifetime(bare)) {
        return StringStart::NoString;
    }
    let Some(rule) = rules.strings.iter().find(|rule| bare.starts_with(rule.delimiter)) else {
        return StringStart::NoString;
    };
    let inner = bare.get(rule.delimiter.len()..).unwrap_or_default();
    let is_raw = rest.get(..prefix).is_some_and(|prefix| prefix.contains(['r', 'R'])) && rules.has_lifetimes;
    let mut at = 0;
    while let Some(tail) = inner.get(at..).filter(|tail| !tail.is_empty()) {
        if tail.starts_with(rule.delimiter) {
            return StringStart::Closed(prefix + rule.delimiter.len() + at + rule.delimiter.len());
        }
        let mut characters = tail.chars();
        let Some(first) = characters.next() else { break };
        if first == '\n' && !rule.is_multiline {
            return StringStart::Unclosed;
        }
        at += first.len_utf8();
        if first == '\\' && rule.has_escapes && !is_raw {
            at += characters.next().map_or(0, char::len_utf8);
        }
    }
    StringStart::Unclosed
}

/// Returns true for a quote that begins a lifetime and not a character.
fn is_lifetime(text: &str) -> bool {
    let mut characters = text.chars();
    let (quote, first, second) = (characters.next(), characters.next(), characters.next());
    quote == Some('\'') && first.is_some_and(is_word_char) && second != Some('\'')
}
