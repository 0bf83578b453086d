//! A text that is to be written or that was read, and its version.

use lockgate_text::Version;

/// A text and its version.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// The content hash of the bytes.
    pub version: Version,
    /// The bytes of the text.
    pub bytes: &'a [u8],
}

impl<'a> Content<'a> {
    /// Takes these bytes and computes their version.
    pub fn new(bytes: &'a [u8]) -> Content<'a> {
        Content { version: Version::hash(bytes), bytes }
    }
}
