//! What the event before a call leaves for the event after it.
//!
//! Invariant: a record that cannot be read completely counts as none.

use serde_json::{Value, json};

/// The files of a call, as they were before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// The absolute path of the file.
    pub path: String,
    /// The bytes; `None` if there was no file.
    pub before: Option<Vec<u8>>,
    /// The permission bits before the call.
    pub mode: Option<u32>,
    /// The bytes that the tool was expected to write, if they were certain; `None` for a removed file.
    pub expected: ExpectedText,
}

/// What a tool was expected to write.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Writes the record: one line of JSON, then the bytes of the files.
    pub fn to_bytes(&self) -> Vec<u8> {
        let files: Vec<Value> = self.files.iter().map(FileRecord::header).collect();
        let header =
            json!({"files": files, "gates": self.gates, "judged": self.is_judged, "note": self.note});
        let mut bytes = format!("{header}\n").into_bytes();
        self.files.iter().filter_map(|file| file.before.as_ref()).for_each(|before| bytes.extend(before));
        bytes
    }

    /// Reads a record; `None` if it is incomplete.
    pub fn from_bytes(bytes: &[u8]) -> Option<CallRecord> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let header: Value = serde_json::from_slice(bytes.get(..end)?).ok()?;
        let mut rest = bytes.get(end + 1..)?;
        let mut files = Vec::new();
        for file in header.get("files")?.as_array()? {
            let before = match file.get("length") {
                Some(Value::Null) => None,
                length => {
                    let (own, others) = rest.split_at_checked(usize::try_from(length?.as_u64()?).ok()?)?;
                    rest = others;
                    Some(own.to_vec())
                }
            };
            files.push(FileRecord {
                path: file.get("path")?.as_str()?.to_owned(),
                before,
                mode: file.get("mode").and_then(Value::as_u64).and_then(|mode| u32::try_from(mode).ok()),
                expected: ExpectedText::from_json(file.get("expected")?)?,
            });
        }
        let gates = header.get("gates")?.as_str()?.to_owned();
        let is_judged = header.get("judged")?.as_bool()?;
        let note = header.get("note")?.as_str()?.to_owned();
        rest.is_empty().then_some(CallRecord { files, gates, is_judged, note })
    }
}

impl FileRecord {
    fn header(&self) -> Value {
        json!({
            "path": self.path,
            "length": self.before.as_ref().map(Vec::len),
            "mode": self.mode,
            "expected": self.expected.to_json(),
        })
    }
}

impl ExpectedText {
    fn to_json(&self) -> Value {
        match self {
            ExpectedText::Version(version) => json!({ "version": version }),
            ExpectedText::Text(version) => json!({ "text": version }),
            ExpectedText::Removed => json!({ "removed": true }),
            ExpectedText::Unknown => json!({}),
        }
    }

    fn from_json(value: &Value) -> Option<ExpectedText> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(match (text("version"), text("text"), value.get("removed")) {
            (Some(version), _, _) => ExpectedText::Version(version),
            (None, Some(version), _) => ExpectedText::Text(version),
            (None, None, Some(_)) => ExpectedText::Removed,
            (None, None, None) => ExpectedText::Unknown,
        })
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
