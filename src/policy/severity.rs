//! How grave a finding is.

use super::node::{PolicyError, YamlNode};

/// How grave a finding is; the gravest is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is wrong.
    Error,
    /// Something is likely wrong, or badly done.
    Warning,
    /// Something is worth knowing.
    Info,
}

impl Severity {
    /// Gives the name on the wire and in a policy.
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
