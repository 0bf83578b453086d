//! The faults of one text.

use super::before_after::Faults;
use super::table::ParserKind;
use crate::delta::ComparedFinding;

/// The faults of one text and the parser that found them.
#[derive(Debug)]
pub(super) struct ParseResult {
    pub(super) by: ParserKind,
    pub(super) marks: Faults,
    /// The duplicate keys, if the parser looked for them.
    pub(super) keys: Option<Vec<ComparedFinding>>,
    /// The starts of the parts of a text without faults; empty if they are not known.
    pub(super) parts: Vec<u32>,
}
