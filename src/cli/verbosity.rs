//! How much a command prints.

/// How much a command prints for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Verbosity {
    /// Only what failed.
    Quiet,
    /// What failed, what was done, and a summary of the gates.
    Normal,
    /// Also each gate and each old finding.
    Verbose,
}
