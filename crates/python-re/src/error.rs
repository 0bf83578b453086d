//! The reasons why a pattern cannot be used.

/// The reason why a pattern, its flags or its template are rejected, or why a search ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The pattern, with Python's message and position, or with `not supported: ...`.
    #[error("invalid regex pattern: {0}")]
    Pattern(String),
    /// The flags, with the one that is unknown, or that the others exclude.
    #[error("invalid regex flags: {0}")]
    Flags(String),
    /// The template of the replacement, with Python's message and position.
    #[error("invalid replacement template: {0}")]
    Template(String),
    /// The budget of steps is used up.
    #[error("the pattern needs more steps on this text than one call may take")]
    OutOfSteps,
    /// The replacements have more characters than the budget allows.
    #[error("the result is too large: its replacements have more than {0} characters")]
    TooLarge(u64),
    /// The two engines found different matches: a fault of this crate.
    #[error("the two regex engines disagree")]
    Disagreement,
}
