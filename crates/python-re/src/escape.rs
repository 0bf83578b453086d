//! Parses backslash escapes, inside and outside a set.
//!
//! Invariant: a backslash before an ASCII letter or digit is rejected if Python gives it no meaning.

use super::ast::{At, Category, Item, Node, Polarity, Set};
use super::error::Error;
use super::parse::{Parser, boundary};
use super::source::{is_octal, octal};

impl Parser {
    /// Parses an escape outside a set.
    pub(super) fn escape(&mut self, escaped: char) -> Result<Node, Error> {
        match escaped {
            'A' => return Ok(Node::At(At::TextStart)),
            'Z' => return Ok(Node::At(At::TextEnd)),
            'b' | 'B' => return Ok(boundary(escaped)),
            '0' => {
                let digits = self.source.take_while(2, is_octal)?;
                return Ok(Node::Literal(octal(&digits)));
            }
            '1'..='9' => return self.number(escaped),
            _ => {}
        }
        if let Some((category, wanted)) = category(escaped) {
            return Ok(Node::In(Set { negated: false, items: vec![Item::Category(category, wanted)] }));
        }
        self.character(escaped).map(Node::Literal)
    }

    /// Parses an escape inside a set.
    pub(super) fn set_escape(&mut self, escaped: char) -> Result<Item, Error> {
        if let Some((category, wanted)) = category(escaped) {
            return Ok(Item::Category(category, wanted));
        }
        if escaped == 'b' {
            return Ok(Item::Literal(8));
        }
        if is_octal(escaped) {
            let text = format!("{escaped}{}", self.source.take_while(2, is_octal)?);
            return self.source.octal_value(&text).map(Item::Literal);
        }
        self.character(escaped).map(Item::Literal)
    }

    /// Parses an octal escape of three digits, or a group reference.
    fn number(&mut self, first: char) -> Result<Node, Error> {
        let mut text = String::from(first);
        if self.source.peek_if(|char| char.is_ascii_digit()).is_some() {
            text.push_str(&self.source.take_while(1, |char| char.is_ascii_digit())?);
            if text.chars().all(is_octal) && self.source.peek_if(is_octal).is_some() {
                text.push_str(&self.source.take_while(1, is_octal)?);
                return self.source.octal_value(&text).map(Node::Literal);
            }
        }
        let group = text.parse().unwrap_or(usize::MAX);
        if group >= self.widths.len() {
            return Err(self.source.error(&format!("invalid group reference {text}"), text.len()));
        }
        if !self.is_closed(group) {
            return Err(self.source.error("cannot refer to an open group", text.len() + 1));
        }
        self.outside_look_behind(group)?;
        Ok(Node::Reference(group))
    }

    /// Parses an escape that names one character.
    fn character(&mut self, escaped: char) -> Result<u32, Error> {
        if let Some(control) = control(escaped) {
            return Ok(u32::from(control));
        }
        match escaped {
            'x' => self.hexadecimal(escaped, 2),
            'u' => self.hexadecimal(escaped, 4),
            'U' => self.hexadecimal(escaped, 8),
            'N' => Err(self.character_name()),
            _ if escaped.is_ascii_alphanumeric() => {
                Err(self.source.error(&format!("bad escape \\{escaped}"), 2))
            }
            _ => Ok(u32::from(escaped)),
        }
    }

    fn hexadecimal(&mut self, letter: char, digits: usize) -> Result<u32, Error> {
        let text = self.source.take_while(digits, |char| char.is_ascii_hexdigit())?;
        if text.len() != digits {
            let message = format!("incomplete escape \\{letter}{text}");
            return Err(self.source.error(&message, text.len() + 2));
        }
        let value = u32::from_str_radix(&text, 16).ok().filter(|value| *value <= super::charset::LAST);
        value.ok_or_else(|| self.source.error(&format!("bad escape \\{letter}{text}"), text.len() + 2))
    }

    /// Rejects `\N{...}`: lockgate has no table of character names.
    fn character_name(&mut self) -> Error {
        match self.source.eat('{') {
            Ok(true) => {}
            Ok(false) => return self.source.error("missing {", 0),
            Err(error) => return error,
        }
        match self.source.until('}', "character name") {
            Ok(_) => {
                self.source.unsupported("a character by its name, \\N{...}; write it as it is or as \\u")
            }
            Err(error) => error,
        }
    }

    pub(super) fn is_closed(&self, group: usize) -> bool {
        self.widths.get(group).is_some_and(Option::is_some)
    }

    /// Rejects a reference to a group from inside the look-behind that defines it.
    pub(super) fn outside_look_behind(&self, group: usize) -> Result<(), Error> {
        let Some(groups) = self.groups_before_look_behind else { return Ok(()) };
        if !self.is_closed(group) {
            return Err(self.source.error("cannot refer to an open group", 0));
        }
        if group >= groups {
            let message = "cannot refer to group defined in the same lookbehind subpattern";
            return Err(self.source.error(message, 0));
        }
        Ok(())
    }
}

/// Returns the control character of an escape letter, or a backslash; `\b` is not included.
pub(super) fn control(escaped: char) -> Option<char> {
    match escaped {
        'a' => Some('\x07'),
        'f' => Some('\x0c'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\x0b'),
        '\\' => Some('\\'),
        _ => None,
    }
}

fn category(escaped: char) -> Option<(Category, Polarity)> {
    match escaped {
        'd' => Some((Category::Digit, Polarity::Yes)),
        'D' => Some((Category::Digit, Polarity::No)),
        's' => Some((Category::Space, Polarity::Yes)),
        'S' => Some((Category::Space, Polarity::No)),
        'w' => Some((Category::WordChar, Polarity::Yes)),
        'W' => Some((Category::WordChar, Polarity::No)),
        _ => None,
    }
}
