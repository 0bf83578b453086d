//! The size limit of a response.

use lockgate_protocol::json_size;

/// Bytes that count as one token.
pub(super) const TOKEN: usize = 4;
/// Bytes around the parts of a response: its braces, the names of its lists, `truncated`.
const AROUND: usize = 130;

/// Bytes reserved for notes on omissions, which are needed when nothing else fits.
const NOTES: usize = 240;

/// The bytes that a response may still use.
#[derive(Debug)]
pub(super) struct ByteBudget {
    left: usize,
    notes: usize,
}

impl ByteBudget {
    /// Converts a number of tokens to bytes.
    pub(super) fn from_tokens(tokens: usize) -> ByteBudget {
        let all = tokens.saturating_mul(TOKEN).saturating_sub(AROUND);
        let notes = NOTES.min(all / 3);
        ByteBudget { left: all - notes, notes }
    }

    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes the bytes of a note; true if they were available.
    pub(super) fn take_note(&mut self, note: &str) -> bool {
        let bytes = json_size(&note) + 1;
        match self.notes.checked_sub(bytes) {
            Some(remaining) => {
                self.notes = remaining;
                true
            }
            None => self.take(bytes),
        }
    }

    /// Leaves these bytes for the rest of the response, those for notes first.
    pub(super) fn set_left(&mut self, bytes: usize) {
        let bytes = bytes.saturating_sub(r#","uses":[],"versions":{},"notes":[]"#.len());
        let notes = self.notes.min(bytes);
        *self = ByteBudget { left: bytes - notes, notes };
    }

    /// Takes these bytes if they are available, and returns true.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(remaining) => {
                self.left = remaining;
                true
            }
            None => false,
        }
    }
}
