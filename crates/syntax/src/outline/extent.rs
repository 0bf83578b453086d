//! The extent of a symbol, and the storage of its path.

use std::ops::Range;

/// Returns the whole lines of a span.
pub(super) fn lines(starts: &[usize], view: &str, span: Range<usize>) -> Range<usize> {
    let after = |at: usize| starts.partition_point(|start| *start <= at);
    let start = after(span.start).checked_sub(1).and_then(|line| starts.get(line));
    let end = starts.get(after(span.end.saturating_sub(1).max(span.start)));
    start.copied().unwrap_or(0)..end.copied().unwrap_or(view.len())
}

/// Adds a path, and returns its range.
pub(super) fn push_path(paths: &mut String, around: Option<Range<usize>>, name: &str) -> Range<usize> {
    let start = paths.len();
    if let Some(around) = around {
        paths.extend_from_within(around);
        paths.push('.');
    }
    paths.push_str(name);
    start..paths.len()
}
