//! Errors of git objects as text for messages.

/// Formats an error with all of its causes on one line.
pub(super) fn describe(error: &gix::Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
