//! The record of one change of a configuration, so that removing it restores the file byte for byte.
//!
//! It has the text that was replaced, and the hash of the result. Once the file is changed otherwise, only what was made and
//! what was there before apply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::merge::{self, ContainerPath};
use super::wanted::Wanted;
use lockgate_text::{Version, common_prefix, common_suffix};

/// What one change did to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChangeRecord {
    /// The hash of the file's bytes after the change.
    after: String,
    /// The replaced part; `None` if there was no file.
    replaced: Option<ReplacedPart>,
    /// The number of folders that lockgate created for the file.
    pub(super) folders: usize,
    /// The number of folders that lockgate created from the folder of the user upwards. Records of older versions have
    /// none, so these stay.
    #[serde(default)]
    pub(super) user_folders: usize,
    /// True if the file is older than all additions to it. Records of older versions have false, so a file with nothing but
    /// the addition is deleted.
    #[serde(default)]
    pub(super) had_file: bool,
    /// The objects and arrays that were made around the additions. Records of older versions have none, so these stay.
    #[serde(default)]
    pub(super) made: Vec<ContainerPath>,
    /// The parts of the addition that were there before, from [`merge::existing_parts`]. Records of older versions have none,
    /// so these are removed.
    #[serde(default)]
    pub(super) existing: Vec<Value>,
}

/// A part of a text, and what replaced it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ReplacedPart {
    at: usize,
    text: String,
    /// The length of the new text in bytes.
    length: usize,
}

/// The file as it was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Restored {
    Text(String),
    NoFile,
}

impl ChangeRecord {
    /// Creates the record of a change of the text alone.
    pub(super) fn new(before: Option<&str>, after: &str) -> ChangeRecord {
        let replaced = before.map(|before| {
            // Both ends are cut to whole characters.
            let start = before.floor_char_boundary(common_prefix(before.as_bytes(), after.as_bytes()));
            let (old, new) =
                (before.get(start..).unwrap_or_default(), after.get(start..).unwrap_or_default());
            let end = old.ceil_char_boundary(old.len() - common_suffix(old.as_bytes(), new.as_bytes()));
            let text = old.get(..end).unwrap_or_default().to_owned();
            ReplacedPart { at: start, length: new.len() - (old.len() - end), text }
        });
        let after = hash(after);
        ChangeRecord { after, replaced, had_file: before.is_some(), ..ChangeRecord::default() }
    }

    /// True if a part of the addition was there before.
    pub(super) fn had(&self, part: &Wanted) -> bool {
        self.existing.contains(&merge::whole_config(part))
    }

    /// Returns the file before the change; `None` if the current text is not the result of the change.
    pub(super) fn restore(&self, current: &str) -> Option<Restored> {
        if hash(current) != self.after {
            return None;
        }
        let Some(part) = &self.replaced else { return Some(Restored::NoFile) };
        let (before, after) = (current.get(..part.at)?, current.get(part.at.checked_add(part.length)?..)?);
        Some(Restored::Text(format!("{before}{}{after}", part.text)))
    }
}

fn hash(text: &str) -> String {
    Version::hash(text.as_bytes()).hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn every_change_is_taken_back(before in "[aé\\n日]{0,12}", after in "[aé\\n日]{0,12}") {
            let record = ChangeRecord::new(Some(&before), &after);
            prop_assert_eq!(record.restore(&after), Some(Restored::Text(before)));
        }
    }

    #[test]
    fn a_file_that_was_changed_again_is_left_alone() {
        let mut record = ChangeRecord::new(None, "one");
        record.made = vec![vec!["hooks".to_owned()]];
        record.existing = vec![json!({"permissions": {"deny": ["Edit"]}})];
        assert_eq!((record.restore("one"), record.restore("two")), (Some(Restored::NoFile), None));
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<ChangeRecord>(&text).unwrap(), record);
    }

    #[test]
    fn a_record_of_an_older_version_is_read() {
        let mut record = ChangeRecord::new(Some("one"), "two");
        let mut json = serde_json::to_value(&record).unwrap();
        for field in ["user_folders", "had_file", "made", "existing"] {
            assert!(json.as_object_mut().unwrap().shift_remove(field).is_some(), "{field}");
        }
        record.had_file = false;
        assert_eq!(serde_json::from_value::<ChangeRecord>(json).unwrap(), record);
    }
}
