//! Parses groups and the other constructs that begin with a parenthesis.
//!
//! Invariant: a group is open, and has no width, until its closing parenthesis has been parsed.

use super::ast::{LookDirection, Node, Polarity, Sequence, width};
use super::error::Error;
use super::flags::Flags;
use super::names::{GroupReference, quoted};
use super::parse::{GlobalFlags, Parser, Spacing};
use super::source::PatternToken;

/// The function of a group besides grouping.
enum GroupKind {
    Capture(Option<String>),
    Plain(Flags, Flags),
    Atomic,
}

impl Parser {
    /// Parses a group after its opening parenthesis. Returns the spacing mode of the text that follows.
    pub(super) fn group(
        &mut self,
        spacing: Spacing,
        global_flags: GlobalFlags,
        sequence: &mut Sequence,
    ) -> Result<Spacing, Error> {
        let start = self.source.position() - 1;
        if !self.source.eat('?')? {
            sequence.push(self.contents(GroupKind::Capture(None), spacing, start)?);
            return Ok(spacing);
        }
        let none = Flags::default();
        let sign = self.sign("unexpected end of pattern")?;
        let node = match sign {
            PatternToken::Plain('P') => self.python_extension(spacing, start)?,
            PatternToken::Plain(':') => self.contents(GroupKind::Plain(none, none), spacing, start)?,
            PatternToken::Plain('>') => self.contents(GroupKind::Atomic, spacing, start)?,
            PatternToken::Plain('#') => {
                self.comment(start)?;
                return Ok(spacing);
            }
            PatternToken::Plain('=' | '!') => self.look(LookDirection::Ahead, sign, spacing, start)?,
            PatternToken::Plain('<') => {
                let sign = self.sign("unexpected end of pattern")?;
                if !matches!(sign, PatternToken::Plain('=' | '!')) {
                    let message = format!("unknown extension ?<{}", sign.text());
                    return Err(self.source.error(&message, sign.len() + 2));
                }
                self.look(LookDirection::Behind, sign, spacing, start)?
            }
            PatternToken::Plain('(') => self.condition(spacing, start)?,
            PatternToken::Plain(letter) if letter == '-' || is_flag(letter) => {
                return self.flag_group(letter, spacing, global_flags, start, sequence);
            }
            PatternToken::Plain(_) | PatternToken::Escaped(_) => {
                let message = format!("unknown extension ?{}", sign.text());
                return Err(self.source.error(&message, sign.len() + 1));
            }
        };
        sequence.push(node);
        Ok(spacing)
    }

    /// Parses up to the closing parenthesis.
    fn contents(&mut self, kind: GroupKind, spacing: Spacing, start: usize) -> Result<Node, Error> {
        let capture = match &kind {
            GroupKind::Capture(name) => Some(self.open(name.as_deref())?),
            GroupKind::Plain(..) | GroupKind::Atomic => None,
        };
        let inner = match &kind {
            GroupKind::Plain(_, remove) if remove.has(Flags::VERBOSE) => Spacing::Preserved,
            GroupKind::Plain(add, _) if add.has(Flags::VERBOSE) => Spacing::Skipped,
            GroupKind::Plain(..) | GroupKind::Capture(_) | GroupKind::Atomic => spacing,
        };
        let body = self.alternatives(inner)?;
        self.close(start)?;
        if let Some(group) = capture {
            let measured = width(&body, &self.widths);
            if let Some(slot) = self.widths.get_mut(group) {
                *slot = Some(measured);
            }
        }
        let none = Flags::default();
        Ok(match kind {
            GroupKind::Capture(_) => Node::Group { capture, add: none, remove: none, body },
            GroupKind::Plain(add, remove) => Node::Group { capture: None, add, remove, body },
            GroupKind::Atomic => Node::Atomic(body),
        })
    }

    fn close(&mut self, start: usize) -> Result<(), Error> {
        if self.source.eat(')')? {
            return Ok(());
        }
        Err(self.source.error_at("missing ), unterminated subpattern", start))
    }

    /// Assigns the next group number.
    fn open(&mut self, name: Option<&str>) -> Result<usize, Error> {
        let group = self.widths.len();
        self.widths.push(None);
        let Some(name) = name else { return Ok(group) };
        if let Some((_, taken)) = self.names.iter().find(|(known, _)| known == name) {
            let name_text = quoted(name);
            let message =
                format!("redefinition of group name {name_text} as group {group}; was group {taken}");
            return Err(self.source.error(&message, name.chars().count() + 1));
        }
        self.names.push((name.to_owned(), group));
        Ok(group)
    }

    fn python_extension(&mut self, spacing: Spacing, start: usize) -> Result<Node, Error> {
        if self.source.eat('<')? {
            let name = self.source.until('>', "group name")?;
            self.check_name(&name)?;
            return self.contents(GroupKind::Capture(Some(name)), spacing, start);
        }
        if self.source.eat('=')? {
            let name = self.source.until(')', "group name")?;
            self.check_name(&name)?;
            let group = self.group_named(&name)?;
            if !self.is_closed(group) {
                return Err(self.source.error("cannot refer to an open group", name.chars().count() + 1));
            }
            self.outside_look_behind(group)?;
            return Ok(Node::Reference(group));
        }
        let sign = self.sign("unexpected end of pattern")?;
        Err(self.source.error(&format!("unknown extension ?P{}", sign.text()), sign.len() + 2))
    }

    fn check_name(&self, name: &str) -> Result<(), Error> {
        match GroupReference::parse(name) {
            GroupReference::Name => Ok(()),
            GroupReference::Unsupported if !name.is_ascii() => {
                Err(self.source.unsupported("a group name that is not ASCII"))
            }
            GroupReference::Number(_) | GroupReference::Invalid | GroupReference::Unsupported => {
                Err(self.bad_name(name))
            }
        }
    }

    fn bad_name(&self, name: &str) -> Error {
        let message = format!("bad character in group name {}", quoted(name));
        self.source.error(&message, name.chars().count() + 1)
    }

    fn group_named(&self, name: &str) -> Result<usize, Error> {
        let found = self.names.iter().find(|(known, _)| known == name);
        found.map(|(_, group)| *group).ok_or_else(|| {
            let message = format!("unknown group name {}", quoted(name));
            self.source.error(&message, name.chars().count() + 1)
        })
    }

    fn comment(&mut self, start: usize) -> Result<(), Error> {
        while let Some(token) = self.source.take()? {
            if token.is(')') {
                return Ok(());
            }
        }
        Err(self.source.error_at("missing ), unterminated comment", start))
    }

    fn look(
        &mut self,
        side: LookDirection,
        sign: PatternToken,
        spacing: Spacing,
        start: usize,
    ) -> Result<Node, Error> {
        let outermost = side == LookDirection::Behind && self.groups_before_look_behind.is_none();
        if outermost {
            self.groups_before_look_behind = Some(self.widths.len());
        }
        let body = self.alternatives(spacing)?;
        if outermost {
            self.groups_before_look_behind = None;
        }
        self.close(start)?;
        let wanted = if sign.is('=') { Polarity::Yes } else { Polarity::No };
        Ok(Node::Look { side, wanted, body })
    }

    fn condition(&mut self, spacing: Spacing, start: usize) -> Result<Node, Error> {
        let name = self.source.until(')', "group name")?;
        let length = name.chars().count();
        let group = match GroupReference::parse(&name) {
            GroupReference::Name => self.group_named(&name)?,
            GroupReference::Number(0) => return Err(self.source.error("bad group number", length + 1)),
            GroupReference::Number(group) => {
                let position = self.source.position().saturating_sub(length + 1);
                if !self.condition_groups.iter().any(|(known, _)| *known == group) {
                    self.condition_groups.push((group, position));
                }
                group
            }
            GroupReference::Invalid => return Err(self.bad_name(&name)),
            GroupReference::Unsupported => {
                return Err(self.source.unsupported("a group name that is not ASCII or a huge number"));
            }
        };
        self.outside_look_behind(group)?;
        self.descend()?;
        let yes = self.sequence(spacing, GlobalFlags::Misplaced)?;
        let no =
            if self.source.eat('|')? { Some(self.sequence(spacing, GlobalFlags::Misplaced)?) } else { None };
        self.depth -= 1;
        if no.is_some() && self.source.next_is('|') {
            return Err(self.source.error("conditional backref with more than two branches", 0));
        }
        self.close(start)?;
        Ok(Node::Condition { group, yes, no })
    }

    /// Parses flags: `(?i)` for what follows, `(?i:...)` for a group.
    fn flag_group(
        &mut self,
        letter: char,
        spacing: Spacing,
        global_flags: GlobalFlags,
        start: usize,
        sequence: &mut Sequence,
    ) -> Result<Spacing, Error> {
        if let Some((add, remove)) = self.inline_flags(letter)? {
            sequence.push(self.contents(GroupKind::Plain(add, remove), spacing, start)?);
            return Ok(spacing);
        }
        if global_flags == GlobalFlags::Misplaced {
            return Err(self.source.error_at("global flags not at the start of the expression", start));
        }
        Ok(Spacing::from_flags(self.flags))
    }

    /// Returns the next token, or an error at the end of the pattern.
    pub(super) fn sign(&mut self, otherwise: &str) -> Result<PatternToken, Error> {
        self.source.take()?.ok_or_else(|| self.source.error(otherwise, 0))
    }
}

/// Returns true if Python knows the letter as a flag, allowed or not.
pub(super) fn is_flag(letter: char) -> bool {
    matches!(letter, 'a' | 'i' | 'L' | 'm' | 's' | 't' | 'u' | 'x')
}
