//! Conversion between offsets of the view and offsets of the bytes.
//!
//! One mechanism serves every form except plain UTF-8 with `\n`. A mark about every [`STEP`] bytes of view stores a
//! byte offset. A short walk over view and bytes in parallel finds the offsets between two marks.
//!
//! Invariant: mark `k` belongs to the last character boundary at or before `k * STEP`.

use super::encoding::{Encoding, EncodingForm};
use super::line_end::LineEnd;

/// The number of view bytes between two marks.
const STEP: usize = 256;

/// The marks of one file.
#[derive(Debug)]
pub(super) struct ByteMap {
    encoding: Encoding,
    marks: Vec<u32>,
}

impl ByteMap {
    /// Builds the marks in one walk over the view and the bytes.
    pub(super) fn new(view: &str, bytes: &[u8], form: EncodingForm) -> ByteMap {
        let mut map = ByteMap { encoding: form.encoding, marks: Vec::with_capacity(view.len() / STEP + 1) };
        let (mut at, mut byte) = (0, form.mark);
        while map.marks.len() * STEP <= view.len() {
            let next = view.floor_char_boundary(map.marks.len() * STEP);
            byte = map.walk(view.get(at..next).unwrap_or_default(), bytes, byte);
            map.marks.push(u32::try_from(byte).unwrap_or(u32::MAX));
            at = next;
        }
        map
    }

    /// Returns the byte offset at which a character of the view starts.
    pub(super) fn byte(&self, view: &str, bytes: &[u8], offset: usize) -> usize {
        let mark = (offset / STEP).min(self.marks.len().saturating_sub(1));
        let at = view.floor_char_boundary(mark * STEP);
        self.walk(view.get(at..offset).unwrap_or_default(), bytes, self.mark(mark))
    }

    /// Returns the view offset of the character that a byte belongs to.
    pub(super) fn offset(&self, view: &str, bytes: &[u8], byte: usize) -> usize {
        let mark = self.marks.partition_point(|&mark| mark as usize <= byte).saturating_sub(1);
        let mut at = view.floor_char_boundary(mark * STEP);
        let mut rest = view.get(at..view.floor_char_boundary((mark + 1) * STEP)).unwrap_or_default();
        let mut position = self.mark(mark);
        // The byte order mark has no character of its own: it belongs to the character behind it.
        let byte = byte.max(position);
        while let Some((line, tail)) = first_line(rest) {
            let end = position + self.encoding.width(line);
            let next = end + self.newline(bytes, end);
            if byte < next {
                return at
                    + if byte < end { self.encoding.prefix(line, byte - position) } else { line.len() };
            }
            (at, position, rest) = (at + line.len() + 1, next, tail);
        }
        at + self.encoding.prefix(rest, byte.saturating_sub(position))
    }

    /// Returns the line end at the byte of a newline of the view.
    pub(super) fn line_end(&self, bytes: &[u8], byte: usize) -> LineEnd {
        if self.encoding.is_carriage_return(bytes, byte) { LineEnd::CrLf } else { LineEnd::Lf }
    }

    fn walk(&self, view: &str, bytes: &[u8], mut byte: usize) -> usize {
        let mut rest = view;
        while let Some((line, tail)) = first_line(rest) {
            byte += self.encoding.width(line);
            byte += self.newline(bytes, byte);
            rest = tail;
        }
        byte + self.encoding.width(rest)
    }

    /// Returns the length in bytes of the line end at `byte`.
    fn newline(&self, bytes: &[u8], byte: usize) -> usize {
        self.encoding.unit() * self.line_end(bytes, byte).text().len()
    }

    fn mark(&self, index: usize) -> usize {
        self.marks.get(index).map_or(0, |&mark| mark as usize)
    }
}

/// Splits a text around its first newline.
fn first_line(text: &str) -> Option<(&str, &str)> {
    let end = memchr::memchr(b'\n', text.as_bytes())?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}
