//! Words of messages.

/// Returns a number of lines or other things: `1 line`, `3 lines`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Lists the first items, at most `most`, of `count`: `a, b and 3 more`.
pub(super) fn listed(items: impl Iterator<Item = String>, most: usize, count: usize) -> String {
    let shown: Vec<String> = items.take(most).collect();
    match count.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
