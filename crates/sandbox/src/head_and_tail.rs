//! A buffer that keeps the beginning and the end of a long output.

/// The bytes kept of each end.
const END_BYTES: usize = 64 * 1024;

/// The beginning and the end of an output of any length.
///
/// Invariant: holds at most three times [`END_BYTES`].
#[derive(Debug, Default)]
pub(super) struct HeadAndTail {
    head: Vec<u8>,
    tail: Vec<u8>,
    omitted: usize,
}

impl HeadAndTail {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = END_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let last = rest.len().saturating_sub(END_BYTES);
        let (passed, rest) = rest.split_at(last);
        self.omitted += passed.len();
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * END_BYTES {
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
        if self.omitted > 0 {
            bytes.extend_from_slice(format!("\n[{} bytes left out]\n", self.omitted).as_bytes());
        }
        bytes.append(&mut self.tail);
        bytes
    }

    fn shorten(&mut self) {
        let passed = self.tail.len().saturating_sub(END_BYTES);
        self.omitted += passed;
        self.tail.drain(..passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &[u8], step: usize) -> Vec<u8> {
        let mut head_and_tail = HeadAndTail::default();
        for piece in text.chunks(step) {
            head_and_tail.add(piece);
            assert!(head_and_tail.head.len() + head_and_tail.tail.len() <= 3 * END_BYTES);
        }
        head_and_tail.into_bytes()
    }

    #[test]
    fn a_short_text_is_whole() {
        assert_eq!(ends(b"", 1), b"");
        assert_eq!(ends(b"abc", 1), b"abc");
        let full: Vec<u8> = (0..2 * END_BYTES).map(|at| (at % 251) as u8).collect();
        for step in [1, 1000, END_BYTES, 2 * END_BYTES] {
            assert_eq!(ends(&full, step), full);
        }
    }

    #[test]
    fn a_long_text_has_two_ends() {
        let text: Vec<u8> = (0..10 * END_BYTES + 7).map(|at| (at % 251) as u8).collect();
        let gap = format!("\n[{} bytes left out]\n", 8 * END_BYTES + 7);
        let expected = [&text[..END_BYTES], gap.as_bytes(), &text[text.len() - END_BYTES..]].concat();
        for step in [999, END_BYTES, END_BYTES + 1, 5 * END_BYTES, text.len()] {
            assert_eq!(ends(&text, step), expected, "in steps of {step}");
        }
    }
}
