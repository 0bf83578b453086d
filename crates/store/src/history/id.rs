//! The id of an edit in the journal.

use std::fmt;
use std::str::FromStr;

use lockgate_error::{Code, Error};

/// The id of an edit, such as `7f3a-42`: the root's journal and the number of the edit in it. A greater
/// number is later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditId {
    journal: u16,
    number: u64,
}

impl EditId {
    /// The edit with this number in this journal.
    pub(crate) const fn new(journal: u16, number: u64) -> EditId {
        EditId { journal, number }
    }

    /// The id of the journal.
    pub(crate) const fn journal(self) -> u16 {
        self.journal
    }

    /// True if both edits are in the same journal.
    pub const fn is_in_journal_of(self, other: EditId) -> bool {
        self.journal == other.journal
    }

    /// The edit's number in the journal.
    pub(crate) const fn number(self) -> u64 {
        self.number
    }
}

impl fmt::Display for EditId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}-{}", self.journal, self.number)
    }
}

impl FromStr for EditId {
    type Err = Error;

    /// Parses an id as it is displayed.
    fn from_str(name: &str) -> Result<EditId, Error> {
        let parts = name.trim().split_once('-');
        let parsed = parts.and_then(|(journal, number)| {
            let plain = journal.len() == 4
                && journal.bytes().all(|digit| digit.is_ascii_hexdigit())
                && number.bytes().all(|digit| digit.is_ascii_digit());
            let journal = u16::from_str_radix(journal, 16).ok().filter(|_| plain)?;
            Some(EditId { journal, number: number.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            let name: String = name.chars().take(40).collect();
            Error::new(Code::InvalidInput, format!("`{name}` is not an edit id such as 7f3a-42"))
                .field("edit_id")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_shown() {
        for name in ["7f3a-42", "0000-0", "ffff-18446744073709551615"] {
            assert_eq!(name.parse::<EditId>().unwrap().to_string(), name);
        }
        for name in
            ["", "42", "7f3a", "7f3a-", "7f3-1", "7f3a-+1", "7f3a-18446744073709551616", "+f3a-1", "é-1"]
        {
            assert_eq!(name.parse::<EditId>().unwrap_err().field.as_deref(), Some("edit_id"), "{name}");
        }
    }
}
