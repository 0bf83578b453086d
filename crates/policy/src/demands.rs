//! Requirements of a policy for requests: the allowed modes and the required preconditions.

use super::node::{MapFields, PolicyError, YamlNode};
use super::value_shape::Absent::Is;
use super::value_shape::ValueShape::Words;
use super::value_shape::{Setting, names_of, tables};

/// The requirements of a policy for requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Demands {
    /// The permission to use `mode: interactive`.
    pub interactive: Interactive,
    /// The precondition for edits by line numbers.
    pub line_edits: Guard,
    /// The precondition for `content` of an existing file.
    pub overwrite: Guard,
    /// The writes that a person must confirm.
    pub confirm: Confirm,
    /// The treatment of a write to a file that makes a program start when the folder is opened or used.
    pub runnable: Runnable,
}

/// The treatment of a write to a file that makes a program start when the folder is opened or used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Runnable {
    /// Ask a person; reject the write if no person can be asked.
    #[default]
    Ask,
    /// Reject the write without asking.
    Refuse,
    /// Allow the write like any other.
    Allow,
}

/// The writes that a person must confirm; each value includes more than the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confirm {
    /// No write needs a confirmation.
    #[default]
    Never,
    /// Removals, files that shrink to under a quarter, and findings in `interactive` that would block in `strict`.
    Risky,
    /// Every write needs a confirmation.
    Always,
}

/// The permission to use `mode: interactive`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Interactive {
    /// Requests may use this mode.
    #[default]
    Allow,
    /// Reject every request in this mode.
    Deny,
}

/// The requirement of a precondition, such as a version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Guard {
    /// Accept requests without a precondition.
    #[default]
    Optional,
    /// Reject requests without a precondition.
    Required,
}

pub(super) const INTERACTIVE: [(&str, Interactive); 2] =
    [("allow", Interactive::Allow), ("deny", Interactive::Deny)];
pub(super) const CONFIRMED: [(&str, Confirm); 3] =
    [("never", Confirm::Never), ("risky", Confirm::Risky), ("always", Confirm::Always)];
pub(super) const RUN: [(&str, Runnable); 3] =
    [("ask", Runnable::Ask), ("refuse", Runnable::Refuse), ("allow", Runnable::Allow)];
pub(super) const GUARDED: [(&str, Guard); 2] = [("optional", Guard::Optional), ("required", Guard::Required)];

/// Parses `modes`, `guards`, `confirm` and `runnable`; absent keys keep the value of `base`.
pub(super) fn demands(policy: &MapFields<'_>, base: Demands) -> Result<Demands, PolicyError> {
    let mut demands = base;
    let confirm = policy.optional("confirm", |node, what| node.one_of(what, &CONFIRMED))?;
    demands.confirm = confirm.unwrap_or(base.confirm);
    let runnable = policy.optional("runnable", |node, what| node.one_of(what, &RUN))?;
    demands.runnable = runnable.unwrap_or(base.runnable);
    if let Some(node) = policy.get("modes") {
        let fields = node.settings("`modes`", &[MODES])?;
        let read = |node: &YamlNode, what: &str| node.one_of(what, &INTERACTIVE);
        demands.interactive = fields.optional("interactive", read)?.unwrap_or(base.interactive);
    }
    if let Some(node) = policy.get("guards") {
        let fields = node.settings("`guards`", &[GUARDS])?;
        let read = |node: &YamlNode, what: &str| node.one_of(what, &GUARDED);
        demands.line_edits = fields.optional("line_edits", read)?.unwrap_or(base.line_edits);
        demands.overwrite = fields.optional("overwrite", read)?.unwrap_or(base.overwrite);
    }
    Ok(demands)
}

tables! {
    MODES {
        "interactive": Words(&names_of(&INTERACTIVE)), Is("allow")
            => "`deny`: a request with `mode: interactive` is rejected with `INVALID_INPUT`";
    }
    GUARDS {
        "line_edits": Words(&names_of(&GUARDED)), Is("optional")
            => "`required`: `line_edits` and `insert_lines` need `expected_version`, or `expect` in each edit";
        "overwrite": Words(&names_of(&GUARDED)), Is("optional")
            => "`required`: `content` for an existing file, and deleting it, need `expected_version`";
    }
}
