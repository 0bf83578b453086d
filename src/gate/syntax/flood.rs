//! Texts so full of faults that tree-sitter must not read them as a whole.
//!
//! When it comes to the end of a text, tree-sitter takes time and memory by the square of the faults that it met, and
//! cannot be stopped on the way: 64 KB of `let = ;` took 3 s and 0.8 GB, 160 KB took 18 s and 4.8 GB. So a large text is
//! first read in pieces, whose own faults tell whether that would happen.

use super::super::watch::{Halt, Limit};
use super::fault::Fault;
use super::table::Grammar;
use super::tree::{self, Survey};

/// Texts up to this many bytes are read at once, whatever they are.
const LARGE: usize = 32 << 10;
/// The size of a piece, in bytes.
const PIECE: usize = 16 << 10;
/// As many faults in a piece may come from where it was cut.
const FROM_CUTS: usize = 50;
/// More faults than this beyond those are a flood.
const MOST: usize = 2_000;

/// Reads a large text in pieces, and gives their faults where there are too many to read it as a whole.
pub(super) fn faults(
    language: &tree_sitter::Language,
    grammar: &Grammar,
    text: &str,
    limit: Limit<'_>,
) -> Result<Option<Survey>, Halt> {
    let (mut faults, mut surplus, mut from) = (Vec::new(), 0, 0);
    while text.len() > LARGE && from < text.len() {
        let end = cut(text, from);
        let piece = text.get(from..end).unwrap_or_default();
        let seen = tree::read(language, grammar, piece, limit)?.faults;
        surplus += seen.len().saturating_sub(FROM_CUTS);
        faults.extend(seen.into_iter().map(|fault| Fault {
            at: fault.at + from,
            end: fault.end + from,
            ..fault
        }));
        if surplus > MOST {
            return Ok(Some(Survey { faults, lone: Vec::new(), depth: usize::MAX }));
        }
        from = end;
    }
    Ok(None)
}

/// Where a piece ends: behind its last whole line, or at any character in a longer line.
fn cut(text: &str, from: usize) -> usize {
    let most =
        (from + PIECE..).find(|&end| end >= text.len() || text.is_char_boundary(end)).unwrap_or(text.len());
    let most = most.min(text.len());
    let newline = text.get(from..most).and_then(|piece| piece.rfind('\n'));
    newline.filter(|_| most < text.len()).map_or(most, |newline| from + newline + 1)
}
