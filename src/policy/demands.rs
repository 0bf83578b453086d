//! What a policy asks of a request: the mode that it may have, and what it must say of the file.

use super::keys;
use super::node::{MapFields, PolicyError, YamlNode};

/// What a policy asks of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demands {
    /// Whether requests may have `mode: interactive`.
    pub interactive: Interactive,
    /// What an edit by line numbers must say of the file.
    pub line_edits: Guard,
    /// What `content` for a file that is there must say of it.
    pub overwrite: Guard,
    /// When a person is asked before a write.
    pub confirm: Confirm,
    /// The treatment of a write to a file that makes a program start when the folder is opened or used.
    pub runnable: Runnable,
}

/// The treatment of a write to a file that makes a program start when the folder is opened or used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Runnable {
    /// A person is asked; where nobody can be asked, it is refused.
    #[default]
    Ask,
    /// It is refused.
    Refuse,
    /// It is made like any other.
    Allow,
}

/// When a person is asked before a write; each more often than the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confirm {
    /// Never.
    #[default]
    Never,
    /// For a removal, a file that shrinks to under a quarter, and findings in `interactive` that refuse in `strict`.
    Risky,
    /// Before every write.
    Always,
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
pub(super) const CONFIRMED: [(&str, Confirm); 3] =
    [("never", Confirm::Never), ("risky", Confirm::Risky), ("always", Confirm::Always)];
pub(super) const RUN: [(&str, Runnable); 3] =
    [("ask", Runnable::Ask), ("refuse", Runnable::Refuse), ("allow", Runnable::Allow)];
pub(super) const GUARDED: [(&str, Guard); 2] = [("optional", Guard::Optional), ("required", Guard::Required)];

/// Reads `modes`, `guards`, `confirm` and `runnable`; what they do not say stays as it is in `base`.
pub(super) fn demands(policy: &MapFields<'_>, base: Demands) -> Result<Demands, PolicyError> {
    let mut demands = base;
    let confirm = policy.optional("confirm", |node, what| node.one_of(what, &CONFIRMED))?;
    demands.confirm = confirm.unwrap_or(base.confirm);
    let runnable = policy.optional("runnable", |node, what| node.one_of(what, &RUN))?;
    demands.runnable = runnable.unwrap_or(base.runnable);
    if let Some(node) = policy.get("modes") {
        let fields = node.settings("`modes`", &[keys::MODES])?;
        let read = |node: &YamlNode, what: &str| node.one_of(what, &INTERACTIVE);
        demands.interactive = fields.optional("interactive", read)?.unwrap_or(base.interactive);
    }
    if let Some(node) = policy.get("guards") {
        let fields = node.settings("`guards`", &[keys::GUARDS])?;
        let read = |node: &YamlNode, what: &str| node.one_of(what, &GUARDED);
        demands.line_edits = fields.optional("line_edits", read)?.unwrap_or(base.line_edits);
        demands.overwrite = fields.optional("overwrite", read)?.unwrap_or(base.overwrite);
    }
    Ok(demands)
}
