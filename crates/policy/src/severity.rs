//! The severity of findings.

use super::node::{PolicyError, YamlNode};

/// The severity of a finding; the most severe is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A definite fault in the text.
    Error,
    /// A probable fault, or bad style.
    Warning,
    /// Information that needs no action.
    Info,
}

impl Severity {
    /// Returns the name on the wire and in a policy.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

pub(super) const SEVERITIES: [(&str, Severity); 3] = [
    (Severity::Error.name(), Severity::Error),
    (Severity::Warning.name(), Severity::Warning),
    (Severity::Info.name(), Severity::Info),
];

pub(super) fn severity(node: &YamlNode, what: &str) -> Result<Severity, PolicyError> {
    node.one_of(what, &SEVERITIES)
}
