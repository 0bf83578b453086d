//! Syntax faults as parsers report them, before they are compared with those before the edit.

use super::super::delta::{Belief, ComparedFinding};
use lockgate_text::Lines;
use serde::{Deserialize, Serialize};

/// The most faults of a text that its grammar accepts. They come beside a whole tree, so they are fewer than others: each
/// takes about a kilobyte until the gate has its answer.
pub(super) const MAX_ACCEPTED_FAULTS: usize = 1_000;

/// The most lines of a fault whose end counts. A longer fault shows only the start of the error.
const LONGEST: usize = 3;

/// The pass over a text that finds a fault. A pass finds something only where those before it found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Pass {
    /// Finds a string without its end. Quotes before it may have been paired wrongly.
    Strings,
    /// Finds a token that cannot be read, or a closing bracket without its partner.
    Tokens,
    /// Finds brackets that are open at the end of the text.
    OpenBrackets,
    /// Finds all other faults, and every fault of a parser with one pass.
    Grammar,
    /// Finds what the grammar accepts and the compiler rejects.
    Scopes,
}

/// A place in a text that a parser cannot read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SyntaxFault {
    /// The byte offset of its start.
    pub(super) at: usize,
    /// The byte offset of its end.
    pub(super) end: usize,
    pub(super) pass: Pass,
    pub(super) message: String,
    /// The certainty of the fault.
    pub(super) belief: Belief,
}

impl SyntaxFault {
    /// Creates a certain fault of the grammar.
    pub(super) fn new(at: usize, end: usize, message: impl Into<String>) -> SyntaxFault {
        SyntaxFault {
            at,
            end: end.max(at),
            pass: Pass::Grammar,
            message: message.into(),
            belief: Belief::Certain,
        }
    }

    /// Converts the fault to a finding with lines and columns; an offset beyond the last line becomes its end.
    pub(super) fn finding(&self, lines: Lines<'_>, text: &str) -> ComparedFinding {
        let (line, column) = place(lines, text, self.at);
        let mut finding = ComparedFinding::new(lines, (line, column), self.message.clone());
        // The byte before the end: a fault up to the end of a line does not reach into the next one.
        let end_line = lines.line_at(self.end.saturating_sub(1)).min(lines.count()).max(line);
        finding.belief = self.belief;
        finding.end_line = if end_line - line < LONGEST { end_line } else { line };
        finding
    }
}

/// Returns the line and the column of an offset, both from 1, the column in characters.
pub(super) fn place(lines: Lines<'_>, text: &str, offset: usize) -> (usize, usize) {
    let offset = text.floor_char_boundary(offset);
    let line = lines.line_at(offset).min(lines.count());
    if line == 0 {
        return (1, 1);
    }
    let end = lines.span(line).start + lines.text(line).len();
    let before = text.get(lines.span(line).start..offset.min(end)).unwrap_or_default();
    (line, before.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::{Buffer, Hints};

    #[test]
    fn places_are_lines_and_characters_that_exist() {
        let buffer = Buffer::read("éa\r\n𝄞b\r\n".as_bytes().to_vec(), Hints::default()).unwrap();
        let text = buffer.view();
        let at = |offset| place(buffer.lines(), text, offset);
        assert_eq!([at(0), at(2), at(3)], [(1, 1), (1, 2), (1, 3)]);
        assert_eq!([at(4), at(5), at(8)], [(2, 1), (2, 1), (2, 2)]);
        assert_eq!([at(text.len()), at(99)], [(2, 3), (2, 3)]);
        let empty = Buffer::read(Vec::new(), Hints::default()).unwrap();
        assert_eq!(place(empty.lines(), "", 5), (1, 1));
    }

    #[test]
    fn a_fault_up_to_a_line_end_stays_on_its_line() {
        let buffer = Buffer::read(b"ab\ncd\n".to_vec(), Hints::default()).unwrap();
        let lines = |at, end| {
            let finding = SyntaxFault::new(at, end, "x").finding(buffer.lines(), buffer.view());
            (finding.line, finding.end_line)
        };
        assert_eq!([lines(0, 3), lines(0, 4), lines(3, 3), lines(6, 6)], [(1, 1), (1, 2), (2, 2), (2, 2)]);
    }
}
