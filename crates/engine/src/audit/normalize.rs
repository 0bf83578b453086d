//! Brings two texts of one file to the same encoding, line ends and byte order mark before they are compared.
//!
//! Git can check out other bytes than it stores, because of `autocrlf` and `working-tree-encoding`. So the
//! text of the revision is first encoded like the file on disk.

use lockgate_error::Error;
use lockgate_text::{Buffer, LineMap};

/// Returns the text before in the encoding of the text after, where that is possible, and the map from its
/// lines to the new ones.
///
/// Errors: `INTERNAL`, should a plan be refused.
pub(super) fn comparable(before: Buffer, after: &Buffer) -> Result<(Buffer, LineMap), Error> {
    let before = with_encoding_of(&before, after).unwrap_or(before);
    let plan = before.plan_to(after).or_else(|_| before.replace_all(after.bytes()))?;
    let map = plan.line_map(&before, after);
    Ok((before, map))
}

/// Returns the text before in the encoding and line ends of `after`; `None` if it has them already or cannot
/// be encoded so.
fn with_encoding_of(before: &Buffer, after: &Buffer) -> Option<Buffer> {
    if before.has_same_encoding(after) && before.line_ends().majority() == after.line_ends().majority() {
        return None;
    }
    let plan = after.revise(before.view()).ok()?;
    after.apply(&plan).ok().filter(|converted| converted.view() == before.view())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_text::Hints;

    fn buffer(bytes: &[u8]) -> Buffer {
        Buffer::read(bytes.to_vec(), Hints::default()).unwrap()
    }

    #[test]
    fn only_what_was_rewritten_counts_as_written() {
        let cases: [(&[u8], &[u8]); 5] = [
            (b"a\nb\nc\n", b"a\nx\nc\n"),
            (b"a\nb\nc\n", b"a\r\nx\r\nc\r\n"),
            (b"a\r\nb\r\nc\r\n", b"a\nx\nc\n"),
            (b"a\nb\nc\n", b"\xEF\xBB\xBFa\nx\nc\n"),
            (b"a\nb\nc\n", b"\xFF\xFEa\0\n\0x\0\n\0c\0\n\0"),
        ];
        for (before, after) in cases {
            let after = buffer(after);
            let (before, map) = comparable(buffer(before), &after).unwrap();
            assert_eq!(before.view(), "a\nb\nc\n");
            assert_eq!([1, 2, 3].map(|line| map.touched(line)), [false, true, false], "{after:?}");
        }
    }

    #[test]
    fn a_text_that_cannot_be_written_so_is_compared_as_it_is() {
        let after = buffer(b"\xE8\nb\n");
        let (before, map) = comparable(buffer("\u{1d11e}\nb\n".as_bytes()), &after).unwrap();
        assert_eq!(before.view(), "\u{1d11e}\nb\n");
        assert!(map.touched(1));
    }
}
