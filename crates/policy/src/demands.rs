//! Requirements of a policy for requests: the allowed modes and the required preconditions.

use super::node::{MapFields, PolicyError};
use super::value_shape::tables;
use super::words::words;

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

words! {
    /// The treatment of a write to a file that makes a program start when the folder is opened or used.
    #[derive(Default)]
    pub enum Runnable {
        /// Ask a person; reject the write if no person can be asked.
        #[default]
        Ask = "ask",
        /// Reject the write without asking.
        Refuse = "refuse",
        /// Allow the write like any other.
        Allow = "allow",
    }

    /// The writes that a person must confirm; each value includes more than the one before.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Confirm {
        /// No write needs a confirmation.
        #[default]
        Never = "never",
        /// Removals, files that shrink to under a quarter, and findings in `interactive` that would block in `strict`.
        Risky = "risky",
        /// Every write needs a confirmation.
        Always = "always",
    }

    /// The permission to use `mode: interactive`.
    #[derive(Default)]
    pub enum Interactive {
        /// Requests may use this mode.
        #[default]
        Allow = "allow",
        /// Reject every request in this mode.
        Deny = "deny",
    }

    /// The requirement of a precondition, such as a version.
    #[derive(Default)]
    pub enum Guard {
        /// Accept requests without a precondition.
        #[default]
        Optional = "optional",
        /// Reject requests without a precondition.
        Required = "required",
    }
}

/// Parses `modes`, `guards`, `confirm` and `runnable`; absent keys keep the value of `base`.
pub(super) fn demands(policy: &MapFields<'_>, base: Demands) -> Result<Demands, PolicyError> {
    Ok(Demands {
        confirm: policy.read("confirm", base.confirm)?,
        runnable: policy.read("runnable", base.runnable)?,
        interactive: policy.map("modes")?.read("interactive", base.interactive)?,
        line_edits: policy.map("guards")?.read("line_edits", base.line_edits)?,
        overwrite: policy.map("guards")?.read("overwrite", base.overwrite)?,
    })
}

tables! {
    MODES {
        "interactive": Words(Interactive::WORDS), Is("allow")
            => "`deny`: a request with `mode: interactive` is rejected with `INVALID_INPUT`";
    }
    GUARDS {
        "line_edits": Words(Guard::WORDS), Is("optional")
            => "`required`: `line_edits` and `insert_lines` need `expected_version`, or `expect` in each edit";
        "overwrite": Words(Guard::WORDS), Is("optional")
            => "`required`: `content` for an existing file, and deleting it, need `expected_version`";
    }
}
