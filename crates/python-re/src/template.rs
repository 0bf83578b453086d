//! Python's replacement templates.
//!
//! Invariant: a [`ReplacementTemplate`] refers only to groups of the pattern that it was parsed for.

use super::compiled::Pattern;
use super::error::Error;
use super::escape::control;
use super::names::{GroupReference, quoted};
use super::source::{PatternToken, TokenReader, is_octal, octal};

/// A replacement template, parsed for one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacementTemplate {
    pub(super) parts: Vec<TemplatePart>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Text(String),
    Group(usize),
}

impl ReplacementTemplate {
    /// Parses a template as `re.sub` does: `\1`, `\g<name>`, `\g<0>`, `\n` and octal escapes; `$` is a plain
    /// character.
    ///
    /// Errors: [`Error::Template`] with Python's message for a bad escape, and for a group that is malformed or that the
    /// pattern does not have.
    pub fn parse(template: &str, pattern: &Pattern) -> Result<ReplacementTemplate, Error> {
        if !template.contains('\\') {
            return Ok(ReplacementTemplate { parts: vec![TemplatePart::Text(template.to_owned())] });
        }
        let source = TokenReader::new(template, Error::Template)?;
        let mut reader = TemplateReader { source, pattern, parts: Vec::new() };
        while let Some(token) = reader.source.take()? {
            match token {
                PatternToken::Plain(char) => reader.text(char),
                PatternToken::Escaped('g') => reader.named()?,
                PatternToken::Escaped('0') => {
                    let value = octal(&reader.source.take_while(2, is_octal)?) & 0xFF;
                    reader.text(char::from_u32(value).unwrap_or_default());
                }
                PatternToken::Escaped(digit @ '1'..='9') => reader.numbered(digit)?,
                PatternToken::Escaped(escaped) => reader.escaped(escaped)?,
            }
        }
        Ok(ReplacementTemplate { parts: reader.parts })
    }

    /// Returns true if the replacement depends on the match.
    pub(super) fn has_groups(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, TemplatePart::Group(_)))
    }
}

struct TemplateReader<'p> {
    source: TokenReader,
    pattern: &'p Pattern,
    parts: Vec<TemplatePart>,
}

impl TemplateReader<'_> {
    fn text(&mut self, char: char) {
        match self.parts.last_mut() {
            Some(TemplatePart::Text(text)) => text.push(char),
            Some(TemplatePart::Group(_)) | None => self.parts.push(TemplatePart::Text(char.to_string())),
        }
    }

    fn group(&mut self, group: usize, offset: usize) -> Result<(), Error> {
        if group > self.pattern.groups {
            return Err(self.source.error(&format!("invalid group reference {group}"), offset));
        }
        self.parts.push(TemplatePart::Group(group));
        Ok(())
    }

    fn escaped(&mut self, escaped: char) -> Result<(), Error> {
        match control(escaped) {
            Some(control) => self.text(control),
            None if escaped == 'b' => self.text('\x08'),
            None if escaped.is_ascii_alphabetic() => {
                return Err(self.source.error(&format!("bad escape \\{escaped}"), 2));
            }
            None => {
                self.text('\\');
                self.text(escaped);
            }
        }
        Ok(())
    }

    /// Parses the rest of a group reference `\g<name>`.
    fn named(&mut self) -> Result<(), Error> {
        if !self.source.eat('<')? {
            return Err(self.source.error("missing <", 0));
        }
        let name = self.source.until('>', "group name")?;
        let offset = name.chars().count() + 1;
        match GroupReference::parse(&name) {
            GroupReference::Name => match self.pattern.group_named(&name) {
                Some(group) => self.group(group, offset),
                None => Err(self.source.refuse(&format!("unknown group name {}", quoted(&name)))),
            },
            GroupReference::Number(group) => self.group(group, offset),
            GroupReference::Invalid => {
                let message = format!("bad character in group name {}", quoted(&name));
                Err(self.source.error(&message, offset))
            }
            GroupReference::Unsupported if name.is_ascii() => {
                Err(self.source.error(&format!("invalid group reference {name}"), offset))
            }
            GroupReference::Unsupported => Err(self.source.unsupported("a group name that is not ASCII")),
        }
    }

    /// `\1`, `\12`, or three octal digits.
    fn numbered(&mut self, first: char) -> Result<(), Error> {
        let mut text = String::from(first);
        text.push_str(&self.source.take_while(1, |char| char.is_ascii_digit())?);
        let is_pair = text.len() == 2 && text.chars().all(is_octal);
        if is_pair && self.source.peek_if(is_octal).is_some() {
            text.push_str(&self.source.take_while(1, is_octal)?);
            let value = self.source.octal_value(&text)?;
            self.text(char::from_u32(value).unwrap_or_default());
            return Ok(());
        }
        self.group(text.parse().unwrap_or(usize::MAX), text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    fn error_message(template: &str) -> String {
        let pattern = Pattern::compile("(?P<x>a)", Flags::default()).unwrap();
        ReplacementTemplate::parse(template, &pattern).unwrap_err().to_string()
    }

    #[test]
    fn rejections_are_pythons() {
        for (template, message) in [
            (r"\q", r"bad escape \q at position 0"),
            (r"a\2", "invalid group reference 2 at position 2"),
            (r"\g<y>", "unknown group name 'y'"),
            (r"\g<1a>", "bad character in group name '1a' at position 3"),
            (r"\g1", "missing < at position 2"),
            (r"\g<x", "missing >, unterminated name at position 3"),
            (r"\g<>", "missing group name at position 3"),
            (r"\777", r"octal escape value \777 outside of range 0-0o377 at position 0"),
            ("\n\\", "bad escape (end of pattern) at position 1 (line 2, column 1)"),
        ] {
            assert_eq!(
                error_message(template),
                format!("invalid replacement template: {message}"),
                "{template}"
            );
        }
    }

    #[test]
    fn a_dollar_and_an_unknown_sign_stay_as_they_are() {
        let pattern = Pattern::compile("(a)", Flags::default()).unwrap();
        let parts = ReplacementTemplate::parse(r"$1\.\n\101\g<0>\1", &pattern).unwrap().parts;
        assert_eq!(
            parts,
            [TemplatePart::Text("$1\\.\nA".to_owned()), TemplatePart::Group(0), TemplatePart::Group(1)]
        );
    }
}
