//! The values of columns: counts, times, versions and kinds of edits, as both databases store them.

use crate::history::{EditId, EntryKind};
use lockgate_text::Version;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The minimum number of digits of a version prefix.
const SHORTEST_VERSION: usize = 12;

/// The values of the column `kind`.
const EDIT: i64 = 0;
const UNDO: i64 = 1;
const REDO: i64 = 2;

/// Converts a count to the databases' integer type.
pub(super) fn count(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// Converts a stored count.
pub(super) fn to_count(count: i64) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// Returns the columns `kind` and `of` for the kind of an edit.
pub(super) fn kind_columns(kind: EntryKind) -> (i64, i64) {
    match kind {
        EntryKind::Edit => (EDIT, 0),
        EntryKind::Undo(of) => (UNDO, of.number().cast_signed()),
        EntryKind::Redo(of) => (REDO, of.number().cast_signed()),
    }
}

/// Converts the columns `kind` and `of` of an edit in the journal of this name.
pub(super) fn to_kind((kind, of): (i64, i64), journal: u16) -> EntryKind {
    let of = EditId::new(journal, of.cast_unsigned());
    match kind {
        UNDO => EntryKind::Undo(of),
        REDO => EntryKind::Redo(of),
        _ => EntryKind::Edit,
    }
}

/// Returns the time since 1970.
pub(super) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns the current time as a journal stores it: milliseconds since 1970.
pub(super) fn now() -> i64 {
    count(since_1970().as_millis())
}

/// Converts a stored time, in milliseconds since 1970.
pub(super) fn time(at: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(at).unwrap_or(0))
}

/// Converts a column to a version.
pub(super) fn to_version(bytes: Option<[u8; 32]>) -> Option<Version> {
    bytes.map(Version::from_bytes)
}

/// Returns the lowest and the highest version with this prefix; `None` if it is too short, or no version.
pub(super) fn version_range(version: &str) -> Option<([u8; 32], [u8; 32])> {
    let digits = version.bytes().map(|digit| char::from(digit).to_digit(16).map(|digit| digit as u8));
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    if !(SHORTEST_VERSION..=64).contains(&digits.len()) {
        return None;
    }
    let filled = |rest: u8| {
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digit = |at: usize| digits.get(at).copied().unwrap_or(rest);
            *byte = digit(2 * place) << 4 | digit(2 * place + 1);
        }
        bytes
    };
    Some((filled(0), filled(15)))
}
