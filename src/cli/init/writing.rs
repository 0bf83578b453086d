//! What happens to files that are written.

/// Selects whether a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteMode {
    Write,
    Show,
}

/// The handling of an existing server with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnExisting {
    Keep,
    Replace,
}
