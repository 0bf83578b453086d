//! What is known of a write before its transaction begins: nobody waits while texts are packed and looked at.

use super::super::pack;
use super::{EntityStoreError, RowKey};
use crate::store::publish::Content;
use crate::store::rows::RowWrite;
use crate::text::{Buffer, Hints, Version};
use rustix::rand::{GetRandomFlags, getrandom};
use std::time::{SystemTime, UNIX_EPOCH};

/// One row that is to be written.
#[derive(Debug)]
pub(super) struct PreparedRow<'a> {
    /// Its place among the writes of the edit.
    pub position: i64,
    /// Its key.
    pub key: RowKey<'a>,
    /// What was read there.
    pub before: Option<OriginalRow<'a>>,
    /// What is to stand there.
    pub after: Option<After>,
    /// Lines that are added, and taken away.
    pub added: i64,
    /// Lines that are taken away.
    pub removed: i64,
    /// Whether both texts are kept.
    pub keep: bool,
}

/// A row as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct OriginalRow<'a> {
    /// The stamp of its text.
    pub stamp: Version,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// When it was changed last.
    pub changed: i64,
}

/// A text as it is written.
#[derive(Debug)]
pub(super) struct After {
    /// Its stamp.
    pub stamp: Version,
    /// How many bytes it has.
    pub size: i64,
    /// The encoding of its bytes.
    pub encoding: String,
    /// What the bytes show, as a database can keep it.
    pub text: String,
    /// The bytes, where they are not that text.
    pub raw: Option<Vec<u8>>,
    /// The bytes packed, where they are kept.
    pub packed: Option<Vec<u8>>,
}

impl<'a> PreparedRow<'a> {
    /// Prepares a write, which has that place among those of its edit.
    pub fn new((position, write): (usize, &'a RowWrite<'a>)) -> PreparedRow<'a> {
        let RowWrite { place, before, after, told } = write;
        let before = before.map(|(snapshot, content)| OriginalRow {
            stamp: snapshot.stamp,
            bytes: content.bytes,
            changed: snapshot.changed,
        });
        PreparedRow {
            position: count(position),
            key: place.row_key(),
            before,
            after: after.map(|content| After::new(content, told.keep)),
            added: count(told.added),
            removed: count(told.removed),
            keep: told.keep,
        }
    }
}

impl After {
    fn new(Content { stamp, bytes }: Content<'_>, keep: bool) -> After {
        let (encoding, text, raw) = shown(bytes);
        let packed = keep.then(|| pack::whole(bytes));
        After { stamp, size: count(bytes.len()), encoding, text, raw, packed }
    }
}

/// The encoding of a text, the text itself, and its bytes where they are another thing. No text of PostgreSQL holds a NUL.
fn shown(bytes: &[u8]) -> (String, String, Option<Vec<u8>>) {
    const MARK: &str = "\u{feff}";
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.starts_with(MARK) && !text.contains('\0') => {
            ("UTF-8".to_owned(), text.to_owned(), None)
        }
        _ => {
            let (encoding, text) = match Buffer::read(bytes.to_vec(), Hints::default()) {
                Ok(buffer) => (buffer.encoding().to_string(), buffer.view().replace('\0', "\u{fffd}")),
                Err(_) => ("unknown".to_owned(), String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")),
            };
            (encoding, text, Some(bytes.to_vec()))
        }
    }
}

/// A number as the databases have them.
pub(super) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The time as it is written down: microseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// A number for an edit, from which nobody learns how many others there are.
pub(super) fn number() -> Result<i64, EntityStoreError> {
    let mut bytes = [0; 8];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => Ok(i64::from_le_bytes(bytes) >> 4 & i64::MAX >> 3),
        _ => Err(EntityStoreError::Other("the system gives no random number".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_their_own_text_are_kept_once() {
        let plain = |text: &str| ("UTF-8".to_owned(), text.to_owned(), None);
        for text in ["", "a\nb", "a\r\nb", "\u{e9}"] {
            assert_eq!(shown(text.as_bytes()), plain(text));
        }
        let (encoding, text, raw) = shown("\u{feff}a".as_bytes());
        assert_eq!((encoding.as_str(), text.as_str(), raw.unwrap().len()), ("UTF-8", "a", 4));
        let wide: Vec<u8> = "\u{feff}a\u{e9}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (_, text, raw) = shown(&wide);
        assert_eq!((text.as_str(), raw), ("a\u{e9}", Some(wide)));
        let (_, text, raw) = shown(b"a\0b\xff");
        assert!(!text.contains('\0') && raw.as_deref() == Some(b"a\0b\xff"), "{text:?}");
    }

    #[test]
    fn numbers_of_edits_have_sixty_bits() {
        let numbers: Vec<i64> = (0..64).map(|_| number().unwrap()).collect();
        assert!(numbers.iter().all(|number| (0..1 << 60).contains(number)));
        assert!(numbers.iter().any(|number| *number > 1 << 56));
    }
}
