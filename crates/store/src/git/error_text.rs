//! Errors of git objects as text for messages.

/// Formats an error with all of its causes on one line.
pub(super) fn describe(error: &gix::Error) -> String {
    let on_one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut causes: Vec<String> = error.iter_errors().map(|cause| on_one_line(cause.to_string())).collect();
    causes.dedup();
    causes.join(": ")
}
