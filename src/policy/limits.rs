//! The limits of one edit: sizes and times.

use std::time::Duration;

use super::node::{PolicyError, YamlNode};
use super::{keys, quantity};

/// The limits of one edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest file, in bytes; 1 to 4 GiB - 1.
    pub file: u64,
    /// The longest wait for an edit of the same file by another process; up to one hour.
    pub lock_wait: Duration,
    /// The longest wait behind earlier edits of the same file in this process; up to one hour.
    pub queue_wait: Duration,
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
            queue_wait: Duration::from_secs(120),
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
    let lock_wait = fields.optional("lock_wait", wait)?;
    Ok(Limits {
        file: fields
            .optional("file", |node, what| quantity::size(node, what, keys::FILE))?
            .unwrap_or(base.file),
        lock_wait: lock_wait.unwrap_or(base.lock_wait),
        // A policy that names only the one limit means it for both.
        queue_wait: fields.optional("queue_wait", wait)?.or(lock_wait).unwrap_or(base.queue_wait),
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
