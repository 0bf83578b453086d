//! The limits of one edit: sizes and times.

use std::time::Duration;

use super::node::{PolicyError, YamlNode};
use super::{keys, quantity};

/// The limits of one edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest file, in bytes; 1 to 4 GiB - 1.
    pub file: u64,
    /// The longest wait for another edit of the same file; up to one hour.
    pub lock_wait: Duration,
    /// The time limit of all gates of one edit together; up to one hour.
    pub total: Duration,
    /// The most steps of one edit's pattern; 1,000 to 1,000,000,000.
    pub regex_steps: u64,
    /// The most bytes of the journal.
    pub journal: u64,
    /// The longest time that journal entries are stored.
    pub journal_age: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            file: 10 << 20,
            lock_wait: Duration::from_secs(20),
            total: Duration::from_secs(20),
            regex_steps: 40_000_000,
            journal: 256 << 20,
            journal_age: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// Reads `limits`; what it does not say stays as it is in `base`.
pub(super) fn limits(node: &YamlNode, what: &str, base: Limits) -> Result<Limits, PolicyError> {
    let fields = node.settings(what, &[keys::LIMITS])?;
    let wait = |node: &YamlNode, what: &str| quantity::duration(node, what, keys::WAIT);
    Ok(Limits {
        file: fields
            .optional("file", |node, what| quantity::size(node, what, keys::FILE))?
            .unwrap_or(base.file),
        lock_wait: fields.optional("lock_wait", wait)?.unwrap_or(base.lock_wait),
        total: fields.optional("total", quantity::time)?.unwrap_or(base.total),
        regex_steps: fields
            .optional("regex_steps", |node, what| node.whole_in_range(what, keys::STEPS))?
            .unwrap_or(base.regex_steps),
        journal: fields
            .optional("journal", |node, what| quantity::size(node, what, keys::JOURNAL))?
            .unwrap_or(base.journal),
        journal_age: fields
            .optional("journal_age", |node, what| quantity::age(node, what, keys::JOURNAL_AGE))?
            .unwrap_or(base.journal_age),
    })
}
