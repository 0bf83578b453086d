//! Texts so full of faults that tree-sitter must not read them as a whole.
//!
//! When it comes to the end of a text, tree-sitter takes time and memory by the square of the faults that it met, and
//! cannot be stopped on the way: 64 KB of `let = ;` took 3 s and 0.8 GB, 160 KB took 18 s and 4.8 GB. So a large text is
//! first read in pieces, whose own faults tell whether that would happen.

use std::ops::Range;

/// Texts up to this many bytes are read at once, whatever they are.
const LARGE: usize = 32 << 10;
/// The size of a piece, in bytes.
const PIECE: usize = 16 << 10;
/// As many faults in a piece may come from where it was cut.
const FROM_CUTS: usize = 50;
/// More faults than this beyond those are a flood.
const MOST: usize = 2_000;

/// Gives the pieces in which a text must be read before it is read as a whole; none for a text that is not large.
pub fn pieces(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = if text.len() > LARGE { 0 } else { text.len() };
    std::iter::from_fn(move || {
        let start = from;
        from = cut(text, start);
        (start < text.len()).then_some(start..from)
    })
}

/// Counts the faults of one piece after another.
#[derive(Debug, Default)]
pub struct Flood(usize);

impl Flood {
    /// Takes the number of faults in the next piece, and tells whether there are now too many to read the text as a
    /// whole.
    pub fn rises(&mut self, faults: usize) -> bool {
        self.0 += faults.saturating_sub(FROM_CUTS);
        self.0 > MOST
    }
}

/// Where a piece ends: behind its last whole line, or at any character in a longer line.
fn cut(text: &str, from: usize) -> usize {
    let most =
        (from + PIECE..).find(|&end| end >= text.len() || text.is_char_boundary(end)).unwrap_or(text.len());
    let most = most.min(text.len());
    let newline = text.get(from..most).and_then(|piece| piece.rfind('\n'));
    newline.filter(|_| most < text.len()).map_or(most, |newline| from + newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text_and_end_with_lines_where_they_can() {
        let whole = |text: &str| pieces(text).map(|piece| text.get(piece).unwrap()).collect::<String>();
        let lines = "é = 1;\n".repeat(9_000);
        let long = "é".repeat(40_000);
        assert_eq!([whole(&lines), whole(&long)], [lines.clone(), long]);
        assert!(pieces(&lines).all(|piece| lines.get(piece).unwrap().ends_with('\n')));
        assert_eq!((pieces("").count(), pieces(&"a\n".repeat(LARGE / 2)).count()), (0, 0));
    }

    #[test]
    fn faults_from_cuts_are_no_flood() {
        let mut flood = Flood::default();
        assert!((0..1_000).all(|_| !flood.rises(FROM_CUTS)));
        assert!(!flood.rises(FROM_CUTS + MOST) && flood.rises(FROM_CUTS + 1));
    }
}
