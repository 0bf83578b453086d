//! Reads a file as the text to search: decoded as everywhere in lockgate, but with only the work that the
//! search needs.
//!
//! Most files are UTF-8 with `\n` line ends: their bytes are their text. Only other files are decoded into a
//! [`Buffer`].
//!
//! Invariant: the searched text is the view that the file's [`Buffer`] would have.

use lockgate_text::{Buffer, Hints};
use rustix::fs::Stat;
use rustix::io::{Result, retry_on_intr};
use std::os::fd::OwnedFd;

/// The number of leading bytes that are checked for a NUL, which marks a binary file; the same as in git.
const HEAD: usize = 8000;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// The byte order marks of UTF-16.
const WIDE_MARKS: [&[u8]; 2] = [b"\xFF\xFE", b"\xFE\xFF"];

/// Reads files one after the other, and reuses its memory.
#[derive(Debug, Default)]
pub(super) struct FileReader {
    bytes: Vec<u8>,
    folded: Vec<u8>,
}

/// The result of reading a file.
pub(super) enum FileContent<'r> {
    /// Text with `\n` line ends only.
    Text(&'r [u8]),
    /// Text of a file that had to be decoded.
    Decoded(Buffer),
    /// A binary file, which is not searched.
    Binary,
    /// A file with more bytes than the limit.
    Large,
}

impl FileReader {
    /// Reads a file of at most `largest` bytes; `hints` is called only if the bytes do not determine the
    /// encoding.
    ///
    /// Errors: errors of the system.
    pub(super) fn read(
        &mut self,
        file: &OwnedFd,
        stat: &Stat,
        largest: u64,
        hints: impl FnOnce() -> Hints,
    ) -> Result<FileContent<'_>> {
        let is_whole = self.fill(file, stat, largest)?;
        let bytes = self.bytes.as_slice();
        let is_wide = WIDE_MARKS.iter().any(|mark| bytes.starts_with(mark));
        let has_nul = memchr::memchr(0, bytes.get(..HEAD).unwrap_or(bytes)).is_some();
        if !is_whole {
            // A large binary file would not have been searched in any case.
            return Ok(if has_nul && !is_wide { FileContent::Binary } else { FileContent::Large });
        }
        let is_utf8 = || bytes.is_ascii() || std::str::from_utf8(bytes).is_ok();
        if is_wide || has_nul || !is_utf8() {
            let hints = hints();
            if has_nul && !is_wide && hints.charset.is_none() {
                return Ok(FileContent::Binary);
            }
            return Ok(Buffer::read(bytes.to_vec(), hints).map_or(FileContent::Binary, FileContent::Decoded));
        }
        let text = bytes.strip_prefix(MARK).unwrap_or(bytes);
        Ok(FileContent::Text(fold(text, &mut self.folded)))
    }

    /// Reads to the end; returns true if that is within the limit. Of a larger file the beginning is read.
    fn fill(&mut self, file: &OwnedFd, stat: &Stat, largest: u64) -> Result<bool> {
        self.bytes.clear();
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let expected = if size > largest { 0 } else { size };
        // One byte more than expected, so that a short read proves the end of the file.
        self.bytes.reserve(usize::try_from(expected).unwrap_or(0).saturating_add(1).max(HEAD));
        loop {
            let free_space = self.bytes.capacity() - self.bytes.len();
            let read =
                retry_on_intr(|| rustix::io::read(file, rustix::buffer::spare_capacity(&mut self.bytes)))?;
            let length = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
            if size > largest || length > largest {
                return Ok(false);
            }
            if read == 0 || (read < free_space && length >= size) {
                return Ok(true);
            }
            self.bytes.reserve(64 << 10);
        }
    }
}

/// True if a text with a match also contains a NUL, so that it is binary.
pub(super) fn is_binary(text: &[u8]) -> bool {
    memchr::memchr(0, text).is_some()
}

/// Replaces every `\r\n` by `\n`.
fn fold<'a>(text: &'a [u8], folded: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr::memchr(b'\r', text).is_none() {
        return text;
    }
    folded.clear();
    let mut from = 0;
    for at in memchr::memmem::find_iter(text, b"\r\n") {
        folded.extend_from_slice(text.get(from..at).unwrap_or_default());
        from = at + 1;
    }
    if from == 0 {
        return text;
    }
    folded.extend_from_slice(text.get(from..).unwrap_or_default());
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text that is searched in a file of these bytes; `None` for a binary file.
    fn searched(bytes: &[u8], limit: u64) -> Option<Vec<u8>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let open = std::fs::File::open(file.path()).unwrap();
        let stat = rustix::fs::fstat(&open).unwrap();
        let mut reader = FileReader { bytes: b"what was left over".to_vec(), folded: b"\r\n".to_vec() };
        let text = match reader.read(&open.into(), &stat, limit, Hints::default).unwrap() {
            FileContent::Text(text) => text.to_vec(),
            FileContent::Decoded(buffer) => buffer.view().as_bytes().to_vec(),
            FileContent::Binary | FileContent::Large => return None,
        };
        (!is_binary(&text)).then_some(text)
    }

    proptest! {
        #[test]
        fn what_is_searched_is_the_view(
            bytes in prop_oneof![
                prop::collection::vec(prop::sample::select(b"ab\r\n\xE9\xC3\xA9\0\xFE\xFF\xEF\xBB\xBF".to_vec()), 0..12),
                "[a\r\né]{0,20}".prop_map(String::into_bytes),
            ],
        ) {
            let buffer = Buffer::read(bytes.clone(), Hints::default()).ok();
            let view = buffer.map(|buffer| buffer.view().as_bytes().to_vec()).filter(|view| !is_binary(view));
            prop_assert_eq!(searched(&bytes, 1000), view);
        }
    }

    #[test]
    fn no_more_is_read_than_the_limit() {
        assert_eq!(searched(b"12345", 5).as_deref(), Some(&b"12345"[..]));
        assert_eq!(searched(b"123456", 5), None);
        let kind = |bytes: &[u8]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            let stat = rustix::fs::fstat(file.as_file()).unwrap();
            let open = std::fs::File::open(file.path()).unwrap().into();
            match FileReader::default().read(&open, &stat, 5, Hints::default).unwrap() {
                FileContent::Large => "large",
                FileContent::Binary => "binary",
                FileContent::Text(_) | FileContent::Decoded(_) => "text",
            }
        };
        assert_eq!((kind(b"12345"), kind(b"123456"), kind(b"1234\x0056")), ("text", "large", "binary"));
    }
}
