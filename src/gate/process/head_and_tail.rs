//! A buffer that keeps the beginning and the end of a long output.

/// The bytes kept of each end.
const KEPT: usize = 64 * 1024;

/// The beginning and the end of an output of any length.
///
/// Invariant: holds at most three times [`END_BYTES`].
#[derive(Debug, Default)]
pub(super) struct HeadAndTail {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: usize,
}

impl HeadAndTail {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let last = rest.len().saturating_sub(KEPT);
        let (passed, rest) = rest.split_at(last);
        self.left_out += passed.len();
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * KEPT {
            self.shorten();
        }
    }

    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns both ends, with a line between them that says how many bytes were omitted.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.shorten();
        let mut bytes = self.head;
        if self.left_out > 0 {
            bytes.extend_from_slice(format!("\n[{} bytes left out]\n", self.left_out).as_bytes());
        }
        bytes.append(&mut self.tail);
        bytes
    }

    fn shorten(&mut self) {
        let passed = self.tail.len().saturating_sub(KEPT);
        self.left_out += passed;
        self.tail.drain(..passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &[u8], step: usize) -> Vec<u8> {
        let mut ends = HeadAndTail::default();
        for piece in text.chunks(step) {
            ends.add(piece);
            assert!(ends.head.len() + ends.tail.len() <= 3 * KEPT);
        }
        ends.into_bytes()
    }

    #[test]
    fn a_short_text_is_whole() {
        assert_eq!(ends(b"", 1), b"");
        assert_eq!(ends(b"abc", 1), b"abc");
        let full: Vec<u8> = (0..2 * KEPT).map(|at| (at % 251) as u8).collect();
        for step in [1, 1000, KEPT, 2 * KEPT] {
            assert_eq!(ends(&full, step), full);
        }
    }

    #[test]
    fn a_long_text_has_two_ends() {
        let text: Vec<u8> = (0..10 * KEPT + 7).map(|at| (at % 251) as u8).collect();
        let gap = format!("\n[{} bytes left out]\n", 8 * KEPT + 7);
        let wanted = [&text[..KEPT], gap.as_bytes(), &text[text.len() - KEPT..]].concat();
        for step in [999, KEPT, KEPT + 1, 5 * KEPT, text.len()] {
            assert_eq!(ends(&text, step), wanted, "in steps of {step}");
        }
    }
}
