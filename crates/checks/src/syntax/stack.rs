//! The stack that a language's own parser needs for a text.
//!
//! Invariant: every level of nesting takes at least one token, so a text with few tokens needs no other measurement.

use super::fault::SyntaxFault;
use super::table::OwnParser;
use lockgate_syntax as grammar;

/// The largest stack of a parser, in bytes. It is only reserved; even the deepest text uses at most half of it.
pub(super) const MAX_STACK: usize = if cfg!(debug_assertions) { 512 << 20 } else { 104 << 20 };
/// The stack that a parser needs before the first level of nesting, in bytes.
pub(super) const LEAST_STACK: usize = 8 << 20;
/// The memory limit for a parser in this process, in bytes.
const MAX_MEMORY: usize = 48 << 20;

impl OwnParser {
    /// Returns the stack for this many levels of nesting, in bytes.
    pub(super) fn stack_for(&self, levels: usize) -> usize {
        levels.saturating_mul(self.frame).saturating_add(LEAST_STACK)
    }

    /// True if a text of this length is parsed in another process: its parser may exceed the memory limit of this process,
    /// or take so long that it must be killed, which only a process can be.
    pub(super) fn is_large(&self, length: usize) -> bool {
        length > grammar::SMALL || length.saturating_mul(self.per_byte) > MAX_MEMORY
    }

    /// Returns the stack for a text, if it is known without tree-sitter; a fault if the text nests too deeply.
    pub(super) fn measured_stack(&self, text: &str) -> Result<Option<usize>, SyntaxFault> {
        if let Some(stack) = self.stack_at_once(text) {
            return Ok(Some(stack));
        }
        let levels = self.levels.map(|levels| levels(text)).transpose()?;
        Ok(levels.map(|levels| self.stack_for(levels)).filter(|stack| *stack <= MAX_STACK))
    }

    /// Returns the stack for a text that has too few tokens to nest too deeply; every level takes a token.
    pub(super) fn stack_at_once(&self, text: &str) -> Option<usize> {
        let levels = if self.stack_for(text.len()) <= MAX_STACK { text.len() } else { tokens(text) };
        Some(self.stack_for(levels)).filter(|stack| *stack <= MAX_STACK)
    }
}

/// Counts the possible tokens: runs of letters and digits, and every other character except white space.
pub(super) fn tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut in_word = false;
    for character in text.chars() {
        let word = character.is_alphanumeric() || character == '_';
        tokens += usize::from(!(word && in_word || character.is_whitespace()));
        in_word = word;
    }
    tokens
}
