//! The version of a file: a hash of its content.
//!
//! Invariant: equal versions mean equal bytes.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The number of hex digits of a version on the wire.
const WIRE_DIGITS: usize = 12;

/// The number of hex digits of a whole version.
const ALL_DIGITS: usize = 64;

/// A content hash that identifies a version of a document: the BLAKE3 hash of its bytes, shown by its first 12 hex
/// digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version([u8; 32]);

impl Version {
    /// Returns the version of these bytes.
    pub fn hash(bytes: &[u8]) -> Version {
        Version(*blake3::hash(bytes).as_bytes())
    }

    /// Hashes a value by its `Hash` implementation. The result is comparable on one machine only.
    pub fn of_value(value: &impl Hash) -> Version {
        let mut digest = Digest(blake3::Hasher::new());
        value.hash(&mut digest);
        Version(*digest.0.finalize().as_bytes())
    }

    /// Creates a version from its 32 bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Version {
        Version(bytes)
    }

    /// Returns the hash as 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns all 64 hex digits.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Describes a requested version in a message: the first 12 digits of a whole one, any other text as it is. A text
    /// that has too few digits is described as such.
    pub fn describe_requested(requested: &str) -> Cow<'_, str> {
        match requested.len() {
            0..WIRE_DIGITS => {
                Cow::Owned(format!("{requested:?}, which has fewer than {WIRE_DIGITS} digits,"))
            }
            ALL_DIGITS => Cow::Borrowed(requested.get(..WIRE_DIGITS).unwrap_or(requested)),
            _ => Cow::Borrowed(requested),
        }
    }

    /// Returns true if a caller's version means this one: 12 to 64 hex digits that begin it, in either case.
    pub fn matches(&self, wire: &str) -> bool {
        let whole = self.hex();
        wire.len() >= WIRE_DIGITS
            && whole.get(..wire.len()).is_some_and(|start| start.eq_ignore_ascii_case(wire))
    }
}

/// A `Hasher` that feeds BLAKE3.
struct Digest(blake3::Hasher);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let bytes = self.0.finalize();
        bytes.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.hex().get(..WIRE_DIGITS).unwrap_or_default())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_shown_by_its_first_twelve_digits() {
        let version = Version::hash(b"");
        assert_eq!(version.hex(), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
        assert_eq!(version.to_string(), "af1349b9f5f9");
    }

    #[test]
    fn a_requested_version_is_described_by_as_many_digits_as_count() {
        let version = Version::hash(b"");
        for (requested, description) in [
            (version.hex().as_str(), "af1349b9f5f9"),
            ("af1349b9f5f9", "af1349b9f5f9"),
            ("af1349b9f5f9a", "af1349b9f5f9a"),
            ("af1349b9f5f", "\"af1349b9f5f\", which has fewer than 12 digits,"),
            ("", "\"\", which has fewer than 12 digits,"),
        ] {
            assert_eq!(Version::describe_requested(requested), description);
        }
    }

    #[test]
    fn matches_a_prefix_that_is_long_enough() {
        let version = Version::hash(b"");
        for right in ["af1349b9f5f9", "AF1349B9F5F9", "af1349b9f5f9a", &version.hex()] {
            assert!(version.matches(right), "{right}");
        }
        for wrong in [
            "",
            "af1349b9f5f",
            "af1349b9f5f8",
            "af1349b9f5f9g",
            "ä1349b9f5f9a1",
            &format!("{}0", version.hex()),
        ] {
            assert!(!version.matches(wrong), "{wrong}");
        }
    }
}
