//! What a policy asks of a request: the mode that it may have, and what it must say of the file.

use super::keys;
use super::node::{Fault, Fields, Node};

/// What a policy asks of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demands {
    /// Whether requests may have `mode: interactive`.
    pub interactive: Interactive,
    /// What an edit by line numbers must say of the file.
    pub line_edits: Guard,
    /// What `content` for a file that is there must say of it.
    pub overwrite: Guard,
}

/// Whether requests may have `mode: interactive`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Interactive {
    /// They may.
    #[default]
    Allow,
    /// They are refused.
    Deny,
}

/// Whether a request must say what it believes of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Guard {
    /// It may.
    #[default]
    Optional,
    /// It is refused without.
    Required,
}

pub(super) const INTERACTIVE: [(&str, Interactive); 2] =
    [("allow", Interactive::Allow), ("deny", Interactive::Deny)];
pub(super) const GUARDED: [(&str, Guard); 2] = [("optional", Guard::Optional), ("required", Guard::Required)];

/// Reads `modes` and `guards`; what they do not say stays as it is in `base`.
pub(super) fn demands(policy: &Fields<'_>, base: Demands) -> Result<Demands, Fault> {
    let mut demands = base;
    if let Some(node) = policy.get("modes") {
        let fields = node.settings("`modes`", &[keys::MODES])?;
        let read = |node: &Node, what: &str| node.one_of(what, &INTERACTIVE);
        demands.interactive = fields.optional("interactive", read)?.unwrap_or(base.interactive);
    }
    if let Some(node) = policy.get("guards") {
        let fields = node.settings("`guards`", &[keys::GUARDS])?;
        let read = |node: &Node, what: &str| node.one_of(what, &GUARDED);
        demands.line_edits = fields.optional("line_edits", read)?.unwrap_or(base.line_edits);
        demands.overwrite = fields.optional("overwrite", read)?.unwrap_or(base.overwrite);
    }
    Ok(demands)
}
