//! The faults of one text as findings.

use super::fault::{Pass, SyntaxFault};
use super::table::ParserKind;
use crate::delta::{Belief, ComparedFinding};
use lockgate_text::Buffer;

/// Faults in text order, each with the pass that found it.
pub(super) type Faults = Vec<(ComparedFinding, Pass)>;

/// The faults of one text and the parser that found them.
#[derive(Debug)]
pub(super) struct ParseResult {
    pub(super) by: ParserKind,
    pub(super) faults: Faults,
    /// The duplicate keys, if the parser looked for them.
    pub(super) keys: Option<Vec<ComparedFinding>>,
    /// The starts of the parts of a text without faults; empty if they are not known.
    pub(super) parts: Vec<u32>,
}

impl ParseResult {
    /// Creates the result of a parser that did not look for duplicate keys.
    pub(super) fn new(
        by: ParserKind,
        faults: &[SyntaxFault],
        parts: Vec<u32>,
        buffer: &Buffer,
    ) -> ParseResult {
        ParseResult { by, faults: located(faults, buffer), keys: None, parts }
    }
}

/// Converts faults to findings in text order. Only the first fault of a line is kept, preferably a certain one: the
/// others mostly follow from it, and each fault reads its line once more.
pub(super) fn located(faults: &[SyntaxFault], buffer: &Buffer) -> Faults {
    let (lines, text) = (buffer.lines(), buffer.view());
    let mut faults: Vec<_> = faults.iter().collect();
    let line = |fault: &SyntaxFault| lines.line_at(fault.at).min(lines.count());
    faults.sort_by_key(|fault| (line(fault), fault.belief, fault.at));
    faults.dedup_by_key(|fault| line(fault));
    faults.into_iter().map(|fault| (fault.finding(lines, text), fault.pass)).collect()
}

/// Converts faults of a text to findings that only warn.
pub(super) fn doubtful(faults: &[SyntaxFault], buffer: &Buffer) -> Vec<ComparedFinding> {
    let finding = |fault: &SyntaxFault| fault.finding(buffer.lines(), buffer.view());
    faults.iter().map(|fault| ComparedFinding { belief: Belief::Doubtful, ..finding(fault) }).collect()
}
