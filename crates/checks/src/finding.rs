//! A finding of a gate at one position of a draft.
//!
//! Invariant: a message contains no ANSI sequence, no control or bidirectional character and no invisible
//! character, and at most 300 characters, whatever the file or the program put into it.
#![deny(clippy::disallowed_methods)]

pub use lockgate_policy::Severity;
use lockgate_text::is_control_or_bidi;

/// The maximum length of a message, in characters.
pub(super) const LONGEST_MESSAGE: usize = 300;

/// A finding of a gate and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the gate that reported it.
    pub gate: String,
    /// The severity; at most a warning if the gate only warns.
    pub severity: Severity,
    /// The path of the file relative to the root, if it is not the edited one.
    pub elsewhere: Option<String>,
    /// The line in the draft or in the other file, 1-based.
    pub line: usize,
    /// The column in characters of the line, 1-based.
    pub column: usize,
    /// The name of the rule, if the gate gives one.
    pub code: Option<String>,
    /// The message, on one line.
    pub message: String,
    /// Set when the edit introduced the finding.
    pub fresh: bool,
    /// Set when the finding counts against the edit: it is new, or the policy's baseline includes old ones.
    pub counts: bool,
    /// Set when the finding rejects the edit in strict mode.
    pub blocking: bool,
}

impl Finding {
    /// Creates an error at a position; `judge` adds the name of the gate, the severity and the flags.
    pub fn new(line: usize, column: usize, message: &str) -> Finding {
        Finding {
            gate: String::new(),
            severity: Severity::Error,
            elsewhere: None,
            line,
            column,
            code: None,
            message: sanitize(message),
            fresh: false,
            counts: false,
            blocking: false,
        }
    }
}

/// Returns an untrusted text as one line that is safe to display, cut to the maximum length. Runs of whitespace become one
/// space, except those of spaces between an odd backquote and the next one: they quote code.
pub fn sanitize(text: &str) -> String {
    let mut clean = String::new();
    let mut is_code = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            ' ' if is_code => clean.push(' '),
            space if space.is_whitespace() => {
                if !clean.ends_with(' ') {
                    clean.push(' ');
                }
            }
            hidden if is_control_or_bidi(hidden) => {}
            plain => {
                is_code ^= plain == '`';
                clean.push(plain);
            }
        }
    }
    cut(clean.trim(), LONGEST_MESSAGE)
}

/// Returns a text without ANSI sequences and without control, bidirectional and invisible characters.
pub(crate) fn without_hidden(text: &str) -> String {
    let mut clean = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            hidden if is_control_or_bidi(hidden) => {}
            plain => clean.push(plain),
        }
    }
    clean
}

/// Skips the rest of an ANSI sequence: `[`, its parameters and the final letter.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if characters.next_if_eq(&'[').is_none() {
        return;
    }
    while characters.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    let _final_letter = characters.next_if(|c| matches!(c, '@'..='~'));
}

/// Cuts a text to at most this many characters, of which the last three are dots.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_what_could_disturb_a_terminal_or_a_reader() {
        let cases = [
            ("plain é text", "plain é text"),
            ("\u{1b}[31;1mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "]0;titlex"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("a\nb\tc\r\n", "a b c"),
            ("safe\u{202e}txt.exe\u{2066}", "safetxt.exe"),
            ("z\u{200b}e\u{feff}ro\u{0}\u{9b}", "zero"),
            ("tag\u{e0041}", "tag"),
            ("a  b, expected `  c  d`  e", "a b, expected `  c  d` e"),
            ("so\u{ad}ft\u{fff9} \u{3164}filler\u{1d173}", "soft filler"),
        ];
        for (text, expected) in cases.into_iter().chain([("a\n  \u{a0}\u{a0}b  c", "a b c")]) {
            assert_eq!(sanitize(text), expected, "{text:?}");
        }
    }

    #[test]
    fn messages_are_cut_in_characters() {
        let exact = "é".repeat(300);
        assert_eq!(sanitize(&exact), exact);
        let long = sanitize(&"é".repeat(301));
        assert_eq!(long.chars().count(), 300);
        assert!(long.ends_with("é..."));
    }

    proptest::proptest! {
        #[test]
        fn no_message_keeps_a_hidden_character(text in proptest::prelude::any::<String>()) {
            let clean = sanitize(&text);
            proptest::prop_assert!(clean.chars().count() <= LONGEST_MESSAGE);
            proptest::prop_assert!(!clean.chars().any(is_control_or_bidi));
            proptest::prop_assert_eq!(sanitize(&clean), clean);
        }
    }
}
