//! What a rule about a text sees, and what it finds.

use super::error::GateError;
use super::finding::Severity;
use super::syntax::child::{NoReply, Reply};
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

/// Returns the reason that a child process did not read a text; `reader` is the library that it uses.
pub(super) fn unread(reader: &str, reply: Result<Reply, NoReply>) -> GateError {
    match reply {
        Err(NoReply::Halted(halt)) => GateError::Halted(halt),
        Err(NoReply::Failed(why)) => GateError::Unavailable(format!("{reader} {why}")),
        Err(NoReply::Panicked(words)) => GateError::Broken(format!("{reader} panicked: {words}")),
        Ok(_) => GateError::Broken(format!("{reader} gave an unexpected answer")),
    }
}
