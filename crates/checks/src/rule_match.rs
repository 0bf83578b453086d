//! What a rule about a text sees, and what it finds.

use super::finding::Severity;
use lockgate_sandbox::Limit;

/// The maximum number of matches of a forbidden pattern: each search may read the rest of the text.
pub(super) const MAX_MATCHES: usize = 1000;

/// The maximum number of steps of a query: enough to read and search the tree of 10,000 lines many times.
pub(super) const QUERY_STEPS: usize = 500_000;

/// The text to check, with its path and language.
#[derive(Clone, Copy)]
pub(super) struct PatternInput<'a> {
    /// The path of the file, relative to the root.
    pub(super) path: &'a str,
    /// The name of the language; empty if unknown.
    pub(super) language: &'a str,
    pub(super) text: &'a str,
    /// Returns true if a root-relative path exists.
    pub(super) files_exist: &'a (dyn Fn(&str) -> bool + Sync),
    /// The time limit for the check.
    pub(super) limit: Limit<'a>,
}

/// A finding of a rule, at an offset of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleMatch {
    pub(super) offset: usize,
    pub(super) code: Option<&'static str>,
    pub(super) severity: Severity,
    pub(super) message: String,
}
