//! Parses a pattern as CPython 3.11's `re` does, with the same errors and messages.
//!
//! Invariant: every error is [`Error::Pattern`]; the recursion depth is limited for every text.

use super::ast::{At, ENDLESS, Greediness, Item, Node, Polarity, Sequence, Set, Width};
use super::error::Error;
use super::flags::Flags;
use super::source::{PatternToken, TokenReader};

/// The maximum nesting depth of groups.
const DEEPEST: usize = 100;
/// The maximum number of characters in a pattern.
const LONGEST: usize = 8_000;

pub(super) struct ParsedPattern {
    pub(super) sequence: Sequence,
    pub(super) flags: Flags,
    pub(super) widths: Vec<Option<Width>>,
    pub(super) names: Vec<(String, usize)>,
}

/// The state of the parser.
pub(super) struct Parser {
    pub(super) source: TokenReader,
    pub(super) flags: Flags,
    /// The widths of the groups; `None` while a group is open. The first is the whole match.
    pub(super) widths: Vec<Option<Width>>,
    pub(super) names: Vec<(String, usize)>,
    /// The number of groups when the outermost look-behind began.
    pub(super) groups_before_look_behind: Option<usize>,
    /// The groups that conditions refer to, with the position of each reference.
    pub(super) condition_groups: Vec<(usize, usize)>,
    pub(super) depth: usize,
    carriage_returns: CarriageReturnMode,
}

/// Decides how a carriage return directly before a newline is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CarriageReturnMode {
    /// It is a character of its own.
    Kept,
    /// It is left out, unless it or the newline is repeated.
    Folded,
}

/// Decides if white space and comments are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    Preserved,
    Skipped,
}

/// Decides if flags of the whole pattern, as in `(?i)`, may follow: only at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GlobalFlags {
    Allowed,
    Misplaced,
}

impl Spacing {
    pub(super) fn from_flags(flags: Flags) -> Spacing {
        if flags.has(Flags::VERBOSE) { Spacing::Skipped } else { Spacing::Preserved }
    }
}

pub(super) fn parse(
    text: &str,
    flags: Flags,
    carriage_returns: CarriageReturnMode,
) -> Result<ParsedPattern, Error> {
    let source = TokenReader::new(text, Error::Pattern)?;
    if text.chars().count() > LONGEST {
        return Err(source.unsupported(&format!("a pattern of more than {LONGEST} characters")));
    }
    let mut parser = Parser {
        source,
        flags,
        widths: vec![None],
        names: Vec::new(),
        groups_before_look_behind: None,
        condition_groups: Vec::new(),
        depth: 0,
        carriage_returns,
    };
    let sequence = parser.alternatives(Spacing::from_flags(flags))?;
    if parser.flags.has(Flags::ASCII.with(Flags::UNICODE)) {
        return Err(parser.source.refuse("ASCII and UNICODE flags are incompatible"));
    }
    if parser.source.next().is_some() {
        return Err(parser.source.error("unbalanced parenthesis", 0));
    }
    let missing = parser.condition_groups.iter().find(|(group, _)| *group >= parser.widths.len());
    if let Some((group, position)) = missing {
        return Err(parser.source.error_at(&format!("invalid group reference {group}"), *position));
    }
    let flags = if parser.flags.has(Flags::ASCII) { parser.flags } else { parser.flags.with(Flags::UNICODE) };
    Ok(ParsedPattern { sequence, flags, widths: parser.widths, names: parser.names })
}

impl Parser {
    /// Parses the alternatives of `a|b|c`, up to the end of their group.
    pub(super) fn alternatives(&mut self, spacing: Spacing) -> Result<Sequence, Error> {
        let (outermost, mut spacing) = (self.depth == 0, spacing);
        let mut alternatives = Vec::new();
        self.descend()?;
        loop {
            let is_start = outermost && alternatives.is_empty();
            let global_flags = if is_start { GlobalFlags::Allowed } else { GlobalFlags::Misplaced };
            alternatives.push(self.sequence(spacing, global_flags)?);
            if !self.source.eat('|')? {
                break;
            }
            if outermost {
                spacing = Spacing::from_flags(self.flags);
            }
        }
        self.depth -= 1;
        Ok(joined(alternatives))
    }

    /// Enters one nesting level. Errors: [`Error::Pattern`] if the nesting is too deep.
    pub(super) fn descend(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.source.unsupported("groups nested so deeply"));
        }
        Ok(())
    }

    /// Parses one alternative, up to the next bar.
    pub(super) fn sequence(
        &mut self,
        spacing: Spacing,
        global_flags: GlobalFlags,
    ) -> Result<Sequence, Error> {
        let (mut sequence, mut spacing) = (Sequence::new(), spacing);
        while let Some(token) = self.source.next() {
            if token.is('|') || token.is(')') {
                break;
            }
            self.source.take()?;
            match token {
                PatternToken::Plain(' ' | '\t'..='\r') if spacing == Spacing::Skipped => {}
                PatternToken::Plain('#') if spacing == Spacing::Skipped => self.skip_line()?,
                PatternToken::Escaped(escaped) => sequence.push(self.escape(escaped)?),
                PatternToken::Plain('[') => sequence.push(self.set()?),
                PatternToken::Plain(char @ ('*' | '+' | '?' | '{')) => self.repeat(char, &mut sequence)?,
                PatternToken::Plain('.') => sequence.push(Node::Any),
                PatternToken::Plain('(') => {
                    let global_flags =
                        if sequence.is_empty() { global_flags } else { GlobalFlags::Misplaced };
                    spacing = self.group(spacing, global_flags, &mut sequence)?;
                }
                PatternToken::Plain('^') => sequence.push(Node::At(At::Beginning)),
                PatternToken::Plain('$') => sequence.push(Node::At(At::End)),
                PatternToken::Plain(char) => sequence.push(Node::Literal(u32::from(char))),
            }
        }
        Ok(unpacked(match self.carriage_returns {
            CarriageReturnMode::Kept => sequence,
            CarriageReturnMode::Folded => folded(sequence),
        }))
    }

    fn skip_line(&mut self) -> Result<(), Error> {
        while let Some(token) = self.source.take()? {
            if token.is('\n') {
                break;
            }
        }
        Ok(())
    }

    /// Parses a repetition of the last node of the sequence.
    fn repeat(&mut self, sign: char, sequence: &mut Sequence) -> Result<(), Error> {
        let start = self.source.position();
        let counts = match sign {
            '?' => Some((0, 1)),
            '*' => Some((0, ENDLESS)),
            '+' => Some((1, ENDLESS)),
            _ => self.counts(start)?,
        };
        let Some((min, max)) = counts else {
            sequence.push(Node::Literal(u32::from(sign)));
            return Ok(());
        };
        let last = match sequence.pop() {
            None | Some(Node::At(_)) => return Err(self.source.error_at("nothing to repeat", start - 1)),
            Some(Node::Repeat { .. }) => return Err(self.source.error_at("multiple repeat", start - 1)),
            Some(last) => last,
        };
        let greediness = match self.source.eat('?')? {
            true => Greediness::Lazy,
            false if self.source.eat('+')? => Greediness::Possessive,
            false => Greediness::Greedy,
        };
        let body = match last {
            Node::Group { capture: None, add, remove, body } if add.is_empty() && remove.is_empty() => body,
            other => vec![other],
        };
        sequence.push(Node::Repeat { greediness, min, max, body });
        Ok(())
    }

    /// Parses `{m,n}`; `None` if the brace is a literal one.
    fn counts(&mut self, start: usize) -> Result<Option<(u32, u32)>, Error> {
        if self.source.next_is('}') {
            return Ok(None);
        }
        let least = self.source.take_while(usize::MAX, |char| char.is_ascii_digit())?;
        let most = match self.source.eat(',')? {
            true => self.source.take_while(usize::MAX, |char| char.is_ascii_digit())?,
            false => least.clone(),
        };
        if !self.source.eat('}')? {
            self.source.seek(start)?;
            return Ok(None);
        }
        let min = if least.is_empty() { 0 } else { self.count(&least)? };
        let max = if most.is_empty() { ENDLESS } else { self.count(&most)? };
        if max < min {
            return Err(self.source.error_at("min repeat greater than max repeat", start));
        }
        Ok(Some((min, max)))
    }

    fn count(&self, digits: &str) -> Result<u32, Error> {
        let count = digits.parse().ok().filter(|count| *count < ENDLESS);
        count.ok_or_else(|| self.source.refuse("the repetition number is too large"))
    }
}

/// Joins alternatives into one sequence. A common prefix is moved in front of them, and single characters become a
/// set.
fn joined(mut alternatives: Vec<Sequence>) -> Sequence {
    if alternatives.len() <= 1 {
        return alternatives.pop().unwrap_or_default();
    }
    let mut sequence = Sequence::new();
    while let Some(first) = common_start(&alternatives) {
        alternatives.iter_mut().for_each(|rest| drop(rest.remove(0)));
        sequence.push(first);
    }
    match as_set(&alternatives) {
        Some(set) => sequence.push(Node::In(set)),
        None => sequence.push(Node::Branch(alternatives)),
    }
    sequence
}

fn common_start(alternatives: &[Sequence]) -> Option<Node> {
    let (first, rest) = alternatives.split_first()?;
    let first = first.first()?;
    let bare = match first {
        Node::Literal(_)
        | Node::NotLiteral(_)
        | Node::Any
        | Node::In(_)
        | Node::At(_)
        | Node::Reference(_) => true,
        Node::Branch(_) | Node::Group { .. } | Node::Repeat { .. } => false,
        Node::Atomic(_) | Node::Look { .. } | Node::Condition { .. } => false,
    };
    let shared = bare && rest.iter().all(|sequence| sequence.first() == Some(first));
    shared.then(|| first.clone())
}

fn as_set(alternatives: &[Sequence]) -> Option<Set> {
    let mut items = Vec::new();
    for sequence in alternatives {
        match sequence.as_slice() {
            [Node::Literal(char)] => items.push(Item::Literal(*char)),
            [Node::In(Set { negated: false, items: members })] => items.extend(members),
            _ => return None,
        }
    }
    Some(Set { negated: false, items: unique(items) })
}

/// Removes repeated items and keeps the order.
pub(super) fn unique(items: Vec<Item>) -> Vec<Item> {
    let mut distinct: Vec<Item> = Vec::with_capacity(items.len());
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

/// Removes each carriage return directly before a newline.
fn folded(sequence: Sequence) -> Sequence {
    let [carriage_return, newline] = ['\r', '\n'].map(|char| Node::Literal(u32::from(char)));
    let mut out = Sequence::with_capacity(sequence.len());
    for node in sequence {
        if node == newline {
            out.pop_if(|last| *last == carriage_return);
        }
        out.push(node);
    }
    out
}

/// Replaces plain groups by their bodies.
fn unpacked(sequence: Sequence) -> Sequence {
    let mut out = Sequence::with_capacity(sequence.len());
    for node in sequence {
        match node {
            Node::Group { capture: None, add, remove, body } if add.is_empty() && remove.is_empty() => {
                out.extend(body);
            }
            other => out.push(other),
        }
    }
    out
}

/// Returns the node of `\b` or `\B`.
pub(super) fn boundary(escaped: char) -> Node {
    Node::At(At::Boundary(if escaped == 'b' { Polarity::Yes } else { Polarity::No }))
}
