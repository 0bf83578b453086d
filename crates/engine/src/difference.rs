//! Compares two texts of one document by lines.

use lockgate_error::Error;
use lockgate_text::{Buffer, LineMap, Plan, diff};

/// Plans the change of one text into another.
///
/// Errors: `INTERNAL`, should no plan lead from one to the other.
pub(super) fn plan_between(from: &Buffer, to: &Buffer) -> Result<Plan, Error> {
    if from.has_same_encoding(to) { from.plan_to(to) } else { from.replace_all(to.bytes()) }
}

/// Maps the lines of one text to those of another.
///
/// Errors: those of [`plan_between`].
pub(super) fn line_map(from: &Buffer, to: &Buffer) -> Result<LineMap, Error> {
    Ok(plan_between(from, to)?.line_map(from, to))
}

/// Returns the number of added lines and the number of removed lines, as their diff has them: a line with another line end
/// is one of each.
pub(super) fn line_counts(from: Option<&Buffer>, to: &Buffer, map: &LineMap) -> (usize, usize) {
    let diff = diff::unified_with_map("", from, to, map);
    (diff.added(), diff.removed())
}

/// Returns the whole diff that removes the file at this path.
pub(super) fn removal(path: &str, before: &Buffer) -> String {
    let after = Buffer::default();
    diff::removal(path, before, &after).render(usize::MAX).0
}

/// Returns the whole diff between two versions of the file at this path. An answer shows as many of its hunks as fit, and
/// says how many there are.
pub(super) fn difference(path: &str, from: Option<&Buffer>, to: &Buffer) -> String {
    let map = from.map(|from| line_map(from, to)).transpose().ok().flatten().unwrap_or_default();
    diff::unified_with_map(path, from, to, &map).render(usize::MAX).0
}
