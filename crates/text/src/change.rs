//! A change of the view, and the byte splice that implements it.

use std::ops::Range;

/// A replacement of a part of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The replaced bytes of the view; empty for an insertion.
    pub span: Range<usize>,
    /// The new text. Its line ends are adapted to those of the surrounding lines.
    pub text: String,
}

/// A replacement of a part of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The replaced bytes of the file.
    pub span: Range<usize>,
    /// The bytes that replace the span.
    pub bytes: Vec<u8>,
}

/// Returns the byte range of each splice's new bytes in the new version; the splices are sorted and disjoint.
pub(super) fn new_spans(splices: &[Splice]) -> impl Iterator<Item = Range<usize>> {
    let (mut removed, mut added) = (0, 0);
    splices.iter().map(move |splice| {
        let start = splice.span.start - removed + added;
        removed += splice.span.len();
        added += splice.bytes.len();
        start..start + splice.bytes.len()
    })
}
