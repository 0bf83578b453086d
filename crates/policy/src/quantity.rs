//! Parses sizes and durations: a whole number and a unit.
//!
//! Invariant: values are exact; a fraction, a sign, a missing or unknown unit is an error.

use std::time::Duration;

use super::node::{FromNode, PolicyError, YamlNode, YamlValue};
use super::value_shape::{Range, ValueShape};

const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];
const DURATION_UNITS: [(&str, u64); 3] = [("ms", 1), ("s", 1_000), ("m", 60_000)];
const AGE_UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Parses a number of bytes: `10MiB`, `500KB`, `4096`.
fn size(node: &YamlNode, what: &str, range: Range) -> Result<u64, PolicyError> {
    let bytes = match &node.value {
        YamlValue::Whole(bytes) => Some(*bytes),
        YamlValue::Text(text) => parse_units(text, &SIZE_UNITS),
        _ => None,
    };
    let wrong = || {
        let value = node.value.describe_number();
        node.fault(format!("{what} must be a whole number of bytes with B, KB, KiB, MB, MiB, GB, GiB or no unit, as in `10MiB`, not {value}"))
    };
    range.check(node, what, bytes.ok_or_else(wrong)?)
}

impl FromNode for Duration {
    fn from_node(node: &YamlNode, what: &str, shape: &ValueShape) -> Result<Duration, PolicyError> {
        match shape {
            ValueShape::Duration(range) => duration(node, what, &DURATION_UNITS, *range),
            ValueShape::Age(range) => duration(node, what, &AGE_UNITS, *range),
            _ => Err(no_range(node, what)),
        }
    }
}

impl FromNode for u64 {
    fn from_node(node: &YamlNode, what: &str, shape: &ValueShape) -> Result<u64, PolicyError> {
        match shape {
            ValueShape::Size(range) => size(node, what, *range),
            ValueShape::Whole(range) => node.whole(what, *range),
            _ => Err(no_range(node, what)),
        }
    }
}

impl FromNode for usize {
    fn from_node(node: &YamlNode, what: &str, shape: &ValueShape) -> Result<usize, PolicyError> {
        Ok(usize::try_from(u64::from_node(node, what, shape)?).unwrap_or(usize::MAX))
    }
}

/// Rejects every value of a key whose row in the table has no range.
fn no_range(node: &YamlNode, what: &str) -> PolicyError {
    node.fault(format!("{what} has no range"))
}

/// Parses a duration: `20s`, `500ms`, `2m`; a bare `0` is the only number without a unit. An age may also have longer
/// units, as in `12h` or `30d`.
fn duration(
    node: &YamlNode,
    what: &str,
    units: &[(&str, u64)],
    range: Range,
) -> Result<Duration, PolicyError> {
    let wrong = || {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        let (last, first) = names.split_last().map_or(("", &[][..]), |(last, first)| (*last, first));
        let expected = format!("a whole number with {} or {last}, as in `20s`", first.join(", "));
        node.fault(format!("{what} must be {expected}, not {}", node.value.describe()))
    };
    let millis = match &node.value {
        YamlValue::Whole(0) => Some(0),
        YamlValue::Whole(number) => {
            return Err(node.fault(format!("{what} needs a unit, as in `{number}s` or `{number}ms`")));
        }
        YamlValue::Text(text) => parse_units(text, units),
        _ => None,
    };
    range.check(node, what, millis.ok_or_else(wrong)?).map(Duration::from_millis)
}

/// Parses `text` as a number of the smallest unit; `None` if it is malformed, has no known unit, or is too
/// large.
fn parse_units(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::TextPosition;

    const ANY: Range = Range { min: 0, max: u64::MAX, description: "any" };

    fn text(text: &str) -> YamlNode {
        YamlNode { position: TextPosition::START, value: YamlValue::Text(text.to_owned()) }
    }

    fn number(number: u64) -> YamlNode {
        YamlNode { position: TextPosition::START, value: YamlValue::Whole(number) }
    }

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        let bytes = |written: &str| size(&text(written), "`file`", ANY).ok();
        let known = [("7B", 7), ("3KB", 3000), ("3KiB", 3072), ("2MB", 2_000_000), ("10MiB", 10_485_760)];
        for (written, expected) in known {
            assert_eq!(bytes(written), Some(expected), "{written}");
        }
        assert_eq!((bytes("1GB"), bytes("1GiB")), (Some(1_000_000_000), Some(1 << 30)));
        assert_eq!(size(&number(4096), "`file`", ANY), Ok(4096));
        for wrong in [
            "",
            "MiB",
            "10mib",
            "10 MiB",
            "1.5MiB",
            "-1MiB",
            "10M",
            "1_000",
            "007",
            "99999999999GiB",
            "１MiB",
        ] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_need_a_unit_unless_they_are_zero() {
        let time = |written: &str| duration(&text(written), "`lock_wait`", &DURATION_UNITS, ANY).ok();
        for (written, expected) in [("10ms", 10), ("20s", 20_000), ("2m", 120_000), ("0s", 0)] {
            assert_eq!(time(written), Some(Duration::from_millis(expected)), "{written}");
        }
        for wrong in [
            "",
            "s",
            "20",
            "20 s",
            "1.5s",
            "-1s",
            "20sec",
            "1h",
            "999999999999999999999s",
            "18446744073709551615m",
        ] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
        assert_eq!(duration(&number(0), "`lock_wait`", &DURATION_UNITS, ANY), Ok(Duration::ZERO));
        assert!(duration(&number(20), "`lock_wait`", &DURATION_UNITS, ANY).is_err());
    }

    #[test]
    fn ages_have_hours_and_days_as_well() {
        let time = |written: &str| duration(&text(written), "`journal_age`", &AGE_UNITS, ANY).ok();
        for (written, seconds) in [("30d", 2_592_000), ("12h", 43_200), ("5m", 300), ("1s", 1)] {
            assert_eq!(time(written), Some(Duration::from_secs(seconds)), "{written}");
        }
        for wrong in ["1w", "1D", "h", "213503982335d"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
