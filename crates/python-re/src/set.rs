//! Parses `[...]`. As in Python, `[`, `&&`, `--`, `~~` and `||` inside a set are plain characters.
//!
//! Invariant: a parsed set has at least one member.

use super::ast::{Item, Node, Set};
use super::error::Error;
use super::parse::{Parser, unique};
use super::source::PatternToken;

impl Parser {
    /// Parses a set after its opening bracket.
    pub(super) fn set(&mut self) -> Result<Node, Error> {
        let start = self.source.position() - 1;
        let negated = self.source.eat('^')?;
        let mut items = Vec::new();
        loop {
            let token = self.set_token(start)?;
            if token.is(']') && !items.is_empty() {
                break;
            }
            let (first, written) = self.member(token)?;
            if !self.source.eat('-')? {
                items.push(first);
                continue;
            }
            let token = self.set_token(start)?;
            if token.is(']') {
                items.extend([first, Item::Literal(u32::from('-'))]);
                break;
            }
            let (last, also) = self.member(token)?;
            match (first, last) {
                (Item::Literal(from), Item::Literal(to)) if from <= to => items.push(Item::Range(from, to)),
                _ => {
                    let length = written.chars().count() + 1 + also.chars().count();
                    return Err(self.source.error(&format!("bad character range {written}-{also}"), length));
                }
            }
        }
        let items = unique(items);
        Ok(match items.as_slice() {
            [Item::Literal(char)] if negated => Node::NotLiteral(*char),
            [Item::Literal(char)] => Node::Literal(*char),
            _ => Node::In(Set { negated, items }),
        })
    }

    fn set_token(&mut self, start: usize) -> Result<PatternToken, Error> {
        self.source.take()?.ok_or_else(|| self.source.error_at("unterminated character set", start))
    }

    /// Parses a member, and returns it with the token that began it, which Python's messages quote.
    fn member(&mut self, token: PatternToken) -> Result<(Item, String), Error> {
        let item = match token {
            PatternToken::Plain(char) => Item::Literal(u32::from(char)),
            PatternToken::Escaped(escaped) => self.set_escape(escaped)?,
        };
        Ok((item, token.text()))
    }
}
