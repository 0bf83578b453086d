//! Prepares a write before its transaction begins, so that no other write waits while texts are
//! compressed and diffed.

use super::super::columns::{count, since_1970};
use super::super::pack;
use super::EntityStoreError;
use crate::content::Content;
use crate::row_location::{RowKey, RowWrite};
use lockgate_text::{Buffer, Hints, Version};
use rustix::rand::{GetRandomFlags, getrandom};

/// A row to be written.
#[derive(Debug)]
pub(super) struct PreparedRow<'a> {
    /// Its index among the writes of the edit.
    pub position: i64,
    pub key: RowKey<'a>,
    /// The row as it was read, if there was one.
    pub before: Option<OriginalRow<'a>>,
    /// The new content; `None` removes the row.
    pub after: Option<NewContent>,
    /// The number of lines added.
    pub added: i64,
    /// The number of lines removed.
    pub removed: i64,
    /// True if the history stores both texts.
    pub keeps_texts: bool,
}

/// A row as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct OriginalRow<'a> {
    /// The version of its text.
    pub version: Version,
    pub bytes: &'a [u8],
    /// The time of its last change, in microseconds since 1970.
    pub changed: i64,
}

/// The new content of a row.
#[derive(Debug)]
pub(super) struct NewContent {
    /// The version of the text.
    pub version: Version,
    /// The length of the original bytes.
    pub size: i64,
    /// The encoding of its bytes.
    pub encoding: String,
    /// The decoded text, in a form that the database can store.
    pub text: String,
    /// The original bytes, if they differ from `text`.
    pub raw: Option<Vec<u8>>,
    /// The compressed bytes, if the history keeps them.
    pub packed: Option<Vec<u8>>,
}

impl<'a> PreparedRow<'a> {
    /// Prepares the write at this index of its edit.
    pub fn new((position, write): (usize, &'a RowWrite<'a>)) -> PreparedRow<'a> {
        let RowWrite { location, before, after, record } = write;
        let before = before.map(|(snapshot, content)| OriginalRow {
            version: snapshot.version,
            bytes: content.bytes,
            changed: snapshot.changed,
        });
        PreparedRow {
            position: count(position),
            key: location.row_key(),
            before,
            after: after.map(|content| NewContent::new(content, record.keep)),
            added: count(record.added),
            removed: count(record.removed),
            keeps_texts: record.keep,
        }
    }
}

impl NewContent {
    fn new(Content { version, bytes }: Content<'_>, keep: bool) -> NewContent {
        let (encoding, text, raw) = encode_text(bytes);
        let packed = keep.then(|| pack::whole(bytes));
        NewContent { version, size: count(bytes.len()), encoding, text, raw, packed }
    }
}

/// Returns the encoding of a text, the text itself, and its bytes if they differ. PostgreSQL cannot
/// store a NUL in a text.
fn encode_text(bytes: &[u8]) -> (String, String, Option<Vec<u8>>) {
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

/// Returns the current time as this database stores it: microseconds since 1970.
pub(super) fn now() -> i64 {
    count(since_1970().as_micros())
}

/// Returns a random number for an edit; a sequence would reveal how many edits other tenants made.
pub(super) fn random_number() -> Result<i64, EntityStoreError> {
    let mut bytes = [0; 8];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => Ok(i64::from_le_bytes(bytes) >> 4 & i64::MAX >> 3),
        _ => Err(EntityStoreError::Other("the operating system provides no random numbers".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_their_own_text_are_kept_once() {
        let plain = |text: &str| ("UTF-8".to_owned(), text.to_owned(), None);
        for text in ["", "a\nb", "a\r\nb", "\u{e9}"] {
            assert_eq!(encode_text(text.as_bytes()), plain(text));
        }
        let (encoding, text, raw) = encode_text("\u{feff}a".as_bytes());
        assert_eq!((encoding.as_str(), text.as_str(), raw.unwrap().len()), ("UTF-8", "a", 4));
        let wide: Vec<u8> = "\u{feff}a\u{e9}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (_, text, raw) = encode_text(&wide);
        assert_eq!((text.as_str(), raw), ("a\u{e9}", Some(wide)));
        let (_, text, raw) = encode_text(b"a\0b\xff");
        assert!(!text.contains('\0') && raw.as_deref() == Some(b"a\0b\xff"), "{text:?}");
    }

    #[test]
    fn numbers_of_edits_have_sixty_bits() {
        let numbers: Vec<i64> = (0..64).map(|_| random_number().unwrap()).collect();
        assert!(numbers.iter().all(|number| (0..1 << 60).contains(number)));
        assert!(numbers.iter().any(|number| *number > 1 << 56));
    }
}
