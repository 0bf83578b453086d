//! The effects of a tool's call.

/// The effect of a tool's call on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads only, without any change.
    Reads,
    /// Adds files without changing existing ones.
    Adds,
    /// Changes or removes existing files or entities.
    Changes,
}

/// The effect of repeating the same call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatEffect {
    /// A repeated call changes nothing further.
    NoChange,
    /// The file may change again.
    Changes,
}
