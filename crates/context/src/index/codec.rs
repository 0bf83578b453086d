//! Numbers of variable length and byte strings, as bytes.

use lockgate_text::Version;

/// Writes an index as bytes: numbers of variable length, and byte strings with their length.
#[derive(Debug, Default)]
pub struct IndexWriter(Vec<u8>);

impl IndexWriter {
    /// Returns all bytes written so far.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Returns the number of bytes written so far.
    pub(super) fn length(&self) -> usize {
        self.0.len()
    }

    /// Writes a number in seven bits per byte.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(0x80 | number.to_le_bytes()[0]);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    /// Writes bytes with their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// Writes the number of things that follow.
    pub(super) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }
}

/// Reads what an [`IndexWriter`] wrote. Each function returns `None` at the end of the bytes and for other bytes.
#[derive(Debug)]
pub struct IndexReader<'b>(&'b [u8]);

impl<'b> IndexReader<'b> {
    /// Creates a reader at the start of `bytes`.
    pub fn new(bytes: &'b [u8]) -> IndexReader<'b> {
        IndexReader(bytes)
    }

    /// True if all bytes were read.
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a number of at most ten bytes, seven bits in each.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let part = u64::from(byte & 0x7f);
            number |= part.checked_shl(shift).filter(|shifted| shifted >> shift == part)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads bytes with their length.
    pub fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Reads a byte string; `None` if it is not UTF-8.
    pub fn text(&mut self) -> Option<&'b str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Reads the number of things that follow, each of which has at least one byte.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    /// Reads a number of at most 32 bits.
    pub(super) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(super) fn version(&mut self) -> Option<Version> {
        self.bytes()?.try_into().ok().map(Version::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(numbers in prop::collection::vec(any::<u64>(), 0..20)) {
            let mut out = IndexWriter::default();
            numbers.iter().for_each(|number| out.number(*number));
            let bytes = out.into_bytes();
            let mut reader = IndexReader::new(&bytes);
            let read: Vec<u64> = std::iter::from_fn(|| reader.number()).collect();
            prop_assert_eq!(read, numbers);
        }
    }
}
