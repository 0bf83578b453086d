//! Formats timestamps.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// Formats a timestamp in RFC 3339, in UTC and whole seconds; a time before 1970 becomes 1 January 1970.
pub(super) fn rfc3339(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let timestamp = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    timestamp.unwrap_or_default().to_string()
}

/// Describes how long ago a moment was, in its largest unit, as in `3 minutes ago`.
pub fn age(at: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(at).map_or(0, |since| since.as_secs());
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn known_moments_are_written_as_they_are() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        let ago = |seconds| age(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!(
            [ago(1), ago(59), ago(60), ago(7200), ago(200_000)],
            ["1 second ago", "59 seconds ago", "1 minute ago", "2 hours ago", "2 days ago"]
        );
        assert_eq!(age(SystemTime::now() + Duration::from_secs(9)), "0 seconds ago");
    }
}
