//! The limits of one edit: sizes and times.

use std::time::Duration;

use super::node::{MapFields, PolicyError};
use super::value_shape::{Range, TIME, tables};

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
pub(super) fn limits(policy: &MapFields<'_>, base: Limits) -> Result<Limits, PolicyError> {
    let fields = policy.map("limits")?;
    let lock_wait = fields.read_optional("lock_wait")?;
    Ok(Limits {
        file: fields.read("file", base.file)?,
        lock_wait: lock_wait.unwrap_or(base.lock_wait),
        // A policy that names only the one limit means it for both.
        queue_wait: fields.read("queue_wait", lock_wait.unwrap_or(base.queue_wait))?,
        total: fields.read("total", base.total)?,
        regex_steps: fields.read("regex_steps", base.regex_steps)?,
        journal: fields.read("journal", base.journal)?,
        journal_age: fields.read("journal_age", base.journal_age)?,
    })
}

tables! {
    LIMITS {
        "file": Size(FILE), Is("10MiB") => "the largest file that is read or written";
        "lock_wait": Duration(WAIT), Is("20s") => "the longest wait for an edit of the same file by another process";
        "queue_wait": Duration(WAIT), Described("`lock_wait` if that is set, else `2m`")
            => "the longest wait behind earlier edits of the same file in the same server, which are served in the order of their arrival";
        "total": Duration(TIME), Is("20s") => "the timeout of all gates of one edit together";
        "regex_steps": Whole(STEPS), Is("40000000")
            => "the most steps of the pattern of one edit; 40000000 take about 300 ms";
        "journal": Size(JOURNAL), Is("256MiB") => "the largest size of the journal of a root; the oldest edits are removed first";
        "journal_age": Age(JOURNAL_AGE), Is("30d") => "how long an edit stays in the journal";
    }
}
/// The largest file that a policy may admit: offsets in a file fit 32 bits.
const FILE: Range = Range { min: 1, max: (4 << 30) - 1, description: "at least 1 byte and less than 4GiB" };
const WAIT: Range = Range { min: 0, max: 3_600_000, description: "at most 60m" };
const STEPS: Range = Range { min: 1_000, max: 1_000_000_000, description: "from 1000 to 1000000000" };
const JOURNAL: Range = Range { min: 0, max: 1 << 40, description: "at most 1024GiB" };
const JOURNAL_AGE: Range = Range { min: 0, max: 3650 * 86_400_000, description: "at most 3650d" };
