//! The result of a parser, or the reason that there is none.

use std::time::Duration;

use super::fault::SyntaxFault;
use lockgate_sandbox::{Halt, Limit};
use lockgate_syntax::{Node, ParseSlot, Tree, Unreadable, WalkStep, walk};

/// The reason that a text is not read if its indentation is too deep for the grammar.
pub(crate) const TOO_DEEP: &str = "nests too deeply to parse safely";

/// The result of parsing a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parse {
    /// The parser read the text and found these faults.
    Read {
        faults: Vec<SyntaxFault>,
        /// The starts of the parts of a text without faults, if the parser reports them.
        parts: Vec<u32>,
    },
    /// The text nests deeper than the parser reads; it may be valid.
    TooDeep,
}

impl Parse {
    /// The result for a text without faults, with the starts of its parts.
    pub(super) fn valid(parts: Vec<u32>) -> Parse {
        Parse::Read { faults: Vec::new(), parts }
    }

    /// The result for a text with these faults, if there are any.
    pub(super) fn faulty(faults: Vec<SyntaxFault>) -> Parse {
        Parse::Read { faults, parts: Vec::new() }
    }
}

/// The reason that a text has no parse result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ParseFailure {
    /// No parser reads the language.
    Unknown(&'static str),
    /// No parser can read this text, for this reason.
    Unreadable(String),
    /// The text is a template, which is rendered before anything parses it.
    Template,
    /// The caller cancelled the call, or the time limit was reached.
    Halted(Halt),
    /// The parser used up this much processor time, which is its limit for a text of this size.
    TooSlow(Duration),
    /// The parser panicked, with this message.
    Broken(String),
}

impl From<Halt> for ParseFailure {
    fn from(halt: Halt) -> ParseFailure {
        ParseFailure::Halted(halt)
    }
}

impl ParseFailure {
    /// True if the text was not read for lack of time, so that no other parser is tried.
    pub(super) fn is_timeout(&self) -> bool {
        matches!(self, ParseFailure::Halted(_) | ParseFailure::TooSlow(_))
    }
}

/// Returns the failure for a text that a grammar did not read.
pub(crate) fn unreadable(why: Unreadable) -> ParseFailure {
    match why {
        Unreadable::Unknown => ParseFailure::Unknown("no grammar for this language"),
        Unreadable::TooDeep => ParseFailure::Unreadable(TOO_DEEP.to_owned()),
        Unreadable::TooLarge(shortage) => ParseFailure::Unreadable(shortage.to_string()),
        Unreadable::TooLong => {
            ParseFailure::Unreadable("takes too many steps to search completely".to_owned())
        }
        Unreadable::Broken => ParseFailure::Broken("tree-sitter panicked".to_owned()),
    }
}

/// Passes the nodes of a tree to `see`, each with its level; stops at the limit.
pub(super) fn walk_within(
    tree: &Tree,
    limit: Limit<'_>,
    mut see: impl FnMut(Node<'_>, usize),
) -> Result<(), Halt> {
    let (mut steps, mut halt) = (0_usize, None);
    walk(tree, |node, level| {
        steps += 1;
        if steps.is_multiple_of(4096) {
            halt = limit.reached();
        }
        see(node, level);
        if halt.is_some() { WalkStep::Stop } else { WalkStep::Enter }
    });
    halt.map_or(Ok(()), Err)
}

/// Waits for a parser slot for this text.
pub(super) fn wait_for_slot(text: &str, limit: Limit<'_>) -> Result<ParseSlot, Halt> {
    let mut halt = None;
    let slot = ParseSlot::wait(text.len(), || {
        halt = limit.reached();
        halt.is_some()
    });
    slot.ok_or(halt.unwrap_or(Halt::TimedOut))
}
