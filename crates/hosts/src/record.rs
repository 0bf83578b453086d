//! What the event before a call leaves for the event after it.
//!
//! Invariant: a record that cannot be read completely counts as none.

use serde::{Deserialize, Serialize};
use serde_json::json;

/// The files of a call, as they were before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The files that the call edits.
    pub files: Vec<FileRecord>,
    /// The summary of the gates that judged the call; empty if it was not judged.
    pub gates: String,
    /// Set when the edit was judged before it was made.
    pub is_judged: bool,
    /// The message for the model after the call; empty for none.
    pub note: String,
}

/// A file before a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The absolute path of the file.
    pub path: String,
    /// The bytes; `None` if there was no file.
    #[serde(skip)]
    pub before: Option<Vec<u8>>,
    /// The permission bits before the call.
    pub mode: Option<u32>,
    /// What the tool was expected to write.
    pub expected: ExpectedText,
}

/// What a tool was expected to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExpectedText {
    /// Exactly this version, in hex digits.
    Version(String),
    /// A text of this version, in hex digits, if `\r\n` counts as `\n` and a last line end is ignored.
    Text(String),
    /// The tool was to remove the file.
    Removed,
    /// The result was not known before the call.
    Unknown,
}

impl CallRecord {
    /// Writes the record: one line of JSON with the lengths of the files, then their bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let before = || self.files.iter().map(|file| file.before.as_ref());
        let lengths: Vec<Option<usize>> = before().map(|before| before.map(Vec::len)).collect();
        let mut bytes = format!("{}\n", json!([self, lengths])).into_bytes();
        before().flatten().for_each(|before| bytes.extend(before));
        bytes
    }

    /// Reads a record; `None` if it is incomplete.
    pub fn from_bytes(bytes: &[u8]) -> Option<CallRecord> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (header, mut rest) = (bytes.get(..end)?, bytes.get(end + 1..)?);
        let (mut record, lengths): (CallRecord, Vec<Option<usize>>) = serde_json::from_slice(header).ok()?;
        for (file, length) in record.files.iter_mut().zip(&lengths) {
            let Some(length) = length else { continue };
            let (before, others) = rest.split_at_checked(*length)?;
            (file.before, rest) = (Some(before.to_vec()), others);
        }
        (rest.is_empty() && lengths.len() == record.files.len()).then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_or_not_at_all() {
        let file = |path: &str, before: Option<&[u8]>, expected| FileRecord {
            path: path.to_owned(),
            before: before.map(<[u8]>::to_vec),
            mode: Some(0o644),
            expected,
        };
        let record = CallRecord {
            files: vec![
                file("/a\nb", Some(b"\xff\n\0"), ExpectedText::Version("ab".into())),
                file("/c", None, ExpectedText::Text("cd".into())),
                file("/d", Some(b""), ExpectedText::Removed),
                file("/e", Some(b"x\n"), ExpectedText::Unknown),
            ],
            gates: "syntax passed".into(),
            is_judged: true,
            note: "told\nlater".into(),
        };
        let bytes = record.to_bytes();
        assert_eq!(CallRecord::from_bytes(&bytes), Some(record));
        for cut in 0..bytes.len() {
            assert_eq!(CallRecord::from_bytes(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(CallRecord::from_bytes(&[&bytes[..], b"x"].concat()), None);
    }
}
