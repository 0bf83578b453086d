//! The patterns of the rules.

use regex::Regex;

/// Compiles a pattern of a rule.
pub(super) fn compiled(pattern: &str) -> Regex {
    match Regex::new(pattern) {
        Ok(regex) => regex,
        // Unreachable: the patterns are constants, and a test compiles each of them.
        Err(error) => unreachable!("{error}"),
    }
}
