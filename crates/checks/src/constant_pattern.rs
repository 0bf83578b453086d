//! Compiles the constant patterns of this crate.

use regex::{Regex, RegexSet};

/// Compiles a constant pattern.
pub(super) fn regex(pattern: &str) -> Regex {
    match Regex::new(pattern) {
        Ok(regex) => regex,
        // The pattern is a constant.
        Err(error) => unreachable!("{error}"),
    }
}

/// Compiles constant patterns.
pub(super) fn regex_set(patterns: &[&str]) -> RegexSet {
    match RegexSet::new(patterns) {
        Ok(set) => set,
        // The patterns are constants.
        Err(error) => unreachable!("{error}"),
    }
}
