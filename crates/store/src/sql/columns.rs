//! The values of columns: counts, times and versions, as SQLite stores them.

use lockgate_text::Version;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The minimum number of digits of a version prefix.
const SHORTEST_VERSION: usize = 12;

/// Converts a count to the databases' integer type.
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
