//! The values of columns: counts, times and versions, as SQLite stores them.

use lockgate_text::Version;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Converts a count to SQLite's integer type.
pub(super) fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns the current time as it is stored: milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Converts a stored time, in milliseconds since 1970.
pub(super) fn time(at: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(at).unwrap_or(0))
}

/// Converts a column to a version.
pub(super) fn to_version(bytes: Option<[u8; 32]>) -> Option<Version> {
    bytes.map(Version::from_bytes)
}
