//! The severity of findings.

use super::node::{PolicyError, YamlNode};
use super::value_shape::words;

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

words! {
    pub(super) SEVERITIES: Severity { "error": Error, "warning": Warning, "info": Info, }
}

pub(super) fn severity(node: &YamlNode, what: &str) -> Result<Severity, PolicyError> {
    node.one_of(what, &SEVERITIES)
}
