//! Parses the moment that a person names: a date, a time, or an age.

use std::str::FromStr;
use std::time::SystemTime;

use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};

/// A moment in the past. Dates and times without a zone are local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Since(pub(super) SystemTime);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Since, String> {
        let text = text.trim();
        let instant = || text.parse::<Timestamp>().ok();
        let local = || {
            let at: DateTime = text.parse().ok()?;
            Some(at.to_zoned(jiff::tz::TimeZone::system()).ok()?.timestamp())
        };
        let age = || {
            let span: Span = text.parse().ok()?;
            Some(Zoned::now().checked_sub(span.abs()).ok()?.timestamp())
        };
        let moment = instant().or_else(local).or_else(age);
        moment.map(|moment| Since(moment.into())).ok_or_else(|| {
            "no time; it may be a date (2026-01-31), a time (2026-01-31T14:00) or an age (`2h`, `3 days`)"
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn dates_times_and_ages_are_moments() {
        let moment = |text: &str| text.parse::<Since>().map(|since| since.0);
        assert_eq!(moment("1970-01-02T00:00:00Z"), Ok(UNIX_EPOCH + Duration::from_secs(86_400)));
        let day = DateTime::constant(2026, 1, 31, 0, 0, 0, 0).to_zoned(jiff::tz::TimeZone::system()).unwrap();
        assert_eq!(moment("2026-01-31"), Ok(day.timestamp().into()));
        for (text, seconds) in [("2h", 7200), ("90 minutes ago", 5400), ("1h30m", 5400)] {
            // Of the fraction of a second that `now` has, a moment keeps less.
            let passed = SystemTime::now().duration_since(moment(text).unwrap()).unwrap().as_secs();
            assert!((seconds - 1..seconds + 60).contains(&passed), "{text}: {passed}");
        }
        let days = SystemTime::now().duration_since(moment("3 days").unwrap()).unwrap().as_secs();
        assert!(
            (3 * 86_400 - 7200..=3 * 86_400 + 7200).contains(&days),
            "a day may have 23 or 25 hours: {days}"
        );
        for text in ["", "soon", "2h x", "9999999999 years"] {
            assert!(moment(text).is_err(), "{text}");
        }
    }
}
