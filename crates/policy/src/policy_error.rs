//! Errors in policy texts, with position and excerpt.
//!
//! Invariant: nothing of the text that is shown can move a cursor, and a message is short whatever the text is.

use lockgate_error::{Code, Error};
use lockgate_text::{is_control_or_bidi, nearest};

/// The most characters of a line in an excerpt.
const EXCERPT: usize = 100;
/// The longest word that is shown, in characters.
pub(super) const MAX_WORD: usize = 64;
/// The longest message, without name and excerpt, in characters.
const MAX_MESSAGE: usize = 400;
/// The most known words that a message names.
const MAX_NAMED: usize = 20;

/// A place in the text: 1-based line, 1-based column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextPosition {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl TextPosition {
    /// The first character of the text.
    pub(super) const START: TextPosition = TextPosition { line: 1, column: 1 };
}

/// An error and its position; `into_error` adds the name of the text and the excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PolicyError {
    position: TextPosition,
    message: String,
}

impl PolicyError {
    pub(super) fn new(position: TextPosition, message: impl Into<String>) -> PolicyError {
        PolicyError { position, message: message.into() }
    }

    /// The error: `file:line:column: what`, the line, and a caret under the column.
    pub(super) fn into_error(self, name: &str, text: &str) -> Error {
        let TextPosition { line, column } = self.position;
        let mut message = format!("{name}:{line}:{column}: {}", clipped(&self.message, MAX_MESSAGE));
        if let Some(excerpt) = excerpt(text, self.position) {
            message.push_str(&excerpt);
        }
        Error::new(Code::PolicyInvalid, message)
    }
}

/// `unknown key `x`, did you mean `y`? known: ...`
pub(super) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let guess = nearest(word, known.iter().copied())
        .map_or_else(String::new, |similar| format!(", did you mean `{similar}`?"));
    let names: Vec<&str> = known.iter().take(MAX_NAMED).copied().collect();
    let more = match known.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("unknown {what} `{}`{guess} (known: {}{more})", clipped(word, MAX_WORD), names.join(", "))
}

/// At most `limit` characters of a text, none of which can move a cursor.
pub(super) fn clipped(text: &str, limit: usize) -> String {
    let mut start: String = text.chars().take(limit).map(printable).collect();
    if text.chars().nth(limit).is_some() {
        start.push_str("...");
    }
    start
}

/// A character that moves no cursor, starts no escape sequence and is seen.
fn printable(character: char) -> char {
    match character {
        '\n' | '\t' => ' ',
        hidden if is_control_or_bidi(hidden) => char::REPLACEMENT_CHARACTER,
        plain => plain,
    }
}

/// The line at fault, with a caret below; a long line is cut around the caret.
fn excerpt(text: &str, position: TextPosition) -> Option<String> {
    let line = yaml_lines(text).nth(position.line - 1)?;
    let skipped = position.column.saturating_sub(1).saturating_sub(EXCERPT / 2);
    let skipped = if line.chars().count() > EXCERPT { skipped } else { 0 };
    let part: String = line.chars().skip(skipped).take(EXCERPT).map(printable).collect();
    let gutter = position.line.to_string();
    let below = " ".repeat(gutter.len());
    let indent = " ".repeat((position.column - 1 - skipped).min(EXCERPT));
    Some(format!("\n {gutter} | {part}\n {below} | {indent}^"))
}

/// The lines as YAML counts them: a lone carriage return ends one too.
pub(super) fn yaml_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_shown_without_what_could_deceive() {
        assert_eq!(
            unknown("key", "limit", &["limits"]),
            "unknown key `limit`, did you mean `limits`? (known: limits)"
        );
        assert_eq!(
            clipped("a\u{61c}\u{202e}\u{1b}\u{2028}\u{200b}\u{feff}\n\tb", 9),
            "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}  ..."
        );
        assert_eq!(clipped("naïve", 9), "naïve");
    }

    #[test]
    fn lines_are_counted_as_yaml_counts_them() {
        assert_eq!(yaml_lines("a\r\nb\rc\nd").collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }
}
