//! The tokens of a pattern or a template, with their positions for errors.
//!
//! Invariant: `next` is the token that ends just before `index`.

use super::error::Error;

/// One character, or a backslash with the character after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternToken {
    /// A character without a backslash.
    Plain(char),
    /// A character after a backslash.
    Escaped(char),
}

impl PatternToken {
    pub(super) fn len(self) -> usize {
        match self {
            PatternToken::Plain(_) => 1,
            PatternToken::Escaped(_) => 2,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            PatternToken::Plain(char) => char.to_string(),
            PatternToken::Escaped(char) => format!("\\{char}"),
        }
    }

    pub(super) fn is(self, char: char) -> bool {
        self == PatternToken::Plain(char)
    }
}

/// A token reader with one token of look-ahead.
pub(super) struct TokenReader {
    chars: Vec<char>,
    index: usize,
    next: Option<PatternToken>,
    error: fn(String) -> Error,
}

impl TokenReader {
    /// Reads a pattern or a template, whose errors are of this variant.
    pub(super) fn new(text: &str, error: fn(String) -> Error) -> Result<TokenReader, Error> {
        let mut source = TokenReader { chars: text.chars().collect(), index: 0, next: None, error };
        source.advance()?;
        Ok(source)
    }

    pub(super) fn next(&self) -> Option<PatternToken> {
        self.next
    }

    pub(super) fn next_is(&self, char: char) -> bool {
        self.next == Some(PatternToken::Plain(char))
    }

    /// Returns the next token if it is a character that satisfies `wanted`.
    pub(super) fn peek_if(&self, wanted: impl Fn(char) -> bool) -> Option<char> {
        match self.next {
            Some(PatternToken::Plain(char)) if wanted(char) => Some(char),
            Some(PatternToken::Plain(_) | PatternToken::Escaped(_)) | None => None,
        }
    }

    pub(super) fn take(&mut self) -> Result<Option<PatternToken>, Error> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    pub(super) fn eat(&mut self, char: char) -> Result<bool, Error> {
        let found = self.next_is(char);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Takes up to `most` characters that satisfy `wanted`.
    pub(super) fn take_while(&mut self, most: usize, wanted: fn(char) -> bool) -> Result<String, Error> {
        let mut taken = String::new();
        for _ in 0..most {
            let Some(char) = self.peek_if(wanted) else { break };
            taken.push(char);
            self.advance()?;
        }
        Ok(taken)
    }

    /// Takes the text up to `terminator`, and the terminator itself.
    pub(super) fn until(&mut self, terminator: char, name: &str) -> Result<String, Error> {
        let mut taken = String::new();
        loop {
            match self.take()? {
                None if taken.is_empty() => return Err(self.error(&format!("missing {name}"), 0)),
                None => {
                    let message = format!("missing {terminator}, unterminated name");
                    return Err(self.error(&message, taken.chars().count()));
                }
                Some(token) if token.is(terminator) => break,
                Some(token) => taken.push_str(&token.text()),
            }
        }
        if taken.is_empty() {
            return Err(self.error(&format!("missing {name}"), 1));
        }
        Ok(taken)
    }

    /// Returns the value of an octal escape of three digits, which were taken.
    pub(super) fn octal_value(&self, digits: &str) -> Result<u32, Error> {
        match octal(digits) {
            value @ 0..=0o377 => Ok(value),
            _ => {
                let message = format!("octal escape value \\{digits} outside of range 0-0o377");
                Err(self.error(&message, digits.len() + 1))
            }
        }
    }

    /// Returns the position of the next token, in characters.
    pub(super) fn position(&self) -> usize {
        self.index - self.next.map_or(0, PatternToken::len)
    }

    pub(super) fn seek(&mut self, index: usize) -> Result<(), Error> {
        self.index = index;
        self.advance()
    }

    /// Returns an error at `offset` characters before the next token.
    pub(super) fn error(&self, message: &str, offset: usize) -> Error {
        self.error_at(message, self.position().saturating_sub(offset))
    }

    /// Returns an error at a position, in Python's words.
    pub(super) fn error_at(&self, message: &str, position: usize) -> Error {
        let before = self.chars.get(..position).unwrap_or(&self.chars);
        let mut text = format!("{message} at position {position}");
        if self.chars.contains(&'\n') {
            let line = before.iter().filter(|char| **char == '\n').count() + 1;
            let column = before.iter().rev().take_while(|char| **char != '\n').count() + 1;
            text.push_str(&format!(" (line {line}, column {column})"));
        }
        self.refuse(&text)
    }

    /// Returns an error without a position.
    pub(super) fn refuse(&self, message: &str) -> Error {
        (self.error)(message.to_owned())
    }

    /// Returns an error for a feature that Python supports and this crate does not.
    pub(super) fn unsupported(&self, what: &str) -> Error {
        self.refuse(&format!("not supported: {what}"))
    }

    fn advance(&mut self) -> Result<(), Error> {
        let Some(&char) = self.chars.get(self.index) else {
            self.next = None;
            return Ok(());
        };
        if char != '\\' {
            self.index += 1;
            self.next = Some(PatternToken::Plain(char));
            return Ok(());
        }
        let Some(&escaped) = self.chars.get(self.index + 1) else {
            return Err(self.error_at("bad escape (end of pattern)", self.chars.len() - 1));
        };
        self.index += 2;
        self.next = Some(PatternToken::Escaped(escaped));
        Ok(())
    }
}

pub(super) fn is_octal(char: char) -> bool {
    char.is_digit(8)
}

/// Returns the value of at most three octal digits.
pub(super) fn octal(digits: &str) -> u32 {
    digits.chars().filter_map(|char| char.to_digit(8)).fold(0, |value, digit| value * 8 + digit)
}
