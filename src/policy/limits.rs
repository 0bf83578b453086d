//! How large and how long: the limits of one edit.

use std::time::Duration;

use super::node::{PolicyError, YamlNode};
use super::{keys, quantity};

/// The limits of one edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest file, in bytes; 1 to 4 GiB - 1.
    pub file: u64,
    /// How long an edit waits for another edit of the same file; up to one hour.
    pub lock_wait: Duration,
    /// How long all gates of one edit may take together; up to one hour.
    pub total: Duration,
    /// How many steps the pattern of one edit may take; 1,000 to 1,000,000,000.
    pub regex_steps: u64,
    /// How large the journal may grow, in bytes.
    pub journal: u64,
    /// How long the journal is kept.
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
            .optional("regex_steps", |node, what| node.within(what, keys::STEPS))?
            .unwrap_or(base.regex_steps),
        journal: fields
            .optional("journal", |node, what| quantity::size(node, what, keys::JOURNAL))?
            .unwrap_or(base.journal),
        journal_age: fields
            .optional("journal_age", |node, what| quantity::age(node, what, keys::JOURNAL_AGE))?
            .unwrap_or(base.journal_age),
    })
}
